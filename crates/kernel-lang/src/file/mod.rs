// SPDX-License-Identifier: Apache-2.0
//! Kernel files: a file and the kernel files that it imports.
//!
//! Python runs the same file, so that what Python alone uses may stand there: imports of other
//! modules, functions that no kernel calls, `if __name__ == "__main__":`. Names of these are
//! mistakes only where a kernel uses them. A module that is imported is a kernel file where there
//! is one of that name in the folder; any other is Python's.
//!
//! Every file comes through the door that the caller opens, or is a text that the caller hands over
//! with what it captures (`source.rs`). What belongs to the language and is written in it is behind
//! them (`library.rs`). `read.rs` reads them, each once: a file is what it says and captures, and
//! two paths that lead to the same are one. A constant is kept as it is written: what it is,
//! elaboration finds out when it meets it.

mod captured;
mod decorator;
mod defaults;
pub(crate) mod keywords;
pub(crate) mod library;
mod lines;
mod read;
mod source;
mod specs;

pub use captured::{Captured, Unheld};
pub use decorator::{Checks, Decorator, Said, SaidText};
pub use source::{Identity, Role, Source, SourceId, Sources};

use crate::python::assigner::{Assigners, Head};
use crate::python::tree::{Block, Class, Expr, Function, Name};
use kernpack_syntax::{Diagnostic, Diagnostics, Span, TextId, Texts};
use lines::Lines;
use read::Reader;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The door through which files are read.
pub type Door<'d> = &'d mut dyn FnMut(&Path) -> io::Result<Vec<u8>>;

/// A file of a set, by number; the first is the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// A kernel file, and those that it imports.
#[derive(Debug)]
pub struct KernelFiles {
    /// The library is behind them: `library.rs`.
    modules: Vec<Module>,
    problems: Diagnostics,
    identity: Identity,
    assigners: OnceLock<Assigners>,
}

/// A kernel file.
#[derive(Debug)]
pub struct Module {
    /// Its path, as it was read.
    pub path: PathBuf,
    /// Its text.
    pub text: TextId,
    /// The meanings of its names.
    pub names: HashMap<Name, Global>,
    /// Its functions, in order.
    pub functions: Vec<Arc<Definition>>,
    /// Its docstring.
    pub doc: Option<Arc<str>>,
    lines: Lines,
}

/// The meaning of a name of a file.
#[derive(Clone, Debug)]
pub enum Global {
    /// A function.
    Function(Arc<Definition>),
    /// A class.
    Class(Arc<ClassDefinition>),
    /// The value of an expression: its part of that number, where a tuple is taken apart.
    Constant(Arc<Expr>, Option<usize>),
    /// kernpack itself.
    Kernpack,
    /// The member of kernpack of that name.
    Member(Name),
    /// Another kernel file.
    Module(ModuleId),
    /// The name of another kernel file.
    Imported(ModuleId, Name),
    /// A value that the program has, in which the text stands.
    Captured(Captured<ModuleId>),
    /// Something of Python's, bound there.
    Python(Span),
}

/// A function of a file.
#[derive(Debug)]
pub struct Definition {
    /// The file.
    pub module: ModuleId,
    /// The function.
    pub function: Arc<Function>,
    /// Its kind.
    pub kind: DefinitionKind,
}

/// A class of a file.
#[derive(Debug)]
pub struct ClassDefinition {
    /// The file.
    pub module: ModuleId,
    /// The class.
    pub class: Arc<Class>,
}

/// The kinds of functions.
#[derive(Debug)]
pub enum DefinitionKind {
    /// Kernels call it; or nobody but Python does.
    Device,
    /// `@kp.kernel`
    Kernel,
    /// `@kp.jit("signature", workspace={…})`
    Packed(Decorator),
    /// `@kp.jit` without a signature, where the caller gives none either: packed functions call it.
    Bare,
    /// It has a decorator of Python's.
    Python(Span),
}

impl Definition {
    /// Its name.
    pub fn name(&self) -> &Name {
        &self.function.name.name
    }
}

impl KernelFiles {
    /// Reads a file, and the kernel files that it imports.
    ///
    /// # Errors
    /// The problems of any of them, and files that cannot be read.
    pub fn read(
        root: &Path,
        door: Door<'_>,
        texts: &mut Texts,
    ) -> Result<KernelFiles, Diagnostics> {
        let files = KernelFiles::read_with_problems(root, &[], door, texts)?;
        files.problems.clone().into_result().map(|()| files)
    }

