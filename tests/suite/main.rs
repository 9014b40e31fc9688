// SPDX-License-Identifier: Apache-2.0
//! Runs every file of this folder, and the page of the language. Arguments choose those whose path
//! contains one of them; `BLESS=1` rewrites what they expect.
#![expect(clippy::print_stdout, reason = "a test program reports to its reader")]

use kernpack_tests::suite::{Report, files, run};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

fn main() {
    let start = Instant::now();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    let words: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |path: &PathBuf| {
        words.is_empty() || words.iter().any(|word| path.to_string_lossy().contains(word))
    };
    let page = folder.join("../../docs/language.md");
    let paths: Vec<_> = files(&folder).into_iter().chain([page]).filter(chosen).collect();
    let reports = run_all(&paths, std::env::var_os("BLESS").is_some());
    let failures: Vec<_> = reports.iter().flat_map(|report| &report.failures).collect();
    failures.iter().for_each(|failure| println!("{failure}\n"));
    println!(
        "{} files: {} passed, {} failed, {} rewritten, {:.1} s",
        paths.len(),
        reports.iter().map(|report| report.passed).sum::<usize>(),
        failures.len(),
        reports.iter().map(|report| report.blessed).sum::<usize>(),
        start.elapsed().as_secs_f32(),
    );
    std::process::exit(i32::from(!failures.is_empty()));
}

/// Runs the files on as many threads as there are cores; reports in the order of the files.
fn run_all(paths: &[PathBuf], bless: bool) -> Vec<Report> {
    let (next, reports) = (Mutex::new(0..paths.len()), Mutex::new(Vec::new()));
    let take = || next.lock().expect("no worker panics").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(i) = take() {
                    let report = run(&paths[i], bless);
                    reports.lock().expect("no worker panics").push((i, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().expect("no worker panics");
    reports.sort_by_key(|(i, _)| *i);
    reports.into_iter().map(|(_, report)| report).collect()
}
