// SPDX-License-Identifier: Apache-2.0
//! The contents of a file, without loading or running it.
//!
//! All that is shown of a package comes from its [`Record`], which a digest covers, and not from
//! the file's symbol tables, which nothing protects: a package that was stripped, or linked into a
//! larger library, still says what it is, and a damaged file gives the answer it always gave or an
//! error. The kind and the architecture, which the ELF header alone knows, are cross-checked.

use crate::export::note::{self, NoteError};
use crate::export::{
    FunctionRecord, ImageRecord, Imports, LaunchRecord, LayoutRecord, Record, SourceRecord,
};
use crate::image::section;
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use object::read::{ReadCache, ReadRef};
use serde::Serialize;
use std::fmt::{self, Write};
use std::fs::File;
use std::ops::Range;
use thiserror::Error;

/// The kind of a file, and the packages in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The kind of the file.
    pub kind: FileKind,
    /// The architecture that it runs on.
    pub architecture: Architecture,
    /// The packages, in the order in which they were linked.
    pub packages: Vec<Record>,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A `.o`, to be linked.
    RelocatableObject,
    /// A `.so`, to be loaded.
    SharedObject,
}

/// A machine that packages are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

/// Why a file says nothing about packages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InspectError {
    /// It is no 64-bit little-endian ELF file, or it is damaged.
    #[error("not an ELF file that kernpack can read")]
    Elf(#[from] object::read::Error),
    /// It is an executable, a core dump, or damaged.
    #[error("neither a relocatable nor a shared object")]
    Kind,
    /// It is for a machine that there are no packages for.
    #[error("for the ELF machine {0}, which kernpack does not know")]
    Machine(u16),
    /// No package is in it.
    #[error("has no section {}: no package was linked into it", note::SECTION)]
    NoRecord,
    /// It has the section twice, or the section is no note.
    #[error("its section {} is not what a linker makes", note::SECTION)]
    Section,
    /// The records cannot be read.
    #[error("its section {section} {0}", section = note::SECTION)]
    Note(NoteError),
}

/// The most that is read of a file at a time. The sections and strings of what compilers make are
/// far smaller.
const MAX_READ: u64 = 64 << 20;

/// A file on a disk, of which only what is looked at is read.
#[derive(Clone, Copy)]
struct OnDisk<'f>(&'f ReadCache<&'f File>);

impl<'f> ReadRef<'f> for OnDisk<'f> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'f [u8], ()> {
        if size > MAX_READ { Err(()) } else { self.0.read_bytes_at(offset, size) }
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'f [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}

/// Reads what a file says about itself. The file is not loaded, and nothing of it runs.
///
/// # Errors
/// Where it is no object with packages in it, where it is damaged, and where a record has a newer
/// format.
pub fn inspect(file: &[u8]) -> Result<Inspection, InspectError> {
    read(file)
}

/// The same of an open file, however large it is.
///
/// # Errors
/// As [`inspect`]; what cannot be read counts as damaged.
pub fn inspect_file(file: &File) -> Result<Inspection, InspectError> {
    read(OnDisk(&ReadCache::new(file)))
}

/// An image in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundImage {
    /// `cubin`, `fatbin` or `ptx`.
    pub kind: &'static str,
    /// The architectures that it is for.
    pub archs: Vec<String>,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its size in bytes; of PTX with the NUL behind it.
    pub size: u64,
}

/// The GPU images of a file: none where it has no package with kernels for GPUs.
///
/// # Errors
/// Where it is no object that can be read.
pub fn images(file: &[u8]) -> Result<Vec<FoundImage>, InspectError> {
    let header = elf::FileHeader64::<LittleEndian>::parse(file)?;
    let sections = header.sections(LittleEndian, file)?;
    let name = section::SECTION.as_bytes();
    let Some((_, found)) = sections.section_by_name(LittleEndian, name) else { return Ok(vec![]) };
    let start = found.sh_offset(LittleEndian);
    let images = section::split(found.data(LittleEndian, file)?).into_iter();
    Ok(images
        .map(|(range, image)| FoundImage {
            kind: image.kind.word(),
            archs: image.archs().iter().map(ToString::to_string).collect(),
            offset: start + range.start as u64,
            size: range.len() as u64,
        })
        .collect())
}

fn read<'f>(file: impl ReadRef<'f>) -> Result<Inspection, InspectError> {
    let header = elf::FileHeader64::<LittleEndian>::parse(file)?;
    header.endian()?;
    Ok(Inspection {
        kind: kind(header)?,
        architecture: architecture(header)?,
        packages: note::decode(find_section(header, file)?).map_err(InspectError::Note)?,
    })
}

type Header = elf::FileHeader64<LittleEndian>;

/// The kind, which is told twice: only what is to be loaded has program headers.
fn kind(header: &Header) -> Result<FileKind, InspectError> {
    let has_segments = header.e_phnum(LittleEndian) > 0;
    match (header.e_type(LittleEndian), has_segments) {
        (elf::ET_REL, false) => Ok(FileKind::RelocatableObject),
        (elf::ET_DYN, true) => Ok(FileKind::SharedObject),
        _ => Err(InspectError::Kind),
    }
}

/// The architecture. The machines' numbers differ in several bits.
fn architecture(header: &Header) -> Result<Architecture, InspectError> {
    match header.e_machine(LittleEndian) {
        elf::EM_X86_64 => Ok(Architecture::X86_64),
        elf::EM_AARCH64 => Ok(Architecture::Aarch64),
        other => Err(InspectError::Machine(other.0)),
    }
}

