// SPDX-License-Identifier: Apache-2.0
//! `kernpack cache show|clear|verify`

use crate::{Failure, Report};
use clap::{Args, Subcommand};
use kernpack_cache::{Cache as Store, Shown};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Cache {
    #[command(subcommand)]
    command: Command,
}

/// What to do with the cache.
#[derive(Debug, Subcommand)]
enum Command {
    /// List what is in the cache, the last used first.
    Show,
    /// Remove all that is not in use.
    Clear,
    /// Read all that is in the cache, and set aside what is not as it was written.
    Verify,
}

impl Cache {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let store = Store::from_env();
        let report = match self.command {
            Command::Show => show(&store),
            Command::Clear => clear(&store),
            Command::Verify => verify(&store),
        }?;
        Ok(report.with_warnings(store.told()))
    }
}

/// The folders, a line each; or that there are none.
fn folders(store: &Store) -> (String, Value) {
    let folders: Vec<_> =
        store.folders().into_iter().map(|folder| folder.display().to_string()).collect();
    let text = match folders.is_empty() {
        true => "no cache is in use\n".to_string(),
        false => folders.iter().map(|folder| format!("{folder}\n")).collect(),
    };
    (text, json!(folders))
}

fn show(store: &Store) -> Result<Report, Failure> {
    let (mut text, folders) = folders(store);
    let now = SystemTime::now();
    let mut total = 0;
    let mut entries = Vec::<Value>::new();
    for shown in store.show() {
        write_row(&mut text, &shown, now)?;
        total += shown.bytes;
        let since = shown.used.duration_since(UNIX_EPOCH).unwrap_or_default();
        entries.push(json!({
            "path": shown.path.display().to_string(), "package": shown.package,
            "functions": shown.functions, "archs": shown.archs, "bytes": shown.bytes,
            "used": since.as_secs(), "read_only": shown.is_shipped,
        }));
    }
    writeln!(text, "{} entries, {}", entries.len(), size(total))?;
    Ok(Report::new(text, json!({ "folders": folders, "entries": entries, "bytes": total })))
}

/// An entry on a line: its name, when it was used, how large it is and what is in it.
fn write_row(text: &mut String, shown: &Shown, now: SystemTime) -> std::fmt::Result {
    let name = shown.path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(12).collect();
    let ago = age(now.duration_since(shown.used).unwrap_or_default().as_secs());
    let package = shown.package.as_deref().unwrap_or("damaged");
    write!(text, "  {name}  {ago:>8}  {:>10}  {package}", size(shown.bytes))?;
    write!(text, ": {}", shown.functions.join(", "))?;
    if !shown.archs.is_empty() {
        write!(text, " for {}", shown.archs.join(", "))?;
    }
    writeln!(text, "{}", if shown.is_shipped { " (read only)" } else { "" })
}

fn clear(store: &Store) -> Result<Report, Failure> {
    let (mut text, folders) = folders(store);
    let cleared = store.clear();
    writeln!(text, "removed {} entries, {}", cleared.n_removed, size(cleared.bytes))?;
    let kept: Vec<_> = cleared.kept.iter().map(|path| path.display().to_string()).collect();
    for path in &kept {
        writeln!(text, "in use, and kept: {path}")?;
    }
    let removed = json!({ "entries": cleared.n_removed, "bytes": cleared.bytes });
    Ok(Report::new(text, json!({ "folders": folders, "removed": removed, "kept": kept })))
}

fn verify(store: &Store) -> Result<Report, Failure> {
    let (mut text, folders) = folders(store);
    let verified = store.verify();
    for message in &verified.damaged {
        writeln!(text, "{message}")?;
    }
    let (n_good, n_damaged) = (verified.n_good, verified.damaged.len());
    writeln!(text, "{n_good} entries and records are as they were written, {n_damaged} are not")?;
    let answer = json!({ "folders": folders, "good": n_good, "damaged": verified.damaged });
    let code = if n_damaged == 0 { crate::SUCCESS } else { crate::FAILURE };
    Ok(Report { code, ..Report::new(text, answer) })
}

/// Bytes, in the unit that leaves at most four digits.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << shift)),
        None => format!("{bytes} B"),
    }
}

/// Seconds, in the largest unit.
fn age(seconds: u64) -> String {
    let units = [(86400, "d"), (3600, "h"), (60, "min")];
    match units.iter().find(|(length, _)| seconds >= *length) {
        Some((length, unit)) => format!("{} {unit} ago", seconds / length),
        None => "now".to_string(),
    }
}
