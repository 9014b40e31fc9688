// SPDX-License-Identifier: Apache-2.0
//! How wide the accesses of each line became, read off PTX with lines, and which fact is missing
//! for more.

use super::code;
use crate::source::assembler::LineTable;
use kernpack_codegen::kernel::nvptx::ptx;
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::interp::Widths;
use kernpack_kernel_ir::op::Qualifier;
use kernpack_kernel_ir::types::{MOST_VECTOR_BYTES, Space};
use kernpack_kernel_ir::widen::{Missing, Site, sites, widen};
use kernpack_machine::Arch;
use kernpack_package::source::{KernelSource, SourceError, SourceErrorKind};
use kernpack_syntax::Placed;
use std::cmp::Reverse;
use std::fmt;

/// The accesses of a line of a kernel to one tensor, reading or writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAccesses {
    /// The kernel's symbol.
    pub kernel: String,
    /// The file, as the kernel names it; nothing where nobody wrote the line.
    pub file: Option<String>,
    /// The line from 1.
    pub line: u32,
    /// The column of the first access from 1.
    pub column: u32,
    /// The accesses as they are written.
    pub site: Site,
    /// The bytes of each instruction that they became, the widest first: none where another line
    /// has the instruction.
    pub bytes: Vec<u32>,
}

/// The accesses of the kernels of a source that are for an architecture, in the order of their
/// lines.
///
/// # Errors
/// All that is wrong with the kernels.
pub fn accesses(source: &KernelSource, arch: Arch) -> Result<Vec<LineAccesses>, Vec<SourceError>> {
    let prepared = code::prepared(source, arch)?;
    if prepared.is_empty() {
        return Ok(Vec::new());
    }
    let kernels: Vec<_> = prepared.iter().collect();
    let written = ptx(&kernels, arch, true).map_err(|error| {
        vec![SourceError::new(SourceErrorKind::Assembler, source.path.span, error)]
    })?;
    let instructions = Instruction::all(&written.text);
    let of_kernels = prepared.into_iter().map(|kernel| of_kernel(kernel, &instructions));
    Ok(of_kernels.flatten().collect())
}

/// How wide the accesses of kernels become, on the first of these architectures that they are for.
///
/// # Errors
/// All that is wrong with the kernels.
pub fn widths(source: &KernelSource, archs: &[Placed<Arch>]) -> Result<Widths, Vec<SourceError>> {
    let mut widths = Widths::default();
    for arch in archs {
        let all = accesses(source, arch.value)?;
        for LineAccesses { site, bytes, .. } in &all {
            widths.join(&site.places, site.is_write, bytes.first().copied().unwrap_or_default());
        }
        if !all.is_empty() {
            break;
        }
    }
    Ok(widths)
}

/// The narrowest accesses of an innermost loop that could be wider, if there are such.
pub fn narrowest(all: &[LineAccesses]) -> Option<&LineAccesses> {
    let could_be_wider = |one: &&LineAccesses| one.site.n_loops > 0 && !one.missing().is_empty();
    let bytes = |one: &LineAccesses| one.bytes.iter().copied().min();
    all.iter().filter(could_be_wider).min_by_key(|one| (Reverse(one.site.n_loops), bytes(one)))
}

fn of_kernel(mut kernel: Kernel, instructions: &[Instruction]) -> Vec<LineAccesses> {
    let ranges = widen(&mut kernel);
    let of_site = |site: Site| {
        let first = site.places[0];
        let is_its = |one: &&Instruction| {
            let is_there = site.places.iter().any(|place| {
                place.file.is_some() && (place.line, place.column) == (one.line, one.column)
            });
            one.kernel == kernel.name
                && (one.is_write, one.space) == (site.is_write, site.space)
                && is_there
        };
        let mut bytes: Vec<_> = instructions.iter().filter(is_its).map(|one| one.bytes).collect();
        bytes.sort_unstable_by(|a, b| b.cmp(a));
        LineAccesses {
            kernel: kernel.name.clone(),
            file: first.file.map(|file| kernel.files[file.index()].clone()),
            line: first.line,
            column: first.column,
            site,
            bytes,
        }
    };
    sites(&kernel, &ranges).into_iter().map(of_site).collect()
}

