// SPDX-License-Identifier: Apache-2.0
//! Which guards become one and which do not, and that kernels do the same as before.

mod alike;
mod same;
mod site;
mod width;

use super::widen;
use crate::kernel::{Kernel, Value};
use crate::ranges::Ranges;
use crate::text::{self, Item};
use crate::verify::verify;
use expect_test::{Expect, expect};

/// `x` and `y` are apart and `z` is not, `n` and `i` are multiples of 4, and `m` and `j` of 1.
const HEAD: &str = "kernel k(v0 x: pointer.global float32 align 16 alone, \
                    v1 y: pointer.global float32 align 16 alone written, \
                    v2 z: pointer.global float32 align 16 written, \
                    v3 n: int64 0..65536 multiple 4, v4 m: int64 0..65536, \
                    v5 i: int64 0..65536 multiple 4, v6 j: int64 0..65536) {
  shared0 tile: float32 bytes 64 align 8
  local0 own: float32 count 4
  s0 sum: float32
  s1 chosen: float32
  s2 other: float32
  v7: float32 = const 0.0
  set s0, v7
  v8: int64 = const 4
  v9: int64 = const 1
  v10: int64 = add v5, v9
";

/// A kernel of these operations once it is widened.
fn widened(body: &str) -> Kernel {
    widened_behind(HEAD, body).0
}

/// The same behind another head, with its ranges.
fn widened_behind(head: &str, body: &str) -> (Kernel, Ranges) {
    let items = text::parse(&format!("{head}{body}}}")[..].into());
    let items = items.unwrap_or_else(|problems| panic!("{problems}"));
    let [Item::Kernel(kernel)] = &items[..] else { panic!("{items:?}") };
    let mut kernel = kernel.clone();
    verify(&kernel).unwrap_or_else(|problems| panic!("{problems}"));
    let ranges = widen(&mut kernel);
    verify(&kernel).unwrap_or_else(|problems| panic!("{kernel}{problems}"));
    (kernel, ranges)
}

/// Expects a kernel of these operations to become others.
fn expect_widened(body: &str, expected: Expect) {
    let printed = widened(body).to_string();
    let lines = printed
        .lines()
        .skip(HEAD.lines().count())
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)));
    let lines: String = lines.collect();
    expected.assert_eq(lines.strip_suffix("}\n").unwrap_or(&lines));
}

/// The operations that add `x[index]` to the sum where a condition holds: six values from the first
/// on.
fn guarded_sum(first: u32, condition: &str, index: &str) -> String {
    let [is_in, bytes, address, element, before, after] =
        [0, 1, 2, 3, 4, 5].map(|by| format!("v{}", first + by));
    format!(
        "{is_in}: bool = {condition}
         if {is_in} {{
           {bytes}: int64 = mul {index}, v8
           {address}: pointer.global = offset v0, {bytes}
           {element}: float32 = load {address} align 4
           {before}: float32 = get s0
           {after}: float32 = add {before}, {element}
           set s0, {after}
         }}\n"
    )
}

/// How many `if`s become of two guarded sums with something between.
fn n_guards(first: &str, between: &str, second: &str) -> usize {
    let first = guarded_sum(11, first, "v5");
    let body = format!("{first}{between}\n{}", guarded_sum(30, second, "v10"));
    same::n_ifs(&widened(&body).body)
}

