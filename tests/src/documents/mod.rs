// SPDX-License-Identifier: Apache-2.0
//! What `docs/` says, held against what is so. Lists that stand in documents are compared with the
//! tables that the program has them from; examples are read by the program; messages are looked for
//! among those of the suite, and cases of the suite for what there is.
//!
//! Not here: commands and what they print, which the tests of the command line tool run.

mod cases;
mod examples;
mod lists;
mod messages;

use crate::document::{Block, Document};
use crate::tidy::root;
use std::path::PathBuf;

/// A document, by its path in `docs/`.
fn text(name: &str) -> String {
    let path = root().join("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every document for users, by its path.
fn all() -> Vec<(String, Document)> {
    let mut paths = crate::suite::files(&root().join("docs"));
    paths.push(root().join("README.md"));
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let document = |path: &PathBuf| Document::read(path).expect("documents are text");
    paths.iter().map(|path| (name(path), document(path))).collect()
}

/// The part of a text behind a heading, up to the next one.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).expect("the heading");
    rest.split("\n## ").next().unwrap_or(rest)
}

/// The cells of a table's rows, without those of its head.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let table = text.lines().filter(|line| line.starts_with("| "));
    table.skip(1).map(cells)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The name that a text begins with.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Every block of that kind, with where it stands.
fn blocks<'d>(
    documents: &'d [(String, Document)],
    info: &str,
) -> impl Iterator<Item = (String, &'d Block)> {
    let of_kind = move |(name, document): &'d (String, Document)| {
        let blocks = document.blocks().filter(move |block| block.info == info);
        blocks.map(move |block| (format!("{name}:{}", block.line), block))
    };
    documents.iter().flat_map(of_kind)
}

/// Fails with every problem.
fn expect_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
