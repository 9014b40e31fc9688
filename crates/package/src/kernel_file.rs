// SPDX-License-Identifier: Apache-2.0
//! Files of kernels that are written here, and how they are compiled.
//!
//! Whoever has the table of texts opens the files, so that problems show where they are. Not here:
//! the language, and such a file as a package (`kernel_package.rs`).

use crate::file::{Files, Held, Looked};
use crate::source::SourceErrorKind;
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_machine::Arch;
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
    /// What the kernels are compiled for.
    pub archs: Vec<Placed<Arch>>,
    /// Whether the code tells which line each instruction comes from.
    pub line_info: bool,
    /// What is in it, once it has been read.
    pub opened: Option<Arc<OpenedFile>>,
}

/// A file of kernels that has been read.
#[derive(Debug)]
pub struct OpenedFile {
    /// It, and the kernel files that it imports.
    pub files: KernelFiles,
    /// What was read and what was missed for it.
    pub looked: Looked,
}

impl KernelFile {
    /// A file that is compiled as where nothing is said.
    pub fn new(path: Placed<PathBuf>) -> KernelFile {
        KernelFile { path, archs: KernelFile::archs(), line_info: false, opened: None }
    }

    /// What kernels are compiled for where nothing is said: PTX that every device of the last years
    /// compiles for itself. What nobody wrote has no place.
    pub fn archs() -> Vec<Placed<Arch>> {
        vec![Arch::OLDEST_OF_KERNELS.into()]
    }

    /// Whether somebody wrote what it is compiled for.
    pub fn is_arch_written(&self) -> bool {
        self.archs.iter().any(|arch| arch.span != Span::default())
    }

    /// Whether both are compiled alike, from one file.
    pub fn is_same(&self, other: &KernelFile) -> bool {
        let KernelFile { path, archs, line_info, opened: _ } = self;
        *path == other.path && *archs == other.archs && *line_info == other.line_info
    }

    /// What is in it. Where nobody has read it, it is read now, and problems name their lines
    /// themselves.
    pub(crate) fn open(&self, held: &Held) -> Result<Arc<OpenedFile>, Diagnostics> {
        if let Some(opened) = &self.opened {
            return Ok(opened.clone());
        }
        let mut texts = Texts::default();
        let opened = OpenedFile::read(&self.path, None, &mut texts, held).and_then(|opened| {
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
    /// tell the problems of the files, and to build nothing where there are any.
    ///
    /// # Errors
    /// What keeps them from being read.
    pub fn read(
        path: &Path,
        text: Option<&str>,
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
            _ => {
                let not_found = || io::Error::from(io::ErrorKind::NotFound);
                let found = files.find([wanted]).ok_or_else(not_found)?;
                files.read(found).map_err(|error| error.reason)
            }
        };
        let read = KernelFiles::read_with_problems(path, &mut door, texts)?;
        Ok(OpenedFile { files: read, looked: files.into_looked() })
    }
}
