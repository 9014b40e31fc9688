// SPDX-License-Identifier: Apache-2.0
//! Messages in documents: faults that some case of the suite raises, and errors in the program's
//! words.

use super::{all, expect_none, rows, text};
use crate::document::Document;
use crate::tidy::{Source, root, sources};
use std::collections::BTreeSet;

/// A message without what the call chooses: numbers, paths, names of kernels, and where it stands.
fn shape(message: &str) -> String {
    let message = message.replace("LOC", "on argument #0");
    let mut words: Vec<String> = Vec::new();
    for word in without_signature(&message).split_whitespace() {
        match word.rsplit_once('.') {
            Some((path, field)) if path.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                words.push(format!("PATH.{}", without_numbers(field)));
            }
            _ => words.push(without_numbers(word)),
        }
    }
    let text = without_values(&words.join(" "));
    match (text.split_once(" on "), text.split_once(" in argument #0")) {
        (Some((what, _)), Some((_, rest))) => format!("{what} on argument #0{rest}"),
        _ => text,
    }
}

/// Without the integer type of a range, and without the names whose values end a message.
fn without_values(text: &str) -> String {
    let text = match text.split_once(" range [") {
        Some((what, rest)) => {
            format!("{} TYPE range [{rest}", what.rsplit_once(' ').map_or(what, |(what, _)| what))
        }
        None => text.to_string(),
    };
    match text.rsplit_once(" (") {
        Some((what, names)) if names.contains(" is 0") => format!("{what} (NAMES)"),
        _ => text,
    }
}

fn without_signature(message: &str) -> String {
    let Some((what, rest)) = message.split_once(" when calling: `") else { return message.into() };
    let rest = rest.split_once('`').map_or(rest, |(_, rest)| rest);
    let what: Vec<_> = what
        .split('`')
        .enumerate()
        .map(|(i, part)| if i % 2 == 1 { "NAME" } else { part })
        .collect();
    format!("{}{rest}", what.concat())
}

/// With 0 for every number that is no part of a name.
fn without_numbers(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(c) = rest.chars().next() {
        let starts =
            c.is_ascii_digit() || c == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if starts && !out.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            let is_part = |c: char| c.is_ascii_digit() || c == '.';
            let end = rest[1..].find(|c| !is_part(c)).map_or(rest.len(), |end| end + 1);
            out.push('0');
            rest = &rest[end..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The shapes of the faults that the suite expects, each behind its name.
fn raised() -> BTreeSet<String> {
    let mut raised = BTreeSet::new();
    for path in crate::suite::files(&root().join("tests/suite")) {
        let document = Document::read(&path).expect("the suite is text");
        for block in document.blocks().filter(|block| block.info == "fault") {
            let Some((kind_and_name, message)) = block.text.split_once(": ") else { continue };
            let name = kind_and_name.split(' ').nth(1).unwrap_or_default();
            raised.insert(format!("{name}: {}", shape(message)));
        }
    }
    raised
}

/// The messages of a row. Each may leave out how it begins, if the one before it begins so too.
fn messages(cell: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for text in cell.split("``").skip(1).step_by(2) {
        let text = text.trim_start_matches("…, ");
        let whole = messages.last().cloned().unwrap_or_default();
        let start = ["expected ", "got "].iter().find(|start| text.starts_with(**start));
        messages.push(match start {
            _ if text.contains("when calling") => text.to_string(),
            // What follows a value in brackets.
            None => continue,
            Some(start) => {
                let at = whole.rfind(&format!(", {start}")).expect("the first message is whole");
                format!("{}, {text}", &whole[..at])
            }
        });
    }
    messages
}

#[test]
fn documented_faults_are_raised_in_the_suite() {
    let (raised, document) = (raised(), text("faults.md"));
    let mut problems = Vec::new();
    for row in rows(&document) {
        let name = row[0].trim_matches('`');
        let messages = messages(&row[2..].join(" | "));
        assert!(!messages.is_empty(), "{name}");
        for message in messages {
            let shape = format!("{name}: {}", shape(&message));
            if !raised.contains(&shape) {
                problems.push(format!("{message}\n  {shape}"));
            }
        }
    }
    expect_none(&problems);
}

/// The text of the program and of its tests, strings that go over several lines made one; and what
/// the suite expects of it.
fn program() -> String {
    let is_program = |source: &Source| source.is_rust() && source.path.starts_with("crates/");
    let texts = sources().into_iter().filter(is_program).map(|source| source.text);
    let suite = crate::suite::files(&root().join("tests/suite"));
    let cases = suite.iter().map(|path| std::fs::read_to_string(path).expect("the suite is text"));
    let text = texts.chain(cases).collect::<Vec<_>>().concat();
    let lines: Vec<_> = text.split("\\\n").map(str::trim_start).collect();
    lines.concat().replace("\\\"", "\"").replace("\\`", "`")
}

/// What only a linker says, and what has a value in it that looks like a word.
const OTHERS: &[&str] = &[
    "cannot be used against local symbol",
    "recompile with -fPIC",
    "a tensor is no operand of PTX",
    "tried cc",
    "should be PTX",
    "should be a cubin",
    "and is PTX",
    "and is a cubin",
    "has no cuLibraryLoadData",
];

/// The clauses of an error that are the program's: neither quoted nor a value.
fn clauses(message: &str) -> Vec<String> {
    let is_value = |word: &str| word.contains(|c: char| c.is_ascii_digit() || "\"…(._".contains(c));
    let mut clauses = Vec::new();
    for text in message.split('`').step_by(2).flat_map(|text| text.split([',', ';', ':'])) {
        let words: Vec<_> = text.split_whitespace().collect();
        clauses.extend(words.split(|word| is_value(word)).map(|words| words.join(" ")));
    }
    clauses.retain(|clause| clause.contains(' ') && !OTHERS.contains(&&clause[..]));
    clauses
}

/// The errors that a document shows as they are printed.
fn printed(document: &Document) -> Vec<String> {
    let blocks = document.blocks().filter(|block| block.info == "text");
    let lines = blocks.flat_map(|block| block.text.lines());
    lines.filter(|line| line.starts_with("error")).map(str::to_string).collect()
}

/// The errors in the table of codes, as they would be printed.
fn tabled() -> Vec<String> {
    let document = text("diagnostics.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let error = |row: &str| {
        let cells: Vec<_> = row.split(" | ").collect();
        let code = cells[0].split('`').nth(1).unwrap_or_default();
        let message = cells[2].trim_matches(['|', ' ']);
        let name = message.trim_start_matches('`');
        let fence = &message[..message.len() - name.len()];
        let message = name.split(fence).next().unwrap_or_default();
        format!("error[{code}]: {}", message.trim())
    };
    rows.map(error).collect()
}

#[test]
fn documented_errors_are_in_the_programs_words() {
    let program = program();
    let mut errors = tabled();
    errors.extend(all().iter().flat_map(|(_, document)| printed(document)));
    assert!(errors.len() > 115, "{} were found", errors.len());
    let mut problems = Vec::new();
    for error in errors {
        let (head, message) = error.split_once(": ").expect("`error: message`");
        let code = head.strip_prefix("error[").map(|code| code.trim_end_matches(']'));
        if code.is_some_and(|code| !program.contains(&format!("\"{code}\""))) {
            problems.push(format!("no such code: {error}"));
        }
        let unknown = clauses(message).into_iter().filter(|clause| !program.contains(&clause[..]));
        problems.extend(unknown.map(|clause| format!("`{clause}` in: {error}")));
    }
    expect_none(&problems);
}
