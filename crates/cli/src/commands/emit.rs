// SPDX-License-Identifier: Apache-2.0
//! `kernpack emit FILE --as ir|llvm|ptx|sass|resources|accesses|waits`

use crate::emitted::{EmitError, Form, emitted};
use crate::package_file::PackageFile;
use crate::{Failure, Report};
use anyhow::anyhow;
use clap::Args;
use kernpack_compiler::Options;
use serde_json::{Value, json};

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Emit {
    #[command(flatten)]
    package_file: PackageFile,
    /// What to show.
    #[arg(long = "as", value_name = "FORM")]
    form: Form,
    /// Show the kernels of this function only.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Show kernels as `f.timeline` of Python has them: they write down what they wait for.
    #[arg(long)]
    timed: bool,
}

impl Emit {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let options = Options { target: self.package_file.target(), ..Options::default() };
        let (mut package, told) = self.package_file.read(&options)?;
        if self.timed {
            package.time_waits();
        }
        let parts = match emitted(&package, self.form, self.function.as_deref(), options.held) {
            Ok(parts) => parts,
            Err(EmitError::Compile(error)) => return Err(Failure::of(told, error)),
            Err(EmitError::Other(message)) => return Err(anyhow!(message).into()),
        };
        let text: String = parts.iter().map(|part| format!("{}\n", part.text.trim_end())).collect();
        let parts: Vec<Value> = parts.into_iter().map(|part| part.json).collect();
        Ok(Report::new(text, json!({ "kernels": parts })).with_warnings(told))
    }
}
