// SPDX-License-Identifier: Apache-2.0
//! The command line tool `kernpack`.
//!
//! A command is one file of [`commands`]: it reads its arguments and returns a [`Report`] or a
//! [`Failure`], each of which has two forms, text for people and JSON for programs (`--json`). This
//! file alone prints and chooses the exit code: 0, 1 where the input is wrong or a file cannot be
//! read or written, 2 where the command line is. Only [`render`] draws diagnostics.

mod commands;
mod depfile;
mod failure;
mod input;
mod package_file;
mod publish;
mod render;
mod report;
mod signal;
mod timings;
mod told;

use clap::Parser;
use commands::Command;
use failure::Failure;
use report::Report;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Turns kernels and their signatures into TVM-FFI modules.
#[derive(Debug, Parser)]
#[command(name = "kernpack", version)]
struct Cli {
    /// Answer with JSON, errors included, on the standard output.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && wants_json() => {
            return exit(print_json(&usage_json(&error)), ExitCode::from(USAGE));
        }
        Err(error) if error.use_stderr() => {
            let text = error.render();
            match has_colours(&io::stderr()) {
                true => eprint!("{}", text.ansi()),
                false => eprint!("{text}"),
            }
            return ExitCode::from(USAGE);
        }
        Err(help) => help.exit(),
    };
    let answer = signal::watch().map_err(Failure::from).and_then(|()| cli.command.run());
    let (written, code) = match (answer, cli.json) {
        (Ok(report), true) => (print_json(&report.json), ExitCode::SUCCESS),
        (Ok(report), false) => {
            eprint!("{}", report.warnings.text(has_colours(&io::stderr())));
            (print(&report.text), ExitCode::SUCCESS)
        }
        (Err(failure), true) => (print_json(&failure.json()), ExitCode::FAILURE),
        (Err(failure), false) => {
            eprint!("{}", failure.text(has_colours(&io::stderr())));
            (Ok(()), ExitCode::FAILURE)
        }
    };
    exit(written, code)
}

/// The exit code of a wrong command line, which clap has too.
const USAGE: u8 = 2;

/// Whether a command line that cannot be understood asks for JSON.
fn wants_json() -> bool {
    let mut options = std::env::args_os().skip(1).take_while(|arg| arg != "--");
    options.any(|arg| arg == "--json")
}

/// What is wrong with the command line, in clap's words.
fn usage_json(error: &clap::Error) -> serde_json::Value {
    let text = error.render().to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    serde_json::json!({ "error": { "message": message } })
}

/// The exit code, where what was written did get out.
fn exit(written: io::Result<()>, code: ExitCode) -> ExitCode {
    match written {
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code,
        Err(error) => {
            eprint!("{}", render::error(&format!("cannot write the output: {error}"), false));
            ExitCode::FAILURE
        }
        Ok(()) => code,
    }
}

fn print_json(value: &serde_json::Value) -> io::Result<()> {
    print(&format!("{value:#}\n"))
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Whether a stream is a terminal that has colours, and its user has not turned them off
/// (<https://no-color.org>).
fn has_colours(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    let is_off = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_dumb && !is_off
}
