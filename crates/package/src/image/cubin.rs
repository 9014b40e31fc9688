// SPDX-License-Identifier: Apache-2.0
//! Cubins: machine code for one architecture in an ELF file.
//!
//! * The architecture lies in `e_flags`, in ABI 7 in the low byte with `a` in bit 11, in ABI 8
//!   (Blackwell, and everything from CUDA 13 on) in the second byte with `a` in bit 3. CUDA 13
//!   leaves that bit clear and says `a` in the section `.nv.compat`. An `f` is told by the options
//!   in the note `.note.nv.tkinfo` alone.
//! * A kernel is a function symbol with 0x10 in `st_other`; `.nv.info.<kernel>` has its attributes,
//!   `.nv.shared.<kernel>` is as large as its shared memory, and from sm_90 on larger by 1 KiB,
//!   which the driver keeps for itself.

use super::bytes::{u16_at, u32_at};
use super::{Code, ImageProblem, Kernel, Param};
use kernpack_machine::shared::RESERVED_BYTES;
use kernpack_machine::{Arch, ArchKind, Suffix};
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use std::collections::HashMap;

type Header = elf::FileHeader64<LittleEndian>;
type Section = elf::SectionHeader64<LittleEndian>;

const ABI_7: u8 = 7;
const ABI_8: u8 = 8;
const FLAG_A_7: u32 = 0x800;
const FLAG_A_8: u32 = 0x8;
/// In `st_other`: a kernel, not a function that kernels call.
const STO_CUDA_ENTRY: u8 = 0x10;
/// In `.nv.compat`: the code is for this one architecture.
const COMPAT_A: u8 = 0x09;

/// From sm_90 on, the driver keeps some shared memory for itself. Kernels that have any count it
/// among theirs; the driver's limits do not.
const RESERVES_SHARED: u32 = 90;

/// Attributes of a kernel in `.nv.info.<kernel>`.
const MAX_THREADS: u8 = 0x05;
/// Of kernels that say exactly how many threads a block has.
const THREADS: u8 = 0x10;
const KPARAM_INFO: u8 = 0x17;
const CBANK_PARAM_SIZE: u8 = 0x19;
/// Of kernels with more than 4 KiB of parameters.
const KPARAM_INFO_V2: u8 = 0x45;

/// Sections by name.
type Sections<'a> = HashMap<&'a [u8], (&'a Section, &'a [u8])>;

/// Reads a cubin.
pub(super) fn read(bytes: &[u8]) -> Result<Code, ImageProblem> {
    let header = Header::parse(bytes).map_err(|_| match bytes.len() < size_of::<Header>() {
        true => cut(bytes, "ELF header", size_of::<Header>() as u64),
        false => damaged("its ELF header is not that of a 64-bit file"),
    })?;
    header.endian().map_err(|_| damaged("it is not little-endian"))?;
    let machine = header.e_machine(LittleEndian);
    if machine != elf::EM_CUDA {
        return Err(ImageProblem::WrongMachine { machine: machine.0 });
    }
    if header.e_type(LittleEndian) == elf::ET_REL {
        return Err(ImageProblem::NotLinked);
    }
    require_whole(header, bytes)?;
    let sections = sections(header, bytes)?;
    let arch = arch(header, &sections)?;
    let mut kernels = Vec::new();
    for name in kernel_names(header, bytes)? {
        kernels.push(kernel(&name, arch, &sections)?);
    }
    Ok(Code { arch, kernels: Some(kernels) })
}

/// The section headers lie at the end of a cubin, so a file that is cut short has none.
fn require_whole(header: &Header, bytes: &[u8]) -> Result<(), ImageProblem> {
    let n_sections = u64::from(header.e_shnum(LittleEndian));
    let size = n_sections * size_of::<Section>() as u64;
    let end = header.e_shoff(LittleEndian).saturating_add(size);
    if end > bytes.len() as u64 {
        return Err(cut(bytes, "table of sections", end));
    }
    Ok(())
}

fn sections<'a>(header: &'a Header, bytes: &'a [u8]) -> Result<Sections<'a>, ImageProblem> {
    let table = header.sections(LittleEndian, bytes).map_err(unreadable)?;
    let mut sections = HashMap::new();
    for section in table.iter() {
        let name = table.section_name(LittleEndian, section).map_err(unreadable)?;
        let end = section.sh_offset(LittleEndian).saturating_add(section.sh_size(LittleEndian));
        let is_in_file = section.sh_type(LittleEndian) != elf::SHT_NOBITS;
        if is_in_file && end > bytes.len() as u64 {
            return Err(cut(bytes, "section", end));
        }
        let data = section.data(LittleEndian, bytes).map_err(unreadable)?;
        sections.insert(name, (section, data));
    }
    Ok(sections)
}

fn arch(header: &Header, sections: &Sections<'_>) -> Result<Arch, ImageProblem> {
    let flags = header.e_flags(LittleEndian).0;
    let (number, has_a) = match header.e_ident().abi_version {
        ABI_7 => (flags & 0xFF, flags & FLAG_A_7 != 0),
        ABI_8 => (flags >> 8 & 0xFF, flags & FLAG_A_8 != 0 || is_compat_a(sections)),
        other => return Err(ImageProblem::AbiVersion(other)),
    };
    if number < 10 {
        return Err(damaged(&format!("its e_flags, {flags:#010x}, name no architecture")));
    }
    let plain = Arch { kind: ArchKind::Sm, number, suffix: Suffix::None };
    let family = Arch { suffix: Suffix::F, ..plain };
    let suffix = match (has_a, built_for(sections) == Some(family)) {
        (true, _) => Suffix::A,
        (false, true) => Suffix::F,
        (false, false) => Suffix::None,
    };
    Ok(Arch { suffix, ..plain })
}

