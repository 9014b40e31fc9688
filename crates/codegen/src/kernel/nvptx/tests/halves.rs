// SPDX-License-Identifier: Apache-2.0
//! Floats that become halves side by side, which one instruction converts.

use super::ptx_of;
use expect_test::{Expect, expect};

/// Expects a kernel to convert so: the instructions, in order.
fn expect_conversions(arch: &str, body: &str, expected: Expect) {
    let text = format!(
        "kernel k(v0 out: pointer.global float16 align 16 written, v1 a: float32, v2 b: float32, v3 c: bool) {{
           local0 half: float16 count 2 local1 wide: float16 count 4 local2 other: bfloat16 count 2
           v4: pointer.local = local0  v5: pointer.local = local1  v6: pointer.local = local2
           v7: int64 = const 2  v8: pointer.local = offset v4, v7  v9: pointer.local = offset v5, v7
           v10: pointer.local = offset v6, v7
           {body}
         }}"
    );
    let ptx = ptx_of(&text, arch);
    let conversions = ptx.lines().map(str::trim).filter(|line| line.starts_with("cvt."));
    let conversions = conversions.filter_map(|line| line.split_whitespace().next());
    expected.assert_eq(&conversions.collect::<Vec<_>>().join(" "));
}

const BOTH: &str = "v11: float16 = convert v1  v12: float16 = convert v2";

#[test]
fn halves_side_by_side_are_converted_at_once() {
    let vector = "v13: float16x2 = vector v11, v12  store v0, v13 align 4";
    expect_conversions("sm_80", &format!("{BOTH} {vector}"), expect!["cvt.rn.f16x2.f32"]);
    let bits = "store v4, v11 align 2  store v8, v12 align 2
                v13: uint32 = load v4 align 4  store v0, v13 align 4";
    expect_conversions("sm_80", &format!("{BOTH} {bits}"), expect!["cvt.rn.f16x2.f32"]);
    let other = "v11: bfloat16 = convert v1  v12: bfloat16 = convert v2
                 store v6, v11 align 2  store v10, v12 align 2
                 v13: uint32 = load v6 align 4  store v0, v13 align 4";
    expect_conversions("sm_90a", other, expect!["cvt.rn.bf16x2.f32"]);
}

/// The second is converted behind a condition, in another block.
#[test]
fn halves_are_converted_at_once_wherever_each_is() {
    let behind = "v11: float16 = convert v1  store v4, v11 align 2
                  if v3 { store v0, v11 align 2 }
                  v12: float16 = convert v2  store v8, v12 align 2
                  v13: uint32 = load v4 align 4  store v0, v13 align 4";
    expect_conversions("sm_80", behind, expect!["cvt.rn.f16.f32 cvt.rn.f16.f32"]);
    let alone = behind.replace("store v0, v11", "store v0, v1").replace("align 2 }", "align 4 }");
    expect_conversions("sm_80", &alone, expect!["cvt.rn.f16x2.f32"]);
    expect_conversions("sm_75", &alone, expect!["cvt.rn.f16.f32 cvt.rn.f16.f32"]);
}

#[test]
fn halves_in_other_places_are_converted_alone() {
    let between = "v13: pointer.local = offset v9, v7
                   store v9, v11 align 2  store v13, v12 align 2
                   v14: float16x4 = load v5 align 8  store v0, v14 align 8";
    expect_conversions(
        "sm_80",
        &format!("{BOTH} {between}"),
        expect!["cvt.rn.f16.f32 cvt.rn.f16.f32"],
    );
}