#[test]
fn guards_of_elements_side_by_side_are_one() {
    let body = guarded_sum(11, "lt v5, v3", "v5") + &guarded_sum(17, "lt v10, v3", "v10");
    expect_widened(
        &body,
        expect![[r#"
              v11: bool = lt v5, v3
              v17: bool = lt v10, v3
              if v11 {
                v12: int64 = mul v5, v8
                v13: pointer.global = offset v0, v12
                v14: float32 = load v13 align 16
                v15: float32 = get s0
                v16: float32 = add v15, v14
                set s0, v16
                v18: int64 = mul v10, v8
                v19: pointer.global = offset v0, v18
                v20: float32 = load v19 align 4
                v21: float32 = get s0
                v22: float32 = add v21, v20
                set s0, v22
              }
        "#]],
    );
}

#[test]
fn what_a_choice_gives_is_used_behind() {
    expect_widened(
        "v11: bool = lt v5, v3
         if v11 { v12: float32 = load v0 align 4  set s1, v12 } else { set s1, v7 }
         v13: float32 = get s1
         store v1, v13 align 4
         v14: bool = gt v3, v10
         v15: float32 = neg v7
         if v14 { v16: float32 = load v0 align 4  set s2, v16 } else { set s2, v15 }
         v17: float32 = get s2
         store v1, v17 align 4",
        expect![[r#"
              v11: bool = lt v5, v3
              v14: bool = gt v3, v10
              v15: float32 = neg v7
              if v11 {
                v12: float32 = load v0 align 16
                set s1, v12
                v16: float32 = load v0 align 16
                set s2, v16
              } else {
                set s1, v7
                set s2, v15
              }
              v13: float32 = get s1
              store v1, v13 align 16
              v17: float32 = get s2
              store v1, v17 align 16
        "#]],
    );
}

#[test]
fn what_is_no_multiple_keeps_its_guard() {
    assert_eq!(n_guards("lt v5, v3", "", "lt v10, v3"), 1);
    assert_eq!(n_guards("lt v5, v4", "", "lt v10, v4"), 2);
    assert_eq!(n_guards("lt v6, v3", "v20: int64 = add v6, v9", "lt v20, v3"), 2);
    // Of the elements from 4 on, the second four.
    let further = |by: &str| format!("v20: int64 = const {by}  v21: int64 = add v5, v20");
    assert_eq!(n_guards("lt v5, v3", &further("3"), "lt v21, v3"), 1);
    assert_eq!(n_guards("lt v5, v3", &further("4"), "lt v21, v3"), 2);
    assert_eq!(n_guards("lt v5, v3", &further("-1"), "lt v21, v3"), 2);
}

#[test]
fn comparisons_may_be_written_otherwise() {
    for second in ["gt v3, v10", "le v10, v3", "ge v3, v10"] {
        assert_eq!(n_guards("lt v5, v3", "", second), 1, "{second}");
    }
    for second in ["ge v10, v3", "le v3, v10", "eq v10, v3", "ne v10, v3"] {
        assert_eq!(n_guards("lt v5, v3", "", second), 2, "{second}");
    }
    let not = "v20: bool = ge v10, v3";
    assert_eq!(n_guards("lt v5, v3", not, "not v20"), 1);
    let both = "v20: bool = lt v10, v3  v21: bool = lt v6, v4  v22: bool = and v21, v20";
    assert_eq!(n_guards("lt v5, v3", both, "and v22, v21"), 2);
    assert_eq!(n_guards("lt v5, v3", "v20: bool = lt v10, v3", "and v20, v20"), 1);
    let before = "v20: bool = lt v6, v4  v21: bool = lt v5, v3";
    let first = guarded_sum(22, "and v21, v20", "v5");
    let second = guarded_sum(29, "and v20, v28", "v10");
    let body = format!("{before}\n{first}v28: bool = lt v10, v3\n{second}");
    assert_eq!(same::n_ifs(&widened(&body).body), 1);
}

#[test]
fn what_stands_between_stays_in_order() {
    let with = |between: &str| n_guards("lt v5, v3", between, "lt v10, v3");
    // What is not written behind another parameter may be read earlier.
    assert_eq!(with("store v1, v7 align 4"), 1);
    assert_eq!(with("v20: float32 = load v1 align 4  store v1, v20 align 4"), 1);
    assert_eq!(with("store v2, v7 align 4"), 1);
    assert_eq!(with("set s1, v7"), 1);
    assert_eq!(with("set s0, v7"), 2);
    assert_eq!(with("v20: float32 = get s0  store v1, v20 align 4"), 2);
    assert_eq!(with("call barrier()"), 2);
    assert_eq!(with("print \"here\""), 2);
    assert_eq!(with("while { v20: bool = lt v6, v4 } v20 { break }"), 2);
}

#[test]
fn memory_that_may_be_the_same_is_touched_in_order() {
    let of = |condition: u32, read: &str| {
        let [is_in, element] = [condition, condition + 1].map(|value| format!("v{value}"));
        format!(
            "{is_in}: bool = lt v5, v3
             if {is_in} {{ {element}: float32 = load {read} align 4  set s0, {element} }}\n"
        )
    };
    let n_guards = |between: &str, read: &str| {
        let body = format!("{}{between}\n{}", of(11, read), of(13, read));
        same::n_ifs(&widened(&body).body)
    };
    assert_eq!(n_guards("store v1, v7 align 4", "v0"), 1);
    assert_eq!(n_guards("store v1, v7 align 4", "v1"), 2);
    assert_eq!(n_guards("store v2, v7 align 4", "v1"), 1);
    assert_eq!(n_guards("store v2, v7 align 4", "v2"), 2);
}

/// Something in the guard `v11`.
const GUARDED: &str = "if v11 { store v1, v7 align 4 }\n";

/// How many `if`s become of operations.
fn n_ifs(body: &str) -> usize {
    same::n_ifs(&widened(body).body)
}

#[test]
fn guards_in_a_loop_are_one() {
    let both = guarded_sum(11, "lt v5, v3", "v5") + &guarded_sum(17, "lt v10, v3", "v10");
    assert_eq!(n_ifs(&format!("for v40: int64 = v9 to v3 step v9 {{ {both} }}")), 1);
}

#[test]
fn ranges_are_those_of_where_operations_stand_then() {
    // The sum goes ahead of what bounds it.
    let body = "v11: bool = lt v5, v3
                if v11 { set s1, v7 }
                inbounds v6, v8
                v20: int64 = add v6, v9
                if v11 { v21: pointer.global = offset v0, v20  v22: float32 = load v21 align 4 }";
    let (kernel, ranges) = widened_behind(HEAD, body);
    assert_eq!(same::n_ifs(&kernel.body), 1);
    assert_eq!(ranges.value(Value(20)), Ranges::of(&kernel).value(Value(20)));
}

#[test]
fn so_many_become_one_and_so_many_lie_between() {
    let alike = |count: usize| n_ifs(&format!("v11: bool = lt v5, v3 {}", GUARDED.repeat(count)));
    assert_eq!([alike(32), alike(33), alike(64), alike(65)], [1, 2, 2, 3]);
    // The second condition is one of those between.
    let between =
        |count: usize| n_guards("lt v5, v3", &"set s1, v7\n".repeat(count - 1), "lt v10, v3");
    assert_eq!([between(512), between(513)], [1, 2]);
}

#[test]
fn what_goes_ahead_passes_nothing_that_it_reads() {
    // Between two, and by the second of three.
    for (write, read) in [("set s1, v7", "get s1"), ("store v1, v7 align 4", "load v1 align 4")] {
        let last = "if v11 { set s2, v20 }";
        let head = "set s1, v7  v11: bool = lt v5, v3";
        let between = format!("{head} if v11 {{ set s0, v7 }} {write}\n");
        assert_eq!(n_ifs(&format!("{between} v20: float32 = {read} {last}")), 2, "{read}");
        let second = format!("{head} if v11 {{ }} if v11 {{ {write} }}\n");
        assert_eq!(n_ifs(&format!("{second} v20: float32 = {read} {last}")), 2, "{read}");
        assert_eq!(n_ifs(&format!("{second} v20: float32 = load v0 align 4 {last}")), 1, "{read}");
    }
}

#[test]
fn memory_that_is_reached_by_any_address_is_its_space() {
    let n_guards = |memory: &str, space: &str| {
        n_ifs(&format!(
            "v11: bool = lt v5, v3
             v12: int32 = const 0
             v13: pointer.shared = shared0
             v14: pointer.cluster = call shared.map(v13, v12)
             v15: pointer.{space} = {memory}
             if v11 {{ v16: float32 = load v15 align 4  set s1, v16 }}
             store v14, v7 align 4
             if v11 {{ v17: float32 = load v15 align 4  set s1, v17 }}"
        ))
    };
    assert_eq!(n_guards("shared0", "shared"), 2);
    assert_eq!(n_guards("local0", "local"), 1);
    assert_eq!(n_guards("offset v0, v5", "global"), 1);
}

#[test]
fn sums_that_come_to_the_same_are_the_same() {
    let away = "v40: int64 = add v5, v6  v41: int64 = sub v40, v6";
    assert_eq!(n_guards("lt v5, v3", away, "lt v41, v3"), 1);
    // Each of a long chain is looked into once.
    let doubled: String =
        (41..71).map(|by| format!("v{by}: int64 = add v{0}, v{0}\n", by - 1)).collect();
    let first = format!("v40: int64 = add v5, v6\n{doubled}");
    let [one, other] = [80, 90].map(|at| guarded_sum(at, "lt v70, v3", "v5"));
    assert_eq!(n_ifs(&format!("{first}{one}{other}")), 1);
}

#[test]
fn who_leaves_joins_nothing() {
    let head = "v11: bool = lt v5, v3";
    assert_eq!(n_ifs(&format!("{head} if v11 {{ return }} {GUARDED}")), 2);
    assert_eq!(n_ifs(&format!("{head} {GUARDED} if v11 {{ return }}")), 2);
    let body = "v11: bool = lt v5, v3
                if v11 { v12: bool = lt v6, v4  if v12 { return } }
                v13: bool = lt v10, v3
                if v13 { store v1, v7 align 4 }";
    assert_eq!(same::n_ifs(&widened(body).body), 3);
}

#[test]
fn accesses_say_what_is_known_of_their_address() {
    expect_widened(
        "v11: pointer.shared = shared0
         v12: float32 = load v11 align 4
         v13: pointer.local = local0
         store v13, v12 align 4
         v14: pointer.global = offset v1, v5
         store v14, v12 align 4
         v15: int64 = const 8
         v16: int64 = mul v6, v15
         v17: pointer.global = offset v14, v16
         store v17, v12 align 4
         v18: int64 = const 0
         v19: pointer.global = offset v1, v18
         store v19, v12 align 4",
        expect![[r#"
              v11: pointer.shared = shared0
              v12: float32 = load v11 align 8
              v13: pointer.local = local0
              store v13, v12 align 4
              v14: pointer.global = offset v1, v5
              store v14, v12 align 4
              v15: int64 = const 8
              v16: int64 = mul v6, v15
              v17: pointer.global = offset v14, v16
              store v17, v12 align 4
              v18: int64 = const 0
              v19: pointer.global = offset v1, v18
              store v19, v12 align 16
        "#]],
    );
}
