// SPDX-License-Identifier: Apache-2.0
//! Packages that are loaded when the program runs.

#![expect(unsafe_code, reason = "loading a library runs it")]

use crate::call::{Entry, SafeCall};
use crate::{Error, Result};
use kernpack_ffi_abi::{FUNCTION_PREFIX, METADATA_PREFIX};
use std::path::Path;

/// The shared object of a package.
#[derive(Debug)]
pub struct Library {
    path: String,
    library: libloading::Library,
}

impl Library {
    /// Loads a shared object.
    ///
    /// # Errors
    /// Where there is none, or it cannot be loaded.
    pub fn open(path: impl AsRef<Path>) -> Result<Library> {
        // A bare name would be looked for in the system's folders.
        let full = std::path::absolute(path.as_ref());
        let full = full.unwrap_or_else(|_| path.as_ref().to_path_buf());
        // SAFETY: a package runs nothing when it is loaded, but what its own sources ask for.
        let library = unsafe { libloading::Library::new(&full) };
        let path = full.display().to_string();
        match library {
            Ok(library) => Ok(Library { path, library }),
            Err(error) => Err(Error::Runtime(format!("cannot load `{path}`: {error}"))),
        }
    }

    /// The function of that name, which has to have that signature.
    ///
    /// # Errors
    /// Where there is none, or it has another.
    #[doc(hidden)]
    pub fn entry(&self, name: &str, signature: &str) -> Result<SafeCall> {
        let function = self.function(name)?;
        let found = self.signature(name)?;
        match found == signature {
            true => Ok(function),
            false => Err(other_signature(name, &self.path, signature, &found)),
        }
    }

    /// The function of that name, of those that packages have of kernpack, without metadata.
    ///
    /// # Errors
    /// Where there is none.
    #[doc(hidden)]
    pub fn function(&self, name: &str) -> Result<SafeCall> {
        self.symbol(FUNCTION_PREFIX, name)
    }

    fn symbol(&self, prefix: &str, name: &str) -> Result<SafeCall> {
        let symbol = format!("{prefix}{name}");
        // SAFETY: all symbols of these names have that type.
        let found = unsafe { self.library.get::<SafeCall>(symbol.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|_| {
            Error::Runtime(format!("`{}` has no function `{name}` of kernpack's", self.path))
        })
    }

    /// The signature that the metadata of a function has.
    fn signature(&self, name: &str) -> Result<String> {
        let metadata = self.symbol(METADATA_PREFIX, name)?;
        // SAFETY: the library is there as long as this.
        let entry = unsafe { Entry::new(metadata, "") };
        let unreadable = || {
            let path = &self.path;
            Error::Runtime(format!("the metadata of `{name}` in `{path}` is none of kernpack's"))
        };
        // SAFETY: it takes nothing.
        let returned = unsafe { entry.call(&[]) }?;
        let text = returned.text().map_err(|_| unreadable())?;
        let metadata: serde_json::Value = serde_json::from_str(&text).map_err(|_| unreadable())?;
        let signature = metadata["kernpack"]["signature"].as_str().ok_or_else(unreadable)?;
        Ok(signature.to_string())
    }
}

/// The error of a function that is another one than the program was made for.
pub(super) fn other_signature(name: &str, of: &str, expected: &str, found: &str) -> Error {
    Error::Type(format!(
        "`{name}` of `{of}` has another signature than this program was made for: expected \
         `{expected}`, got `{found}`"
    ))
}
