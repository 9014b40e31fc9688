// SPDX-License-Identifier: Apache-2.0
//! `kernpack layout`: what is drawn, what is answered for programs, and what is refused.

use crate::bench::Bench;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn expect(args: &[&str], expected: Expect) {
    Bench::new().expect(&[&["layout"], args].concat(), expected);
}

fn answer(args: &[&str]) -> Value {
    let ran = Bench::new().run([&["layout", "--json"], args].concat());
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn a_layout_of_two_modes_is_a_table() {
    expect(
        &["((2,2),4):((1,8),2)"],
        expect![[r#"
        exit 0
        out: ((2,2),4):((1,8),2)
        out: size 16, cosize 16, rank 2, depth 2, injective
        out: coalesced (2,2,4):(1,8,2)
        out: 
        out:   |  0   1   2   3
        out: --+---------------
        out: 0 |  0   2   4   6
        out: 1 |  1   3   5   7
        out: 2 |  8  10  12  14
        out: 3 |  9  11  13  15
    "#]],
    );
    expect(
        &["(10,3):(3,1)"],
        expect![[r#"
        exit 0
        out: (10,3):(3,1)
        out: size 30, cosize 30, rank 2, depth 1, injective
        out: coalesced (10,3):(3,1)
        out: 
        out:   |  0   1   2
        out: --+-----------
        out: 0 |  0   1   2
        out: 1 |  3   4   5
        out: 2 |  6   7   8
        out: 3 |  9  10  11
        out: 4 | 12  13  14
        out: 5 | 15  16  17
        out: 6 | 18  19  20
        out: 7 | 21  22  23
        out: 8 | 24  25  26
        out: 9 | 27  28  29
    "#]],
    );
}

#[test]
fn a_layout_of_one_mode_is_a_line_and_one_of_none_a_number() {
    expect(
        &["12:3"],
        expect![[r#"
        exit 0
        out: 12:3
        out: size 12, cosize 34, rank 1, depth 0, injective
        out: coalesced 12:3
        out: 
        out:  0   1   2   3   4   5   6   7   8   9  10  11
        out: ----------------------------------------------
        out:  0   3   6   9  12  15  18  21  24  27  30  33
    "#]],
    );
    expect(
        &["():()"],
        expect![[r#"
        exit 0
        out: ():()
        out: size 1, cosize 1, rank 0, depth 1, injective
        out: coalesced 1:0
        out: 
        out: 0
    "#]],
    );
}

#[test]
fn further_modes_have_a_table_each() {
    expect(
        &["(2,3,2):(1,2,6)"],
        expect![[r#"
        exit 0
        out: (2,3,2):(1,2,6)
        out: size 12, cosize 12, rank 3, depth 1, injective
        out: coalesced 12:1
        out: 
        out: (_,_,0)
        out:   | 0  1  2
        out: --+--------
        out: 0 | 0  2  4
        out: 1 | 1  3  5
        out: 
        out: (_,_,1)
        out:   |  0   1   2
        out: --+-----------
        out: 0 |  6   8  10
        out: 1 |  7   9  11
    "#]],
    );
}

#[test]
fn indices_may_be_coordinates_and_swizzled() {
    expect(
        &["(2,3):(1@0,2@1)"],
        expect![[r#"
        exit 0
        out: (2,3):(1@0,2@1)
        out: size 6, cosize 10, rank 2, depth 1, injective
        out: coalesced (2,3):(1@0,2@1)
        out: 
        out:   |     0      1      2
        out: --+--------------------
        out: 0 | (0,0)  (0,2)  (0,4)
        out: 1 | (1,0)  (1,2)  (1,4)
    "#]],
    );
    expect(
        &["S<1,0,1> o 2 o (2,2):(2,1)"],
        expect![[r#"
        exit 0
        out: S<1,0,1> o 2 o (2,2):(2,1)
        out: size 4, rank 2, depth 1, injective
        out: coalesced S<1,0,1> o 2 o (2,2):(2,1)
        out: 
        out:   | 0  1
        out: --+-----
        out: 0 | 3  2
        out: 1 | 4  5
    "#]],
    );
    expect(
        &["slice((1,_), (4,8):(8,1))"],
        expect![[r#"
        exit 0
        out: (8):(1) at 8
        out: size 8, cosize 8, rank 1, depth 1, injective
        out: coalesced 8:1
        out: 
        out:  0   1   2   3   4   5   6   7
        out: ------------------------------
        out:  8   9  10  11  12  13  14  15
    "#]],
    );
}

#[test]
fn what_is_large_or_not_known_is_not_drawn() {
    expect(
        &["(128,64)"],
        expect![[r#"
        exit 0
        out: (128,64):(1,128)
        out: size 8192, cosize 8192, rank 2, depth 1, injective
        out: coalesced 8192:1
        out: 
        out: not drawn, as it has more than 64 columns or 4096 cells
    "#]],
    );
    expect(
        &["(1,65)"],
        expect![[r#"
        exit 0
        out: (1,65):(0,1)
        out: size 65, cosize 65, rank 2, depth 1, injective
        out: coalesced 65:1
        out: 
        out: not drawn, as it has more than 64 columns or 4096 cells
    "#]],
    );
    expect(
        &["(?,8):(8,1)"],
        expect![[r#"
        exit 0
        out: (?,8):(8,1)
        out: size ?{div=8}, cosize ?, rank 2, depth 1, not known to be injective
        out: coalesced (?,8):(8,1)
        out: 
        out: not drawn, as not all of its numbers are known
    "#]],
    );
    expect(
        &["0:1"],
        expect![[r#"
            exit 0
            out: 0:1
            out: size 0, cosize 0, rank 1, depth 0, injective
            out: coalesced 0:1
            out: 
            out: not drawn, as it has no coordinates
        "#]],
    );
}

#[test]
fn answers_that_are_no_layouts_stand_alone() {
    expect(
        &["size((m,n):(n,1))"],
        expect![[r#"
        exit 0
        out: m*n
    "#]],
    );
    expect(
        &["<4:1,_>"],
        expect![[r#"
        exit 0
        out: <4:1,_>
    "#]],
    );
    expect(
        &["(1,_)"],
        expect![[r#"
        exit 0
        out: (1,_)
    "#]],
    );
}

#[test]
fn threads_and_values_are_drawn_in_their_tile() {
    expect(
        &["--tv", "(2,2):(2,1)", "(1,2):(2,1)"],
        expect![[r#"
        exit 0
        out: ((2,2),2):((4,1),2) in (2,4)
        out: 
        out:   |    0     1     2     3
        out: --+-----------------------
        out: 0 | T0V0  T0V1  T1V0  T1V1
        out: 1 | T2V0  T2V1  T3V0  T3V1
    "#]],
    );
    expect(
        &["--tv", "(4,2):(1,0)", "--tile", "(2,3)"],
        expect![[r#"
        exit 0
        out: (4,2):(1,0) in (2,3)
        out: 
        out:   |     0      1      2
        out: --+--------------------
        out: 0 | T0V0+  T2V0+      .
        out: 1 | T1V0+  T3V0+      .
    "#]],
    );
    expect(
        &["make_layout_tv((4):(1),(2):(1))"],
        expect![[r#"
        exit 0
        out: (4,2):(2,1) in (8)
        out: 
        out:    0     1     2     3     4     5     6     7
        out: ----------------------------------------------
        out: T0V0  T0V1  T1V0  T1V1  T2V0  T2V1  T3V0  T3V1
    "#]],
    );
}

#[test]
fn threads_that_are_none_are_refused() {
    expect(
        &["--tv", "(4,2):(1,4)", "--tile", "(2,3)"],
        expect![[r#"
            exit 1
            err: error: T2V1 is element 6 of `(4,2):(1,4)`, and the tile `(2,3)` has 6
        "#]],
    );
    expect(
        &["--tv", "(2,2):(1,3)", "2:1"],
        expect![[r#"
            exit 1
            err: error: `(2,2):(1,3)` is not known to have each index once, from 0 to its size
        "#]],
    );
    expect(
        &["--tv", "4:1"],
        expect![[r#"
        exit 1
        err: error: `--tv` takes a layout of threads and one of values, or one layout and `--tile`
    "#]],
    );
    expect(
        &["--tv", "4:1", "--tile", "4"],
        expect![[r#"
            exit 1
            err: error: `4:1` has no mode of threads and one of values
        "#]],
    );
    expect(
        &["4:1", "4:1"],
        expect![[r#"
        exit 1
        err: error: two layouts are drawn with `--tv` only: threads, and values
    "#]],
    );
}

#[test]
fn problems_are_drawn_where_they_are() {
    expect(
        &["(4,8:1"],
        expect![[r#"
            exit 1
            err: error[syntax]: expected `,` or `)`, found the end
            err:  --> layout:1:7
            err:   |
            err: 1 | (4,8:1
            err:   |       ^
        "#]],
    );
    expect(
        &["(4,8):(1,(2,3))"],
        expect![[r#"
            exit 1
            err: error[layout]: the shape `(4,8)` and the stride `(1,(2,3))` are not nested alike
            err:  --> layout:1:1
            err:   |
            err: 1 | (4,8):(1,(2,3))
            err:   | ^^^^^^^^^^^^^^^
        "#]],
    );
    expect(
        &["coalesce(zippd_divide((8,16), (4,4)))"],
        expect![[r#"
        exit 1
        err: error[syntax]: there is no operation `zippd_divide`
        err:  --> layout:1:10
        err:   |
        err: 1 | coalesce(zippd_divide((8,16), (4,4)))
        err:   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        err:   |
        err:   = help: did you mean `zipped_divide`?
    "#]],
    );
    expect(
        &["complement((2,2):(1,3), 24)"],
        expect![[r#"
            exit 1
            err: error[layout]: `(2,2):(1,3)` has no complement: the stride `3` is not known to be a positive multiple of `2`, which the modes below it span
            err:  --> layout:1:1
            err:   |
            err: 1 | complement((2,2):(1,3), 24)
            err:   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    expect(
        &["take((2,3,4), 2)"],
        expect![[r#"
        exit 1
        err: error[syntax]: expected `take(layout, begin, end)`, found 2 arguments
        err:  --> layout:1:1
        err:   |
        err: 1 | take((2,3,4), 2)
        err:   | ^^^^^^^^^^^^^^^^
    "#]],
    );
}

#[test]
fn operations_are_listed() {
    let ran = Bench::new().run(["layout", "--list"]);
    let first =
        "make_layout(shape[, stride]...)\n    The layout of a shape and strides; of a shape";
    assert!(ran.stdout.starts_with(first), "{ran}");
    let listed = answer(&["--list"]);
    let names = listed["operations"].as_array().expect("a list").iter().map(|row| &row["name"]);
    assert!(names.clone().any(|name| name == "zipped_divide") && names.count() > 50);
    expect(
        &[],
        expect![[r#"
        exit 2
        err: error: the following required arguments were not provided:
        err:   <TEXT>...
        err: 
        err: Usage: kernpack layout <TEXT>...
        err: 
        err: For more information, try '--help'.
    "#]],
    );
}

#[test]
fn answers_for_programs_have_what_is_shown() {
    let layout = answer(&["zipped_divide((m,8):(8,1), (1,4))"]);
    assert_eq!(
        layout,
        json!({
            "text": "((1,4),(m,2)):((0,1),(8,4))", "kind": "layout", "shape": "((1,4),(m,2))",
            "stride": "((0,1),(8,4))", "size": "(4*m)*2", "cosize": "((3+((m-1)*8))+4)+1", "rank": 2,
            "depth": 2, "coalesced": "(4,m,2):(1,8,4)", "injective": null,
        })
    );
    let tile = answer(&["--tv", "(2):(1)", "(2):(1)"]);
    assert_eq!(
        tile,
        json!({
            "text": "(2,2):(2,1) in (4)", "kind": "tile with a layout of threads and values",
            "tile": "(4)", "layout": "(2,2):(2,1)",
            "owners": [[[0, 0]], [[0, 1]], [[1, 0]], [[1, 1]]],
        })
    );
    assert_eq!(answer(&["rank((2,3))"]), json!({ "text": "2", "kind": "number" }));
    let refused = answer(&["(4"]);
    assert_eq!(refused["error"]["diagnostics"][0]["code"], "syntax");
}

/// How many cells a picture has.
fn n_cells(svg: &str) -> usize {
    svg.matches("<rect class=\"cell").count()
}

#[test]
fn a_picture_is_written_to_a_file() {
    let bench = Bench::new();
    bench.expect(&["layout", "(4,8):(8,1)", "-o", "a.svg"], expect![["exit 0\n"]]);
    let svg = std::fs::read_to_string(bench.path("a.svg")).expect("the picture");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(n_cells(&svg), 32);
    bench.run(["layout", "--tv", "(2,4):(4,1)", "(2,2):(2,1)", "--output", "tv.svg"]);
    let tv = std::fs::read_to_string(bench.path("tv.svg")).expect("the picture");
    assert!(tv.contains(">T7V3<"), "{tv}");
    assert_eq!(n_cells(&tv), 32);
    let text = "((4,2),(2,2)):((8,2),(4,1)) in (4,8)";
    bench.run(["layout", text, "-o", "again.svg"]);
    let again = std::fs::read_to_string(bench.path("again.svg")).expect("the picture");
    assert_eq!(tv, again, "what is printed can be drawn");
    assert_eq!(bench.names("."), ["a.svg", "again.svg", "tv.svg"]);
}

#[test]
fn banks_are_told_besides_the_picture() {
    let bench = Bench::new();
    let rows = ["layout", "(32,32):(32,1)", "-o", "a.svg", "--banks", "4"];
    bench.expect(
        &rows,
        expect![[r#"
        exit 0
        out: elements of 4 bytes in 32 banks of 4 bytes (b)
        out: 32 threads (t): 32-way conflict
    "#]],
    );
    let svg = std::fs::read_to_string(bench.path("a.svg")).expect("the picture");
    assert_eq!((n_cells(&svg), svg.matches("cell mark").count()), (1024, 32));
    let ran = bench.run([&rows[..], &["--threads", "32:32", "--json"]].concat());
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&answer["ways"], &answer["output"]), (&json!(1), &json!("a.svg")));
}

#[test]
fn what_is_no_picture_is_not_written() {
    let bench = Bench::new().and("old.svg", "old");
    bench.expect(
        &["layout", "(100,2)", "-o", "old.svg"],
        expect![[r#"
        exit 1
        err: error: `(100,2):(1,100)` has 100 rows and 2 columns, and a picture has 64 of each at most; draw a tile of it
    "#]],
    );
    assert_eq!(std::fs::read_to_string(bench.path("old.svg")).expect("the old one"), "old");
    bench.expect(
        &["layout", "(4,2)", "-o", "nowhere/a.svg"],
        expect![[r#"
        exit 1
        err: error: cannot write `nowhere/a.svg`: there is no folder `nowhere`; make it first
    "#]],
    );
    bench.expect(
        &["layout", "(4,2)", "-o", "a.png"],
        expect![[r#"
        exit 2
        err: error: invalid value 'a.png' for '--output <OUT>': the name must end in .svg
        err: 
        err: For more information, try '--help'.
    "#]],
    );
    let alone = bench.run(["layout", "(4,2)", "--banks", "4"]);
    assert_eq!(alone.code, Some(2), "{alone}");
    bench.expect(
        &["layout", "(4,2)", "-o", "a.svg", "--banks", "4", "--threads", "(4"],
        expect![[r#"
        exit 1
        err: error[syntax]: expected `,` or `)`, found the end
        err:  --> layout:1:3
        err:   |
        err: 1 | (4
        err:   |   ^
    "#]],
    );
    assert_eq!(bench.names("."), ["old.svg"]);
}

#[test]
fn parts_of_layouts_are_read_again() {
    for (text, expected) in [
        ("(4,4):(16,1) at 72", "(4,4):(16,1) at 72"),
        ("crd2idx((1,2), (4,4):(16,1) at 72)", "90"),
        ("local_tile((4,4):(16,1) at 72, (2,2), (1,0))", "(2,2):(16,1) at 104"),
        ("slice((_,1), (4,4):(16,1) at 72)", "(4):(16) at 73"),
        ("zipped_divide((4,4):(16,1) at 72, (2,2))", "((2,2),(2,2)):((16,1),(32,2)) at 72"),
        ("right_inverse((4,4):(4,1) at 0)", "(4,4):(4,1)"),
    ] {
        assert_eq!(answer(&[text])["text"], expected, "{text}");
    }
    expect(
        &["right_inverse((4,4):(4,1) at 1)"],
        expect![[r#"
        exit 1
        err: error[syntax]: expected a layout, found a part of a layout
        err:  --> layout:1:15
        err:   |
        err: 1 | right_inverse((4,4):(4,1) at 1)
        err:   |               ^^^^^^^^^^^^^^^^
    "#]],
    );
}
