// SPDX-License-Identifier: Apache-2.0
//! Accesses that are volatile or have a hint, and what is fetched ahead.

use super::expect_instructions;
use expect_test::{Expect, expect};
use kernpack_machine::PtxVersion;

/// Expects these accesses of a kernel that moves four numbers that lie side by side.
fn expect_moved(element: &str, qualifiers: [&str; 2], expected: Expect) {
    let bytes = if element == "float64" { 8 } else { 4 };
    let one = |at: u32| {
        let [offset, from, value, to] =
            [0, 1, 2, 3].map(|place| format!("v{}", 10 + 4 * at + place));
        let [read, written] = qualifiers;
        format!(
            "{offset}: int64 = const {}
             {from}: pointer.global = offset v0, {offset}
             {value}: {element} = load {from} align {bytes} {read}
             {to}: pointer.global = offset v1, {offset}
             store {to}, {value} align {bytes} {written}
            ",
            bytes * at
        )
    };
    let all: String = (0..4).map(one).collect();
    let text = format!(
        "kernel k(v0 x: pointer.global {element} align 16 alone,
            v1 y: pointer.global {element} align 16 alone written) {{ {all} }}"
    );
    expect_instructions(&text, "sm_90", &["ld.global", "ld.volatile", "st."], expected);
}

#[test]
fn accesses_with_a_hint_become_one_as_others_do() {
    expect_moved(
        "float32",
        ["stream", "keep"],
        expect![[r#"
        ld.global.cs.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
        st.global.L1::evict_last.v4.b32 [%rd2], {%r1, %r2, %r3, %r4};
    "#]],
    );
    expect_moved(
        "float64",
        ["last_use", "last_use"],
        expect![[r#"
        ld.global.lu.v2.b64 {%rd3, %rd4}, [%rd1];
        st.global.cs.v2.b64 [%rd2], {%rd3, %rd4};
        ld.global.lu.v2.b64 {%rd7, %rd8}, [%rd5];
        st.global.cs.v2.b64 [%rd6], {%rd7, %rd8};
    "#]],
    );
}

/// Nor are they taken for constants, as what is only read may be.
#[test]
fn volatile_accesses_stay_as_many_as_they_are() {
    expect_moved(
        "int32",
        ["volatile", "volatile"],
        expect![[r#"
        ld.volatile.global.b32  %r1, [%rd1];
        st.volatile.global.b32  [%rd2], %r1;
        ld.volatile.global.b32  %r2, [%rd1+4];
        st.volatile.global.b32  [%rd2+4], %r2;
        ld.volatile.global.b32  %r3, [%rd1+8];
        st.volatile.global.b32  [%rd2+8], %r3;
        ld.volatile.global.b32  %r4, [%rd1+12];
        st.volatile.global.b32  [%rd2+12], %r4;
    "#]],
    );
}

/// Nothing is known of the whole beyond what its parts say alike.
#[test]
fn accesses_of_different_hints_stay_apart_or_lose_them() {
    let text = "kernel k(v0 x: pointer.global float32 align 8 alone, v1 y: pointer.global float32 align 8 alone written) {
        v2: int64 = const 4
        v3: pointer.global = offset v0, v2
        v4: pointer.global = offset v1, v2
        v5: float32 = load v0 align 8 keep
        v6: float32 = load v3 align 4
        store v1, v5 align 8 stream
        store v4, v6 align 4 stream
    }";
    expect_instructions(
        text,
        "sm_90",
        &["ld.global", "st."],
        expect![[r#"
        ld.global.nc.v2.b32  {%r1, %r2}, [%rd2];
        st.global.cs.v2.b32 [%rd1], {%r1, %r2};
    "#]],
    );
}

#[test]
fn small_elements_and_truths_have_hints_too() {
    let text = "kernel k(v0 x: pointer.global bool align 1, v1 h: pointer.global bfloat16 align 2 written) {
        v2: bool = load v0 align 1 stream
        v3: bfloat16 = load v1 align 2 stream
        v4: bfloat16 = const 1.0
        v5: bfloat16 = select v2, v3, v4
        store v1, v5 align 2 last_use
    }";
    expect_instructions(
        text,
        "sm_90",
        &["ld.global", "st."],
        expect![[r#"
        ld.global.cs.b8 %rs1, [%rd1];
        ld.global.cs.b16 %rs2, [%rd2];
        st.global.cs.b16 [%rd2], %rs3;
    "#]],
    );
}

#[test]
fn a_line_is_fetched_ahead() {
    let text = "kernel k(v0 x: pointer.global float32 align 4) {
        call prefetch(v0, L1)
        call prefetch(v0, L2)
    }";
    expect_instructions(
        text,
        "sm_80",
        &["prefetch"],
        expect![[r#"
        prefetch.global.L1 [%rd1];
        prefetch.global.L2 [%rd1];
    "#]],
    );
}

#[test]
fn what_is_kept_needs_a_later_ptx() {
    let text = |how: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written) {{ v1: int32 = load v0 align 4 {how} store v0, v1 align 4 }}"
        )
    };
    let version = |how: &str| super::super::needs::needed_ptx(&[&super::kernel(&text(how))]);
    assert_eq!(
        [version("keep"), version("stream")],
        [PtxVersion::new(7, 4), PtxVersion::new(7, 0)]
    );
}
