// SPDX-License-Identifier: Apache-2.0
//! Languages of the text of a package, and its one reader: a package file in TOML with the
//! kernel files that it names, a kernel file by itself, or a function of a running program.

use crate::file::Held;
use crate::kernel_file;
use crate::kernel_package;
use crate::package_file::{self, Reading};
use crate::program::Place;
use kernpack_syntax::Texts;
use std::path::Path;

/// The language of the text of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// A package file, in TOML.
    #[default]
    Package,
    /// A file of kernels and packed functions, which is a package by itself.
    Kernels,
    /// A function of a running program, with all that it uses.
    Program,
}

impl Language {
    /// The language of a file of that name.
    pub fn of(path: &Path) -> Language {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(kernel_file::EXTENSION) => Language::Kernels,
            _ => Language::Package,
        }
    }
}

/// A text to be read.
#[derive(Clone, Copy, Debug)]
pub struct PackageText<'t> {
    /// Its language.
    pub language: Language,
    /// Its name in messages; a kernel file's own name is the package's.
    pub name: &'t str,
    /// The characters.
    pub text: &'t str,
    /// The folder that paths in it start at.
    pub base: &'t Path,
    /// Where the sources of a program stand.
    pub places: &'t [Place],
    /// Signatures for functions of a kernel file that have none.
    pub specs: &'t [String],
}

impl PackageText<'_> {
    /// Reads the text, which becomes the first of the table, and the kernel files that it needs.
    pub fn read(&self, texts: &mut Texts, held: &Held) -> Reading {
        let PackageText { language, name, text, base, places, specs } = *self;
        match language {
            Language::Package => {
                let id = texts.add(name, text);
                let mut reading = package_file::read(texts.snippet(id), base);
                reading.open_kernels(texts, held);
                reading
            }
            Language::Kernels => {
                let file = Path::new(name).file_name().unwrap_or(name.as_ref());
                let package = kernel_package::package_name(Path::new(name));
                kernel_package::read(&package, &base.join(file), (text, specs), texts, held)
            }
            Language::Program => {
                texts.add(name, text);
                kernel_package::read_program(text, places, texts, held)
            }
        }
    }
}
