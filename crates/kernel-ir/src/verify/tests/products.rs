// SPDX-License-Identifier: Apache-2.0
//! Registers around products of warpgroups: where they may be touched.

use super::{expect_problems, kernel};
use crate::verify::Handed;
use expect_test::{Expect, expect};

/// A kernel in which products of 8 columns can be begun, and sums be read.
fn with_products(body: &str) -> String {
    format!(
        "kernel k(v0 x: pointer.global float32 align 16 written, v1 n: int64 0..9, v2 is_odd: bool) block [128, 1, 1] {{
  shared0 a: bfloat16 bytes 4096 align 1024
  local0 acc: float32 count 8
  local1 part: bfloat16 count 8  s0 kept: pointer.local
  v3: pointer.shared = shared0
  v4: pointer.local = local0
  v5: int64 = const 16
  v6: pointer.local = offset v4, v5
  v7: float32 = const 1.0
  v8: int64 = const 0
  v9: int64 = const 1
  v10: pointer.local = local1
  v11: bfloat16 = const 1.0
{body}}}"
    )
}

fn expect_of(body: &str, expected: Expect) {
    expect_problems(&with_products(body), expected);
}

/// A product with the first sums, and one with the second ones.
const FIRST: &str = "call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)";
const SECOND: &str = "call wgmma.shared(local0, 4, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)";
const OF_PART: &str =
    "call wgmma.registers(local0, 0, local1, 0, v3, v2, bfloat16, 8, k, swizzle32, 16, 256)";

#[test]
fn what_waits_and_is_fenced_is_right() {
    expect_of(
        &format!(
            "store v4, v7 align 4\n call wgmma.fence()\n {FIRST}\n {FIRST}\n call wgmma.commit()\n {SECOND}\n
             call wgmma.commit()\n call wgmma.wait(1)\n store v4, v7 align 4\n call wgmma.wait(0)\n
             v20: float32 = load v6 align 4\n call wgmma.fence()\n
             for v21: int64 = v8 to v1 step v9 {{ {FIRST}\n call wgmma.commit()\n call wgmma.wait(1) }}\n
             call wgmma.wait(0)\n store v4, v7 align 4\n"
        ),
        expect![[""]],
    );
}

