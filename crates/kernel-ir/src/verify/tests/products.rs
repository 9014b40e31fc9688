// SPDX-License-Identifier: Apache-2.0
//! Registers around products of warpgroups: where they may be touched.

use super::expect_problems;
use expect_test::{Expect, expect};

/// Expects problems of a kernel in which products of 8 columns can be begun, and sums be read.
fn expect_of(body: &str, expected: Expect) {
    let text = format!(
        "kernel k(v0 x: pointer.global float32 align 16 written, v1 n: int64 0..9, v2 is_odd: bool) block [128, 1, 1] {{
  shared0 a: bfloat16 bytes 4096 align 1024
  local0 acc: float32 count 8
  local1 part: bfloat16 count 8
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
    );
    expect_problems(&text, expected);
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
