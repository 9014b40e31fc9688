// SPDX-License-Identifier: Apache-2.0
//! Notes that a package brings: an object that holds a section of notes and nothing else, for
//! [`merge`](super::merge) to join with the notes of others.

use object::write::Object;
use object::{BinaryFormat, Endianness, SectionFlags, SectionKind, elf};

use super::error::LinkError;
use kernpack_package::target::ElfTarget;

/// An object with those notes in a section of that name, which is loaded with the rest and aligned
/// to that many bytes.
pub fn note(
    target: ElfTarget,
    section: &str,
    bytes: &[u8],
    align: u32,
) -> Result<Vec<u8>, LinkError> {
    let mut notes = Object::new(BinaryFormat::Elf, target.architecture(), Endianness::Little);
    let id = notes.add_section(vec![], section.into(), SectionKind::Note);
    notes.append_section_data(id, bytes, align.into());
    notes.section_mut(id).flags =
        SectionFlags::Elf { sh_type: elf::SHT_NOTE, sh_flags: elf::SHF_ALLOC };
    Ok(notes.write()?)
}
