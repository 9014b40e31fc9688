// SPDX-License-Identifier: Apache-2.0
//! What the suite of kernels must have a case for: codes of diagnostics, kinds of findings, rules
//! and messages of the verifier, what the page of the language says of numbers, and what of
//! Python's it leaves out. Each list is read from where the program or the page has it, so that a
//! new entry without a case fails.

use super::lists::{CODE_MAKERS, constants_of};
use super::{expect_none, section, text};
use crate::document::{Document, Piece};
use crate::tidy::{Source, root, sources};
use kernpack_kernel_ir::interp::Kind;

/// A page of the suite of kernels.
fn page(name: &str) -> Document {
    let path = root().join("tests/suite/kernels").join(name);
    Document::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a kind, with the heading above each.
fn blocks<'d>(document: &'d Document, info: &str) -> Vec<(&'d str, &'d str)> {
    let (mut heading, mut found) = ("", Vec::new());
    for piece in &document.pieces {
        match piece {
            Piece::Heading(text) => heading = text,
            Piece::Block(block) if block.info == info => found.push((heading, &block.text[..])),
            Piece::Block(_) | Piece::Prose(_) => {}
        }
    }
    found
}

/// What is expected by all blocks of a kind, of pages of the suite and of the language's page.
fn expected(info: &str) -> String {
    let mut paths = crate::suite::files(&root().join("tests/suite/kernels"));
    paths.push(root().join("docs/language.md"));
    let documents = paths.iter().map(|path| Document::read(path).expect("the suite is text"));
    let texts = |document: Document| {
        blocks(&document, info).into_iter().map(|(_, text)| format!("{text}\n")).collect::<String>()
    };
    documents.map(texts).collect()
}

/// Fails for each of some names that no text has, and where there are hardly any names.
fn expect_all(names: impl IntoIterator<Item = String>, what: &str, has: impl Fn(&str) -> bool) {
    let names: Vec<_> = names.into_iter().collect();
    assert!(names.len() > 4, "{what}: {names:?}");
    let mut without: Vec<_> = names.into_iter().filter(|name| !has(name)).collect();
    without.sort();
    without.dedup();
    let problems: Vec<_> =
        without.iter().map(|name| format!("{what} has no case: {name}")).collect();
    expect_none(&problems);
}

/// The codes of diagnostics that stand in the code below a folder, but not below another.
fn codes(below: &str, not: &str) -> Vec<String> {
    let is_asked = |source: &Source| {
        let path = &source.path;
        path.starts_with(below) && (not.is_empty() || !path.starts_with(not))
    };
    CODE_MAKERS.iter().flat_map(|call| constants_of(call, &is_asked)).collect()
}

const PACKED: &str = "crates/kernel-lang/src/packed/";

#[test]
fn every_code_of_a_kernel_has_a_case() {
    let cases = expected("run") + &expected("python") + &expected("notes");
    let codes = codes("crates/kernel-lang/src/", PACKED).into_iter();
    // What is as long as no file of the suite should be: the tests of `kernel-lang` have it.
    let codes = codes.filter(|code| code != "too-long");
    expect_all(codes, "a code of kernels", |code| cases.contains(&format!("[{code}]: ")));
}

#[test]
fn every_code_of_a_packed_function_has_a_case() {
    let cases = expected("diagnostic");
    // What launches of package files are refused for is told by the command line's tests. Of a
    // signature that is written, nobody asks what it relates: the tests of `kernel-lang` do.
    let elsewhere = |code: &String| code == "unknown-kernel" || code == "unrelated-extents";
    let codes = codes(PACKED, "").into_iter().filter(|code| !elsewhere(code));
    expect_all(codes, "a code of packed functions", |code| cases.contains(&format!("[{code}]: ")));
}

#[test]
fn every_code_of_the_verifier_and_of_its_text_has_a_case() {
    let cases = expected("verified");
    let codes =
        ["verify", "text"].map(|part| codes(&format!("crates/kernel-ir/src/{part}/"), "")).concat();
    let codes = codes.into_iter().filter(|code| code != "too-deep");
    expect_all(codes, "a code of operations", |code| cases.contains(&format!("[{code}]: ")));
}

