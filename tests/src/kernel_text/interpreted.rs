// SPDX-License-Identifier: Apache-2.0
//! Calls of packed functions on the interpreter, which runs what they launch one behind another:
//! lines such as `f(n=4)` are made, and below each stands what is found. `f(n=4; rank=0; rank=1)`
//! is the call of two ranks at the same time, with the values that each has beside the first ones.
//! Tensors hold random numbers, or what `fill=zeros` says.

use super::{FILE, KernelText};
use kernpack_package::interpret::{InterpretError, Wanted, interpret};
use kernpack_package::{Held, Language, PackageText};
use kernpack_syntax::{Diagnostics, Texts};
use std::path::Path;

/// The block with what its calls give now.
///
/// # Errors
/// A line that is no call.
pub fn rewritten(file: &KernelText, block: &str) -> Result<String, String> {
    let mut lines = Vec::new();
    for line in block.lines() {
        if let Some(wanted) = read(line) {
            lines.extend([line.to_string(), found(file, &wanted)]);
        }
    }
    if lines.is_empty() {
        return Err("expected a call, such as `f(n=4)`".to_string());
    }
    Ok(lines.join("\n"))
}

/// `f(n=4, m=2)`
fn read(line: &str) -> Option<Wanted> {
    let (function, values) = line.strip_suffix(')')?.split_once('(')?;
    let is_name = function.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut parts = values.split("; ").map(read_values);
    let (values, ranks) = (parts.next()??, parts.collect::<Option<_>>()?);
    let (fill, values): (Vec<_>, Vec<_>) = values.into_iter().partition(|(name, _)| name == "fill");
    let fill = fill.into_iter().map(|(_, fill)| Some((None, fill.parse().ok()?)));
    let (function, fill) = (function.to_string(), fill.collect::<Option<_>>()?);
    is_name.then(|| Wanted { function, values, ranks, fill, ..Wanted::default() })
}

/// `n=4, m=2`
fn read_values(text: &str) -> Option<Vec<(String, String)>> {
    let values = text.split(", ").filter(|value| !value.is_empty()).map(|value| {
        let (name, value) = value.split_once('=')?;
        Some((name.to_string(), value.to_string()))
    });
    values.collect()
}

fn found(file: &KernelText, wanted: &Wanted) -> String {
    let mut texts = Texts::default();
    let (base, name) = (Path::new(""), FILE);
    let text = PackageText {
        language: Language::Kernels,
        name,
        text: &file.text,
        base,
        places: &[],
        specs: &[],
    };
    let reading = text.read(&mut texts, Held::nothing());
    let shown = |problems: Diagnostics| problems.in_texts(&texts);
    if reading.problems.has_errors() {
        return shown(reading.problems);
    }
    match interpret(&reading.package, wanted, Held::nothing()) {
        Ok(done) if done.findings.0.is_empty() => "nothing is found".to_string(),
        Ok(done) => shown(done.findings),
        Err(InterpretError::Problems(problems)) => shown(problems),
        Err(error) => error.to_string(),
    }
}
