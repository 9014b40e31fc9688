// SPDX-License-Identifier: Apache-2.0
//! `kernpack check FILE`

use crate::package_file::PackageFile;
use crate::{Failure, Report, timings};
use clap::Args;
use kernpack_compiler::{Options, check};
use serde_json::json;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    package_file: PackageFile,
    /// Show on the standard error how long each phase took.
    #[arg(long)]
    verbose: bool,
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        timings::show(self.verbose, || self.check())
    }

    fn check(&self) -> Result<Report, Failure> {
        let _span = tracing::info_span!("check").entered();
        let options =
            Options { target: self.package_file.target(), is_shared: true, ..Options::default() };
        let (package, told) = self.package_file.read(&options)?;
        let checked = match check(&package, &options) {
            Ok(checked) => checked,
            Err(error) => return Err(Failure::of(told, error)),
        };
        let inputs: Vec<_> = checked.inputs.into_iter().map(|file| file.path).collect();
        let inputs = self.package_file.inputs(&inputs);
        let inputs: Vec<_> = inputs.map(|path| path.display().to_string()).collect();
        let target = options.target.name;
        let answer = json!({ "package": package.name, "target": target, "inputs": inputs });
        Ok(Report::new(String::new(), answer).with_warnings(told.and(checked.warnings)))
    }
}
