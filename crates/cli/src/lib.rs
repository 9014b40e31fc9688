// SPDX-License-Identifier: Apache-2.0
//! The command line tool `kernpack`, as a library: a program of a few lines runs it, and so does
//! the console script of the Python package.
//!
//! A command is one file of `commands`: it reads its arguments and returns a `Report` or a
//! `Failure`, each of which has two forms, text for people and JSON for programs (`--json`). This
//! file alone prints and chooses the exit code: 0, 1 where the input is wrong or a file cannot be
//! read or written, 2 where the command line is. `kernpack-render` draws diagnostics.
//!
//! # Where things live
//!
//! It is a library, which the program of a few lines runs, and so does whoever has no program of
//! his own. `commands/` has one file a subcommand. Each answers with a `report.rs` or a
//! `failure.rs`, which have a form for people and one for programs; `lib.rs` prints it; `layout`
//! also draws. `call.rs` is a call as commands are told it. `package_file.rs` is the package file
//! that a command is given, with what options overrule in it. `launched.rs` shows launches of the
//! interpreter, and `emitted.rs` kernels in other forms, here and in Python. `input.rs` reads what
//! the command line names, `npy.rs` is files of NumPy's, `publish.rs` writes files whole or not at
//! all, `depfile.rs` says what they were made from, `timings.rs` adds up the phases, and
//! `signal.rs` cleans up where a signal ends the process. `explain` has its pages on builds and on
//! CUDA from documents, to which it has links, and which are part of the program.

mod call;
mod commands;
mod depfile;
pub mod emitted;
mod failure;
mod input;
pub mod launched;
mod npy;
mod package_file;
mod publish;
mod report;
mod signal;
mod timings;

use clap::Parser;
use commands::Command;
use failure::Failure;
use kernpack_render::{draw, told};
use report::Report;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};

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

/// Runs the command line, of which the first argument is the name of the program. Returns the exit
/// code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<_> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && wants_json(&args) => {
            return exit(print_json(&usage_json(&error)), USAGE);
        }
        Err(error) if error.use_stderr() => {
            let text = error.render();
            match has_colours(&io::stderr()) {
                true => tell(&text.ansi().to_string()),
                false => tell(&text.to_string()),
            }
            return USAGE;
        }
        Err(help) => return exit(help.print(), SUCCESS),
    };
    let answer = signal::watch().map_err(Failure::from).and_then(|()| cli.command.run(cli.json));
    let (written, code) = match (answer, cli.json) {
        (Ok(report), true) => (print_json(&report.json), report.code),
        (Ok(report), false) => {
            tell(&told::text(&report.warnings, has_colours(&io::stderr())));
            (print(&report.text), report.code)
        }
        (Err(failure), true) => (print_json(&failure.json()), FAILURE),
        (Err(failure), false) => {
            tell(&failure.text(has_colours(&io::stderr())));
            (Ok(()), FAILURE)
        }
    };
    exit(written, code)
}

/// The answer of a command, in both forms, and the exit code.
#[derive(Clone, Debug)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
    /// The exit code.
    pub code: u8,
}

/// The answer that [`main`] would print, for whoever has the command line in the process.
pub fn answer(args: impl IntoIterator<Item = OsString>) -> Answer {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { SUCCESS };
            return Answer { text: error.render().to_string(), json: usage_json(&error), code };
        }
    };
    match cli.command.run(true) {
        Ok(Report { text, json, code, .. }) => Answer { text, json, code },
        Err(failure) => Answer { text: failure.text(false), json: failure.json(), code: FAILURE },
    }
}

/// The exit code where all is well.
const SUCCESS: u8 = 0;
/// The exit code where the input is wrong, or a file cannot be read or written.
const FAILURE: u8 = 1;
/// The exit code of a wrong command line, which clap has too.
const USAGE: u8 = 2;

/// Whether a command line that cannot be understood asks for JSON.
fn wants_json(args: &[OsString]) -> bool {
    let mut options = args.iter().skip(1).take_while(|arg| *arg != "--");
    options.any(|arg| arg == "--json")
}

/// Mistakes in the command line, in clap's words.
fn usage_json(error: &clap::Error) -> serde_json::Value {
    let text = error.render().to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    serde_json::json!({ "error": { "message": message } })
}

/// The exit code, where what was written did get out.
fn exit(written: io::Result<()>, code: u8) -> u8 {
    match written {
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code,
        Err(error) => {
            tell(&draw::error(&format!("cannot write the output: {error}"), false));
            FAILURE
        }
        Ok(()) => code,
    }
}

/// Writes to the standard error. Where nobody reads that, the exit code has to say it.
fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
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
