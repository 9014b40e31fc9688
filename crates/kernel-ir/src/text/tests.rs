// SPDX-License-Identifier: Apache-2.0
//! Kernels read as they print, and what is wrong with a text is told.

use super::{Item, parse};
use crate::constant::Const;
use crate::types::Scalar;
use expect_test::{Expect, expect};
use kernpack_syntax::Texts;

/// Holds that a text reads, and that what was read prints as `expected`, which reads as the same.
fn expect_printed(text: &str, expected: Expect) {
    let items = parse(&text.into()).unwrap_or_else(|problems| panic!("{problems}"));
    let printed: String = items.iter().map(Item::to_string).collect();
    expected.assert_eq(&printed);
    assert_eq!(parse(&printed.as_str().into()).as_deref(), Ok(&items[..]));
}

fn expect_problems(text: &str, expected: Expect) {
    let mut texts = Texts::default();
    let id = texts.add("k", text);
    let problems = parse(&texts.snippet(id)).expect_err("it is wrong");
    expected.assert_eq(&(problems.in_texts(&texts) + "\n"));
}

#[test]
fn every_form_reads_as_it_prints() {
    let text = r#"
        kernel all(v0 x: pointer.global float32 align 16 alone written, v1 "x.shape[1]": int64 0..65536
            multiple 8, v2 a: float32, v3 m: uint32 ..7, v4 k: int8 -3..) block [256, _, 1] files "a.py", "b\".py" {
          shared0 partial: float32 bytes 128 align 16   ; a comment
          shared1 "": int8 bytes v1 align 4
          local0 row: float32 count 8 @3:4
          s0 acc: float32 s1 p: pointer.global s2 two: float32x2
          v5: int64 = call thread_idx.x()               @12:5
          v6: int64 = const -4  @"b\".py":1:2 < @12:6 < @"a.py":3:1
          v7: int64 = mul v5, v6 v8: pointer.global = offset v0, v7
          v9: bool = lt v5, v1
          v10: float32 = load v8 align 4 volatile when v9 else v2
          v11: int32 = convert v10 zero v12: uint32 = bitcast v10 v13: float32 = convert v11
          inbounds v5, v1
          set s0, v10          v14: float32 = get s0
          v15: float32x4 = vector v14, v2, v10, v13  v16: float32x2 = splat v2
          v17: float32 = extract v15, 3 v18: float32x4 = insert v15, 2, v17
          store v8, v18 align 16 last_use when v9
          v19: pointer.shared = shared0 v20: pointer.local = local0
          v21: float32 = select v9, v17, v2 v22: float32 = neg v21
          if v9 @5:1 { v23: bool = not v9 } else { return }
          if v9 { } else { break }
          if v9 { }
          for v24: int64 = v5 to v1 step v6 { continue }
          while @6:1 { v25: bool = ge v5, v1 } v25 { print "a {}\n\u{1}", v5, v1 print "b" }
          ptx "mov.b32 {0}, {1};" v10, v2 effects sets s0, s2
          ptx "nanosleep.u32 1;"
          v28: float32 = call atomic.add(v8, v14, relaxed, gpu)
        }
        kernel held() block [256, 1, 1] min_blocks 4 files "a.py" { }
        kernel narrow() max_registers 64 archs sm_80, compute_90a files "a.py" { }
        function "two words"(v0 x: float32) float32 { v1: float32 = add v0, v0 } gives v1
    "#;
    let expected = expect![[r#"
        kernel all(v0 x: pointer.global float32 align 16 alone written, v1 "x.shape[1]": int64 0..65536 multiple 8, v2 a: float32, v3 m: uint32 ..7, v4 k: int8 -3..) block [256, _, 1] files "a.py", "b\".py" {
          shared0 partial: float32 bytes 128 align 16
          shared1 "": int8 bytes v1 align 4
          local0 row: float32 count 8  @3:4
          s0 acc: float32
          s1 p: pointer.global
          s2 two: float32x2
          v5: int64 = call thread_idx.x()  @12:5
          v6: int64 = const -4  @"b\".py":1:2 < @12:6 < @3:1
          v7: int64 = mul v5, v6
          v8: pointer.global = offset v0, v7
          v9: bool = lt v5, v1
          v10: float32 = load v8 align 4 volatile when v9 else v2
          v11: int32 = convert v10 zero
          v12: uint32 = bitcast v10
          v13: float32 = convert v11
          inbounds v5, v1
          set s0, v10
          v14: float32 = get s0
          v15: float32x4 = vector v14, v2, v10, v13
          v16: float32x2 = splat v2
          v17: float32 = extract v15, 3
          v18: float32x4 = insert v15, 2, v17
          store v8, v18 align 16 last_use when v9
          v19: pointer.shared = shared0
          v20: pointer.local = local0
          v21: float32 = select v9, v17, v2
          v22: float32 = neg v21
          if v9  @5:1 {
            v23: bool = not v9
          } else {
            return
          }
          if v9 {
          } else {
            break
          }
          if v9 {
          }
          for v24: int64 = v5 to v1 step v6 {
            continue
          }
          while  @6:1 {
            v25: bool = ge v5, v1
          } v25 {
            print "a {}\n\u{1}", v5, v1
            print "b"
          }
          ptx "mov.b32 {0}, {1};" v10, v2 effects sets s0, s2
          ptx "nanosleep.u32 1;"
          v28: float32 = call atomic.add(v8, v14, relaxed, gpu)
        }
        kernel held() block [256, 1, 1] min_blocks 4 files "a.py" {
        }
        kernel narrow() max_registers 64 archs sm_80, compute_90a files "a.py" {
        }
        function "two words"(v0 x: float32) float32 {
          v1: float32 = add v0, v0
        } gives v1
    "#]];
    expect_printed(text, expected);
}

#[test]
fn every_constant_reads_as_it_prints() {
    let bits = [0, 1, 0x7f, 0x80, 0x7c00, 0x7c01, 0x7f80, 0x7f81, 0x8000, 0xfe00, 0x7fc0_0001];
    let more = [0x8000_0000, 0xff80_0000, 0x3dcc_cccd, 1 << 63, 0x7ff0 << 48, 0xfff8 << 48, !0];
    for scalar in Scalar::ALL {
        for bits in bits.iter().chain(&more) {
            let constant = Const::from_bits(*scalar, *bits);
            let text = format!("kernel k() {{ v0: {scalar} = const {constant} }}");
            let items = parse(&text.as_str().into()).unwrap_or_else(|e| panic!("{text}\n{e}"));
            let [Item::Kernel(kernel)] = &items[..] else { panic!("one kernel") };
            assert_eq!(kernel.values[0].constant, Some(constant), "{text}");
        }
    }
}

#[test]
fn places_are_in_this_text_too() {
    let mut texts = kernpack_syntax::Texts::default();
    let id = texts.add("k.kir", "kernel k() {\n  v0: int64 = const 1 @7:3\n  return\n}");
    let items = parse(&texts.snippet(id)).unwrap();
    let [Item::Kernel(kernel)] = &items[..] else { panic!("one kernel") };
    let shown = kernel.body.0.iter().map(|op| {
        let place = kernel.place(op.place);
        let text = &texts.get(id).characters[place.span.start..place.span.end];
        (text, place.file.is_some(), place.line, place.column)
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown, [("v0: int64 = const 1", true, 7, 3), ("return", false, 0, 0)]);
}

#[test]
fn all_problems_are_told_at_once() {
    let text = r#"
        kernel k(v0 x: float16, v2 y: pointer.shared) {}
        kernel l(v0 x: float16) {
          s1 a: float32x8
          s1 a: float32x3
          v0: int64 = const 300
          v1: int8 = const 300
          v2: int8 = const 1.5
          v3: bool = const 1
          v4: float32x2 = const 1
          v5: float32 = const nan:0x3f800000
          v5: float32 = frobnicate v0
          v6: float32 = call frobnicate(v0)
          v7: float32 = call atomic.add(v0, v0, sometime, gpu)
          if v0 { v8: } else { }
          v99999999: bool = const true
          print "\x"
          store v0, v0
          v9: int64 = const 1 é "
        }
        gives
    "#;
    let expected = expect![[r#"
        error[ir-syntax]: the next parameter is `v1`
          2:33 `v2` another number
        error[ir-syntax]: a parameter is a number, a `pointer.global` or a `pointer.map`, found `pointer.shared`
          2:39 `pointer.shared` no parameter
        error[ir-syntax]: the next slot is `s0`
          4:11 `s1` another number
        error[ir-syntax]: expected a type, found `float32x8`
          4:17 `float32x8` expected a type
        error[ir-syntax]: the next slot is `s0`
          5:11 `s1` another number
        error[ir-syntax]: `v0` is defined twice
          6:11 `v0` defined before
        error[ir-syntax]: expected a constant of int8, found `300`
          7:28 `300` expected a constant of int8
        error[ir-syntax]: expected a constant of int8, found `1.5`
          8:28 `1.5` expected a constant of int8
        error[ir-syntax]: expected a constant of bool, found `1`
          9:28 `1` expected a constant of bool
        error[ir-syntax]: expected an operation that gives float32x2, found `1`
          10:33 `1` expected an operation that gives float32x2
        error[ir-syntax]: expected a constant of float32, found `nan`
          11:31 `nan` expected a constant of float32
        error[ir-syntax]: `v5` is defined twice
          12:11 `v5` defined before
        error[ir-syntax]: expected an operation, found `frobnicate`
          12:25 `frobnicate` expected an operation
        error[ir-syntax]: no intrinsic is `frobnicate`
          13:30 `frobnicate` not in the table
        error[ir-syntax]: expected `relaxed` or `acquire` or `release` or `acq_rel`, found `sometime`
          14:49 `sometime` expected `relaxed` or `acquire` or `release` or `acq_rel`
        error[ir-syntax]: expected a type, found `}`
          15:23 `}` expected a type
        error[ir-syntax]: the number of a value is below 1048576
          16:11 `v99999999` too large
        error[ir-syntax]: expected a backslash in front of `"`, `\`, `n`, `t` or `u{…}`, found `"\x"`
          17:17 `"\x"` expected a backslash in front of `"`, `\`, `n`, `t` or `u{…}`
        error[ir-syntax]: expected `align`, found `v9`
          19:11 `v9` expected `align`
        error[ir-syntax]: unexpected character `é`
          19:31 `é`
        error[ir-syntax]: a text is not closed
          19:33 `"` its line ends first
        error[ir-syntax]: expected `kernel` or `function`, found `gives`
          21:9 `gives` expected `kernel` or `function`
    "#]];
    expect_problems(text, expected);
}

#[test]
fn regions_nest_so_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let (open, close) = ("if v0 {\n".repeat(depth), "}\n".repeat(depth));
        format!("kernel k(v0 a: bool) {{\n{open}{close}}}")
    };
    assert!(parse(&nested(super::MAX_DEPTH - 1).as_str().into()).is_ok());
    for depth in [super::MAX_DEPTH, 100_000] {
        let problems = parse(&nested(depth).as_str().into()).expect_err("too deep");
        assert_eq!(problems.0.len(), 1, "{problems}");
    }
}