fn is_compat_a(sections: &Sections<'_>) -> bool {
    let compat = sections.get(&b".nv.compat"[..]).map_or(&[][..], |(_, data)| data);
    attributes(compat).any(|(name, value)| name == COMPAT_A && value.first() == Some(&1))
}

/// The architecture behind `-arch` among the options that ptxas notes.
fn built_for(sections: &Sections<'_>) -> Option<Arch> {
    let (_, note) = sections.get(&b".note.nv.tkinfo"[..])?;
    let text = String::from_utf8_lossy(note);
    let mut words = text.split(|c: char| c == '\0' || c.is_whitespace());
    words.find(|word| *word == "-arch")?;
    words.find(|word| !word.is_empty())?.parse().ok()
}

fn kernel_names(header: &Header, bytes: &[u8]) -> Result<Vec<String>, ImageProblem> {
    let table = header.sections(LittleEndian, bytes).map_err(unreadable)?;
    let symbols = table.symbols(LittleEndian, bytes, elf::SHT_SYMTAB).map_err(unreadable)?;
    let kernels = symbols.iter().filter(|symbol| {
        let is_defined = symbol.st_shndx(LittleEndian) != elf::SHN_UNDEF;
        symbol.st_type() == elf::STT_FUNC && symbol.st_other().0 & STO_CUDA_ENTRY != 0 && is_defined
    });
    let name = |symbol| symbols.symbol_name(LittleEndian, symbol).map_err(unreadable);
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    kernels.map(|symbol| name(symbol).map(text)).collect()
}

fn kernel(name: &str, arch: Arch, sections: &Sections<'_>) -> Result<Kernel, ImageProblem> {
    let section = |prefix: &str| sections.get(format!("{prefix}{name}").as_bytes());
    let info = section(".nv.info.").map_or(&[][..], |(_, data)| data);
    let shared = section(".nv.shared.").map_or(0, |(header, _)| header.sh_size(LittleEndian));
    let reserved = if arch.number >= RESERVES_SHARED { u64::from(RESERVED_BYTES) } else { 0 };
    let shared = shared.saturating_sub(reserved);
    let mut kernel = Kernel {
        name: name.to_string(),
        params: params(name, info)?,
        param_bytes: 0,
        static_shared_bytes: Some(u32::try_from(shared).unwrap_or(u32::MAX)),
        max_threads: None,
    };
    for (attribute, value) in attributes(info) {
        match attribute {
            CBANK_PARAM_SIZE => kernel.param_bytes = u16_at(value, 0).unwrap_or(0).into(),
            MAX_THREADS | THREADS => kernel.max_threads = max_threads(value),
            _ => {}
        }
    }
    if kernel.params.iter().any(|param| param.offset + param.size > kernel.param_bytes) {
        return Err(damaged(&format!("a parameter of `{name}` lies outside its parameters")));
    }
    Ok(kernel)
}

/// Three extents, of which the product counts.
fn max_threads(value: &[u8]) -> Option<u32> {
    let extents = [u32_at(value, 0)?, u32_at(value, 4)?, u32_at(value, 8)?];
    Some(extents.into_iter().fold(1, u32::saturating_mul))
}

/// The parameters, which may be listed in any order.
fn params(kernel: &str, info: &[u8]) -> Result<Vec<Param>, ImageProblem> {
    let mut params = Vec::new();
    for (attribute, value) in attributes(info) {
        let size = match attribute {
            KPARAM_INFO => u32_at(value, 8).map(|word| word >> 18),
            KPARAM_INFO_V2 => u16_at(value, 8).map(u32::from),
            _ => continue,
        };
        let param = || {
            let param = Param { offset: u16_at(value, 6)?.into(), size: size? };
            Some((u16_at(value, 4)?, param))
        };
        params.push(param().ok_or_else(|| damaged(&short(kernel)))?);
    }
    params.sort_by_key(|(ordinal, _)| *ordinal);
    let in_order = params.iter().enumerate().all(|(i, (ordinal, _))| i == usize::from(*ordinal));
    if !in_order {
        return Err(damaged(&format!("the parameters of `{kernel}` are not numbered in order")));
    }
    Ok(params.into_iter().map(|(_, param)| param).collect())
}

fn short(kernel: &str) -> String {
    format!("a parameter of `{kernel}` is described in too few bytes")
}

/// The attributes of a section, each with its value: nothing, one byte, two, or as many as the two
/// bytes behind the name say.
fn attributes(data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    const SIZED: u8 = 4;
    let mut rest = data;
    std::iter::from_fn(move || {
        let (format, name, inline) = (*rest.first()?, *rest.get(1)?, rest.get(2..4)?);
        let sized = if format == SIZED { usize::from(u16_at(rest, 2)?) } else { 0 };
        let value = rest.get(4..4 + sized)?;
        rest = &rest[4 + sized..];
        Some((name, if format == SIZED { value } else { inline }))
    })
}

fn cut(bytes: &[u8], what: &'static str, end: u64) -> ImageProblem {
    ImageProblem::Truncated { what, end, has: bytes.len() as u64 }
}

fn unreadable(error: object::read::Error) -> ImageProblem {
    damaged(&error.to_string())
}

fn damaged(part: &str) -> ImageProblem {
    ImageProblem::Damaged { part: part.to_string() }
}