/// The one section that holds the notes. Linkers join sections of a name, so a second one means
/// damage.
fn find_section<'f>(header: &Header, file: impl ReadRef<'f>) -> Result<&'f [u8], InspectError> {
    let sections = header.sections(LittleEndian, file)?;
    let is_ours = |section: &&elf::SectionHeader64<LittleEndian>| {
        sections.section_name(LittleEndian, section) == Ok(note::SECTION.as_bytes())
    };
    let mut found = sections.iter().filter(is_ours);
    let section = found.next().ok_or(InspectError::NoRecord)?;
    if found.next().is_some() || section.sh_type(LittleEndian) != elf::SHT_NOTE {
        return Err(InspectError::Section);
    }
    Ok(section.data(LittleEndian, file)?)
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::RelocatableObject => "relocatable object",
            FileKind::SharedObject => "shared object",
        })
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Architecture::X86_64 => "x86_64",
            Architecture::Aarch64 => "aarch64",
        })
    }
}

/// The description of the file, without control characters, which a terminal would obey.
impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        writeln!(text, "{} for {}", self.kind, self.architecture)?;
        self.packages.iter().try_for_each(|package| write_package(&mut text, package))?;
        let printable = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
        text.chars().map(printable).try_for_each(|c| f.write_char(c))
    }
}

fn write_package(text: &mut String, record: &Record) -> fmt::Result {
    writeln!(text, "\npackage {}", record.package)?;
    writeln!(text, "  made by    kernpack {}, format {}", record.compiler, record.format)?;
    writeln!(text, "  sources    sha256 {}", record.sources)?;
    write_list(text, "targets", &record.targets)?;
    write_list(text, "libraries", &record.libraries)?;
    write_list(text, "undefined", &undefined(record))?;
    write_list(text, "exports", &record.exports)?;
    record.functions.iter().try_for_each(|function| write_function(text, function))
}

/// The symbols that the package leaves undefined, a line for each place they may come from.
fn undefined(record: &Record) -> Vec<String> {
    let Imports { libtvm_ffi, libc } = &record.imports;
    let groups =
        [("from libtvm_ffi", libtvm_ffi), ("from libc", libc), ("others", &record.undefined)];
    let groups = groups.iter().filter(|(_, names)| !names.is_empty());
    groups.map(|(from, names)| format!("{from}: {}", names.join(", "))).collect()
}

fn write_list(text: &mut String, title: &str, items: &[String]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        writeln!(text, "  {:<10} {item}", if i == 0 { title } else { "" })?;
    }
    Ok(())
}

fn write_function(text: &mut String, function: &FunctionRecord) -> fmt::Result {
    writeln!(text, "\n  {}", function.signature)?;
    for line in function.doc.iter().flat_map(|doc| doc.lines()) {
        writeln!(text, "{}", format!("    {line}").trim_end())?;
    }
    for workspace in &function.workspaces {
        writeln!(text, "    allocates {workspace}")?;
    }
    if let Some(submit) = &function.submit {
        writeln!(text, "    submit {submit}")?;
    }
    function.launches.iter().try_for_each(|launch| write_launch(text, launch))
}

fn write_launch(text: &mut String, launch: &LaunchRecord) -> fmt::Result {
    let when = launch.when.join(", ");
    let when = if when.is_empty() { when } else { format!(" when {when}") };
    writeln!(text, "    launches {}({}){when}", launch.kernel, launch.args.join(", "))?;
    if let Some(source) = &launch.source {
        let returns = launch.returns.iter().map(|returns| format!(", returns {returns}"));
        writeln!(text, "      {}{}", source_words(source), returns.collect::<String>())?;
    }
    if let Some(layout) = &launch.layout {
        writeln!(text, "      {}", layout_words(layout))?;
    }
    Ok(())
}

/// Where a kernel comes from; a kind that this kernpack does not know by its own name.
fn source_words(source: &SourceRecord) -> String {
    let kind = match &source.kind[..] {
        "host" => "host function",
        "cuda" => "CUDA C++",
        "triton" => "Triton",
        "files" => "compiled GPU code",
        other => other,
    };
    let kind = if source.checked { format!("{kind}, checked") } else { kind.to_string() };
    let images: Vec<_> = source.images.iter().map(image_words).collect();
    if images.is_empty() { kind } else { format!("{kind}: {}", images.join(", ")) }
}

/// `machine code for sm_90a by ptxas 12.8`
fn image_words(image: &ImageRecord) -> String {
    let code = |arch: &String| {
        let compressed = if image.compressed.contains(arch) { "compressed " } else { "" };
        let form = if arch.starts_with("compute_") { "PTX" } else { "machine code" };
        format!("{compressed}{form} for {arch}")
    };
    let codes = image.archs.iter().map(code).collect::<Vec<_>>().join(", ");
    let by = image.assembler.iter().map(|assembler| format!(" by {assembler}"));
    let codes = by.fold(codes, |codes, by| codes + &by);
    if image.kind == "fatbin" { format!("fatbin ({codes})") } else { codes }
}

/// `grid [ceildiv(n, 256)], block [256], smem 4*n`
fn layout_words(layout: &LayoutRecord) -> String {
    let LayoutRecord { grid, block, smem, cluster, flags, priority, stream } = layout;
    let dims = |name: &str, dims: &[String]| format!("{name} [{}]", dims.join(", "));
    let mut words = vec![dims("grid", grid), dims("block", block)];
    words.extend(smem.iter().map(|smem| format!("smem {smem}")));
    words.extend((!cluster.is_empty()).then(|| dims("cluster", cluster)));
    words.extend(flags.iter().map(|flag| flag.key().to_string()));
    words.extend(priority.iter().map(|priority| format!("priority {priority}")));
    words.extend(stream.iter().map(|stream| format!("stream {stream}")));
    words.join(", ")
}
