// SPDX-License-Identifier: Apache-2.0
//! `kernpack emit FILE --as ir|llvm|ptx|sass`

use crate::package_file::PackageFile;
use crate::{Failure, Report};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use kernpack_compiler::source::kernel;
use kernpack_compiler::{CompileError, Options, kernel_sources};
use kernpack_kernel_ir::Kernel;
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::SourceError;
use kernpack_package::source::KernelSource;
use kernpack_syntax::{Diagnostics, Placed};
use serde_json::json;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Emit {
    #[command(flatten)]
    package_file: PackageFile,
    /// What to show: the operations of the kernels, LLVM's text before its passes, PTX, or machine
    /// code as NVIDIA's disassembler writes it.
    #[arg(long = "as", value_name = "FORM")]
    form: Form,
    /// Show the kernels of this function only.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
}

/// The form that kernels are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Ir,
    Llvm,
    Ptx,
    Sass,
}

impl Emit {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let options = Options { target: self.package_file.target(), ..Options::default() };
        let (mut package, told) = self.package_file.read(&options)?;
        if let Some(name) = &self.function {
            let names: Vec<_> =
                package.functions.iter().map(|one| format!("`{}`", one.signature.name)).collect();
            package.functions.retain(|function| function.signature.name == *name);
            if package.functions.is_empty() {
                let names = names.join(", ");
                return Err(anyhow!("there is no function `{name}`; there is {names}").into());
            }
        }
        let sources = match kernel_sources(&package, options.held) {
            Ok(sources) => sources,
            Err(problems) => return Err(Failure::of(told, CompileError::Problems(problems))),
        };
        if sources.is_empty() {
            return Err(anyhow!("no kernel of it is written here").into());
        }
        let (mut text, mut parts) = (String::new(), Vec::new());
        for (source, archs) in &sources {
            for arch in self.archs(archs) {
                match self.shown(source, arch) {
                    Ok(shown) => {
                        text += shown.trim_end();
                        text.push('\n');
                        let path = source.path.display().to_string();
                        parts.push(json!({
                            "file": path, "arch": arch.to_string(), "text": shown,
                        }));
                    }
                    Err(Shown::Source(errors)) => {
                        let problems = errors.into_iter().map(|error| error.diagnostic("", []));
                        let problems = Diagnostics(problems.collect());
                        return Err(Failure::of(told, CompileError::Problems(problems)));
                    }
                    Err(Shown::Other(error)) => return Err(error.into()),
                }
            }
        }
        Ok(Report::new(text, json!({ "kernels": parts })).with_warnings(told))
    }

    /// The architectures that kernels are shown for: operations are the same for every
    /// architecture, and machine code is for one.
    fn archs(&self, archs: &[Placed<Arch>]) -> Vec<Arch> {
        let archs = archs.iter().map(|arch| arch.value);
        match self.form {
            Form::Ir => archs.take(1).collect(),
            Form::Llvm | Form::Ptx | Form::Sass => {
                let mut shown: Vec<Arch> = Vec::new();
                for arch in archs.map(|arch| Arch { kind: ArchKind::Sm, ..arch }) {
                    if !shown.contains(&arch) {
                        shown.push(arch);
                    }
                }
                shown
            }
        }
    }

    fn shown(&self, source: &KernelSource, arch: Arch) -> Result<String, Shown> {
        match self.form {
            Form::Ir => {
                let kernels = source.instances.iter().map(|kernel| Kernel::to_string(kernel));
                Ok(kernels.collect::<Vec<_>>().join("\n"))
            }
            Form::Llvm => kernel::llvm_text(source, arch).map_err(Shown::Source),
            Form::Ptx => kernel::ptx_text(source, arch).map_err(Shown::Source),
            Form::Sass => {
                let cubin = kernel::cubin(source, arch).map_err(Shown::Source)?;
                kernel::sass(&cubin).map_err(|error| Shown::Other(error.into()))
            }
        }
    }
}

/// Why kernels are not shown.
enum Shown {
    Source(Vec<SourceError>),
    Other(anyhow::Error),
}
