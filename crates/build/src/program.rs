// SPDX-License-Identifier: Apache-2.0
//! The program `kernpack`: where it is, whether it is the right one, and what it answers.

use crate::answer::{Answer, Made};
use crate::environment::{self, Environment, Script};
use crate::problem::{OWN_VERSION, Problem};
use std::ffi::OsStr;
use std::iter::once;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The name of the program, where nobody gives another.
const NAME: &str = "kernpack";
/// The most lines that are shown of what a program says which is not understood.
const MAX_LINES: usize = 20;

/// The program.
#[derive(Debug)]
pub struct Program<'s> {
    /// Where it is.
    pub path: PathBuf,
    /// Whether that is so because of the variable `PATH`.
    pub is_by_path: bool,
    environment: &'s Environment,
    script: &'s Script,
}

/// The purpose of one run of it.
#[derive(Debug)]
pub struct Request<'r> {
    /// The user's file, as the build script has it.
    pub file: &'r Path,
    /// The options of `build`.
    pub options: Vec<&'r OsStr>,
    /// Remarks on the options, for whoever has not written them.
    pub remark: &'static str,
}

impl<'s> Program<'s> {
    /// The program that the build script names, or the environment.
    ///
    /// # Errors
    /// Where there is none.
    pub fn find(
        named: Option<&Path>,
        environment: &'s Environment,
        script: &'s Script,
    ) -> Result<Program<'s>, Problem> {
        let variable = environment.get(environment::PROGRAM).map(Path::new);
        let (name, remark) = match (named, variable) {
            (Some(name), _) => (name, ", which `.program(…)` in the build script names"),
            (None, Some(name)) => (name, ", which the variable KERNPACK names"),
            (None, None) => (Path::new(NAME), ""),
        };
        let is_by_path = name.components().count() == 1 && !name.is_absolute();
        let (found, place) = if is_by_path {
            let place = format!("no program `{}` is on PATH{remark}", name.display());
            (on_path(name, environment, script), place)
        } else {
            let path = script.manifest.join(name);
            let place = format!("there is no program `{}`{remark}", path.display());
            (Some(path).filter(|path| is_program(path)), place)
        };
        let path = found.ok_or(Problem::NoProgram { looked_for: place })?;
        Ok(Program { path, is_by_path, environment, script })
    }

    /// That it is of this crate's version.
    fn require_version(&self) -> Result<(), Problem> {
        let mut command = self.command();
        let output = self.run(command.arg("--version"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        match said.trim_end().strip_prefix("kernpack ") {
            Some(OWN_VERSION) => Ok(()),
            Some(found) if !found.contains(char::is_whitespace) => {
                Err(Problem::Version { program: self.path.clone(), found: found.to_string() })
            }
            _ => Err(self.no_answer(&command, &output)),
        }
    }

    /// Builds a package. To start the program takes longer than to find a package in the cache, so
    /// that its version is asked for only where its answer does not have that of this crate.
    pub fn build(&self, request: &Request<'_>) -> Result<Made, Problem> {
        let mut command = self.command();
        command.args(["--json", "build"]).args(&request.options).arg("--").arg(request.file);
        let output = self.run(&mut command)?;
        let answer = serde_json::from_slice(&output.stdout);
        if !matches!(&answer, Ok(Answer::Made(made)) if made.version == OWN_VERSION) {
            self.require_version()?;
        }
        match answer {
            Ok(Answer::Made(_)) if !output.status.success() => {
                Err(self.no_answer(&command, &output))
            }
            Ok(answer) => answer.made(request.file, || {
                format!("\nnote: it was run as `{}`{}", written(&command), request.remark)
            }),
            Err(_) => Err(self.no_answer(&command, &output)),
        }
    }

    /// A run of it in the folder of `Cargo.toml`, so that messages have paths as the user has them.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear().envs(self.environment.variables());
        command.current_dir(&self.script.manifest).stdin(Stdio::null());
        command
    }

    fn run(&self, command: &mut Command) -> Result<Output, Problem> {
        let output = command.output();
        output.map_err(|error| Problem::NotRun { program: self.path.clone(), error })
    }

    fn no_answer(&self, command: &Command, output: &Output) -> Problem {
        let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        Problem::NoAnswer {
            program: self.path.clone(),
            status: output.status.to_string(),
            said: last_lines(said),
            command: written(command),
        }
    }
}

/// The first program of that name in the folders of `PATH`.
fn on_path(name: &Path, environment: &Environment, script: &Script) -> Option<PathBuf> {
    let folders = std::env::split_paths(environment.get(environment::PATH)?);
    let mut paths = folders.map(|folder| script.manifest.join(folder).join(name));
    paths.find(|path| is_program(path))
}

/// Whether that is a file that may be run.
fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// A command as shells take it.
fn written(command: &Command) -> String {
    let words = once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-=,+:".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The end of what a program said, each line behind a line break.
fn last_lines(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<_> = said.lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(MAX_LINES));
    last.map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{last_lines, quoted};

    #[test]
    fn words_are_quoted_where_shells_need_it() {
        assert_eq!(quoted("--arch=sm_90a,compute_80"), "--arch=sm_90a,compute_80");
        assert_eq!(quoted("my norms/a.toml"), "'my norms/a.toml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_end_of_a_long_text_is_shown() {
        let text: String = (0..100).map(|i| format!("line {i}\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with("\n  line 80\n") && shown.ends_with("\n  line 99"), "{shown}");
        assert_eq!(last_lines(b""), "");
        assert_eq!(last_lines(b"\xff"), "\n  \u{fffd}");
    }
}
