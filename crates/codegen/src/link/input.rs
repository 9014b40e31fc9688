// SPDX-License-Identifier: Apache-2.0
//! The inputs of a link, and whether they are fit to be linked.
//!
//! lld takes text for a linker script, which names further files, and bitcode for a compiler's
//! work; damaged objects make it give up half-way or crash. So an input is verified before lld sees
//! it.

use object::read::archive::ArchiveFile;
use object::{FileKind, Object, ObjectKind};

use super::elf::{self};
use super::error::LinkError;
use kernpack_package::target::ElfTarget;

/// A relocatable object, or an archive of them, that a link starts from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its name in messages: a file name, say.
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

    /// The objects of the input. Other members of an archive (indices, metadata of other compilers)
    /// are not listed.
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
        return Err(LinkError::unreadable(
            name,
            "it is linked already, expected a relocatable object",
        ));
    }
    elf::parse(name, bytes).map(drop)
}

fn machine(file: &object::File<'_>) -> String {
    let architecture = format!("{:?}", file.architecture()).to_lowercase();
    if file.is_little_endian() { architecture } else { format!("{architecture}, big-endian") }
}
