// SPDX-License-Identifier: Apache-2.0
//! `kernpack build FILE -o OUT...`

use crate::emitted::narrowest;
use crate::package_file::PackageFile;
use crate::publish::{publish, require_folder};
use crate::{Failure, Report, depfile, timings};
use anyhow::{Context, Result, bail};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgGroup, Args};
use kernpack_cache::{Artifact, Cache, Failure as CacheFailure, Got, Silent};
use kernpack_compiler::{CompileError, Compiled, Options, SharedObject, compile};
use kernpack_syntax::{Diagnostic, Told};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The command's arguments.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("outputs").required(true).multiple(true)))]
pub struct Build {
    #[command(flatten)]
    package_file: PackageFile,
    /// A file to write; its ending says what: .o, .so, .h, .pyi or .rs. May be repeated.
    #[arg(short, long, value_name = "OUT", group = "outputs", value_parser = PathBufValueParser::new().try_map(parse_output))]
    output: Vec<Output>,
    /// Write NAME.o, NAME.so, NAME.h, NAME.pyi and NAME.rs into this folder, NAME being the
    /// package's.
    #[arg(long, value_name = "DIR", group = "outputs")]
    out_dir: Option<PathBuf>,
    /// Write a Makefile rule that says which files were read.
    #[arg(long, value_name = "FILE")]
    depfile: Option<PathBuf>,
    /// Compile, whatever the cache has, and put nothing into it.
    #[arg(long)]
    no_cache: bool,
    /// Show on the standard error how long each phase took, and the narrowest loop of a kernel.
    #[arg(long)]
    verbose: bool,
}

/// A kind of file, as [`Compiled`] has it, and what there is to be said of it.
fn make_one(
    kind: Artifact,
    compiled: &Compiled,
) -> Result<(Vec<u8>, Vec<Diagnostic>), CompileError> {
    let bytes = match kind {
        Artifact::Object => compiled.object.clone(),
        Artifact::SharedObject => {
            let SharedObject { bytes, warnings } = compiled.shared_object()?;
            return Ok((bytes, warnings));
        }
        Artifact::Header => compiled.header.clone().into_bytes(),
        Artifact::Stubs => compiled.stubs.clone().into_bytes(),
        Artifact::Rust => compiled.rust.clone().into_bytes(),
    };
    Ok((bytes, vec![]))
}

/// The kinds, in the order in which they are made and listed.
const KINDS: [Artifact; 5] =
    [Artifact::Object, Artifact::SharedObject, Artifact::Header, Artifact::Stubs, Artifact::Rust];

/// A file to write.
#[derive(Clone, Debug)]
struct Output {
    path: PathBuf,
    kind: Artifact,
}

fn parse_output(path: PathBuf) -> Result<Output, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let kind = KINDS.iter().find(|kind| Some(kind.extension()) == extension);
    match kind {
        Some(kind) => Ok(Output { path, kind: *kind }),
        None => Err("the name must end in .o, .so, .h, .pyi or .rs".to_string()),
    }
}

/// A kind of file, and its bytes.
type Made = (Artifact, Vec<u8>);

/// The outcome of a build.
struct Built {
    package: String,
    outputs: Vec<Output>,
    made: Vec<Made>,
    /// The files that were read, save the package file.
    inputs: Vec<PathBuf>,
    told: Told,
}

/// Why the cache has no package for the command.
enum NotBuilt {
    Cache(CacheFailure),
    Other(Failure),
}

impl From<Failure> for NotBuilt {
    fn from(failure: Failure) -> NotBuilt {
        NotBuilt::Other(failure)
    }
}

/// Whether it is said of shared objects alone: who links an object has its symbols from elsewhere.
fn is_of_shared_objects(found: &Diagnostic) -> bool {
    matches!(found.code, "undefined-symbol" | "missing-library")
}

/// Whether no shared object can be had, but perhaps an object.
fn may_be_an_object(failure: &CacheFailure) -> bool {
    match failure {
        CacheFailure::Told(told) => told.diagnostics.0.iter().any(is_of_shared_objects),
        CacheFailure::Compile(error) => matches!(error, CompileError::Link(_)),
        _ => false,
    }
}

/// Every kind of output, once.
fn wanted(outputs: &[Output]) -> impl Iterator<Item = Artifact> {
    KINDS.into_iter().filter(|kind| outputs.iter().any(|output| output.kind == *kind))
}

