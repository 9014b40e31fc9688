// SPDX-License-Identifier: Apache-2.0
//! A package that is built from the user's files, by the program or by the linked compiler.

use crate::answer::Made;
use crate::built::Origin;
use crate::environment::{self, Environment, Script};
#[cfg(feature = "compiler")]
use crate::linked;
use crate::object_file::ObjectFile;
use crate::output::Scratch;
use crate::problem::Problem;
use crate::program::{Program, Request};
use crate::report::report;
use crate::{Built, Error};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A package that is to be built. [`package`](crate::package()) begins with it.
#[derive(Clone, Debug)]
#[must_use = "nothing is built before `compile` or `try_compile`"]
pub struct Package {
    file: PathBuf,
    arch: Option<String>,
    specs: Vec<String>,
    compiler: Compiler,
    environment: Environment,
}

/// Remarks on who says what GPU code is made for.
const VARIABLE: &str = "\nnote: `--arch` is the variable KERNPACK_ARCH";
const SCRIPT: &str = "\nnote: `--arch` is `.arch(…)`";

/// The compiler that a build script asks for.
#[derive(Clone, Debug)]
enum Compiler {
    /// The program: that one, or the one that is found.
    Program(Option<PathBuf>),
    #[cfg(feature = "compiler")]
    Linked,
}

impl Package {
    pub(crate) fn new(file: &Path) -> Package {
        let environment = Environment::of_process();
        let compiler = Compiler::Program(None);
        Package { file: file.into(), arch: None, specs: vec![], compiler, environment }
    }

    /// The targets of GPU code, such as `sm_90a,compute_80`, whatever the package file says. The
    /// variable `KERNPACK_ARCH` overrules it, for all packages that have GPU code.
    pub fn arch(self, archs: impl Into<String>) -> Package {
        Package { arch: Some(archs.into()), ..self }
    }

    /// The signature of a function of a kernel file that has none, such as
    /// `f(x: Tensor([n], float32))`. Once for each function; those that are given none are left
    /// out.
    pub fn specs(mut self, signature: impl Into<String>) -> Package {
        self.specs.push(signature.into());
        self
    }

    /// The program `kernpack` to build with: a name is looked for on `PATH`, and a relative path
    /// begins at the folder of `Cargo.toml`.
    pub fn program(self, path: impl Into<PathBuf>) -> Package {
        Package { compiler: Compiler::Program(Some(path.into())), ..self }
    }

    /// Builds with the compiler that is part of the build script, and with no program: the feature
    /// `compiler`, which needs LLVM where the build script is built. The compiler itself has the
    /// variables of this process.
    #[cfg(feature = "compiler")]
    pub fn linked(self) -> Package {
        Package { compiler: Compiler::Linked, ..self }
    }

    /// The variables to go by, instead of those of this process.
    pub fn environment(self, environment: Environment) -> Package {
        Package { environment, ..self }
    }

    /// Builds the package, and says to cargo, on the standard output, what came of it. Where that
    /// is an error, the process ends with exit code 1.
    pub fn compile(self) {
        report(self.try_compile());
    }

    /// Builds the package, and prints nothing.
    ///
    /// # Errors
    /// All that is wrong with the files, or why they could not be compiled.
    pub fn try_compile(self) -> Result<Built, Error> {
        Ok(self.build()?)
    }

    fn build(&self) -> Result<Built, Problem> {
        let script = self.environment.script()?;
        if !script.has(&self.file) {
            return Err(Problem::NoFile { path: self.file.clone(), manifest: script.manifest });
        }
        let scratch = Scratch::new(&script.out)?;
        let origin = match &self.compiler {
            Compiler::Program(named) => self.run(named.as_deref(), &script, &scratch)?,
            #[cfg(feature = "compiler")]
            Compiler::Linked => {
                let made =
                    self.ask(&script, &scratch, |request| linked::build(request, &script))?;
                self.origin(made, vec![environment::ARCH])
            }
        };
        let object = ObjectFile::read(&scratch.object(), &scratch.object(), script.host)?;
        Built::new(&scratch, &object, &origin)
    }

    /// Has the program make the object and the functions.
    fn run(
        &self,
        named: Option<&Path>,
        script: &Script,
        scratch: &Scratch<'_>,
    ) -> Result<Origin, Problem> {
        let program = Program::find(named, &self.environment, script)?;
        let made = self.ask(script, scratch, |request| program.build(request))?;
        for path in [scratch.object(), scratch.functions()] {
            if !path.is_file() {
                return Err(Problem::NotWritten { program: program.path, lacking: path });
            }
        }
        let mut variables = vec![environment::PROGRAM, environment::ARCH];
        variables.extend(program.is_by_path.then_some(environment::PATH));
        let mut origin = self.origin(made, variables);
        origin.files.push(program.path);
        Ok(origin)
    }

    /// Has a compiler make the object and the functions. The variable is for all packages, so that
    /// one without GPU code does not mind it.
    fn ask(
        &self,
        script: &Script,
        scratch: &Scratch<'_>,
        build: impl Fn(&Request<'_>) -> Result<Made, Problem>,
    ) -> Result<Made, Problem> {
        let ask = |archs, remark| {
            let options = self.options(script, scratch, archs);
            let options = options.iter().map(OsString::as_os_str).collect();
            build(&Request { file: &self.file, options, remark })
        };
        let of_script = self.arch.as_ref().map(|archs| (OsStr::new(archs), SCRIPT));
        let of_variable = self.environment.get(environment::ARCH).map(|archs| (archs, VARIABLE));
        let (archs, remark) = of_variable.or(of_script).unzip();
        match ask(archs, remark.unwrap_or_default()) {
            Err(problem) if of_variable.is_some() && problem.is_no_gpu_code() => ask(None, ""),
            made => made,
        }
    }

    /// The options of a compiler.
    fn options(
        &self,
        script: &Script,
        scratch: &Scratch<'_>,
        archs: Option<&OsStr>,
    ) -> Vec<OsString> {
        let mut options = vec![option("--target", script.host.name)];
        options.extend(archs.map(|archs| option("--arch", archs)));
        options.extend(self.specs.iter().map(|spec| option("--specs", spec)));
        for path in [scratch.object(), scratch.functions()] {
            options.extend([OsString::from("-o"), path.into_os_string()]);
        }
        options
    }

    fn origin(&self, made: Made, variables: Vec<&'static str>) -> Origin {
        let Made { inputs, warnings, version: _ } = made;
        Origin { file: self.file.clone(), files: inputs, variables, warnings }
    }
}

/// An option with its value in one word, whatever that begins with.
fn option(name: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut option = OsString::from(name);
    option.push("=");
    option.push(value);
    option
}
