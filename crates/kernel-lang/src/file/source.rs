// SPDX-License-Identifier: Apache-2.0
//! Texts of kernels that somebody hands over, and the values that they capture: a file, or a
//! function that was cut out of one, as a running Python program has it.
//!
//! A source is what it says and what it captures, by type and value. It has a path and a first line
//! too, which messages and places in kernels show, and which make it no other source: [`Sources`]
//! gives one id to sources of one content, whatever they are called.

use super::{Captured, Checks, ModuleId, Said};
use crate::python::tree::Name;
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
    pub(super) role: Role,
    /// Whether its functions are methods, whose first parameter is a name that is captured.
    pub is_method: bool,
}

/// The kind of the functions of a source, where that is not what their decorators say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// As their decorators say.
    #[default]
    Written,
    /// They are kernels.
    Kernel,
    /// Kernels and packed functions call them.
    Device,
    /// They are packed functions which others call: nothing is said of them here.
    Jit,
    /// They are packed functions, of which a program says this.
    Packed(Said),
}

impl Source {
    /// A whole file.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        let (path, text) = (path.into(), text.into());
        Source {
            path,
            text,
            first_line: 1,
            captured: BTreeMap::new(),
            role: Role::Written,
            is_method: false,
        }
    }

    /// A part of a file that begins in that line, counted from 1.
    #[must_use]
    pub fn at_line(self, first_line: u32) -> Source {
        Source { first_line: first_line.max(1), ..self }
    }

    /// With functions of that kind, whatever their decorators are.
    #[must_use]
    pub fn being(self, role: Role) -> Source {
        Source { role, ..self }
    }

    /// With a value for a name. What the text itself says of the name counts more.
    #[must_use]
    pub fn capturing(mut self, name: impl Into<Name>, value: Captured) -> Source {
        self.captured.insert(name.into(), value);
        self
    }
}

impl Role {
    /// Adds it to what a source is.
    pub(super) fn add_to(&self, content: &mut String) {
        match self {
            Role::Written => {}
            Role::Kernel => add(format_args!("kernel\n"), content),
            Role::Device => add(format_args!("device\n"), content),
            Role::Jit => add(format_args!("jit\n"), content),
            Role::Packed(Said { signature, workspaces, is_made, is_strict, checks }) => {
                let Checks { asserts, is_checked } = checks;
                add(format_args!("packed {is_made} {is_strict} {asserts} {is_checked}\n"), content);
                add_text(signature, content);
                for (name, tensor) in workspaces {
                    add_text(name, content);
                    add_text(tensor, content);
                }
            }
        }
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
        let mut content = content(&source.text, &source.captured, |SourceId(number)| *number);
        source.role.add_to(&mut content);
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
        value.add_to(number, &mut content);
    }
    content
}

/// The content of a file: its source, and the files that its imports bind, in order.
pub(super) fn content_of_file(
    text: &str,
    role: &Role,
    captured: &BTreeMap<Name, Captured<ModuleId>>,
    imports: &[Option<ModuleId>],
) -> String {
    let mut content = content(text, captured, |ModuleId(number)| *number);
    role.add_to(&mut content);
    for import in imports {
        match import {
            Some(ModuleId(number)) => add(format_args!("import {number}\n"), &mut content),
            None => add(format_args!("import Python's\n"), &mut content),
        }
    }
    content
}

pub(super) fn add(part: std::fmt::Arguments<'_>, content: &mut String) {
    // A text takes whatever is written to it.
    _ = content.write_fmt(part);
}

/// A text with its length in front, so that what follows cannot be taken for a part of it.
pub(super) fn add_text(text: &str, content: &mut String) {
    add(format_args!("text {}:{text}\n", text.len()), content);
}
