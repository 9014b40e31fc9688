// SPDX-License-Identifier: Apache-2.0
//! `kernpack targets`

use crate::{Failure, Report};
use clap::Args;
use kernpack_package::Target;
use kernpack_package::target::TARGETS;
use serde_json::{Value, json};
use std::fmt::Write;

/// The command; it takes no arguments.
#[derive(Args, Debug)]
pub struct Targets {}

impl Targets {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let mut text = String::new();
        let mut rows = Vec::<Value>::new();
        for target in TARGETS {
            let is_host = target.name == Target::host().name;
            let remark = if is_host { "  (this machine)" } else { "" };
            writeln!(text, "{}{remark}", target.name)?;
            rows.push(json!({ "name": target.name, "triple": target.triple, "host": is_host }));
        }
        Ok(Report::new(text, json!({ "targets": rows })))
    }
}
