// SPDX-License-Identifier: Apache-2.0
//! What `docs/language.md` says: its kernels are elaborated, its expressions computed, what it says
//! is refused is refused so, and its list of functions is that of the tables.

use super::{elaborate_k, elaborate_of, read, scalar, written};
use crate::argument::Argument;
use crate::builtin;
use kernpack_kernel_ir::Scalar::{F32, I32};
use kernpack_kernel_ir::interp::{self, Launch, Memories, Memory, Options};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::{Const, expand, verify};
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
const FUNCTIONS: &str = "## Functions\n\n";

fn page() -> String {
    std::fs::read_to_string(PATH).expect("the page is there")
}

/// The fenced blocks of a kind.
fn blocks(kind: &str) -> Vec<String> {
    let page = page();
    let fence = format!("```{kind}\n");
    let begins = page.match_indices(&fence).map(|(at, _)| &page[at + fence.len()..]);
    begins.map(|text| text[..text.find("```").expect("it ends")].to_string()).collect()
}

fn arguments() -> [Argument; 3] {
    [read("x", F32, &["m", "n % 4"]), written("out", F32, &["n % 4"]), scalar("i", I32)]
}

#[test]
fn its_kernels_are_kernels() {
    for source in blocks("kernel") {
        let made = elaborate_of(&source, "k", &arguments(), [32, 1, 1]);
        let instance = made.unwrap_or_else(|problems| panic!("{source}\n{problems}"));
        assert_eq!(instance.warnings.to_string(), "", "{source}");
        verify::verify(&instance.kernel).unwrap_or_else(|problems| panic!("{source}\n{problems}"));
    }
}

/// What a kernel prints whose `n` is 7.
fn print(expr: &str) -> String {
    let source = format!("@kp.kernel\ndef k(x, out, n):\n    kp.printf('{{}}', {expr})\n");
    let made = elaborate_k(&source, &arguments(), 1);
    let mut kernel = made.unwrap_or_else(|problems| panic!("{problems}")).kernel;
    expand(&mut kernel);
    let mut memories = Memories::default();
    let memory = memories.add(Memory::fresh("x", F32, 64));
    let arguments = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Pointer(_) => interp::Argument::Tensor { memory, offset: 0 },
        ParamKind::Scalar(scalar, _) => interp::Argument::Scalar(Const::int(scalar, 7)),
    });
    let arguments = arguments.collect();
    let launch = Launch { kernel: &kernel, grid: [1; 3], block: [1; 3], arguments };
    interp::run(&launch, &mut memories, &Options::default()).printed.join("\n")
}

#[test]
fn its_expressions_have_the_values_that_it_says() {
    for line in blocks("value").iter().flat_map(|block| block.lines()) {
        let (expr, value) = line.split_once(" -> ").expect("a value");
        assert_eq!(print(expr), value, "{expr}");
    }
}

#[test]
fn it_says_what_is_refused() {
    for line in blocks("refused").iter().flat_map(|block| block.lines()) {
        let (statement, message) = line.split_once("  # ").expect("a message");
        let source = format!("@kp.kernel\ndef k(x, out, n):\n    {}\n", statement.trim());
        let problems = elaborate_k(&source, &arguments(), 32).map(|_| statement.to_string());
        let problems = problems.expect_err(statement);
        assert!(problems.contains(&format!("]: {message}\n")), "{statement}\n{problems}");
    }
}

#[test]
fn it_lists_the_functions() {
    let mut list = String::new();
    for (family, rows) in builtin::reference() {
        let _ = write!(list, "### {family}\n\n| | |\n|---|---|\n");
        for row in rows {
            let _ = writeln!(list, "| `{}` | {} |", row.call, row.doc);
        }
        list.push('\n');
    }
    let page = page();
    let (before, found) = page.split_once(FUNCTIONS).expect("it has the heading");
    let list = format!("{}\n", list.trim_end());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, format!("{before}{FUNCTIONS}{list}")).expect("it can be written");
    } else {
        assert_eq!(found, list, "BLESS=1 writes the functions anew");
    }
}
