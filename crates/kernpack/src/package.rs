// SPDX-License-Identifier: Apache-2.0
//! Packages as they are written: a package file, a kernel file, or the text of one.
//!
//! Not here: what is compiled of them (`built.rs`), and calls on the interpreter
//! (`host/interpreter.rs`).

use crate::{Error, Result};
use kernpack_package::{Held, Language};
#[cfg(feature = "check")]
use kernpack_package::{PackageText, WrittenPackage};
use kernpack_render::told;
use kernpack_syntax::{Texts, Told};
use std::path::{Path, PathBuf};

/// A package as it is written, with the files that go with it.
///
/// A name that ends in `.py` is that of a kernel file, any other that of a package file.
///
/// ```
/// # #[cfg(feature = "check")] {
/// let package = kernpack::Package::text(
///     "scaling.py",
///     "\
/// import kernpack as kp
///
/// @kp.kernel
/// def double(x):
///     i = kp.block_idx()[0] * 32 + kp.thread_idx()[0]
///     if i < x.shape[0]:
///         x[i] = x[i] * 2
///
/// @kp.jit(\"double_all(x: Tensor([n], float32, mut))\")
/// def double_all(x):
///     double(x).launch(grid=kp.ceil_div(x.shape[0], 32), block=32)
/// ",
/// );
/// assert!(package.interpreter().is_ok());
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Package {
    /// The name in messages.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The folder that paths in the text start at.
    pub(crate) base: PathBuf,
    pub(crate) specs: Vec<String>,
    pub(crate) held: Held,
    #[cfg(feature = "build")]
    pub(crate) arch: Option<String>,
}

impl Package {
    /// The package of a file, in which paths begin at its folder.
    ///
    /// # Errors
    /// Where it cannot be read, or is no text.
    pub fn open(path: impl AsRef<Path>) -> Result<Package> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = std::fs::read(path);
        let bytes =
            bytes.map_err(|error| Error::Runtime(format!("cannot read `{name}`: {error}")))?;
        let mut texts = Texts::default();
        match texts.add_bytes(&name, bytes) {
            Ok(id) => {
                let text = texts.get(id).characters.clone();
                let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
                Ok(Package { base, ..Package::text(name, text) })
            }
            Err(problem) => Err(problems(Told::of(name, texts).and([problem]))),
        }
    }

    /// The package of a text, in which paths begin at the current folder.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Package {
        Package {
            name: name.into(),
            text: text.into(),
            base: PathBuf::new(),
            specs: vec![],
            held: Held::default(),
            #[cfg(feature = "build")]
            arch: None,
        }
    }

    /// The signature of a function of a kernel file that has none, such as
    /// `f(x: Tensor([n], float32))`. Once for each function; those that are given none are left
    /// out.
    #[must_use]
    pub fn specs(mut self, signature: impl Into<String>) -> Package {
        self.specs.push(signature.into());
        self
    }

    /// A file in memory: what the text names by that path is this, whatever the disk has.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Package {
        self.held.insert(path, bytes.into());
        self
    }

    /// The text.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// The language of the text, which its name tells.
    pub(crate) fn language(&self) -> Language {
        Language::of(Path::new(&self.name))
    }

    /// Reads the text. `held` are the files in memory.
    #[cfg(feature = "check")]
    pub(crate) fn read(&self, held: &Held) -> Result<(WrittenPackage, Told)> {
        let Package { name, text, base, specs, .. } = self;
        let mut texts = Texts::default();
        let (language, places) = (self.language(), &[][..]);
        let package = PackageText { language, name, text, base, places, specs };
        let reading = package.read(&mut texts, held);
        let told = Told::of(name, texts);
        match reading.problems.has_errors() {
            true => Err(problems(told.and(reading.problems))),
            false => Ok((reading.package, told)),
        }
    }
}

/// The error of a package in which something is wrong.
pub(crate) fn problems(told: Told) -> Error {
    Error::Compile(drawn(&told))
}

/// All that is told, as a terminal without colours shows it.
pub(crate) fn drawn(told: &Told) -> String {
    told::text(told, false).trim_end().to_string()
}