    /// As [`KernelFiles::read`], of files that may have what kernels have not: that is among the
    /// [problems](KernelFiles::problems), so that other mistakes can be looked for too. `specs` are
    /// signatures for functions of the first file that have none.
    ///
    /// # Errors
    /// The problems that keep them from being read, and their names from being known.
    pub fn read_with_problems(
        root: &Path,
        specs: &[String],
        door: Door<'_>,
        texts: &mut Texts,
    ) -> Result<KernelFiles, Diagnostics> {
        let none = Sources::default();
        let mut reader = Reader::new(&none, door, texts);
        reader.load_root(root, specs);
        reader.finish()
    }

    /// Reads a source that the caller hands over, what it captures, and what these import. What
    /// they have that kernels have not is among the [problems](KernelFiles::problems).
    ///
    /// # Errors
    /// The problems that keep them from being read, and their names from being known.
    pub fn read_source(
        sources: &Sources,
        root: SourceId,
        door: Door<'_>,
        texts: &mut Texts,
    ) -> Result<KernelFiles, Diagnostics> {
        let mut reader = Reader::new(sources, door, texts);
        reader.load_source(root);
        reader.finish()
    }

    /// The content of the files, whatever they are called.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Python in kernels and beside them that is not part of the language. What comes of files that
    /// have any is looked at for other mistakes only; these are not told again there.
    pub fn problems(&self) -> &Diagnostics {
        &self.problems
    }

    /// Whether a mistake is one of the [problems](KernelFiles::problems).
    pub(crate) fn is_told(&self, problem: &Diagnostic) -> bool {
        let place = |one: &Diagnostic| one.labels.first().map(|label| label.span);
        let is_it =
            |one: &Diagnostic| one.message == problem.message && place(one) == place(problem);
        self.problems.0.iter().any(is_it)
    }

    /// The file that was asked for.
    pub fn root(&self) -> &Module {
        self.module(ModuleId(0))
    }

    /// A file of the set.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// Every file, the one that was asked for first.
    pub fn modules(&self) -> &[Module] {
        &self.modules[..self.modules.len() - library::PARTS.len()]
    }

    /// The meaning of a name of a file, through imports.
    pub fn find(&self, module: ModuleId, name: &str) -> Option<(ModuleId, &Global)> {
        let (mut module, mut name) = (module, name);
        // Names imported in a circle, as no file of Python could, end somewhere.
        for _ in 0..=self.modules.len() {
            match self.modules.get(module.0)?.names.get(name)? {
                Global::Imported(other, member) => (module, name) = (*other, member),
                found => return Some((module, found)),
            }
        }
        None
    }

    /// The fields of objects that statements of these files may assign.
    pub(crate) fn assigned_fields(&self, head: Head<'_>, block: &Block) -> HashSet<Name> {
        let assigners = self.assigners.get_or_init(|| {
            let mut assigners = Assigners::default();
            for module in &self.modules {
                module.functions.iter().for_each(|one| assigners.add(&one.function));
                for global in module.names.values() {
                    if let Global::Class(definition) = global {
                        assigners.add_class(&definition.class);
                    }
                }
            }
            assigners
        });
        assigners.fields(head, block)
    }

    /// The function of that name in the file that was asked for, imported or its own.
    pub fn function(&self, name: &str) -> Option<&Arc<Definition>> {
        match self.find(ModuleId(0), name)? {
            (_, Global::Function(definition)) => Some(definition),
            _ => None,
        }
    }

    /// The packed functions of the file that was asked for, in order.
    pub fn packed(&self) -> impl Iterator<Item = &Arc<Definition>> {
        let functions = self.root().functions.iter();
        functions.filter(|one| matches!(one.kind, DefinitionKind::Packed(_)))
    }

    /// The line and column of a place in a file, both from 1; columns count characters. It is found
    /// at once in the line `near`, where one is looked for that may be there.
    pub fn position(&self, module: ModuleId, byte: usize, near: u32) -> (u32, u32) {
        self.module(module).lines.position(byte, near)
    }
}
