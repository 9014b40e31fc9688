// SPDX-License-Identifier: Apache-2.0
//! Random layouts, by pycute and by this crate. `vectors/make.py` says how the lines
//! were made; here they are evaluated as the command line would.
//!
//! A mode of extent 1 may have any stride; for the comparison it is 0. Where pycute has no result,
//! or one that is wrong, complements are refused here, too; a composition may be one that pycute is
//! too strict for, and is tried at each coordinate.

use kernpack_layout::evaluate::{Object, evaluate};
use kernpack_layout::{Int, Layout, Mode, Static, Stride, Symbol, Symbols, index_of, parse, size};

const VECTORS: &str = include_str!("vectors/pycute.txt");

/// The lines, as operation and result.
fn vectors() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" = ").expect("an operation and its result"))
}

/// With stride 0 where the extent is 1.
fn normal(layout: &Layout<Symbol>) -> Layout<Symbol> {
    layout.map(&mut |mode| match mode.extent.is(1) {
        true => Mode { extent: Int::Known(1), stride: Stride::from(0) },
        false => mode.clone(),
    })
}

fn known(layout: &Layout<Symbol>) -> Layout {
    layout.convert(&mut |_| None).expect("vectors have no symbols")
}

/// The index of the coordinate with a number.
fn at(layout: &Layout, number: i64) -> i64 {
    let index = index_of(&mut Static, &Int::Known(number), layout).expect("a plain layout");
    index.known().expect("it is static")
}

fn size_of(layout: &Layout) -> i64 {
    size(&mut Static, layout).expect("it is small").known().expect("it is static")
}

/// The object of a text of the vectors, as text.
fn told(text: &str) -> Result<String, String> {
    match evaluate(text, &mut Symbols::new()) {
        Ok(Object::Layout(layout)) => Ok(normal(&layout).to_string()),
        Ok(Object::Part(part)) => Ok(normal(&part.layout).to_string()),
        Ok(other) => Ok(other.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The arguments of an operation that has two: the comma between them is in no parentheses.
fn arguments(call: &str) -> (&str, &str) {
    let inside = &call[call.find('(').expect("a call") + 1..call.len() - 1];
    let mut depth = 0;
    let comma = inside.char_indices().find(|(_, c)| {
        depth += i32::from(matches!(c, '(' | '<')) - i32::from(matches!(c, ')' | '>'));
        *c == ',' && depth == 0
    });
    inside.split_at(comma.expect("two arguments").0)
}

#[test]
fn results_are_those_of_pycute() {
    let mut n_compared = 0;
    let mut problems = Vec::new();
    for (call, expected) in vectors().filter(|(_, expected)| *expected != "!") {
        if call.starts_with("left_inverse") {
            continue;
        }
        n_compared += 1;
        let expected = told(expected).expect("a result of pycute is a text of ours");
        let found = told(call);
        if found.as_ref() != Ok(&expected) {
            problems.push(format!("{call}\n  pycute {expected}\n  found  {found:?}"));
        }
    }
    assert!(n_compared > 3500, "{n_compared} were compared");
    assert!(problems.is_empty(), "{} of {n_compared}\n{}", problems.len(), problems.join("\n"));
}

/// Left inverses differ where no coordinate has an index; at the others they are numbers of the
/// coordinates.
#[test]
fn left_inverses_are_some() {
    for (call, expected) in vectors().filter(|(call, _)| call.starts_with("left_inverse")) {
        let mut cx = Symbols::new();
        let layout = call.trim_start_matches("left_inverse(").trim_end_matches(')');
        let opened = layout.matches('(').count() - layout.matches(')').count();
        let layout = format!("{layout}{}", ")".repeat(opened));
        let layout = known(&parse::layout(&layout, &mut cx).expect("a layout"));
        let inverse = match evaluate(call, &mut cx) {
            Ok(Object::Layout(inverse)) => known(&inverse),
            Ok(other) => panic!("{call} is {other}"),
            Err(error) => {
                assert_eq!(expected, "!", "{call}: {error}");
                continue;
            }
        };
        for number in 0..size_of(&layout) {
            assert_eq!(at(&inverse, at(&layout, number)), number, "{call} is {inverse}");
        }
    }
}

#[test]
fn what_pycute_refuses_is_refused_or_right() {
    let (mut n_refused, mut n_right) = (0, 0);
    for (call, _) in vectors().filter(|(_, expected)| *expected == "!") {
        let mut cx = Symbols::new();
        let Ok(result) = evaluate(call, &mut cx) else {
            n_refused += 1;
            continue;
        };
        assert!(!call.starts_with("complement"), "{call} is {result}");
        if !call.starts_with("composition") || call.contains('<') {
            continue;
        }
        n_right += 1;
        let (lhs, rhs) = arguments(call);
        let [lhs, rhs, result] = [lhs, &rhs[1..], &result.to_string()]
            .map(|text| known(&parse::layout(text, &mut cx).expect("a layout")));
        for number in 0..size_of(&rhs) {
            assert_eq!(at(&result, number), at(&lhs, at(&rhs, number)), "{call} is {result}");
        }
    }
    assert!(n_refused > 100 && n_right > 0, "{n_refused} were refused, {n_right} tried");
}
