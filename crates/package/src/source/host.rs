// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from object files, archives and C files, which see each
//! other, as a user describes them. Not here: C compilers.

use kernpack_syntax::{Placed, Span};
use std::path::PathBuf;

/// Objects, archives and C files.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSource {
    /// The files, at least one: `.o`, `.a` or `.c`.
    pub paths: Vec<Placed<PathBuf>>,
    /// For C files: folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// For C files: macros, `NAME` and value.
    pub define: Vec<(String, String)>,
    /// For C files: further options of the compiler.
    pub options: Vec<String>,
}

impl HostSource {
    /// That file, without options.
    pub fn new(path: impl Into<PathBuf>) -> HostSource {
        let paths = vec![path.into().into()];
        HostSource { paths, include: vec![], define: vec![], options: vec![] }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    /// Where the file is written that a message is about, or the archive that has it: the first of
    /// those that it names, or else of all.
    pub fn place_in(&self, message: &str) -> Span {
        let found = |path: &&Placed<PathBuf>| message.find(&*path.to_string_lossy());
        let named = self.paths.iter().filter(|path| found(path).is_some());
        named.min_by_key(found).or(self.paths.first()).map(|path| path.span).unwrap_or_default()
    }
}
