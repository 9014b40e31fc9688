// SPDX-License-Identifier: Apache-2.0
//! ELF, as far as linking must know it: the machines, and how to read a file's sections and
//! symbols.

use object::read::elf::{ElfFile64, SectionHeader};
use object::{LittleEndian, elf};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use super::error::LinkError;

/// A 64-bit little-endian ELF file.
pub(super) type ElfFile<'a> = ElfFile64<'a, LittleEndian>;
/// A section of an [`ElfFile`].
type ElfSection<'a, 'file> = object::read::elf::ElfSection64<'a, 'file, LittleEndian>;
/// A symbol of an [`ElfFile`].
pub(super) type ElfSymbol<'a, 'file> = object::read::elf::ElfSymbol64<'a, 'file, LittleEndian>;

/// Parses a file and makes sure that it holds what its headers promise and that every name is text.
pub(super) fn parse<'a>(name: &str, bytes: &'a [u8]) -> Result<ElfFile<'a>, LinkError> {
    let damaged = |error| LinkError::unreadable(name, error);
    let file = ElfFile::parse(bytes).map_err(damaged)?;
    for section in file.sections() {
        section.name().map_err(damaged)?;
        section.data().map_err(damaged)?;
        let verified = verify_relocations(&file, &section);
        verified
            .and_then(|()| verify_group(&file, &section))
            .map_err(|reason| LinkError::unreadable(name, reason))?;
    }
    for symbol in file.symbols() {
        symbol.name().map_err(damaged)?;
    }
    Ok(file)
}

/// lld writes where a relocation says, inside the section or not.
fn verify_relocations(file: &ElfFile<'_>, section: &ElfSection<'_, '_>) -> Result<(), String> {
    for (offset, relocation) in section.relocations() {
        if offset >= section.size() {
            return Err(format!("a relocation at {offset:#x} is outside its section"));
        }
        if let RelocationTarget::Symbol(index) = relocation.target()
            && file.symbol_by_index(index).is_err()
        {
            return Err(format!("the relocation at {offset:#x} refers to no symbol"));
        }
    }
    Ok(())
}

/// lld looks up the members of a group wherever their numbers lead.
fn verify_group(file: &ElfFile<'_>, section: &ElfSection<'_, '_>) -> Result<(), String> {
    let header = section.elf_section_header();
    let group = header.group(LittleEndian, file.data()).map_err(|error| error.to_string())?;
    let n_sections = file.elf_section_table().len();
    let mut members = group.iter().flat_map(|(_, members)| members.iter());
    match members.find(|member| member.get(LittleEndian) as usize >= n_sections) {
        Some(_) => Err("a section group has a member that does not exist".to_owned()),
        None => Ok(()),
    }
}

/// The symbols that meet those of other objects, each with its name.
pub(super) fn globals<'a, 'file>(
    file: &'file ElfFile<'a>,
) -> impl Iterator<Item = (&'a str, ElfSymbol<'a, 'file>)> {
    let globals = file.symbols().filter(|symbol| !symbol.is_local());
    globals.filter_map(|symbol| Some((symbol.name().ok()?, symbol)))
}

/// The names of the sections that list the members of section groups.
pub(super) fn group_lists<'a>(file: &ElfFile<'a>) -> impl Iterator<Item = &'a str> {
    let is_list = |section: &ElfSection<'a, '_>| {
        section.elf_section_header().sh_type(LittleEndian) == elf::SHT_GROUP
    };
    file.sections().filter(is_list).filter_map(|section| section.name().ok())
}
