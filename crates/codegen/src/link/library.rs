// SPDX-License-Identifier: Apache-2.0
//! Shared libraries, as far as a package's loader looks into them: which symbols one needs, has,
//! and which libraries it loads.

use std::collections::HashSet;

use object::elf::{DT_NEEDED, DT_NULL};
use object::read::elf::Dyn;
use object::{LittleEndian, Object, ObjectKind, ObjectSymbol};

use super::elf::{self, ElfFile};
use super::error::LinkError;
use kernpack_package::target::ElfTarget;

/// A shared library that other programs may load.
#[derive(Clone, Debug, Default)]
pub struct SharedLibrary {
    /// The symbols that it defines for others.
    pub exports: HashSet<String>,
    /// The names of the libraries that it loads.
    pub needed: Vec<String>,
}

impl SharedLibrary {
    /// The library with these bytes; nothing where they are none, or one for another machine.
    pub fn read(target: ElfTarget, bytes: &[u8]) -> Option<SharedLibrary> {
        let file = ElfFile::parse(bytes).ok()?;
        if file.kind() != ObjectKind::Dynamic || file.architecture() != target.architecture() {
            return None;
        }
        let defined = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
        let exports = defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
        Some(SharedLibrary { exports: exports.collect(), needed: needed(&file) })
    }
}

/// The names of the libraries that a library loads.
fn needed(file: &ElfFile<'_>) -> Vec<String> {
    let sections = file.elf_section_table();
    let Ok(Some((entries, strings))) = sections.dynamic(LittleEndian, file.data()) else {
        return vec![];
    };
    let Ok(strings) = sections.strings(LittleEndian, file.data(), strings) else { return vec![] };
    let entries = entries.iter().take_while(|entry| entry.tag(LittleEndian) != DT_NULL);
    let needed = entries.filter(|entry| entry.tag(LittleEndian) == DT_NEEDED);
    let names = needed.filter_map(|entry| entry.string(LittleEndian, strings).ok());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The symbols that a shared library cannot do without and does not have, in its order.
pub fn loader_needs(library: &[u8]) -> Result<Vec<String>, LinkError> {
    let file = elf::parse(super::MERGED, library)?;
    let undefined = file.dynamic_symbols();
    let undefined = undefined.filter(|symbol| symbol.is_undefined() && !symbol.is_weak());
    let names = undefined.filter_map(|symbol| symbol.name().ok());
    Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
