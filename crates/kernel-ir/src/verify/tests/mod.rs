// SPDX-License-Identifier: Apache-2.0
//! How alike values are, and what rules say of kernels that no text has. Those that a text can
//! break have their cases in the suite: `tests/suite/kernels/verifier.md`.

mod malformed;
mod products;
mod running;

use crate::kernel::Kernel;
use crate::text::{Item, parse};
use expect_test::Expect;
use kernpack_syntax::{Diagnostics, Texts};

/// The kernel or function of a text, whose places are in that text.
fn read(text: &str) -> (Texts, Item) {
    let mut texts = Texts::default();
    let id = texts.add("k", text);
    let items = parse(&texts.snippet(id)).unwrap_or_else(|problems| panic!("{problems}"));
    let [item] = <[Item; 1]>::try_from(items).unwrap_or_else(|_| panic!("one item"));
    (texts, item)
}

fn kernel(text: &str) -> Kernel {
    match read(text) {
        (_, Item::Kernel(kernel)) => kernel,
        (_, Item::Function(_)) => panic!("a kernel"),
    }
}

/// Diagnostics of what was read of a text, and changed then.
fn told(text: &str, problems: &Diagnostics) -> String {
    let mut texts = Texts::default();
    texts.add("k", text);
    problems.in_texts(&texts)
}

/// Holds what is wrong with a kernel or a function.
fn expect_problems(text: &str, expected: Expect) {
    let (texts, item) = read(text);
    let problems = match &item {
        Item::Kernel(kernel) => super::verify(kernel).map(|_| ()),
        Item::Function(function) => super::verify_function(function),
    };
    let problems = problems.err().unwrap_or_default();
    expected.assert_eq(&problems.in_texts(&texts));
}

/// Holds that a kernel keeps all rules.
fn expect_right(text: &str) {
    expect_problems(text, expect_test::expect![[""]]);
}
