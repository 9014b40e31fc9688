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
        let target = self.package_file.target();
        let (package, mut warnings) = self.package_file.read()?;
        let checked = check(&package, &Options { target })
            .map_err(|error| self.package_file.failure(error))?;
        warnings.extend(checked.warnings);
        let inputs = self.package_file.inputs(&checked.inputs);
        let inputs: Vec<_> = inputs.map(|path| path.display().to_string()).collect();
        let answer = json!({ "package": package.name, "target": target.name, "inputs": inputs });
        Ok(Report::new(String::new(), answer).with_warnings(&warnings))
    }
}
