// SPDX-License-Identifier: Apache-2.0
//! `kernpack build FILE -o OUT...`

use crate::package_file::PackageFile;
use crate::publish::{publish, require_folder};
use crate::{Failure, Report, depfile, timings};
use anyhow::{Context, Result, bail};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgGroup, Args};
use kernpack_compiler::{CompileError, Compiled, Options, SharedObject, WrittenPackage, compile};
use kernpack_syntax::Diagnostic;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The command's arguments.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("outputs").required(true).multiple(true)))]
pub struct Build {
    #[command(flatten)]
    package_file: PackageFile,
    /// A file to write; its ending says what: .o, .so, .h or .pyi. May be repeated.
    #[arg(short, long, value_name = "OUT", group = "outputs", value_parser = PathBufValueParser::new().try_map(parse_output))]
    output: Vec<Output>,
    /// Write NAME.o, NAME.so, NAME.h and NAME.pyi into this folder, NAME being the package's.
    #[arg(long, value_name = "DIR", group = "outputs")]
    out_dir: Option<PathBuf>,
    /// Write a Makefile rule that says which files were read.
    #[arg(long, value_name = "FILE")]
    depfile: Option<PathBuf>,
    /// Show on the standard error how long each phase took.
    #[arg(long)]
    verbose: bool,
}

/// A kind of file that a package becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Object,
    SharedObject,
    Header,
    Stubs,
}

impl Kind {
    const ALL: &[Kind] = &[Kind::Object, Kind::SharedObject, Kind::Header, Kind::Stubs];

    fn extension(self) -> &'static str {
        match self {
            Kind::Object => "o",
            Kind::SharedObject => "so",
            Kind::Header => "h",
            Kind::Stubs => "pyi",
        }
    }

    /// The file, and what there is to be said of it.
    fn make(self, compiled: &Compiled) -> Result<(Vec<u8>, Vec<Diagnostic>), CompileError> {
        let bytes = match self {
            Kind::Object => compiled.object.clone(),
            Kind::SharedObject => {
                let SharedObject { bytes, warnings } = compiled.shared_object()?;
                return Ok((bytes, warnings));
            }
            Kind::Header => compiled.header.clone().into_bytes(),
            Kind::Stubs => compiled.stubs.clone().into_bytes(),
        };
        Ok((bytes, vec![]))
    }
}

/// A file to write.
#[derive(Clone, Debug)]
struct Output {
    path: PathBuf,
    kind: Kind,
}

fn parse_output(path: PathBuf) -> Result<Output, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let kind = Kind::ALL.iter().find(|kind| Some(kind.extension()) == extension);
    match kind {
        Some(kind) => Ok(Output { path, kind: *kind }),
        None => Err("the name must end in .o, .so, .h or .pyi".to_string()),
    }
}

/// A kind of file, and its bytes.
type Made = (Kind, Vec<u8>);

/// Makes each kind of output once.
fn make(
    outputs: &[Output],
    compiled: &Compiled,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Made>, CompileError> {
    let mut made = Vec::new();
    for kind in Kind::ALL.iter().filter(|kind| outputs.iter().any(|o| o.kind == **kind)) {
        let (bytes, said) = kind.make(compiled)?;
        warnings.extend(said);
        made.push((*kind, bytes));
    }
    Ok(made)
}

impl Build {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        timings::show(self.verbose, || self.build())
    }

    fn build(&self) -> Result<Report, Failure> {
        let _span = tracing::info_span!("build").entered();
        for path in self.output.iter().map(|output| &output.path).chain(&self.depfile) {
            require_folder(path)?;
        }
        let is_shared = self.out_dir.is_some()
            || self.output.iter().any(|output| output.kind == Kind::SharedObject);
        let options = Options { target: self.package_file.target(), is_shared, ..Options::default() };
        let (package, told) = self.package_file.read(&options)?;
        let compiled = match compile(&package, &options) {
            Ok(compiled) => compiled,
            Err(error) => return Err(told.failure(error)),
        };
        let (outputs, mut warnings) = (self.outputs(&package), compiled.warnings.clone());
        let made = make(&outputs, &compiled, &mut warnings);
        let told = told.and(warnings);
        let made = match made {
            Ok(made) => made,
            Err(error) => return Err(told.failure(error)),
        };
        self.write(&outputs, &made, &compiled)?;
        let outputs: Vec<_> =
            outputs.iter().map(|output| output.path.display().to_string()).collect();
        let inputs: Vec<_> = self
            .package_file
            .inputs(&compiled.inputs)
            .map(|path| path.display().to_string())
            .collect();
        let answer = json!({
            "package": package.name,
            "target": options.target.name,
            "outputs": outputs,
            "inputs": inputs,
        });
        Ok(Report::new(String::new(), answer).with_warnings(told))
    }

    /// The files that were asked for.
    fn outputs(&self, package: &WrittenPackage) -> Vec<Output> {
        let mut outputs = self.output.clone();
        if let Some(folder) = &self.out_dir {
            outputs.extend(Kind::ALL.iter().map(|kind| {
                let name = format!("{}.{}", package.name, kind.extension());
                Output { path: folder.join(name), kind: *kind }
            }));
        }
        outputs
    }

    fn write(&self, outputs: &[Output], made: &[Made], compiled: &Compiled) -> Result<()> {
        let _span = tracing::info_span!("write").entered();
        if let Some(folder) = &self.out_dir {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        let paths = outputs.iter().map(|output| output.path.as_path());
        let rule = depfile::rule(paths, self.package_file.inputs(&compiled.inputs));
        let mut files = Vec::new();
        for (kind, bytes) in made {
            let of_kind = outputs.iter().filter(|output| output.kind == *kind);
            files.extend(of_kind.map(|output| (output.path.as_path(), &bytes[..])));
        }
        files.extend(self.depfile.iter().map(|path| (path.as_path(), &rule[..])));
        self.check_inputs_stay(&files, compiled)?;
        publish(&files)
    }

    /// No output takes the place of a file that was read: the next build would read something else.
    fn check_inputs_stay(&self, files: &[(&Path, &[u8])], compiled: &Compiled) -> Result<()> {
        let inputs: Vec<_> = self
            .package_file
            .inputs(&compiled.inputs)
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        for (path, _) in files {
            if path.canonicalize().is_ok_and(|path| inputs.contains(&path)) {
                bail!("cannot write `{}`: the build reads it", path.display());
            }
        }
        Ok(())
    }
}