/// Makes each kind of output once.
fn make(
    outputs: &[Output],
    compiled: &Compiled,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Made>, CompileError> {
    let mut made = Vec::new();
    for kind in wanted(outputs) {
        let (bytes, said) = make_one(kind, compiled)?;
        warnings.extend(said);
        made.push((kind, bytes));
    }
    Ok(made)
}

impl Build {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let report = timings::show(self.verbose, || self.build())?;
        if self.verbose {
            self.tell_narrowest();
        }
        Ok(report)
    }

    /// Tells where a kernel moves fewer bytes at once than it might.
    fn tell_narrowest(&self) {
        let options = Options { target: self.package_file.target(), ..Options::default() };
        let package = self.package_file.read(&options).ok();
        let narrowest = package.and_then(|(package, _)| narrowest(&package, options.held));
        if let Some(narrowest) = narrowest {
            crate::tell(&format!("{narrowest}\n"));
        }
    }

    fn build(&self) -> Result<Report, Failure> {
        let _span = tracing::info_span!("build").entered();
        for path in self.output.iter().map(|output| &output.path).chain(&self.depfile) {
            require_folder(path, "make it first, or use `--out-dir`, which makes its own")?;
        }
        let is_shared = self.out_dir.is_some()
            || self.output.iter().any(|output| output.kind == Artifact::SharedObject);
        let built = match (self.no_cache, is_shared) {
            (true, _) => self.build_alone(is_shared)?,
            (false, true) => self.build_with_cache().map_err(|failure| self.failure(failure))?,
            (false, false) => self.build_object()?,
        };
        let Built { package, outputs, made, inputs, told } = built;
        self.write(&outputs, &made, &inputs)?;
        let outputs: Vec<_> =
            outputs.iter().map(|output| output.path.display().to_string()).collect();
        let inputs = self.package_file.inputs(&inputs);
        let inputs: Vec<_> = inputs.map(|path| path.display().to_string()).collect();
        let answer = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "package": package,
            "target": self.package_file.target().name,
            "outputs": outputs,
            "inputs": inputs,
        });
        Ok(Report::new(String::new(), answer).with_warnings(told))
    }

    /// Makes an object, without a shared one. The cache has both of a package, and one of which no
    /// shared object can be made may still be wanted as an object.
    fn build_object(&self) -> Result<Built, Failure> {
        match self.build_with_cache() {
            Ok(mut built) => {
                built.told.diagnostics.0.retain(|found| !is_of_shared_objects(found));
                Ok(built)
            }
            Err(NotBuilt::Cache(failure)) if may_be_an_object(&failure) => self.build_alone(false),
            Err(failure) => Err(self.failure(failure)),
        }
    }

    /// Takes the package from the cache, or has it compiled and kept there.
    fn build_with_cache(&self) -> Result<Built, NotBuilt> {
        let request = self.package_file.request()?;
        // Who builds wants to compile, also where nothing may be compiled when it is called for.
        let got = Cache::from_env().and_compile().get(&request, &Silent);
        let Got { entry, told, .. } = got.map_err(NotBuilt::Cache)?;
        let package = entry.record().package().to_string();
        let outputs = self.outputs(&package);
        let read = |kind| Ok((kind, entry.read(kind)?));
        let made = wanted(&outputs).map(read).collect::<Result<Vec<_>>>().map_err(Failure::from)?;
        let inputs = entry.record().inputs(self.package_file.base());
        Ok(Built { package, outputs, made, inputs, told })
    }

    /// What there is to be said where there is no package.
    fn failure(&self, failure: NotBuilt) -> Failure {
        match failure {
            NotBuilt::Other(failure) => failure,
            NotBuilt::Cache(CacheFailure::Told(told)) => Failure::Diagnostics(told),
            NotBuilt::Cache(CacheFailure::Compile(error)) => error.into(),
            NotBuilt::Cache(CacheFailure::NoCuda { .. }) => self.package_file.no_gpu_code().into(),
            NotBuilt::Cache(failure) => failure.into(),
        }
    }

    /// Compiles the package.
    fn build_alone(&self, is_shared: bool) -> Result<Built, Failure> {
        let target = self.package_file.target();
        let options = Options { target, is_shared, ..Options::default() };
        let (package, told) = self.package_file.read(&options)?;
        let compiled = match compile(&package, &options) {
            Ok(compiled) => compiled,
            Err(error) => return Err(Failure::of(told, error)),
        };
        let (outputs, mut warnings) = (self.outputs(&package.name), compiled.warnings.clone());
        let made = make(&outputs, &compiled, &mut warnings);
        let told = told.and(warnings);
        let made = match made {
            Ok(made) => made,
            Err(error) => return Err(Failure::of(told, error)),
        };
        let inputs = compiled.inputs.into_iter().map(|file| file.path).collect();
        Ok(Built { package: package.name, outputs, made, inputs, told })
    }

    /// The files that were asked for.
    fn outputs(&self, package: &str) -> Vec<Output> {
        let mut outputs = self.output.clone();
        if let Some(folder) = &self.out_dir {
            outputs.extend(KINDS.into_iter().map(|kind| {
                let name = format!("{package}.{}", kind.extension());
                Output { path: folder.join(name), kind }
            }));
        }
        outputs
    }

    fn write(&self, outputs: &[Output], made: &[Made], inputs: &[PathBuf]) -> Result<()> {
        let _span = tracing::info_span!("write").entered();
        if let Some(folder) = &self.out_dir {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        let paths = outputs.iter().map(|output| output.path.as_path());
        let rule = depfile::rule(paths, self.package_file.inputs(inputs));
        let mut files = Vec::new();
        for (kind, bytes) in made {
            let of_kind = outputs.iter().filter(|output| output.kind == *kind);
            files.extend(of_kind.map(|output| (output.path.as_path(), &bytes[..])));
        }
        files.extend(self.depfile.iter().map(|path| (path.as_path(), &rule[..])));
        self.check_inputs_stay(&files, inputs)?;
        publish(&files)
    }

    /// No output takes the place of a file that was read: the next build would read something else.
    fn check_inputs_stay(&self, files: &[(&Path, &[u8])], inputs: &[PathBuf]) -> Result<()> {
        let inputs: Vec<_> =
            self.package_file.inputs(inputs).filter_map(|path| path.canonicalize().ok()).collect();
        for (path, _) in files {
            if path.canonicalize().is_ok_and(|path| inputs.contains(&path)) {
                bail!("cannot write `{}`: the build reads it", path.display());
            }
        }
        Ok(())
    }
}