#[test]
fn every_kind_of_finding_has_a_case() {
    let findings = page("findings.md");
    let cases: String = blocks(&findings, "run").into_iter().map(|(_, text)| text).collect();
    // What takes several launches has a page of its own.
    let cases = cases + &expected("interpreted");
    // The verifier refuses kernels that the interpreter would find this in.
    let kinds = Kind::ALL.iter().filter(|kind| **kind != Kind::ReadOnlyWrite);
    let codes = kinds.map(|kind| kind.code().to_string());
    expect_all(codes, "a finding", |code| cases.contains(&format!("error[{code}]: ")));
}

/// `//!` lines that number the rules, as the headings of the page do.
#[test]
fn every_rule_of_the_verifier_has_cases() {
    /// What no text can break: the tests of kernel-ir have it.
    const UNBREAKABLE: &[&str] = &["8.", "11."];
    let rules = source_text("crates/kernel-ir/src/verify/mod.rs");
    let numbers = rules.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(' '));
    let is_number =
        |word: &str| word.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    let numbers: Vec<_> =
        numbers.map(|(word, _)| word.to_string()).filter(|word| is_number(word)).collect();
    assert!(numbers.len() > 10, "{numbers:?}");
    let verifier = page("verifier.md");
    let verdicts = blocks(&verifier, "verified");
    let of_rule = |number: &str, part: &str| {
        let mut own =
            verdicts.iter().filter(|(heading, _)| heading.split(' ').next() == Some(number));
        own.any(|(_, text)| text.contains(part))
    };
    expect_all(numbers.clone(), "a kernel that keeps rule", |it| of_rule(it, " keeps the rules"));
    let breakable = numbers.into_iter().filter(|number| !UNBREAKABLE.contains(&&number[..]));
    expect_all(breakable, "a kernel that breaks rule", |number| of_rule(number, "error["));
}

/// Each text that the verifier and the interpreter can say stands in what some case expects.
#[test]
fn every_message_about_operations_has_a_case() {
    /// What no text can break, and what takes more than a launch of the suite: the tests of
    /// kernel-ir have it.
    const ELSEWHERE: &[&str] = &[
        "{does} what lies at {place} in `{name}`",
        "{what}, between elements: its strides are {steps:?}",
        "; {n_left} more cannot begin before one of these ends",
        "`v{number}` is known to be a constant, and no `const` gives it",
        "`v{number}` is not the parameter `{}`",
        "`{name}` is aligned to {found} bytes, and a swizzle of {swizzle} asks for {align}",
        "`{name}` is at byte {offset}: expected a multiple of {align}",
        "`{name}` is in no memory",
        "`{name}` is not at a multiple of {UNIT_BYTES} bytes",
        "`{value}` is not known to be this constant",
        "{bytes} bytes come to {told}: there are 0 to {MOST_ARRIVALS}",
        "a grid of {n_blocks} blocks is too large for the interpreter",
        "a register tensor has no place",
        "a warp's barrier",
        "and `{name}` is aligned to {} bytes only",
        "at byte {offset} of what begins {lead} bytes behind a multiple of {}",
        "block ({x}, {y}, {z}), which has ended",
        "copies {bytes} bytes, which are no multiple of {BULK_ALIGN}",
        "does not come to it",
        "its parameters have {bytes} bytes, and at most {MOST_PARAM_BYTES} are passed",
        "more barriers and releases than the interpreter can tell apart",
        "more barriers than the interpreter can tell apart",
        "regions nest more than {MAX_DEPTH} deep",
        "the grid's barrier",
        "the interpreter cannot run `{}`",
        "the interpreter has no barriers of warp groups, and others of clusters",
        "the operation has no place",
        "the place `p{number}` is in no file, or has no caller",
        "used and does not exist",
        "{does} `{}`, but may not write `{name}`",
        "{n_left} blocks that cannot begin before one of these ends",
        "{what} that not all threads come to: {absent} does not",
    ];
    let is_asked = |source: &Source| {
        let is_in = |part: &str| source.path.starts_with(&format!("crates/kernel-ir/src/{part}/"));
        (is_in("verify") || is_in("interp")) && !source.is_test()
    };
    let sources: Vec<_> = sources().into_iter().filter(is_asked).collect();
    let messages = sources.iter().flat_map(|source| messages_of(&source.text));
    let messages: Vec<_> = messages.collect();
    let is_said = |message: &str| messages.iter().any(|one| one == message);
    expect_all(ELSEWHERE.iter().map(ToString::to_string), "nothing says what", is_said);
    let messages = messages.into_iter().filter(|one| !ELSEWHERE.contains(&&one[..]));
    let messages: Vec<_> = messages.collect();
    assert!(messages.len() > 80, "{messages:?}");
    let cases = expected("verified") + &expected("run") + &expected("interpreted");
    let cases: Vec<_> = cases.lines().collect();
    expect_all(messages, "a message", |message| cases.iter().any(|line| says(line, message)));
}

