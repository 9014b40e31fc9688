// SPDX-License-Identifier: Apache-2.0
//! Kernel files as packages have them: opened where a package file names them, or one by itself, of
//! which each packed function is a function of the package, and the name the package's; and a
//! function of a running program.

use crate::file::Held;
use crate::kernel_file::{KernelFile, OpenedFile};
use crate::package::{Function, PackedLaunches, WrittenLaunch};
use crate::package_file::{Reading, check_name, clashes};
use crate::program::{Place, Program};
use crate::source::SourceErrorKind;
use kernpack_kernel_lang::file::Checks;
use kernpack_kernel_lang::packed;
use kernpack_syntax::{Diagnostic, Placed, Span, TextId, Texts};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
                    match OpenedFile::read(&path, None, &[], texts, held) {
                        Ok(read) => {
                            let found = read.files.problems().clone();
                            self.problems.extend(found.into_iter().map(|one| one.at(place)));
                            Some(Arc::new(read))
                        }
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
        function
            .launches
            .retain(|launch| launch.kernel_file().is_none_or(|file| file.opened.is_some()));
        all
    }
}

/// Reads a kernel file as a package. Its text is the given one; what it imports lies beside it.
/// `specs` are signatures for its functions that have none.
pub fn read(
    name: &str,
    path: &Path,
    (text, specs): (&str, &[String]),
    texts: &mut Texts,
    held: &Held,
) -> Reading {
    let opened = match OpenedFile::read(path, Some(text), specs, texts, held) {
        Ok(opened) => opened,
        Err(problems) => return Reading { problems, ..Reading::empty() },
    };
    let place = beginning(opened.files.root().text);
    let has_packed = opened.files.packed().next().is_some();
    let mut reading = package(name, vec![opened]);
    reading.problems.extend(check_name(name, place));
    if !has_packed {
        let message = format!("`{}` has no packed functions", path.display());
        let problem = Diagnostic::new("empty-package", message);
        let help = "write `@kp.jit(\"name(x: Tensor([n], float32))\")` in front of a function, or give \
                    the signature of one by `--specs`";
        reading.problems.push(problem.at(place).help(help));
    }
    reading
}

/// Reads functions of a running program as a package.
pub fn read_program(text: &str, places: &[Place], texts: &mut Texts, held: &Held) -> Reading {
    let read = Program::parse(text).and_then(|program| {
        let sources = program.sources(places)?;
        Ok((program.package, sources))
    });
    let (name, sources) = match read {
        Ok(read) => read,
        Err(message) => {
            let message = format!("this is no program: {message}");
            let problem = Diagnostic::new(SourceErrorKind::File.code(), message);
            return Reading { problems: problem.into(), ..Reading::empty() };
        }
    };
    let opened =
        sources.iter().map(|(sources, root)| OpenedFile::read_source(sources, *root, texts, held));
    match opened.collect::<Result<Vec<_>, _>>() {
        Ok(opened) => package(&name, opened),
        Err(problems) => Reading { problems, ..Reading::empty() },
    }
}

/// The packed functions of files as a package of that name.
fn package(name: &str, opened: Vec<OpenedFile>) -> Reading {
    let mut reading = Reading::empty();
    reading.package.name = name.to_string();
    let mut all = Vec::new();
    for opened in opened.into_iter().map(Arc::new) {
        let root = opened.files.root();
        let path = Placed::new(root.path.clone(), beginning(root.text));
        reading.problems.extend(opened.files.problems().clone());
        let (functions, problems) = packed::functions(&opened.files);
        reading.problems.extend(problems);
        let file = KernelFile { opened: Some(opened), ..KernelFile::new(path) };
        all.extend(functions.into_iter().map(|function| written(function, &file)));
    }
    let clashes = clashes(all.iter().map(|function| &function.signature));
    let is_sound = |number: &usize| !clashes.iter().any(|(clashing, _)| clashing == number);
    let functions = all.into_iter().enumerate().filter(|(number, _)| is_sound(number));
    reading.package.functions = functions.map(|(_, function)| function).collect();
    reading.problems.extend(clashes.into_iter().map(|(_, problem)| problem));
    reading
}

fn written(function: packed::PackedFunction, file: &KernelFile) -> Function<WrittenLaunch> {
    let packed::PackedFunction { signature, doc, workspaces, rows, unrelated, checks } = function;
    let Checks { asserts, is_checked: checked } = checks;
    let file = KernelFile { asserts, checked, ..file.clone() };
    let launches = vec![WrittenLaunch::Packed(PackedLaunches { file, rows, unrelated })];
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
