// SPDX-License-Identifier: Apache-2.0
//! Layouts as text: what is printed is read again, and no text ends in a panic.

use crate::generate::{CASES, Random};
use kernpack_layout::evaluate::{OPERATIONS, evaluate};
use kernpack_layout::{Static, Symbols, make_identity_layout, parse, zipped_divide};

#[test]
fn what_is_printed_is_read_again() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let layout = random.layout(1 << 20);
        for layout in [layout.clone(), make_identity_layout(&layout.shape())] {
            let text = layout.to_string();
            let read = parse::layout(&text, &mut Symbols::new()).expect("it was printed");
            assert_eq!(read.to_string(), text);
            assert_eq!(read.convert(&mut |_| None), Some(layout));
        }
    }
}

#[test]
fn results_with_names_are_read_again() {
    let shapes = ["(m,n)", "(m{div=8},(4,n))", "(m,n{div=4})", "((m,2),n)"];
    let mut n_read = 0;
    for seed in 0..CASES {
        let mut random = Random(seed);
        let mut cx = Symbols::new();
        let layout = parse::layout(random.pick(&shapes), &mut cx).expect("a layout");
        let tiler = format!("({},{})", 1 + random.below(8), 1 + random.below(8));
        let tiler = parse::tiler(&tiler, &mut cx).expect("a tiler");
        let Ok(tiles) = zipped_divide(&mut cx, &layout, &tiler) else { continue };
        n_read += 1;
        let text = tiles.to_string();
        let again = parse::layout(&text, &mut cx).expect("it was printed");
        assert_eq!(again.to_string(), text);
    }
    assert!(n_read > 500, "{n_read}");
}

#[test]
fn what_is_known_of_names_is_read_again() {
    let texts = [
        ("(m{div=8},n{min=1 max=64}):(n,1)", "(m{div=8},n{min=1 max=64}):(n{min=1 max=64},1)"),
        (
            "zipped_divide((m,n{div=32}):(n,1), (1,32))",
            "((1,32),(m,n{div=32}//32)):((0,1),(n{div=32},32))",
        ),
        ("S<3,4,3> o n{div=8} o (m,8):(8,1)", "S<3,4,3> o n{div=8} o (m,8):(8,1)"),
        ("(4,4):(16,1) at (i{div=4}*8)+j", "(4,4):(16,1) at (i{div=4}*8)+j"),
        ("ceil_div(n{div=2},3)", "ceil_div(n{div=2},3)"),
        ("make_layout_tv((2,4):(4,1), 4:1)", "((4,2),4):((8,4),1) in (8,4)"),
    ];
    for (text, expected) in texts {
        let told =
            |text: &str| evaluate(text, &mut Symbols::new()).map(|object| format!("{object:#}"));
        let once = told(text).expect("an object");
        assert_eq!(told(&once).as_ref(), Ok(&once), "{text}");
        assert_eq!(once, expected, "{text}");
    }
}

/// Words that texts are made of.
const WORDS: &[&str] = &[
    "(",
    ")",
    "((",
    "))",
    ",",
    ":",
    "_",
    "?",
    "?{div=8}",
    "{",
    "}",
    "div",
    "=",
    "@",
    "0",
    "1",
    "2",
    "4",
    "8",
    "-1",
    "9223372036854775807",
    "99999999999999999999",
    "m",
    "n",
    "o",
    "at",
    "in",
    "S<3,4,3>",
    "S",
    "<",
    ">",
    "*",
    "//",
    "%",
    "+",
    "-",
    " ",
    "é",
    "\u{0}",
    "(4,8):(8,1)",
    "4:1",
    "1@0",
    "x(",
];

#[test]
fn no_text_ends_in_a_panic() {
    let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
    let mut n_results = 0;
    for seed in 0..20 * CASES {
        let mut random = Random(seed);
        let mut text = String::new();
        for _ in 0..1 + random.below(24) {
            match random.sixteenths(2) {
                true => text.push_str(&format!("{}(", random.pick(&names))),
                false => text.push_str(random.pick(WORDS)),
            }
        }
        let text = text + &")".repeat(random.below(4));
        match evaluate(&text, &mut Symbols::new()) {
            Ok(_) => n_results += 1,
            Err(error) => {
                assert!(error.at.start <= error.at.end && error.at.end <= text.len(), "{text}");
                assert!(text.is_char_boundary(error.at.start), "{text}");
                assert!(text.is_char_boundary(error.at.end), "{text}");
            }
        }
    }
    assert!(n_results > 100, "{n_results}");
}

