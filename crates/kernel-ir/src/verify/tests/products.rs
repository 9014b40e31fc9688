// SPDX-License-Identifier: Apache-2.0
//! What registers may be touched around products of warpgroups.

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
        expect![[""]],
    );
}

#[test]
fn what_is_in_flight_on_one_way_is() {
    expect_of(
        &format!(
            "call wgmma.fence()\n if v2 {{ {FIRST}\n call wgmma.commit() }} else {{ }}\n store v4, v7 align 4\n"
        ),
        expect![[""]],
    );
}

#[test]
fn what_a_round_leaves_in_flight_the_next_one_finds() {
    expect_of(
        &format!(
            "for v20: int64 = v8 to v1 step v9 {{ store v4, v7 align 4\n call wgmma.fence()\n {FIRST}\n call wgmma.commit() }}\n"
        ),
        expect![[""]],
    );
}

#[test]
fn a_fence_stands_in_front_of_products() {
    expect_of(
        &format!("{FIRST}\n call wgmma.commit()\n call wgmma.wait(0)\n call wgmma.fence()\n store v4, v7 align 4\n {FIRST}\n"),
        expect![[""]],
    );
}

#[test]
fn factors_in_registers_are_as_sums() {
    expect_of(
        &format!(
            "store v10, v11 align 2\n call wgmma.fence()\n {OF_PART}\n {OF_PART}\n store v10, v11 align 2\n call wgmma.commit()\n call wgmma.wait(0)\n {OF_PART}\n"
        ),
        expect![[""]],
    );
}

#[test]
fn elements_are_known() {
    expect_of(
        &format!(
            "v20: pointer.local = offset v4, v1\n v21: float32 = load v20 align 4\n store v4, v7 align 4 when v2\n call wgmma.fence()\n {FIRST}\n"
        ),
        expect![[""]],
    );
}

#[test]
fn operands_are_those_of_a_product() {
    let problems = |call: &str, expected| expect_of(&format!("call wgmma.fence()\n {call}\n"), expected);
    problems("call wgmma.shared(local1, 0, v3, v3, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)", expect![[""]]);
    problems("call wgmma.shared(local0, 0, v3, v3, v2, int8, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)", expect![[""]]);
    problems("call wgmma.shared(local0, 0, v3, v3, v2, bfloat16, 24, k, swizzle32, 16, 256, k, swizzle32, 16, 256)", expect![[""]]);
    problems("call wgmma.shared(local0, 0, v3, v3, v2, float32, 8, mn, swizzle32, 16, 256, k, swizzle32, 16, 256)", expect![[""]]);
}
