// SPDX-License-Identifier: Apache-2.0
//! Fatbins: a header, then entries, each a header of its own and an image.
//!
//! ```text
//! file    0 magic   4 version u16   6 bytes of this header u16    8 bytes behind it u64
//! entry   0 kind u16 (1 PTX, 2 ELF)   2 version u16   4 bytes of this header u32   8 bytes of the image u64
//!        28 architecture u32   40 flags u64: 0x2000 LZ4, 0x8000 Zstandard, 0x100000 `a`, 0x200000 `f`
//! ```
//!
//! Entries of other kinds (link-time code) are passed over. Compressed images are not looked into.

use super::bytes::{u16_at, u32_at, u64_at};
use super::{Code, ImageProblem, Kernel, cubin, ptx};
use kernpack_machine::{Arch, ArchKind, Suffix};
use std::ops::Range;

/// The first bytes of a fatbin.
pub(super) const MAGIC: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();

const KIND_PTX: u16 = 1;
const KIND_ELF: u16 = 2;
const COMPRESSED: u64 = 0x2000 | 0x8000;
const SUFFIX_A: u64 = 0x10_0000;
const SUFFIX_F: u64 = 0x20_0000;
/// The least bytes of an entry's header.
const ENTRY_HEADER: usize = 64;

/// An entry, cut out of the file.
struct Entry<'a> {
    kind: u16,
    arch: u32,
    flags: u64,
    payload: &'a [u8],
}

/// Reads a fatbin.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Code>, ImageProblem> {
    let body = body(bytes)?;
    let (mut at, mut codes) = (body.start, Vec::new());
    while at < body.end {
        let (entry, end) = cut_entry(&bytes[..body.end], at)?;
        codes.extend(code(&entry)?);
        at = end;
    }
    if codes.is_empty() { Err(ImageProblem::Empty) } else { Ok(codes) }
}

/// Where a fatbin ends.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    body(bytes).ok().map(|body| body.end)
}

/// Where the entries are.
fn body(bytes: &[u8]) -> Result<Range<usize>, ImageProblem> {
    let header = || Some((u16_at(bytes, 6)?, u64_at(bytes, 8)?));
    let (header_bytes, body_bytes) = header().ok_or_else(|| cut(bytes, "header", 16))?;
    if header_bytes < 16 {
        return Err(damaged(format!("its header has {header_bytes} bytes, expected 16")));
    }
    let end = u64::from(header_bytes).saturating_add(body_bytes);
    let has_it = end <= bytes.len() as u64;
    has_it.then(|| header_bytes.into()..end as usize).ok_or_else(|| cut(bytes, "last entry", end))
}

/// The entry at an offset, and where it ends.
fn cut_entry(bytes: &[u8], at: usize) -> Result<(Entry<'_>, usize), ImageProblem> {
    let rest = &bytes[at..];
    let header = || {
        let (kind, header_bytes) = (u16_at(rest, 0)?, u32_at(rest, 4)?);
        Some((kind, header_bytes, u64_at(rest, 8)?, u32_at(rest, 28)?, u64_at(rest, 40)?))
    };
    let (kind, header_bytes, size, arch, flags) =
        header().ok_or_else(|| cut(bytes, "entry", (at + ENTRY_HEADER) as u64))?;
    if (header_bytes as usize) < ENTRY_HEADER {
        return Err(damaged(format!(
            "the entry at byte {at} has a header of {header_bytes} bytes"
        )));
    }
    let start = at as u64 + u64::from(header_bytes);
    let end = start.saturating_add(size);
    if end > bytes.len() as u64 {
        return Err(cut(bytes, "entry", end));
    }
    let payload = &bytes[start as usize..end as usize];
    Ok((Entry { kind, arch, flags, payload }, end as usize))
}

fn code(entry: &Entry<'_>) -> Result<Option<Code>, ImageProblem> {
    let kind = match entry.kind {
        KIND_PTX => ArchKind::Compute,
        KIND_ELF => ArchKind::Sm,
        _ => return Ok(None),
    };
    let suffix = match (entry.flags & SUFFIX_A != 0, entry.flags & SUFFIX_F != 0) {
        (true, _) => Suffix::A,
        (false, true) => Suffix::F,
        (false, false) => Suffix::None,
    };
    if !(10..=999).contains(&entry.arch) {
        return Err(damaged(format!("an entry is for architecture {}", entry.arch)));
    }
    let arch = Arch { kind, number: entry.arch, suffix };
    Ok(Some(Code { arch, kernels: kernels(entry)? }))
}

fn kernels(entry: &Entry<'_>) -> Result<Option<Vec<Kernel>>, ImageProblem> {
    if entry.flags & COMPRESSED != 0 {
        return Ok(None);
    }
    let code = match entry.kind {
        KIND_PTX => ptx::read(entry.payload)?,
        _ => cubin::read(entry.payload)?,
    };
    Ok(code.kernels)
}

fn cut(bytes: &[u8], what: &'static str, end: u64) -> ImageProblem {
    ImageProblem::Truncated { what, end, has: bytes.len() as u64 }
}

fn damaged(part: String) -> ImageProblem {
    ImageProblem::Damaged { part }
}
