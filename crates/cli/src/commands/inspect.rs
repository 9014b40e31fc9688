// SPDX-License-Identifier: Apache-2.0
//! `kernpack inspect FILE`

use crate::{Failure, Report, input};
use anyhow::Context;
use clap::Args;
use kernpack_package::inspect;
use std::path::PathBuf;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Inspect {
    /// An object (.o) or a shared object (.so).
    file: PathBuf,
}

impl Inspect {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let found = inspect::inspect_file(&input::open(&self.file)?);
        let found = found.with_context(|| format!("cannot inspect `{}`", self.file.display()))?;
        Ok(Report::new(found.to_string(), serde_json::to_value(&found)?))
    }
}
