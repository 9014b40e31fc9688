// SPDX-License-Identifier: Apache-2.0
//! `kernpack inspect FILE`

use crate::{Failure, Report};
use anyhow::Context;
use clap::Args;
use kernpack_compiler::inspect;
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
        let name = self.file.display();
        let bytes = std::fs::read(&self.file).with_context(|| format!("cannot read `{name}`"))?;
        let found = inspect::inspect(&bytes).with_context(|| format!("cannot inspect `{name}`"))?;
        Ok(Report::new(found.to_string(), serde_json::to_value(&found)?))
    }
}