impl LineAccesses {
    /// The facts that are missing for fewer accesses than there are.
    pub fn missing(&self) -> &[Missing] {
        let is_narrow = |bytes: &u32| *bytes < self.site.adjacent_bytes;
        if self.bytes.iter().any(is_narrow) { &self.site.missing } else { &[] }
    }

    /// The fact that is missing, in words.
    pub fn reason(&self) -> Option<String> {
        let words: Vec<_> = self.missing().iter().map(words_of).collect();
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

/// As people read it: ``sum.py:11:20: reads `x`, 16 bytes``.
impl fmt::Display for LineAccesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineAccesses { file, line, column, site, bytes, .. } = self;
        let verb = if site.is_write { "writes" } else { "reads" };
        let file = file.as_deref().unwrap_or("?");
        write!(f, "{file}:{line}:{column}: {verb} `{}`, ", site.tensor)?;
        match &bytes[..] {
            [] => return f.write_str("with an access of another line"),
            [one] => write!(f, "{one} bytes")?,
            all => {
                let runs: Vec<_> = all
                    .chunk_by(|a, b| a == b)
                    .map(|run| format!("{} × {}", run.len(), run[0]))
                    .collect();
                write!(f, "{} bytes", runs.join(" and "))?;
            }
        }
        if let Some(qualifier) = site.qualifier {
            write!(f, ", `{}`", qualifier.name())?;
        }
        match (self.reason(), site.adjacent_bytes) {
            (Some(reason), adjacent) => write!(f, "; {adjacent} at once would need {reason}"),
            (None, _) if site.qualifier == Some(Qualifier::Volatile) => Ok(()),
            (None, adjacent) if adjacent < MOST_VECTOR_BYTES && bytes.len() > 1 => {
                write!(f, "; no more than {adjacent} lie side by side")
            }
            (None, _) => Ok(()),
        }
    }
}

/// A missing fact as a signature says it, where it can.
fn words_of(missing: &Missing) -> String {
    match missing {
        Missing::Multiple { name, of } => format!("the rule `{name} % {of} == 0`"),
        Missing::Aligned { name, bytes } => format!("`align={bytes}` of `{name}`"),
        Missing::Index { of } => format!("an index that is a multiple of {of}"),
        Missing::Together => "one guard for all of them".to_string(),
        Missing::Alone { name } => format!("`noalias` of `{name}` and what is written"),
    }
}

/// An instruction that reads or writes memory.
#[derive(Debug)]
struct Instruction {
    kernel: String,
    line: u32,
    column: u32,
    is_write: bool,
    space: Space,
    bytes: u32,
}

impl Instruction {
    /// Those of a text of PTX that has lines.
    fn all(ptx: &str) -> Vec<Instruction> {
        let table = LineTable::read(ptx);
        let mut kernel = String::new();
        let mut all = Vec::new();
        for (number, line) in (1..).zip(ptx.lines()) {
            if let Some((_, name)) = line.split_once(".entry ") {
                kernel = name.split('(').next().unwrap_or_default().to_string();
            }
            if let Some((is_write, space, bytes)) = access(line)
                && let Some(place) = table.place(number)
            {
                let kernel = kernel.clone();
                let (line, column) = (place.line, place.column);
                all.push(Instruction { kernel, line, column, is_write, space, bytes });
            }
        }
        all
    }
}

/// Whether an instruction reads or writes memory that threads share: whether it writes, which
/// memory, and how many bytes.
fn access(line: &str) -> Option<(bool, Space, u32)> {
    // A predicate may stand in front.
    let name = line.split_whitespace().find(|word| word.contains('.'))?;
    let mut words = name.split('.');
    let is_write = match words.next()? {
        "ld" => false,
        "st" => true,
        _ => return None,
    };
    let words: Vec<_> = words.collect();
    let space = match () {
        () if words.contains(&"global") => Space::Global,
        () if words.contains(&"shared::cluster") => Space::Cluster,
        () if words.contains(&"shared") => Space::Shared,
        () => return None,
    };
    let bits: u32 =
        words.last()?.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    Some((is_write, space, lanes * bits / 8))
}

#[cfg(test)]
mod tests;
