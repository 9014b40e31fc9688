// SPDX-License-Identifier: Apache-2.0
//! A package that the program has built before: nothing is run, and nothing is compiled.

use crate::built::Origin;
use crate::diagnostic::Diagnostics;
use crate::environment::{Environment, Script};
use crate::host::Host;
use crate::object_file::ObjectFile;
use crate::output::Scratch;
use crate::problem::Problem;
use crate::report::report;
use crate::{Built, Error};
use std::fs;
use std::path::{Path, PathBuf};

/// The text in a path that stands for the host.
const TARGET: &str = "{target}";

/// A package that is to be linked. [`prebuilt`](crate::prebuilt()) begins with it.
#[derive(Clone, Debug)]
#[must_use = "nothing is linked before `compile` or `try_compile`"]
pub struct Prebuilt {
    object: PathBuf,
    environment: Environment,
}

impl Prebuilt {
    pub(crate) fn new(object: &Path) -> Prebuilt {
        Prebuilt { object: object.into(), environment: Environment::of_process() }
    }

    /// The variables to go by, instead of those of this process.
    pub fn environment(self, environment: Environment) -> Prebuilt {
        Prebuilt { environment, ..self }
    }

    /// Takes the package, and says to cargo, on the standard output, what came of it. Where that
    /// is an error, the process ends with exit code 1.
    pub fn compile(self) {
        report(self.try_compile());
    }

    /// Takes the package, and prints nothing.
    ///
    /// # Errors
    /// Where a file is missing, or does not fit what is built.
    pub fn try_compile(self) -> Result<Built, Error> {
        Ok(self.take()?)
    }

    fn take(&self) -> Result<Built, Problem> {
        let script = self.environment.script()?;
        let path = self.path(script.host);
        let beside = path.with_extension("rs");
        self.require(&path, &beside, &script)?;
        let object = ObjectFile::read(&script.manifest.join(&path), &path, script.host)?;

        let scratch = Scratch::new(&script.out)?;
        let functions = script.manifest.join(&beside);
        let text = fs::read(&functions).map_err(Problem::file("read", &functions))?;
        fs::write(scratch.functions(), text)
            .map_err(Problem::file("write", scratch.functions()))?;
        let file = path.clone();
        let (files, variables, warnings) = (vec![path, beside], vec![], Diagnostics::default());
        Built::new(&scratch, &object, &Origin { file, files, variables, warnings })
    }

    /// The object for a host.
    fn path(&self, host: &Host) -> PathBuf {
        match self.object.to_str() {
            Some(path) => path.replace(TARGET, host.name).into(),
            None => self.object.clone(),
        }
    }

    /// That both files are there.
    fn require(&self, object: &Path, functions: &Path, script: &Script) -> Result<(), Problem> {
        let lacking = [object, functions].into_iter().find(|path| !script.has(path));
        lacking.map_or(Ok(()), |lacking| {
            Err(Problem::NoPrebuilt {
                lacking: lacking.to_path_buf(),
                object: object.to_path_buf(),
                functions: functions.to_path_buf(),
                target: script.host.name,
                manifest: script.manifest.clone(),
            })
        })
    }
}
