// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from an object file, an archive or a C file.

use std::path::PathBuf;

/// An object, an archive or a C file.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSource {
    /// The file: `.o`, `.a` or `.c`.
    pub path: PathBuf,
    /// For a C file: folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// For a C file: macros, `NAME` and value.
    pub define: Vec<(String, String)>,
    /// For a C file: further options of the compiler.
    pub options: Vec<String>,
}

impl HostSource {
    /// That file, without options.
    pub fn new(path: impl Into<PathBuf>) -> HostSource {
        HostSource { path: path.into(), include: vec![], define: vec![], options: vec![] }
    }
}
