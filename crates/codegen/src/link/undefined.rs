// SPDX-License-Identifier: Apache-2.0
//! Symbols that an object leaves to the process that loads it, and who wants them.

use std::collections::{BTreeMap, HashSet};

use object::{Object, ObjectSymbol};

use super::elf::{self, ElfFile};
use super::error::LinkError;
use super::input::Input;

/// Names that every linker defines by itself.
pub(super) const LINKER_MADE: [&str; 3] = ["_GLOBAL_OFFSET_TABLE_", "_DYNAMIC", "__dso_handle"];

/// A symbol that an object needs and does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedSymbol {
    /// The symbol.
    pub name: String,
    /// Whether the object does without it: then it is zero if nothing defines it.
    pub weak: bool,
    /// The inputs that refer to it, `archive(member)` for a member.
    pub wanted_by: Vec<String>,
}

/// The undefined symbols of `object`, by name. `inputs` are what it was merged from; they are asked
/// who wants each symbol.
pub fn undefined(object: &[u8], inputs: &[Input<'_>]) -> Result<Vec<UndefinedSymbol>, LinkError> {
    let file = elf::parse(super::MERGED, object)?;
    let mut undefined = elf::globals(&file)
        .filter(|(name, symbol)| symbol.is_undefined() && !LINKER_MADE.contains(name))
        .map(|(name, symbol)| (name, UndefinedSymbol::new(name, symbol.is_weak())))
        .collect::<BTreeMap<_, _>>();
    if !undefined.is_empty() {
        find_owners(&mut undefined, &file, inputs)?;
    }
    Ok(undefined.into_values().collect())
}

impl UndefinedSymbol {
    fn new(name: &str, weak: bool) -> UndefinedSymbol {
        UndefinedSymbol { name: name.to_owned(), weak, wanted_by: Vec::new() }
    }
}

fn find_owners(
    undefined: &mut BTreeMap<&str, UndefinedSymbol>,
    merged: &ElfFile<'_>,
    inputs: &[Input<'_>],
) -> Result<(), LinkError> {
    let in_merged = merged.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    for input in inputs {
        for part in input.parts()? {
            let file = elf::parse(&part.name, part.bytes)?;
            if !part.is_member || took_part(&file, &in_merged) {
                note_owner(undefined, &file, &part.name);
            }
        }
    }
    Ok(())
}

fn note_owner(undefined: &mut BTreeMap<&str, UndefinedSymbol>, file: &ElfFile<'_>, owner: &str) {
    for (name, _) in elf::globals(file).filter(|(_, symbol)| symbol.is_undefined()) {
        if let Some(symbol) = undefined.get_mut(name) {
            symbol.wanted_by.push(owner.to_owned());
        }
    }
}

/// Whether all that a member of an archive defines is in the merged object.
fn took_part(member: &ElfFile<'_>, in_merged: &HashSet<&str>) -> bool {
    let mut definitions = elf::globals(member).filter(|(_, symbol)| !symbol.is_undefined());
    definitions.all(|(name, _)| in_merged.contains(name))
}

/// Refuses symbols that a package must not need: all that `allowed` says no to.
pub fn gate(
    undefined: &[UndefinedSymbol],
    allowed: &dyn Fn(&UndefinedSymbol) -> bool,
) -> Result<(), LinkError> {
    let refused = undefined.iter().filter(|symbol| !allowed(symbol));
    let symbols = refused.cloned().collect::<Vec<_>>();
    if symbols.is_empty() { Ok(()) } else { Err(LinkError::Undefined { symbols }) }
}
