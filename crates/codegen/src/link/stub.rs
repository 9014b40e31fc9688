// SPDX-License-Identifier: Apache-2.0
//! Shared libraries of which only the name matters.
//!
//! A linker writes `DT_NEEDED` for the libraries on its command line and nowhere else. The real
//! ones are not on the build machine, or are of another glibc, whose symbol versions must not get
//! into the package.

use object::elf;
use object::write::elf::{FileHeader, Writer};
use object::{Endianness, write};

use kernpack_package::target::ElfTarget;

/// An empty shared library whose soname is `name`.
pub(super) fn library(target: ElfTarget, name: &str) -> Result<Vec<u8>, write::Error> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut bytes);
    let soname = writer.add_dynamic_string(name.as_bytes());
    writer.reserve_file_header();
    writer.reserve_null_dynamic_symbol_index();
    writer.reserve_dynsym();
    writer.reserve_dynstr()?;
    writer.reserve_dynamic(2);
    writer.reserve_dynsym_section_index();
    writer.reserve_dynstr_section_index();
    writer.reserve_dynamic_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_DYN,
        e_machine: target.machine(),
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })?;
    writer.write_null_dynamic_symbol();
    writer.write_dynstr();
    writer.write_align_dynamic();
    writer.write_dynamic_string(elf::DT_SONAME, soname)?;
    writer.write_dynamic(elf::DT_NULL, 0)?;
    writer.write_shstrtab();
    writer.write_null_section_header();
    writer.write_dynsym_section_header(0, 1);
    writer.write_dynstr_section_header(0);
    writer.write_dynamic_section_header(0);
    writer.write_shstrtab_section_header();
    Ok(bytes)
}