#[test]
fn sums_in_flight_are_not_touched() {
    expect_of(
        &format!(
            "call wgmma.fence()\n {FIRST}\n store v4, v7 align 4\n call wgmma.commit()\n {SECOND}\n call wgmma.commit()\n
             call wgmma.wait(1)\n v20: float32 = load v6 align 4\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight, and is in no group yet
              16:2 `store v4, v7 align 4` touched here
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              22:2 `v20: float32 = load v6 align 4` touched here
              18:2 `call wgmma.shared(local0, 4, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn what_is_in_flight_on_one_way_is() {
    expect_of(
        &format!(
            "call wgmma.fence()\n if v2 {{ {FIRST}\n call wgmma.commit() }} else {{ }}\n store v4, v7 align 4\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              17:2 `store v4, v7 align 4` touched here
              15:10 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn what_is_so_on_the_other_way_is() {
    expect_of(
        &format!("call wgmma.fence()\n if v2 {{ }} else {{ store v4, v7 align 4 }}\n {FIRST}\n"),
        expect![[r#"
            error[product-fence]: no fence stands between where `acc` is touched and this product
              16:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              15:19 `store v4, v7 align 4` touched here
              help: write `kp.wgmma_fence()` in front of the first product of the group"#]],
    );
    expect_of(
        &format!(
            "call wgmma.fence()\n if v2 {{ }} else {{ {FIRST}\n call wgmma.commit() }}\n store v4, v7 align 4\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              17:2 `store v4, v7 align 4` touched here
              15:19 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn of_two_ways_that_with_fewer_groups_behind_a_product_counts() {
    expect_of(
        &format!(
            "call wgmma.fence()\n {FIRST}\n if v2 {{ call wgmma.commit()\n call wgmma.commit() }} else {{ call wgmma.commit() }}\n
             call wgmma.wait(1)\n store v4, v7 align 4\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              20:2 `store v4, v7 align 4` touched here
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn what_a_round_leaves_in_flight_the_next_one_finds() {
    expect_of(
        &format!(
            "for v20: int64 = v8 to v1 step v9 {{ store v4, v7 align 4\n call wgmma.fence()\n {FIRST}\n call wgmma.commit() }}\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              14:37 `store v4, v7 align 4` touched here
              16:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn a_fence_stands_in_front_of_products() {
    expect_of(
        &format!(
            "{FIRST}\n call wgmma.commit()\n call wgmma.wait(0)\n call wgmma.fence()\n store v4, v7 align 4\n {FIRST}\n"
        ),
        expect![[r#"
            error[product-fence]: no fence stands in front of this product
              14:1 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: write `kp.wgmma_fence()` in front of the first product of the group
            error[product-fence]: no fence stands between where `acc` is touched and this product
              19:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              18:2 `store v4, v7 align 4` touched here
              help: write `kp.wgmma_fence()` in front of the first product of the group"#]],
    );
}

#[test]
fn factors_in_registers_are_as_sums() {
    expect_of(
        &format!(
            "store v10, v11 align 2\n call wgmma.fence()\n {OF_PART}\n {OF_PART}\n store v10, v11 align 2\n call wgmma.commit()\n call wgmma.wait(0)\n {OF_PART}\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `part` is touched while a product with it is in flight, and is in no group yet
              18:2 `store v10, v11 align 2` touched here
              16:2 `call wgmma.registers(local0, 0, local1, 0, v3, v2, bfloat16, 8, k, swizzle32, 16, 256)` the product begins here
              help: commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`
            error[product-fence]: no fence stands between where `part` is touched and this product
              21:2 `call wgmma.registers(local0, 0, local1, 0, v3, v2, bfloat16, 8, k, swizzle32, 16, 256)` the product begins here
              18:2 `store v10, v11 align 2` touched here
              help: write `kp.wgmma_fence()` in front of the first product of the group"#]],
    );
}

#[test]
fn a_fence_on_one_way_is_none() {
    expect_of(
        &format!("if v2 {{ call wgmma.fence() }} else {{ }}\n {FIRST}\n"),
        expect![[r#"
            error[product-fence]: no fence stands in front of this product
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: write `kp.wgmma_fence()` in front of the first product of the group"#]],
    );
    expect_of(
        &format!("if v2 {{ }} else {{ call wgmma.fence() }}\n {FIRST}\n"),
        expect![[r#"
            error[product-fence]: no fence stands in front of this product
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: write `kp.wgmma_fence()` in front of the first product of the group"#]],
    );
}

#[test]
fn what_is_in_flight_where_a_loop_ends_is_behind_it() {
    let problems = |loops: &str, expected| {
        expect_of(&format!("call wgmma.fence()\n {loops}\n store v4, v7 align 4\n"), expected);
    };
    problems(
        &format!("for v20: int64 = v8 to v1 step v9 {{ {FIRST}\n call wgmma.commit() }}"),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              17:2 `store v4, v7 align 4` touched here
              15:38 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
    problems(
        &format!(
            "while {{ {FIRST}\n call wgmma.commit()\n v20: bool = lt v8, v1 }} v20 {{ call wgmma.wait(0) }}"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              18:2 `store v4, v7 align 4` touched here
              15:10 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
    problems(
        &format!("while {{ v20: bool = lt v8, v1 }} v20 {{ {FIRST}\n call wgmma.commit() }}"),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              17:2 `store v4, v7 align 4` touched here
              15:40 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn a_break_leaves_what_is_in_flight_behind_its_loop_alone() {
    let problems = |behind: &str, expected| {
        expect_of(
            &format!(
                "for v20: int64 = v8 to v1 step v9 {{ store v4, v7 align 4\n call wgmma.fence()\n
                 if v2 {{ {FIRST}\n call wgmma.commit()\n break }} else {{ }} }}\n {behind} store v4, v7 align 4\n"
            ),
            expected,
        );
    };
    problems("call wgmma.wait(0)\n", expect![[""]]);
    problems(
        "",
        expect![[r#"
        error[fragment-in-flight]: `acc` is touched while a product with it is in flight
          20:3 `store v4, v7 align 4` touched here
          17:26 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
          help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn a_continue_leaves_what_is_in_flight_to_the_next_round() {
    expect_of(
        &format!(
            "for v20: int64 = v8 to v1 step v9 {{ store v4, v7 align 4\n call wgmma.fence()\n
             if v2 {{ {FIRST}\n call wgmma.commit()\n continue }} else {{ }} }}\n"
        ),
        expect![[r#"
            error[fragment-in-flight]: `acc` is touched while a product with it is in flight
              14:37 `store v4, v7 align 4` touched here
              17:22 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
              help: wait for the product before: `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn a_loop_without_a_condition_ends_by_its_breaks() {
    expect_of(
        &format!(
            "v20: bool = const true\n call wgmma.fence()\n
             while {{ {FIRST}\n call wgmma.commit() }} v20 {{ call wgmma.wait(0)\n if v2 {{ break }} else {{ }} }}\n
             store v4, v7 align 4\n"
        ),
        expect![[""]],
    );
}

#[test]
fn a_return_leaves_nothing_in_flight() {
    expect_of(
        &format!(
            "call wgmma.fence()\n if v2 {{ {FIRST}\n call wgmma.commit()\n return }} else {{ }}\n
             store v4, v7 align 4\n"
        ),
        expect![[""]],
    );
}

#[test]
fn products_of_other_sums_are_not_in_order() {
    let wide = FIRST.replace("bfloat16, 8,", "bfloat16, 16,");
    expect_of(
        &format!("call wgmma.fence()\n {FIRST}\n {wide}\n"),
        expect![[r#"
        error[fragment-in-flight]: `acc` is touched while a product with it is in flight, and is in no group yet
          16:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 16, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` touched here
          15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
          help: commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`"#]],
    );
    let of_sums =
        "call wgmma.registers(local0, 4, local0, 0, v3, v2, float32, 8, k, swizzle32, 16, 256)";
    expect_of(&format!("call wgmma.fence()\n {of_sums}\n {of_sums}\n"), expect![[""]]);
    expect_of(
        &format!("call wgmma.fence()\n {of_sums}\n {FIRST}\n"),
        expect![[r#"
        error[fragment-in-flight]: `acc` is touched while a product with it is in flight, and is in no group yet
          16:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` touched here
          15:2 `call wgmma.registers(local0, 4, local0, 0, v3, v2, float32, 8, k, swizzle32, 16, 256)` the product begins here
          help: commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`"#]],
    );
    expect_of(
        &format!("call wgmma.fence()\n {FIRST}\n {of_sums}\n"),
        expect![[r#"
        error[fragment-in-flight]: `acc` is touched while a product with it is in flight, and is in no group yet
          16:2 `call wgmma.registers(local0, 4, local0, 0, v3, v2, float32, 8, k, swizzle32, 16, 256)` touched here
          15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)` the product begins here
          help: commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`"#]],
    );
}

#[test]
fn addresses_of_registers_go_nowhere() {
    let problems = |use_: &str, expected| {
        expect_of(&format!("{use_}\n call wgmma.fence()\n {FIRST}\n"), expected);
    };
    problems(
        "set s0, v6",
        expect![[r#"
        error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
          14:1 `set s0, v6` accessed here
          help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
    problems(
        "v20: pointer.local = select v2, v10, v6",
        expect![[r#"
        error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
          14:1 `v20: pointer.local = select v2, v10, v6` accessed here
          help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
    problems(
        "ptx \"ld.local.f32 %f1, [{0}];\" v4",
        expect![[r#"
        error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
          14:1 `ptx "ld.local.f32 %f1, [{0}];" v4` accessed here
          help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
}

#[test]
fn fences_and_waits_hand_on_what_was_touched_and_what_is_done() {
    let text = with_products(&format!(
        "store v4, v7 align 4\n call wgmma.fence()\n {FIRST}\n call wgmma.commit()\n {SECOND}\n call wgmma.commit()\n
         call wgmma.wait(1)\n call wgmma.wait(0)\n call wgmma.fence()\n store v10, v11 align 2\n
         for v20: int64 = v8 to v1 step v9 {{ call wgmma.fence()\n {OF_PART}\n call wgmma.commit()\n
         call wgmma.wait(0)\n store v4, v7 align 4 }}\n store v6, v7 align 4\n call wgmma.fence()\n call wgmma.wait(0)\n"
    ));
    let handed = Handed::of(&kernel(&text));
    expect!["Handed { by_fences: [{local0}, {}, {local0, local1}, {local0, local1}], by_waits: [{}, {local0}, {local0, local1}, {}], all: {local0, local1} }"].assert_eq(&format!("{handed:?}"));
}

#[test]
fn elements_are_known() {
    expect_of(
        &format!(
            "v20: pointer.local = offset v4, v1\n v21: float32 = load v20 align 4\n store v4, v7 align 4 when v2\n call wgmma.fence()\n {FIRST}\n"
        ),
        expect![[r#"
            error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
              15:2 `v21: float32 = load v20 align 4` accessed here
              help: index it by constants, as in `kp.range_constexpr`, and without a condition
            error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
              16:2 `store v4, v7 align 4 when v2` accessed here
              help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
}

#[test]
fn elements_are_of_the_tensor_and_of_its_type() {
    let problems = |access: &str, expected| {
        expect_of(&format!("{access}\n call wgmma.fence()\n {FIRST}\n"), expected);
    };
    problems("v20: float32x4 = load v6 align 4", expect![[""]]);
    problems(
        "v20: int64 = const 28 v21: pointer.local = offset v4, v20 v22: float32x2 = load v21 align 4",
        expect![[r#"
            error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
              14:59 `v22: float32x2 = load v21 align 4` accessed here
              help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
    problems(
        "v20: int32 = load v4 align 4",
        expect![[r#"
        error[product-registers]: `acc` is in registers, as a product is made of it, and which element this is of is not known while compiling
          14:1 `v20: int32 = load v4 align 4` accessed here
          help: index it by constants, as in `kp.range_constexpr`, and without a condition"#]],
    );
}

#[test]
fn operands_are_those_of_a_product() {
    let problems =
        |call: &str, expected| expect_of(&format!("call wgmma.fence()\n {call}\n"), expected);
    problems(
        "call wgmma.shared(local1, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)",
        expect![[r#"
            error[kernel-malformed]: operand 0 of `wgmma.shared` is a register tensor of float32 or int32, found a register tensor of bfloat16
              15:2 `call wgmma.shared(local1, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)`"#]],
    );
    problems(
        "call wgmma.shared(local0, 0, v3, v3, v2, int8, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)",
        expect![[r#"
            error[kernel-malformed]: `local0` is of float32, and the product of int32
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, int8, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)`"#]],
    );
    problems(
        "call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 24, k, swizzle32, 16, 256, k, swizzle32, 16, 256)",
        expect![[r#"
            error[kernel-malformed]: `local0` has 8 elements, and no number 11
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 24, k, swizzle32, 16, 256, k, swizzle32, 16, 256)`"#]],
    );
    problems(
        "call wgmma.registers(local0, 0, local1, 2, v3, v2, bfloat16, 8, k, swizzle32, 16, 256)",
        expect![[r#"
            error[kernel-malformed]: `local1` has 8 elements, and no number 9
              15:2 `call wgmma.registers(local0, 0, local1, 2, v3, v2, bfloat16, 8, k, swizzle32, 16, 256)`"#]],
    );
    problems(
        "call wgmma.shared(local0, 0, v3, v3, v2, float32, 8, mn, swizzle32, 16, 256, k, swizzle32, 16, 256)",
        expect![[r#"
            error[kernel-malformed]: a factor of float32 lies row by row
              15:2 `call wgmma.shared(local0, 0, v3, v3, v2, float32, 8, mn, swizzle32, 16, 256, k, swizzle32, 16, 256)`"#]],
    );
}
