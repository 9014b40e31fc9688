// SPDX-License-Identifier: Apache-2.0
//! Files of kernels that are written here, how they are compiled, and for what.
//!
//! Whoever has the table of texts opens the files, so that problems show where they are. Not here:
//! the language, and such a file as a package (`kernel_package.rs`).

use crate::file::{Files, Held, Looked};
use crate::source::SourceErrorKind;
use kernpack_ffi_abi::DeviceType;
use kernpack_kernel_lang::file::{KernelFiles, SourceId, Sources};
use kernpack_machine::{Arch, ArchKind};
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Span, Texts};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The ending of kernel files.
pub const EXTENSION: &str = "py";

/// A file of kernels, and how they are compiled.
#[derive(Clone, Debug)]
pub struct KernelFile {
    /// The file.
    pub path: Placed<PathBuf>,
    /// The architectures that the kernels are compiled for.
    pub target: KernelTarget,
    /// Whether the code tells which line each instruction comes from.
    pub line_info: bool,
    /// Whether the code has the assertions that are made as it runs.
    pub asserts: bool,
    /// Whether the code checks its indices as it runs, and skips accesses outside.
    pub checked: bool,
    /// The parameter of its functions that is a buffer, into which the code writes what it waits
    /// for, where it does.
    pub timed: Option<String>,
    /// Its contents, once it has been read.
    pub opened: Option<Arc<OpenedFile>>,
}

/// The target that kernels that are written here are compiled for, and so where they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelTarget {
    /// GPUs of NVIDIA: machine code or PTX for each of these.
    Nvptx(Vec<Placed<Arch>>),
}

/// A file of kernels that has been read.
#[derive(Debug)]
pub struct OpenedFile {
    /// It, and the kernel files that it imports.
    pub files: KernelFiles,
    /// The files that were read and those that were missed for it.
    pub looked: Looked,
}

/// Where nothing is said: PTX that every device of the last years compiles for itself.
impl Default for KernelTarget {
    fn default() -> KernelTarget {
        let oldest = "compute_80".parse::<Arch>().map(|oldest| vec![oldest.into()]);
        KernelTarget::Nvptx(oldest.unwrap_or_default())
    }
}

impl KernelTarget {
    /// The kind of device that the kernels run on.
    pub fn device(&self) -> DeviceType {
        match self {
            KernelTarget::Nvptx(_) => DeviceType::CUDA,
        }
    }

    /// Makes it these architectures, where it has such. They have no place, as nobody wrote them.
    pub fn set_archs(&mut self, archs: &[Arch]) {
        match self {
            KernelTarget::Nvptx(own) => *own = archs.iter().copied().map(Placed::from).collect(),
        }
    }

    /// Whether somebody wrote it.
    pub fn is_written(&self) -> bool {
        match self {
            KernelTarget::Nvptx(archs) => archs.iter().any(|arch| arch.span != Span::default()),
        }
    }

    /// Whether code for it is made with an assembler of the machine.
    pub fn needs_assembler(&self) -> bool {
        match self {
            KernelTarget::Nvptx(archs) => needs_assembler(archs),
        }
    }
}

/// Whether machine code is asked for, which an assembler makes.
pub fn needs_assembler(archs: &[Placed<Arch>]) -> bool {
    archs.iter().any(|arch| arch.kind == ArchKind::Sm)
}

impl KernelFile {
    /// A file that is compiled as where nothing is said.
    pub fn new(path: Placed<PathBuf>) -> KernelFile {
        let (target, line_info) = (KernelTarget::default(), false);
        let (asserts, checked, timed) = (true, false, None);
        KernelFile { path, target, line_info, asserts, checked, timed, opened: None }
    }

    /// Whether both are compiled alike, from one file.
    pub fn is_same(&self, other: &KernelFile) -> bool {
        let KernelFile { path, target, line_info, asserts, checked, timed, opened: _ } = self;
        *path == other.path
            && *target == other.target
            && *line_info == other.line_info
            && *asserts == other.asserts
            && *checked == other.checked
            && *timed == other.timed
    }

    /// Its contents. Where nobody has read it, it is read now, and problems name their lines
    /// themselves.
    pub(crate) fn open(&self, held: &Held) -> Result<Arc<OpenedFile>, Diagnostics> {
        if let Some(opened) = &self.opened {
            return Ok(opened.clone());
        }
        let mut texts = Texts::default();
        let opened = OpenedFile::read(&self.path, None, &[], &mut texts, held).and_then(|opened| {
            opened.files.problems().clone().into_result().map(|()| Arc::new(opened))
        });
        opened.map_err(|problems| {
            let unplaced = |problem: Diagnostic| unplaced(problem, &texts).at(self.path.span);
            Diagnostics(problems.into_iter().map(unplaced).collect())
        })
    }
}

/// A problem that names its line in the message, and has no place.
fn unplaced(problem: Diagnostic, texts: &Texts) -> Diagnostic {
    let place = problem.labels.first().and_then(|label| {
        let text = texts.get(label.span.text?);
        let (line, column) = text.position(label.span.start);
        Some(format!("{}:{line}:{column}: ", text.name))
    });
    let message = place.unwrap_or_default() + &problem.message;
    Diagnostic { message, labels: vec![], ..problem }
}

impl OpenedFile {
    /// Reads a file, or the text that is given for it, and what it imports. Whoever does has to
    /// tell the problems of the files, and to build nothing where there are any. `specs` are
    /// signatures for its functions that have none.
    ///
    /// # Errors
    /// The problems that keep them from being read.
    pub fn read(
        path: &Path,
        text: Option<&str>,
        specs: &[String],
        texts: &mut Texts,
        held: &Held,
    ) -> Result<OpenedFile, Diagnostics> {
        let mut files = Files::new(held);
        if text.is_none()
            && let Err(error) = files.read(path)
        {
            let code = SourceErrorKind::File.code();
            return Err(Diagnostic::new(code, error.to_string()).into());
        }
        let mut door = |wanted: &Path| match text {
            Some(text) if wanted == path => Ok(text.as_bytes().to_vec()),
            _ => open(&mut files, wanted),
        };
        let read = KernelFiles::read_with_problems(path, specs, &mut door, texts)?;
        Ok(OpenedFile { files: read, looked: files.into_looked() })
    }

    /// Reads a source of a table, and what it uses of others.
    ///
    /// # Errors
    /// The problems that keep them from being read.
    pub fn read_source(
        sources: &Sources,
        root: SourceId,
        texts: &mut Texts,
        held: &Held,
    ) -> Result<OpenedFile, Diagnostics> {
        let mut files = Files::new(held);
        let mut door = |wanted: &Path| open(&mut files, wanted);
        let read = KernelFiles::read_source(sources, root, &mut door, texts)?;
        Ok(OpenedFile { files: read, looked: files.into_looked() })
    }
}

/// Reads a file that another one imports.
fn open(files: &mut Files<'_>, wanted: &Path) -> io::Result<Vec<u8>> {
    let not_found = || io::Error::from(io::ErrorKind::NotFound);
    let found = files.find([wanted]).ok_or_else(not_found)?;
    files.read(found).map_err(|error| error.reason)
}
