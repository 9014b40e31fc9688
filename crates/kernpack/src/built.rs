// SPDX-License-Identifier: Apache-2.0
//! Packages that are compiled when the program runs: the feature `build`. They come from the cache
//! that Python and the command line have too, and what is compiled goes there.

use crate::package::{drawn, problems};
use crate::{Error, Package, Result};
use kernpack_cache::{Cache, Entry, Failure, Got, Request, Silent, Wanted};
use kernpack_machine::Arch;
use std::path::PathBuf;

pub use kernpack_cache::Artifact;

impl Package {
    /// The targets of GPU code, such as `sm_90a,compute_80`, whatever the text says.
    #[must_use]
    pub fn arch(self, archs: impl Into<String>) -> Package {
        Package { arch: Some(archs.into()), ..self }
    }

    /// The compiled package, from the cache or compiled now. The variables that steer the cache are
    /// heeded.
    ///
    /// # Errors
    /// All that is wrong with the package, or why it cannot be compiled.
    pub fn build(&self) -> Result<BuiltPackage> {
        let got = Cache::from_env().get(&self.request()?, &Silent);
        let Got { entry, is_hit, told } = got.map_err(failure)?;
        Ok(BuiltPackage { entry, is_hit, warnings: drawn(&told) })
    }

    fn request(&self) -> Result<Request> {
        let Package { name, text, base, specs, held, arch } = self;
        let archs = match arch {
            None => Wanted::Written,
            Some(names) => Wanted::Archs(Arch::parse_list(names).map_err(Error::Value)?),
        };
        let (language, specs, held) = (self.language(), specs.clone(), held.clone());
        Ok(Request { language, specs, held, archs, ..Request::new(name, text, base) })
    }
}

/// The error of a package that the cache does not have and cannot make.
fn failure(failure: Failure) -> Error {
    match failure {
        Failure::Told(told) => problems(told),
        Failure::Compile(error) => Error::Compile(error.to_string()),
        failure @ Failure::NoCuda { .. } => Error::Value(failure.to_string()),
        failure @ (Failure::Forbidden(_) | Failure::Memory(_) | Failure::Cancelled) => {
            Error::Runtime(failure.to_string())
        }
    }
}

/// A compiled package. As long as it is there, nobody removes its files from the cache.
#[derive(Clone, Debug)]
pub struct BuiltPackage {
    entry: Entry,
    is_hit: bool,
    warnings: String,
}

impl BuiltPackage {
    /// The package's name.
    pub fn name(&self) -> &str {
        self.entry.record().package()
    }

    /// The names of its functions.
    pub fn functions(&self) -> &[String] {
        self.entry.functions()
    }

    /// Whether the cache had it.
    pub fn is_from_cache(&self) -> bool {
        self.is_hit
    }

    /// The warnings of its compilers; nothing where all is well.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// The path of the shared object, for the `load` of the package's typed functions, or for
    /// anybody else. It leads there as long as this value is there.
    pub fn shared_object(&self) -> PathBuf {
        self.entry.path(Artifact::SharedObject)
    }

    /// One of its files: the object, the header, the typed functions of Rust.
    ///
    /// # Errors
    /// Where it cannot be read, or was damaged.
    pub fn read(&self, artifact: Artifact) -> Result<Vec<u8>> {
        self.entry.read(artifact).map_err(|error| Error::Runtime(error.to_string()))
    }
}
