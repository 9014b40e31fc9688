// SPDX-License-Identifier: Apache-2.0
//! The library: what belongs to the language and is written in it. Its files stand behind those
//! that are read, and a kernel reaches what is in a public one as a member of kernpack.
//!
//! Mistakes in its functions are their callers': they are told where these call.

use super::{Global, KernelFiles, Module, ModuleId};
use crate::python::tree::{Block, Class, Function, Stmt, StmtKind};
use crate::python::{self, walk};
use kernpack_kernel_ir::kernel::{BY_LIBRARY, OF_LIBRARY};
use kernpack_syntax::{Diagnostic, Diagnostics, Label, Snippet, Span, TextId};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// A file of the library.
pub(super) struct Part {
    /// Its name.
    name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The family in the reference that its functions and classes are of, where kernels use them.
    pub family: Option<&'static str>,
}

/// The files.
pub(super) const PARTS: [Part; 7] = [
    Part { name: "memory.py", text: include_str!("../../library/memory.py"), family: None },
    Part {
        name: "pipeline.py",
        text: include_str!("../../library/pipeline.py"),
        family: Some("Pipelines"),
    },
    Part {
        name: "matrix.py",
        text: include_str!("../../library/matrix.py"),
        family: Some("Products of tiles"),
    },
    Part {
        name: "warpgroup.py",
        text: include_str!("../../library/warpgroup.py"),
        family: Some("Products of tiles by warpgroups"),
    },
    Part {
        name: "store.py",
        text: include_str!("../../library/store.py"),
        family: Some("Tiles that the device stores"),
    },
    Part {
        name: "ring.py",
        text: include_str!("../../library/ring.py"),
        family: Some("Products of tiles by warpgroups with roles"),
    },
    Part {
        name: "softmax.py",
        text: include_str!("../../library/softmax.py"),
        family: Some("Softmax tile by tile"),
    },
];

/// Trees of the library by the numbers of their texts.
type Blocks = BTreeMap<(Option<TextId>, &'static str), Arc<Block>>;

/// How many are kept: those of the library behind eight numbers of files.
const MOST_BLOCKS: usize = 8 * PARTS.len();

impl Part {
    /// Its path in messages, which is none of a file.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("{OF_LIBRARY}{}", self.name))
    }

    /// The tree of its text, which is among others as `source` is. It stands behind every file that
    /// is read, mostly as the text of a number that it had before: then nothing is parsed.
    pub fn block(&self, source: Snippet<'_>) -> Result<Arc<Block>, Diagnostics> {
        static PARSED: Mutex<Blocks> = Mutex::new(BTreeMap::new());
        let number = (source.span.text, self.name);
        // Nobody waits, as a fork may have left it locked.
        let kept = PARSED.try_lock().ok().and_then(|parsed| parsed.get(&number).cloned());
        if let Some(block) = kept {
            return Ok(block);
        }
        let block = Arc::new(python::parse(source)?);
        if let Ok(mut parsed) = PARSED.try_lock() {
            if parsed.len() >= MOST_BLOCKS {
                parsed.clear();
            }
            parsed.insert(number, block.clone());
        }
        Ok(block)
    }
}

impl KernelFiles {
    /// The files of the library, with their numbers.
    fn library(&self) -> impl Iterator<Item = (ModuleId, &Module, &'static Part)> {
        let first = self.modules.len() - PARTS.len();
        let parts = self.modules[first..].iter().zip(&PARTS).enumerate();
        parts.map(move |(number, (module, part))| (ModuleId(first + number), module, part))
    }

    /// The function of that name that packed functions call by their rows.
    pub fn of_library(&self, name: &str) -> Option<&Arc<super::Definition>> {
        self.library().find_map(|(_, module, _)| match module.names.get(name)? {
            Global::Function(definition) => Some(definition),
            _ => None,
        })
    }

    /// The file of the library that has a member of kernpack.
    pub(crate) fn library_with(&self, name: &str) -> Option<ModuleId> {
        let is_it = |module: &Module| {
            matches!(module.names.get(name), Some(Global::Function(_) | Global::Class(_)))
        };
        let mut public = self.library().filter(|(_, _, part)| part.family.is_some());
        public.find(|(_, module, _)| is_it(module)).map(|(id, _, _)| id)
    }

    /// Whether a place is in the library's text.
    pub(crate) fn is_of_library(&self, span: Span) -> bool {
        span.text.is_some_and(|text| self.library().any(|(_, module, _)| module.text == text))
    }

    /// Has a mistake that is in the library's text told at a call of it, and says so. The text
    /// tells why.
    pub(crate) fn tell_at_call(&self, problem: &mut Diagnostic, called_at: Span) -> bool {
        let written = problem.labels.first_mut().filter(|label| self.is_of_library(label.span));
        let Some(written) = written else { return false };
        written.text = BY_LIBRARY.to_string();
        problem.labels.insert(0, Label { span: called_at, text: String::new() });
        true
    }
}

/// A function or class of the library, as the reference shows it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The class that it is of, and a point; empty where it is of none.
    pub of: String,
    /// Its name.
    pub name: String,
    /// The parameters that are passed; nothing of a class that others make objects of.
    pub takes: Option<Vec<String>>,
    /// Its documentation.
    pub doc: String,
}

/// Whether kernels use something of that name.
pub(crate) fn is_written(name: &str) -> bool {
    static NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let rows = written().into_iter().flat_map(|(_, rows)| rows);
        rows.filter(|row| row.of.is_empty()).map(|row| row.name).collect()
    });
    names.contains(name)
}

/// The functions and classes that kernels use, family by family, as far as they are documented.
pub(crate) fn written() -> Vec<(&'static str, Vec<Written>)> {
    let families = PARTS.iter().filter_map(|part| {
        let block = python::parse(part.text.into()).ok()?;
        Some((part.family?, block.iter().flat_map(written_stmt).collect()))
    });
    families.collect()
}

fn written_stmt(stmt: &Stmt) -> Vec<Written> {
    match &stmt.kind {
        StmtKind::Function(function) => written_function("", function, false).into_iter().collect(),
        StmtKind::Class(class) => written_class(class),
        _ => Vec::new(),
    }
}

fn written_class(class: &Class) -> Vec<Written> {
    let Some(doc) = class.doc.as_deref().map(String::from) else { return Vec::new() };
    let name = class.name.name.to_string();
    let init = class.method(python::class::INIT).map(|init| &init.function);
    let takes = init.map(|init| walk::takes(init)[1..].to_vec());
    let methods = class.methods.iter().filter_map(|method| {
        written_function(&format!("{name}."), &method.function, !method.is_static)
    });
    let methods: Vec<_> = methods.collect();
    let itself = Written { of: String::new(), name: name.clone(), takes, doc };
    [vec![itself], methods].concat()
}

fn written_function(of: &str, function: &Function, is_method: bool) -> Option<Written> {
    let doc = function.doc.as_deref()?.to_string();
    let takes = walk::takes(function)[usize::from(is_method)..].to_vec();
    let name = function.name.name.to_string();
    Some(Written { of: of.to_string(), name, takes: Some(takes), doc })
}
