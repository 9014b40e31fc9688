// SPDX-License-Identifier: Apache-2.0
//! `kernpack tune FILE --shapes shapes.toml`
//!
//! Functions are tuned where they are called, which is Python: the command has the Python that
//! kernpack is installed in do it (`python/kernpack/_tune.py`).

use crate::{Failure, Report};
use anyhow::{Context, anyhow};
use clap::Args;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Tune {
    /// The Python file with the tuned functions.
    file: PathBuf,
    /// The calls to tune for: a table for each function, as `docs/tuning.md` has them.
    #[arg(long)]
    shapes: PathBuf,
    /// How many seconds are spent on each call, about: what the function says, unless it stands
    /// here.
    #[arg(long)]
    seconds: Option<f64>,
}

impl Tune {
    /// Runs the command, whose Python prints what it finds.
    pub fn run(self) -> Result<Report, Failure> {
        let python = std::env::var_os("KERNPACK_PYTHON");
        let python = python.filter(|python| !python.is_empty()).ok_or_else(|| {
            anyhow!(
                "there is no Python to tune in: set KERNPACK_PYTHON to the one that kernpack is \
                 installed in"
            )
        })?;
        let mut command = Command::new(&python);
        command.args(["-m", "kernpack._tune"]).arg(&self.file).arg("--shapes").arg(&self.shapes);
        if let Some(seconds) = self.seconds {
            command.args(["--seconds", &seconds.to_string()]);
        }
        let status = command.status();
        let status = status.with_context(|| format!("cannot run `{}`", python.display()))?;
        // As a shell says which signal has ended it.
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Ok(Report { code, ..Report::new(String::new(), json!({})) })
    }
}
