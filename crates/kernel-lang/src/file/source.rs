// SPDX-License-Identifier: Apache-2.0
//! Texts of kernels that somebody hands over, and the values that they capture: a file, or a
//! function that was cut out of one, as a running Python program has it.
//!
//! A source is what it says and what it captures, by type and value. It has a path and a first line
//! too, which messages and places in kernels show, and which make it no other source: [`Sources`]
//! gives one id to sources of one content, whatever they are called.

use super::ModuleId;
use crate::integer::Integer;
use crate::python::tree::Name;
use kernpack_ffi_abi::DType;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// A source of a table, by number. Those of one table are alike where their content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(usize);

/// The text of a file, or of a part of one, and the values that it captures.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) path: PathBuf,
    pub(super) text: Arc<str>,
    pub(super) first_line: u32,
    pub(super) captured: BTreeMap<Name, Captured>,
}

/// The value of a name that a source does not define itself, as the program has it. Functions are
/// those of sources `F`.
#[derive(Clone, Debug, PartialEq)]
pub enum Captured<F = SourceId> {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer.
    Int(Integer),
    /// A float.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A dtype.
    DType(DType),
    /// A tuple.
    Tuple(Vec<Captured<F>>),
    /// kernpack itself: `kp`.
    Kernpack,
    /// The function or dtype that kernpack has by that name.
    Member(Name),
    /// The function of that name in another source: a kernel, or one that kernels call.
    Function(F, Name),
}

impl Source {
    /// A whole file.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        let (path, text) = (path.into(), text.into());
        Source { path, text, first_line: 1, captured: BTreeMap::new() }
    }

    /// A part of a file that begins in that line, counted from 1.
    #[must_use]
    pub fn at_line(self, first_line: u32) -> Source {
        Source { first_line: first_line.max(1), ..self }
    }

    /// With a value for a name. What the text itself says of the name counts more.
    #[must_use]
    pub fn capturing(mut self, name: impl Into<Name>, value: Captured) -> Source {
        self.captured.insert(name.into(), value);
        self
    }
}

/// Sources that use each other: what a source captures is here before it.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    known: HashMap<String, SourceId>,
}

impl Sources {
    /// Adds a source, unless there is one of that content.
    pub fn add(&mut self, source: Source) -> SourceId {
        let content = content(&source.text, &source.captured, |SourceId(number)| *number);
        let next = SourceId(self.list.len());
        let id = *self.known.entry(content).or_insert(next);
        if id == next {
            self.list.push(source);
        }
        id
    }

    /// A source of this table.
    pub(super) fn get(&self, id: SourceId) -> &Source {
        &self.list[id.0]
    }
}

/// The content of a set of files, whatever the files are called: two that are the same give
/// the same kernels, but for what places show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity(String);

impl Identity {
    /// It as text, of which a digest can be made.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds a file of this content.
    pub(super) fn add(&mut self, content: &str) {
        self.0.push_str(content);
    }
}

/// The content of a source. No other text with other values has it.
pub(super) fn content<F>(
    text: &str,
    captured: &BTreeMap<Name, Captured<F>>,
    number: fn(&F) -> usize,
) -> String {
    let mut content = String::new();
    add_text(text, &mut content);
    for (name, value) in captured {
        add_text(name, &mut content);
        add_value(value, number, &mut content);
    }
    content
}

/// The content of a file: its source, and the files that its imports bind, in order.
pub(super) fn content_of_file(
    text: &str,
    captured: &BTreeMap<Name, Captured<ModuleId>>,
    imports: &[Option<ModuleId>],
) -> String {
    let mut content = content(text, captured, |ModuleId(number)| *number);
    for import in imports {
        match import {
            Some(ModuleId(number)) => add(format_args!("import {number}\n"), &mut content),
            None => add(format_args!("import Python's\n"), &mut content),
        }
    }
    content
}

fn add(part: std::fmt::Arguments<'_>, content: &mut String) {
    // A text takes whatever is written to it.
    _ = content.write_fmt(part);
}

/// A text with its length in front, so that what follows cannot be taken for a part of it.
fn add_text(text: &str, content: &mut String) {
    add(format_args!("text {}:{text}\n", text.len()), content);
}

fn add_value<F>(value: &Captured<F>, number: fn(&F) -> usize, content: &mut String) {
    match value {
        Captured::None => add(format_args!("None\n"), content),
        Captured::Bool(truth) => add(format_args!("bool {truth}\n"), content),
        Captured::Int(int) => add(format_args!("int {int}\n"), content),
        Captured::Float(float) => add(format_args!("float {:016x}\n", float.to_bits()), content),
        Captured::Text(text) => add_text(text, content),
        Captured::DType(dtype) => add(format_args!("dtype {dtype}\n"), content),
        Captured::Tuple(items) => {
            add(format_args!("tuple {}\n", items.len()), content);
            items.iter().for_each(|item| add_value(item, number, content));
        }
        Captured::Kernpack => add(format_args!("kernpack\n"), content),
        Captured::Member(name) => {
            add(format_args!("member "), content);
            add_text(name, content);
        }
        Captured::Function(of, name) => {
            add(format_args!("function {} ", number(of)), content);
            add_text(name, content);
        }
    }
}

impl Captured {
    /// The same, with the files of functions in the place of their sources.
    pub(super) fn of_files(&self, file: &dyn Fn(SourceId) -> ModuleId) -> Captured<ModuleId> {
        match self {
            Captured::None => Captured::None,
            Captured::Bool(truth) => Captured::Bool(*truth),
            Captured::Int(int) => Captured::Int(int.clone()),
            Captured::Float(float) => Captured::Float(*float),
            Captured::Text(text) => Captured::Text(text.clone()),
            Captured::DType(dtype) => Captured::DType(*dtype),
            Captured::Tuple(items) => {
                Captured::Tuple(items.iter().map(|item| item.of_files(file)).collect())
            }
            Captured::Kernpack => Captured::Kernpack,
            Captured::Member(name) => Captured::Member(name.clone()),
            Captured::Function(source, name) => Captured::Function(file(*source), name.clone()),
        }
    }

    /// The sources of the functions in it.
    pub(super) fn sources(&self, each: &mut dyn FnMut(SourceId)) {
        match self {
            Captured::Function(source, _) => each(*source),
            Captured::Tuple(items) => items.iter().for_each(|item| item.sources(each)),
            Captured::None
            | Captured::Bool(_)
            | Captured::Int(_)
            | Captured::Float(_)
            | Captured::Text(_)
            | Captured::DType(_)
            | Captured::Kernpack
            | Captured::Member(_) => {}
        }
    }
}
