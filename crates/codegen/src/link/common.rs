// SPDX-License-Identifier: Apache-2.0
//! Storage for tentative definitions.
//!
//! `int x;` in C compiled with `-fcommon` is a symbol without a section: the final link gives it
//! storage, shared with every other `x`, and until then it cannot be local. A package's `x` is its
//! own, so the package defines it: in an object of our own, which the linker prefers to a tentative
//! definition.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{BinaryFormat, Endianness, ObjectSymbol, SymbolFlags, SymbolKind, SymbolScope};

use super::elf::{self, ElfSymbol};
use super::error::LinkError;
use kernpack_package::target::ElfTarget;

/// An object that defines what `merged` only tentatively defines, or nothing if there is no such
/// symbol.
pub(super) fn storage(target: ElfTarget, merged: &[u8]) -> Result<Option<Vec<u8>>, LinkError> {
    let file = elf::parse(super::MERGED, merged)?;
    let mut tentative = elf::globals(&file).filter(|(_, symbol)| symbol.is_common()).peekable();
    if tentative.peek().is_none() {
        return Ok(None);
    }
    let mut storage = Object::new(BinaryFormat::Elf, target.architecture(), Endianness::Little);
    for (name, symbol) in tentative {
        define(&mut storage, name, &symbol);
    }
    Ok(Some(storage.write()?))
}

fn define(storage: &mut Object<'_>, name: &str, symbol: &ElfSymbol<'_, '_>) {
    // A tentative definition has its alignment where others have their address.
    let alignment = symbol.elf_symbol().st_value.get(object::LittleEndian);
    let zeros = storage.section_id(StandardSection::UninitializedData);
    let id = storage.add_symbol(Symbol {
        name: name.into(),
        value: 0,
        size: symbol.size(),
        kind: SymbolKind::Data,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    storage.add_symbol_bss(id, zeros, symbol.size(), alignment);
}
