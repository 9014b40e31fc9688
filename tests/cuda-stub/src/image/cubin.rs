// SPDX-License-Identifier: Apache-2.0
//! ELF cubins, as far as kernels go: a section `.nv.info.NAME` for each that has code, its
//! parameters in there, and the architecture in the header's flags. Both of the layouts that ptxas
//! writes: ABI 7, and ABI 8 since Blackwell.

use super::{Arch, Image, KernelImage, Param, Reach};
use std::collections::BTreeMap;

/// How an ELF file begins.
pub const MAGIC: &[u8] = b"\x7fELF";
/// The size of the header, which says how long the rest is.
pub const HEADER_BYTES: usize = 64;

const SECTION_BYTES: usize = 64;
/// `SHT_NOBITS`: a section without bytes in the file.
const NO_BITS: u32 = 8;
/// Attributes in `.nv.info`: their format with a size, and what they say.
const SIZED: u8 = 4;
const MAX_THREADS: u8 = 0x05;
const KERNEL_PARAM: u8 = 0x17;
/// The flag that code is for one architecture only, in ABI 7 and 8.
const EXACT: [u32; 2] = [0x800, 0x8];

fn number(bytes: &[u8], offset: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(offset..offset.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

struct Section {
    name: usize,
    kind: u32,
    offset: usize,
    size: usize,
}

/// The section headers, as many as the bytes hold.
fn sections(file: &[u8]) -> Option<Vec<Section>> {
    let (table, n) = (number(file, 40, 8)?, number(file, 60, 2)?);
    let section = |index| {
        let at = table + index * SECTION_BYTES;
        Some(Section {
            name: number(file, at, 4)?,
            kind: number(file, at + 4, 4)? as u32,
            offset: number(file, at + 24, 8)?,
            size: number(file, at + 32, 8)?,
        })
    };
    (0..n).map(section).collect()
}

/// How many bytes there are at least, as far as those at hand say: first the header, then the
/// tables that it names, then the sections.
pub fn extent(file: &[u8]) -> Option<usize> {
    let table = |offset, entry, n| {
        Some(number(file, offset, 8)? + number(file, entry, 2)? * number(file, n, 2)?)
    };
    let tables = table(40, 58, 60)?.max(table(32, 54, 56)?);
    let ends = sections(file).unwrap_or_default().into_iter();
    let ends = ends.filter(|section| section.kind != NO_BITS);
    Some(ends.map(|section| section.offset + section.size).fold(tables, usize::max))
}

/// Reads one.
pub fn parse(file: &[u8]) -> Option<Image> {
    let sections = sections(file)?;
    let bytes = |section: &Section| file.get(section.offset..section.offset + section.size);
    let names = bytes(sections.get(number(file, 62, 2)?)?)?;
    let name = |section: &Section| {
        let name = names.get(section.name..)?.split(|byte| *byte == 0).next()?;
        str::from_utf8(name).ok()
    };
    let arch = arch(file)?;
    // From Hopper on, the section begins with what the system keeps of a block's shared memory.
    let reserved = if arch.compute >= (9, 0) { 1024 } else { 0 };
    let mut kernels = Vec::new();
    for section in &sections {
        if let Some(kernel) = name(section).and_then(|name| name.strip_prefix(".nv.info.")) {
            let mut found = kernel_of(kernel, bytes(section)?)?;
            let is_shared = |section: &&Section| {
                name(section).and_then(|name| name.strip_prefix(".nv.shared.")) == Some(kernel)
            };
            let shared = sections.iter().find(is_shared).map_or(0, |section| section.size);
            found.static_shared = shared.saturating_sub(reserved) as u32;
            kernels.push(found);
        }
    }
    Some(Image { arches: vec![arch], kernels, is_ptx: false })
}

fn arch(file: &[u8]) -> Option<Arch> {
    let is_new = *file.get(8)? >= 8;
    let flags = number(file, 48, 4)? as u32;
    let number = if is_new { flags >> 8 & 0xff } else { flags & 0xff };
    let reach = if flags & EXACT[usize::from(is_new)] != 0 { Reach::Exact } else { Reach::Minor };
    Some(Arch { compute: (number / 10, number % 10), reach })
}

fn kernel_of(name: &str, info: &[u8]) -> Option<KernelImage> {
    let mut kernel = KernelImage::new(name);
    let mut params = BTreeMap::new();
    let mut at = 0;
    while at < info.len() {
        let (format, attribute) = (*info.get(at)?, *info.get(at + 1)?);
        let value = number(info, at + 2, 2)?;
        at += 4;
        if format != SIZED {
            continue;
        }
        match attribute {
            KERNEL_PARAM => {
                let size = number(info, at + 8, 4)? >> 18;
                params.insert(
                    number(info, at + 4, 2)?,
                    Param { offset: number(info, at + 6, 2)?, size },
                );
            }
            MAX_THREADS => {
                let threads = [0, 4, 8].map(|axis| number(info, at + axis, 4).unwrap_or(1));
                kernel.max_threads = threads.iter().product::<usize>() as u32;
            }
            _ => {}
        }
        at += value;
    }
    kernel.params = params.into_values().collect();
    Some(kernel)
}
