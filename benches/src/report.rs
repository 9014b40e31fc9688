// SPDX-License-Identifier: Apache-2.0
//! Figures as a table, for terminals and for `docs/benchmarks.md`.

use crate::figure::{COLUMNS, Figure};
use crate::toolchain::{folder, output};
use anyhow::{Context, Result};
use std::process::Command;

/// The marks around the table in the document.
const BEGIN: &str = "<!-- figures: written by the benchmarks -->\n";
const END: &str = "<!-- end of figures -->\n";

/// The figures as a Markdown table whose columns line up.
pub fn table(figures: &[Figure]) -> String {
    let mut rows = vec![COLUMNS.map(String::from)];
    rows.extend(figures.iter().map(Figure::row));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let line = |cells: &[String; COLUMNS.len()]| {
        let cells: Vec<_> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = widths.map(|width| "-".repeat(width));
    let (head, body) = rows.split_first().expect("a table has a head");
    [head, &rule].into_iter().chain(body).map(line).collect()
}

/// Where and how the figures came about.
fn circumstances(command: &str) -> Result<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let model =
        model.map_or("an unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let n_cores = std::thread::available_parallelism()?;
    let first_line = |program: &str| {
        let text = output(Command::new(program).arg("--version"))?;
        anyhow::Ok(text.lines().next().unwrap_or_default().to_string())
    };
    let date = output(Command::new("date").args(["-u", "+%F"]))?;
    let (rustc, gcc) = (first_line("rustc")?, first_line("gcc")?);
    Ok(format!("`{command}` on {date}; {model}, {n_cores} cores; {rustc}; {gcc}.\n"))
}

/// Puts the figures into `docs/benchmarks.md`, in place of those there.
///
/// # Errors
/// Where the document is not there, or has no place for them.
pub fn write(figures: &[Figure], command: &str) -> Result<()> {
    let path = folder().join("../docs/benchmarks.md");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let marked =
        || text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) =
        marked().with_context(|| format!("{}: no place for figures", path.display()))?;
    let figures = format!("{}\n{}", circumstances(command)?, table(figures));
    Ok(std::fs::write(&path, format!("{head}{BEGIN}\n{figures}\n{END}{tail}"))?)
}
