// SPDX-License-Identifier: Apache-2.0
//! What linking must know about ELF files: whether an input is fit to be linked, and which names it holds.
//!
//! lld takes text for linker scripts and bitcode for a compiler's work, reads other files for some inputs, and gives up at once on
//! damaged ones. So an input is verified before lld sees it.

use std::fmt;

use object::elf;
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, SectionHeader};
use object::{Architecture, FileKind, LittleEndian};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationTarget};

use super::error::LinkError;

/// A 64-bit little-endian ELF file.
pub(super) type ElfFile<'a> = ElfFile64<'a, LittleEndian>;
/// A section of an [`ElfFile`].
type ElfSection<'a, 'file> = object::read::elf::ElfSection64<'a, 'file, LittleEndian>;
/// A symbol of an [`ElfFile`].
pub(super) type ElfSymbol<'a, 'file> = object::read::elf::ElfSymbol64<'a, 'file, LittleEndian>;

/// The machine a package runs on, as far as the linker must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElfTarget {
    /// `x86_64-linux-gnu`.
    X86_64,
    /// `aarch64-linux-gnu`.
    Aarch64,
}

impl ElfTarget {
    /// The linker's name for the machine.
    pub(super) fn emulation(self) -> &'static str {
        match self {
            ElfTarget::X86_64 => "elf_x86_64",
            ElfTarget::Aarch64 => "aarch64linux",
        }
    }

    pub(super) fn architecture(self) -> Architecture {
        match self {
            ElfTarget::X86_64 => Architecture::X86_64,
            ElfTarget::Aarch64 => Architecture::Aarch64,
        }
    }

    pub(super) fn machine(self) -> elf::Machine {
        match self {
            ElfTarget::X86_64 => elf::EM_X86_64,
            ElfTarget::Aarch64 => elf::EM_AARCH64,
        }
    }
}

impl fmt::Display for ElfTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElfTarget::X86_64 => "x86_64",
            ElfTarget::Aarch64 => "aarch64",
        })
    }
}

/// A relocatable object, or an archive of them, that a link starts from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What messages call it: a file name, say.
    pub name: &'a str,
    /// The whole file.
    pub bytes: &'a [u8],
}

/// An object among the inputs.
pub(super) struct Part<'a> {
    /// The input's name, `archive(member)` for a member.
    pub(super) name: String,
    pub(super) bytes: &'a [u8],
    /// Whether it takes part only if it is needed.
    pub(super) is_member: bool,
}

impl<'a> Input<'a> {
    /// Refuses everything but relocatable objects for `target`, and archives of them.
    pub(super) fn verify(&self, target: ElfTarget) -> Result<(), LinkError> {
        self.parts()?.iter().try_for_each(|part| verify(&part.name, part.bytes, target))
    }

    /// The objects of the input. Other members of an archive (indices, metadata of other compilers) are not listed.
    pub(super) fn parts(&self) -> Result<Vec<Part<'a>>, LinkError> {
        if self.bytes.starts_with(&object::archive::MAGIC) {
            return self.members();
        }
        Ok(vec![Part { name: self.name.to_owned(), bytes: self.bytes, is_member: false }])
    }

    fn members(&self) -> Result<Vec<Part<'a>>, LinkError> {
        let damaged = |error| LinkError::unreadable(self.name, error);
        let archive = ArchiveFile::parse(self.bytes).map_err(damaged)?;
        let mut parts = Vec::new();
        for member in archive.members() {
            let member = member.map_err(damaged)?;
            let bytes = member.data(self.bytes).map_err(damaged)?;
            if is_linkable(bytes) {
                let name = format!("{}({})", self.name, String::from_utf8_lossy(member.name()));
                parts.push(Part { name, bytes, is_member: true });
            }
        }
        Ok(parts)
    }
}

/// Whether lld would link this member of an archive.
fn is_linkable(bytes: &[u8]) -> bool {
    is_bitcode(bytes) || matches!(FileKind::parse(bytes), Ok(FileKind::Elf32 | FileKind::Elf64))
}

fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&0x0B17_C0DE_u32.to_le_bytes())
}

fn verify(name: &str, bytes: &[u8], target: ElfTarget) -> Result<(), LinkError> {
    if is_bitcode(bytes) {
        return Err(LinkError::unreadable(name, "it is LLVM bitcode, expected a compiled object"));
    }
    let file = object::File::parse(bytes).map_err(|error| LinkError::unreadable(name, error))?;
    if file.architecture() != target.architecture() || !file.is_little_endian() {
        let (input, found) = (name.to_owned(), machine(&file));
        return Err(LinkError::WrongTarget { input, found, expected: target });
    }
    if file.kind() != ObjectKind::Relocatable {
        return Err(LinkError::unreadable(name, "it is linked already, expected a relocatable object"));
    }
    parse(name, bytes).map(drop)
}

fn machine(file: &object::File<'_>) -> String {
    let architecture = format!("{:?}", file.architecture()).to_lowercase();
    if file.is_little_endian() { architecture } else { format!("{architecture}, big-endian") }
}

/// Parses a file and makes sure that it holds what its headers promise and that every name is text.
pub(super) fn parse<'a>(name: &str, bytes: &'a [u8]) -> Result<ElfFile<'a>, LinkError> {
    let damaged = |error| LinkError::unreadable(name, error);
    let file = ElfFile::parse(bytes).map_err(damaged)?;
    for section in file.sections() {
        section.name().map_err(damaged)?;
        section.data().map_err(damaged)?;
        verify_relocations(&file, &section).map_err(|reason| LinkError::unreadable(name, reason))?;
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
