// SPDX-License-Identifier: Apache-2.0
//! Texts of kernels with something changed: whoever reads them says what is wrong, or takes them,
//! and what is taken can be run.

use super::super::rng::Rng;
use super::super::{Generated, generate};
use super::cores::expect_same_on_cores;
use crate::expand::expand;
use crate::interp::Options;
use crate::kernel::Kernel;
use crate::op::{Binary, Compare};
use crate::text::{Item, parse};
use crate::types::Scalar;
use crate::verify::{verify, verify_function};

/// How many kernels, and how many changed texts of each.
const KERNELS: u64 = 40;
const TEXTS: u64 = 40;

/// Words, numbers and characters of a text.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let len = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        pieces.push(&rest[..len]);
        rest = &rest[len..];
    }
    pieces
}

/// The class of pieces that can stand in each other's place.
fn class(piece: &str) -> Option<char> {
    let first = piece.chars().next().filter(char::is_ascii_alphanumeric)?;
    let digits = piece.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_id = digits.len() + 1 == piece.len() && digits.chars().all(|c| c.is_ascii_digit());
    Some(match () {
        () if is_id => first,
        () if first.is_ascii_digit() => '0',
        () if Scalar::parse(piece).is_some() => 'T',
        () if Binary::parse(piece).is_some() => 'B',
        () if Compare::parse(piece).is_some() => 'C',
        () => 'W',
    })
}

/// A text with one to three changes.
fn change(rng: &mut Rng, text: &[&str], classes: &[Option<char>]) -> String {
    let mut pieces = text.to_vec();
    let any = |rng: &mut Rng| rng.below(text.len() as u64) as usize;
    let mut end = text.len();
    for _ in 0..rng.within(1, 3) {
        let (at, other) = (any(rng), any(rng));
        match rng.below(40) {
            0 => pieces[at] = "",
            1 => pieces[at] = text[other],
            2 => pieces.swap(at, other),
            3 => pieces[at] = rng.pick(&["{", "}", "\"", ";", "-", "@", "é", "99999999999", "nan"]),
            4 => end = at.max(1),
            // Mostly something is put in the place of what is of its kind.
            _ => {
                let Some(at) = (at..text.len()).find(|at| classes[*at].is_some()) else { continue };
                let alike =
                    (0..text.len()).cycle().skip(other).find(|it| classes[*it] == classes[at]);
                pieces[at] = alike.map_or(text[at], |alike| text[alike]);
            }
        }
    }
    pieces[..end].concat()
}

/// Runs a kernel that the verifier takes, for a while, if it can be launched as the one it was.
fn expect_runs(kernel: &Kernel, generated: &Generated) {
    let mut kernel = kernel.clone();
    expand(&mut kernel);
    verify(&kernel).unwrap_or_else(|problems| panic!("it was right before: {problems}"));
    let kinds =
        |kernel: &Kernel| kernel.params.iter().map(|param| param.kind.clone()).collect::<Vec<_>>();
    if kinds(&kernel) == kinds(&generated.kernel) {
        let options = Options { most_turns: 200, most_idle_turns: 200, ..Options::default() };
        expect_same_on_cores(generated, &kernel, &options);
    }
}

#[test]
fn no_text_makes_a_reader_panic() {
    let (mut n_read, mut n_right) = (0, 0);
    for seed in 0..KERNELS {
        let generated = generate(seed);
        let text = generated.kernel.to_string();
        let pieces = pieces(&text);
        let classes: Vec<_> = pieces.iter().map(|piece| class(piece)).collect();
        let mut rng = Rng::new(seed);
        for _ in 0..TEXTS {
            let changed = change(&mut rng, &pieces, &classes);
            let Ok(items) = parse(&changed.as_str().into()) else { continue };
            n_read += 1;
            let printed: String = items.iter().map(Item::to_string).collect();
            assert_eq!(parse(&printed.as_str().into()).as_deref(), Ok(&items[..]));
            for item in &items {
                match item {
                    Item::Kernel(kernel) if verify(kernel).is_ok() => {
                        n_right += 1;
                        expect_runs(kernel, &generated);
                    }
                    Item::Kernel(_) => {}
                    Item::Function(function) => drop(verify_function(function)),
                }
            }
        }
    }
    // The changes are such that some are taken, and some only by the reader of the text.
    let is_much = n_right > 200 && n_read > n_right + 100;
    assert!(is_much, "{n_read} were read, and {n_right} were right");
}

#[test]
fn no_characters_make_the_reader_panic() {
    let mut rng = Rng::new(1);
    let words = [
        "kernel",
        "function",
        "k",
        "(",
        ")",
        "{",
        "}",
        "v0",
        "s0",
        ":",
        "int32",
        "=",
        "const",
        "-",
        "1",
        "..",
        "@",
        "\"",
        "\\",
        ";",
        "\n",
        "if",
        "while",
        "for",
        "call",
        "nan",
        ":0x7fc00001",
        "é",
        "\u{0}",
        "0x",
        "1e",
        "float32x4",
        "gives",
        ",",
        ".",
        "<",
        "pointer.global",
        "align",
    ];
    for _ in 0..5_000 {
        let text: String =
            (0..rng.within(1, 40)).flat_map(|_| [rng.pick(&words), rng.pick(&["", " "])]).collect();
        if let Ok(items) = parse(&text.as_str().into()) {
            for item in items {
                if let Item::Kernel(kernel) = item {
                    drop(verify(&kernel));
                }
            }
        }
    }
}
