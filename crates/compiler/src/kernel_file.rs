// SPDX-License-Identifier: Apache-2.0
//! Files of kernels that are written here, and such a file as a package: each packed function of it
//! is a function, and the file's name is the package's.
//!
//! Whoever has the table of texts opens the files ([`Reading::open_kernels`]), so that problems show
//! where they are. Not here: the language, and what is compiled.

use crate::file::{Files, Held, Looked};
use crate::image::Arch;
use crate::package::{Function, Package, PackedLaunches, WrittenLaunch};
use crate::package_file::{Reading, check_name, clashes};
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_kernel_lang::packed;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Span, TextId, Texts};
use std::collections::HashMap;
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
        "compute_80".parse::<Arch>().map(|oldest| vec![oldest.into()]).unwrap_or_default()
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
        OpenedFile::read(&self.path, None, &mut texts, held).map(Arc::new).map_err(|problems| {
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
    /// Reads a file, or the text that is given for it, and what it imports.
    ///
    /// # Errors
    /// What is wrong with any of them.
    pub fn read(
        path: &Path,
        text: Option<&str>,
        texts: &mut Texts,
        held: &Held,
    ) -> Result<OpenedFile, Diagnostics> {
        let mut files = Files::new(held);
        let mut door = |wanted: &Path| match text {
            Some(text) if wanted == path => Ok(text.as_bytes().to_vec()),
            _ => {
                let not_found = || io::Error::from(io::ErrorKind::NotFound);
                let found = files.find([wanted]).ok_or_else(not_found)?;
                files.read(found).map_err(|error| error.reason)
            }
        };
        let read = KernelFiles::read(path, &mut door, texts)?;
        Ok(OpenedFile { files: read, looked: files.into_looked() })
    }
}

impl Reading {
    /// Reads the kernel files that launches name, each once. What is wrong with one is a problem,
    /// and the functions that name it are not sound.
    pub fn open_kernels(&mut self, texts: &mut Texts, held: &Held) {
        let mut opened: HashMap<PathBuf, Option<Arc<OpenedFile>>> = HashMap::new();
        let mut sound = Vec::new();
        for mut function in std::mem::take(&mut self.package.functions) {
            let is_open = self.open_function(&mut function, texts, held, &mut opened);
            if is_open { &mut sound } else { &mut self.unsound }.push(function);
        }
        self.package.functions = sound;
        for mut function in std::mem::take(&mut self.unsound) {
            self.open_function(&mut function, texts, held, &mut opened);
            self.unsound.push(function);
        }
    }

    /// Reads the files of a function; whether all of them could be read.
    fn open_function(
        &mut self,
        function: &mut Function<WrittenLaunch>,
        texts: &mut Texts,
        held: &Held,
        opened: &mut HashMap<PathBuf, Option<Arc<OpenedFile>>>,
    ) -> bool {
        let mut all = true;
        for file in function.launches.iter_mut().filter_map(WrittenLaunch::kernel_file_mut) {
            if file.opened.is_none() {
                let path = file.path.value.clone();
                let place = file.path.span;
                let known = opened.entry(path.clone()).or_insert_with(|| {
                    match OpenedFile::read(&path, None, texts, held) {
                        Ok(read) => Some(Arc::new(read)),
                        Err(found) => {
                            self.problems.extend(found.into_iter().map(|one| one.at(place)));
                            None
                        }
                    }
                });
                file.opened = known.clone();
            }
            all &= file.opened.is_some();
        }
        function.launches.retain(|launch| {
            launch.kernel_file().is_none_or(|file| file.opened.is_some())
        });
        all
    }
}

/// Reads a kernel file as a package. Its text is the given one; what it imports lies beside it.
pub fn read(name: &str, path: &Path, text: &str, texts: &mut Texts, held: &Held) -> Reading {
    let mut reading = Reading {
        package: Package::new("", vec![]),
        unsound: vec![],
        is_link_known: true,
        problems: Diagnostics::default(),
    };
    let opened = match OpenedFile::read(path, Some(text), texts, held) {
        Ok(opened) => Arc::new(opened),
        Err(problems) => {
            reading.problems = problems;
            return reading;
        }
    };
    let place = beginning(opened.files.root().text);
    reading.package.name = name.to_string();
    reading.problems.extend(check_name(name, place));
    let (functions, problems) = packed::functions(&opened.files);
    if opened.files.packed().next().is_none() {
        let message = format!("`{}` has no packed functions", path.display());
        let problem = Diagnostic::new("empty-package", message);
        let help = "write `@kp.jit(\"name(x: Tensor([n], float32))\")` in front of a function";
        reading.problems.push(problem.at(place).help(help));
    }
    reading.problems.extend(problems);
    let path = Placed::new(path.to_path_buf(), place);
    let file = KernelFile { opened: Some(opened), ..KernelFile::new(path) };
    let clashes = clashes(functions.iter().map(|function| &function.signature));
    let is_sound = |number: &usize| !clashes.iter().any(|(clashing, _)| clashing == number);
    let functions = functions.into_iter().enumerate().filter(|(number, _)| is_sound(number));
    let functions = functions.map(|(_, function)| written(function, &file));
    reading.package.functions = functions.collect();
    reading.problems.extend(clashes.into_iter().map(|(_, problem)| problem));
    reading
}

fn written(function: packed::PackedFunction, file: &KernelFile) -> Function<WrittenLaunch> {
    let packed::PackedFunction { signature, doc, workspaces, rows } = function;
    let launches = vec![WrittenLaunch::Packed(PackedLaunches { file: file.clone(), rows })];
    Function { signature, doc, workspaces, launches, submit: None }
}

/// The beginning of a text.
fn beginning(text: TextId) -> Span {
    Span { text: Some(text), start: 0, end: 0 }
}

/// The name of the package that a kernel file is: that of the file, without its ending.
pub fn package_name(path: &Path) -> String {
    match path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) {
        // The standard input.
        Some(stem) if stem.starts_with('<') => "kernels".to_string(),
        stem => stem.unwrap_or_default(),
    }
}