/// Calls that are well formed, of arguments that fit or not.
#[test]
fn no_call_ends_in_a_panic() {
    let arguments = [
        "(4,8):(8,1)",
        "4:1",
        "8",
        "(4,8)",
        "(m,n):(n,1)",
        "?:1",
        "(2,_)",
        "_",
        "0",
        "-3",
        "()",
        "S<3,4,3> o 0 o (8,8):(8,1)",
        "S<2,0,2>",
        "<4:1,_>",
        "(4,8):(1@0,1@1)",
        "():()",
        "9223372036854775807",
        "(4294967296,4294967296)",
        "(0,4):(1,0)",
        "4:-1",
        "4:1@0",
        "-9223372036854775808",
        "(1,1,1):(1,0,0)",
        "4:(1,2)",
        "((4,8),(2,2))",
        "n{min=1}:n{min=1}",
        "4:9223372036854775807",
        "(3,4):(9223372036854775807,1)",
        "64",
        "(1,0)",
    ];
    let mut n_results = 0;
    for seed in 0..20 * CASES {
        let mut random = Random(seed);
        let operation = &OPERATIONS[random.below(OPERATIONS.len())];
        let most = 1 + operation.arguments.matches(',').count();
        let picked: Vec<_> = (0..1 + random.below(most)).map(|_| random.pick(&arguments)).collect();
        let text = format!("{}({})", operation.name, picked.join(","));
        n_results += i32::from(evaluate(&text, &mut Symbols::new()).is_ok());
    }
    assert!(n_results > 2000, "{n_results}");
}

#[test]
fn deep_texts_are_refused_and_long_ones_are_quick() {
    let read = |text: &str| parse::layout(text, &mut Symbols::new()).map(|l| l.rank());
    for text in ["(".repeat(100_000), "<".repeat(100_000), "size(".repeat(100_000)] {
        let error = read(&text).expect_err("too deep");
        assert_eq!(error.message, "more than 32 parentheses in one another");
    }
    let error = read(&format!("n{}", "+n".repeat(100_000))).expect_err("too many");
    assert_eq!(error.message, "more than 256 operations in a row");
    assert_eq!(read(&format!("({})", "2,".repeat(62))), Ok(62));
    let error = read(&format!("({})", "1,".repeat(100_000))).expect_err("too long");
    assert_eq!(error.message, "more than 1024 numbers, names and parentheses");
    assert_eq!(read(&format!("complement(({}),1)", "1,".repeat(1000))), Ok(1));
}

/// A coordinate is used twice in its index, so that expressions double with each call.
#[test]
fn expressions_that_double_are_not_written_out() {
    let twice = |text: String| format!("crd2idx({text},(m,n):(n,1))");
    let text = (0..30).fold("i".to_string(), |text, _| twice(text));
    for text in [text.clone(), format!("min({text},{text})")] {
        let told = evaluate(&text, &mut Symbols::new()).expect("it is short");
        assert_eq!(told.to_string(), "?");
    }
    let told = evaluate(&twice(twice("i".into())), &mut Symbols::new()).expect("it is short");
    let once = "((i%m)*n)+(i//m)";
    assert_eq!(told.to_string(), format!("((({once})%m)*n)+(({once})//m)"));
}

#[test]
fn numbers_beyond_64_bits_are_errors() {
    let cx = &mut Static;
    let shape = kernpack_layout::Shape::of_numbers(&[1 << 40, 1 << 40, 4]);
    let error = kernpack_layout::make_layout(cx, &shape).expect_err("too large");
    assert_eq!(error.to_string(), "`mul` of `1099511627776` and `1099511627776` exceeds 64 bits");
    let large = parse::layout("(4294967296,4294967296):(4294967296,1)", &mut Symbols::new());
    let large = large.expect("its strides fit");
    assert!(kernpack_layout::size(&mut Symbols::new(), &large).is_err());
}
