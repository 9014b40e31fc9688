// SPDX-License-Identifier: Apache-2.0
//! Pictures: how many cells they have, what is marked, and what is refused.

use super::banks::{Access, conflicts};
use super::{Banks, DrawError, Picture, draw};
use crate::evaluate::evaluate;
use crate::parse;
use crate::symbols::Symbols;
use expect_test::expect;

fn shown(picture: Result<Picture, DrawError>) -> String {
    picture.map_or_else(|error| format!("refused: {error}"), |picture| picture.svg)
}

fn drawn(text: &str) -> String {
    let mut cx = Symbols::new();
    let object = evaluate(text, &mut cx).expect("an object");
    shown(draw(&mut cx, &object, None))
}

fn with_banks(text: &str, element_bytes: i64, threads: Option<&str>) -> String {
    let mut cx = Symbols::new();
    let object = evaluate(text, &mut cx).expect("an object");
    let threads = threads.map(|text| parse::layout(text, &mut cx).expect("a layout"));
    let banks = Banks { element_bytes, threads };
    shown(draw(&mut cx, &object, Some(&banks)))
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

/// The line that says how many ways there are.
fn verdict(svg: &str) -> String {
    let line = svg.lines().find(|line| line.contains("conflict")).unwrap_or(svg);
    line.split(['<', '>']).find(|part| part.contains("conflict")).unwrap_or(line).to_string()
}

#[test]
fn a_picture_is_one_text() {
    let svg = drawn("(2,(2,2)):(1,(4,2))");
    let (head, cells) = svg.split_once("</style>\n").expect("a style");
    assert!(head.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    expect![[r##"
        <rect class="ground" width="168" height="104"/>
        <g text-anchor="start">
        <text x="8" y="21">(2,(2,2)):(1,(4,2))</text>
        </g>
        <text class="head" x="38" y="42">0</text>
        <text class="head" x="66" y="42">1</text>
        <text class="head" x="99" y="42">2</text>
        <text class="head" x="127" y="42">3</text>
        <text class="head" x="14" y="65">0</text>
        <text class="head" x="14" y="89">1</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.04" x="24" y="48" width="28" height="24"/>
        <text x="38" y="65">0</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.26" x="52" y="48" width="28" height="24"/>
        <text x="66" y="65">4</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.15" x="85" y="48" width="28" height="24"/>
        <text x="99" y="65">2</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.38" x="113" y="48" width="28" height="24"/>
        <text x="127" y="65">6</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.09" x="24" y="72" width="28" height="24"/>
        <text x="38" y="89">1</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.32" x="52" y="72" width="28" height="24"/>
        <text x="66" y="89">5</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.21" x="85" y="72" width="28" height="24"/>
        <text x="99" y="89">3</text>
        <rect class="cell" fill="#0969da" fill-opacity="0.44" x="113" y="72" width="28" height="24"/>
        <text x="127" y="89">7</text>
        </svg>
    "##]]
    .assert_eq(cells);
}

#[test]
fn every_coordinate_has_a_cell() {
    let cells = [
        ("8:2", 8),
        ("():()", 1),
        ("(4,8):(8,1)", 32),
        ("(64,64):(64,1)", 4096),
        ("S<2,0,2> o 0 o (4,4):(4,1)", 16),
        ("local_tile((8,16):(16,1), (4,4), (1,2))", 16),
        ("make_layout_tv((2,4):(4,1), (2,2):(2,1))", 32),
    ];
    for (text, n_cells) in cells {
        assert_eq!(count(&drawn(text), "<rect class=\"cell"), n_cells, "{text}");
    }
    assert!(drawn("make_identity_layout((2,3))").contains(">(1,2)<"));
    assert!(drawn("S<2,0,2> o 0 o (4,4):(4,1)").contains("S&lt;2,0,2&gt; o 0"));
    assert!(drawn("local_tile((8,16):(16,1), (4,4), (1,2))").contains(">72<"));
}

#[test]
fn threads_have_their_colours() {
    let svg = drawn("make_layout_tv((2,4):(4,1), (2,2):(2,1))");
    assert!(svg.contains(">T7V3<"));
    assert_eq!(count(&svg, "hsl(137,75%,50%)"), 4, "thread 1 has four values");
}

#[test]
fn columns_of_a_row_of_banks_conflict() {
    let rows = "(32,32):(32,1)";
    let column = with_banks(rows, 4, None);
    assert_eq!(verdict(&column), "32 threads (t): 32-way conflict");
    assert_eq!(count(&column, "<rect class=\"cell mark"), 32);
    let row = with_banks(rows, 4, Some("32:32"));
    assert_eq!(verdict(&row), "32 threads (t): no conflict");
    assert_eq!(count(&row, "<rect class=\"cell mark"), 0);
    let swizzled = with_banks("S<5,0,5> o 0 o (32,32):(32,1)", 4, None);
    assert_eq!(verdict(&swizzled), "32 threads (t): no conflict");
    let padded = with_banks("(32,32):(33,1)", 4, None);
    assert_eq!(verdict(&padded), "32 threads (t): no conflict");
}

#[test]
fn a_word_is_served_to_any_number_of_threads() {
    assert_eq!(verdict(&with_banks("32:0", 4, None)), "32 threads (t): no conflict");
    assert_eq!(verdict(&with_banks("32:1", 1, None)), "32 threads (t): no conflict");
    assert_eq!(verdict(&with_banks("32:64", 2, None)), "32 threads (t): 32-way conflict");
    assert_eq!(verdict(&with_banks("4:32", 4, None)), "4 threads (t): 4-way conflict");
}

#[test]
fn wide_elements_are_served_in_parts() {
    let eight = with_banks("32:1", 8, None);
    assert_eq!(verdict(&eight), "32 threads (t), 16 at a time: no conflict");
    let sixteen = with_banks("32:2", 16, None);
    assert_eq!(verdict(&sixteen), "32 threads (t), 8 at a time: 2-way conflict");
}

#[test]
fn only_what_conflicts_is_marked() {
    let access = |(thread, index)| Access { thread, index };
    let accesses: Vec<_> = [(0, 0), (1, 1), (2, 32), (3, -31)].map(access).into();
    let found = conflicts(&accesses, 4);
    assert_eq!(found.ways, 2);
    assert_eq!(Vec::from_iter(found.threads), [0, 1, 2, 3]);
    let found = conflicts(&accesses[1..3], 4);
    assert_eq!((found.ways, found.threads.len()), (1, 0));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let refused = [
        drawn("(m,8):(8,1)"),
        drawn("(2,2,2)"),
        drawn("make_layout((2,3,4))"),
        drawn("(65,2):(2,1)"),
        drawn("(0,2):(2,1)"),
        drawn("S<3,4,3>"),
        drawn("8:4611686018427387904"),
        with_banks("8:1", 3, None),
        with_banks("8:1", 4, Some("16:1")),
        with_banks("8:1", 4, Some("m:1")),
        with_banks("make_identity_layout((2,3))", 4, None),
        with_banks("make_layout_tv(2:1, 2:1)", 4, None),
    ];
    expect![[r#"
        refused: `(m,8):(8,1)` is not drawn, as not all of its numbers are known
        refused: `(2,2,2)` is a tuple, and layouts are drawn
        refused: `(2,3,4):(1,2,6)` has 3 modes, and a picture shows one or two; put modes in one by `group_modes`, or draw a slice
        refused: `(65,2):(2,1)` has 65 rows and 2 columns, and a picture has 64 of each at most; draw a tile of it
        refused: `(0,2):(2,1)` is not drawn, as it has no coordinates
        refused: `S<3,4,3>` is a swizzle, and layouts are drawn
        refused: `mul` of `2` and `4611686018427387904` exceeds 64 bits
        refused: an element has 1, 2, 4, 8 or 16 bytes where banks are shown, and not 3
        refused: thread 8 of `16:1` accesses coordinate 8 of `8:1`, which has 8
        refused: `m:1` is not drawn, as not all of its numbers are known
        refused: `(2,3):(1@0,1@1)` has no banks: they are of a layout whose indices are numbers
        refused: `(2,2):(2,1) in (4)` has no banks: they are of a layout whose indices are numbers"#]]
    .assert_eq(&refused.join("\n"));
}
