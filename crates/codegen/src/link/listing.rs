// SPDX-License-Identifier: Apache-2.0
//! Symbols that inputs define and need, before they are linked.

use std::collections::BTreeSet;

use object::{ObjectSymbol, SymbolKind};

use super::elf;
use super::error::LinkError;
use super::input::Input;
use super::undefined::LINKER_MADE;

/// The global functions that an input defines, by name; those of all members of an archive.
pub fn functions(input: &Input<'_>) -> Result<Vec<String>, LinkError> {
    let mut functions = BTreeSet::new();
    for part in input.parts()? {
        let file = elf::parse(&part.name, part.bytes)?;
        let defined = elf::globals(&file)
            .filter(|(_, symbol)| !symbol.is_undefined() && symbol.kind() == SymbolKind::Text);
        functions.extend(defined.map(|(name, _)| name.to_owned()));
    }
    Ok(functions.into_iter().collect())
}

/// The global symbols that inputs define; those of all members of archives.
pub fn definitions(inputs: &[Input<'_>]) -> Result<BTreeSet<String>, LinkError> {
    let mut definitions = BTreeSet::new();
    for input in inputs {
        for part in input.parts()? {
            let file = elf::parse(&part.name, part.bytes)?;
            let defined = elf::globals(&file).filter(|(_, symbol)| !symbol.is_undefined());
            definitions.extend(defined.map(|(name, _)| name.to_owned()));
        }
    }
    Ok(definitions)
}

/// The symbols that some inputs need and none of them defines, by name.
pub fn needs(inputs: &[Input<'_>]) -> Result<Vec<String>, LinkError> {
    let (mut needed, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for input in inputs {
        for part in input.parts()? {
            let file = elf::parse(&part.name, part.bytes)?;
            for (name, symbol) in elf::globals(&file) {
                let set = if symbol.is_undefined() { &mut needed } else { &mut defined };
                set.insert(name.to_owned());
            }
        }
    }
    let made = |name: &&String| LINKER_MADE.contains(&name.as_str());
    Ok(needed.difference(&defined).filter(|name| !made(name)).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_has_a_name_in_the_error() {
        let input = Input { name: "junk.o", bytes: b"no object" };
        assert!(functions(&input).unwrap_err().to_string().contains("junk.o"));
    }
}
