// SPDX-License-Identifier: Apache-2.0
//! The end of a build script's call: what came of it is said to cargo. Nothing else here prints.

use crate::{Built, Error};
use std::io::{self, Write};

/// The exit code of a build script that failed.
const FAILURE: i32 = 1;

/// Says it to cargo. Ends the process where that is an error: other build systems, which run build
/// scripts too, know the exit code alone.
pub fn report(outcome: Result<Built, Error>) {
    let is_failure = outcome.is_err();
    let lines = outcome.map_or_else(|error| error.lines(), |built| built.lines);
    if say(&lines).is_err() || is_failure {
        std::process::exit(FAILURE);
    }
}

fn say(lines: &[String]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(stdout, "{line}"))?;
    stdout.flush()
}