/// The texts of more than one word in code, but for those of panics and attributes.
fn messages_of(code: &str) -> Vec<String> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.map(|line| format!("{line}\n")).collect();
    let (mut messages, mut rest) = (Vec::new(), &code[..]);
    while let Some((before, behind)) = rest.split_once('"') {
        let end = behind.find('"').unwrap_or(behind.len());
        let (text, after) = behind.split_at(end);
        let before = before.trim_end().trim_end_matches('(');
        let is_told = !["expect", "unreachable!", "reason ="].iter().any(|it| before.ends_with(it));
        if is_told && text.trim().contains(' ') {
            messages.push(text.to_string());
        }
        rest = after.get(1..).unwrap_or_default();
    }
    messages
}

/// Whether a line has a message, with values where the message has braces.
fn says(line: &str, message: &str) -> bool {
    let message = message.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let parts = message.split('{').map(|part| part.split_once('}').map_or(part, |(_, text)| text));
    let mut rest = line;
    parts.map(|part| part.replace('\u{1}', "{").replace('\u{2}', "}")).all(|part| {
        let found = rest.split_once(part.trim());
        found.is_some_and(|(_, behind)| {
            rest = behind;
            true
        })
    })
}

fn source_text(path: &str) -> String {
    let found = sources().into_iter().find(|source| source.path == path);
    found.unwrap_or_else(|| panic!("no {path}")).text
}

/// The page begins each paragraph about numbers with what it is about in bold letters.
#[test]
fn every_paragraph_about_numbers_has_a_case() {
    let language = text("language.md");
    let lines = section(&language, "Numbers").lines();
    let leads = lines.filter_map(|line| Some(line.strip_prefix("**")?.split_once("**")?.0));
    let leads: Vec<_> = leads.map(|lead| lead.split("** ").next().unwrap_or(lead)).collect();
    assert!(leads.len() > 8, "{leads:?}");
    let numbers = page("numbers.md");
    let cases = blocks(&numbers, "python");
    let has =
        |lead: &str| cases.iter().any(|(heading, text)| *heading == lead && text.contains("# "));
    expect_all(leads.into_iter().map(str::to_string), "what is said of numbers", has);
}

/// What the front end names that it has not.
#[test]
fn everything_of_python_that_is_left_out_has_a_case() {
    /// No file has it: notebooks do.
    const NOTEBOOKS: &str = "magic command";
    /// It is a line of thousands of digits, which a test of `crates/kernel-lang` writes.
    const LONG: &str = "integer of that size";
    let convert = |source: &Source| source.path == "crates/kernel-lang/src/python/convert.rs";
    let makers = ["foreign(", "foreign_stmt(", "foreign_expr("];
    let whats = makers.iter().flat_map(|call| constants_of(call, &convert));
    let whats: Vec<_> = whats.filter(|what| what != NOTEBOOKS && what != LONG).collect();
    assert!(whats.len() > 20, "{whats:?}");
    let cases = expected("run");
    expect_all(whats, "what kernels have not", |what| {
        cases.contains(&format!("kernels have no {what}\n"))
    });
}
