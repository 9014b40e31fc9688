// SPDX-License-Identifier: Apache-2.0
//! The environment of a build script, read once. Everything else in this crate asks
//! here, and never the process.

use crate::host::Host;
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that names the program.
pub const PROGRAM: &str = "KERNPACK";
/// The variable that says what GPU code is made for.
pub const ARCH: &str = "KERNPACK_ARCH";
/// The variable that says where programs are.
pub const PATH: &str = "PATH";

/// Variables and their values: those that cargo sets for a build script, those of this crate, and
/// those that the program and compilers heed. They are all that the program sees, too.
///
/// [`Environment::of_process`] is what a build script has. Who calls this crate from elsewhere says
/// at least `OUT_DIR`, `CARGO_MANIFEST_DIR` and `TARGET`:
///
/// ```
/// use kernpack_build::Environment;
///
/// let set = [
///     ("OUT_DIR", "/tmp/out"),
///     ("CARGO_MANIFEST_DIR", "/home/me/norms"),
///     ("TARGET", "x86_64-unknown-linux-gnu"),
/// ];
/// let environment: Environment = set.into_iter().collect();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Environment {
        let variables = variables.into_iter();
        Environment(variables.map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Environment {
        std::env::vars_os().collect()
    }

    /// The value of a variable; nothing where it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        let value = self.0.get(OsStr::new(name))?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// All variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    /// The variables that cargo sets.
    pub(crate) fn script(&self) -> Result<Script, Problem> {
        let set = |name| self.get(name).ok_or(Problem::NoVariable(name));
        let (out, manifest) = (set("OUT_DIR")?, PathBuf::from(set("CARGO_MANIFEST_DIR")?));
        let host = Host::of_triple(&set("TARGET")?.to_string_lossy())?;
        Ok(Script { out: manifest.join(out), manifest, host })
    }
}

/// The build script, as cargo describes it.
#[derive(Clone, Debug)]
pub struct Script {
    /// The folder for what is made.
    pub out: PathBuf,
    /// The folder of `Cargo.toml`, where relative paths begin.
    pub manifest: PathBuf,
    /// The host that is built for.
    pub host: &'static Host,
}

impl Script {
    /// Whether there is a file of that path.
    pub fn has(&self, path: &Path) -> bool {
        self.manifest.join(path).is_file()
    }
}
