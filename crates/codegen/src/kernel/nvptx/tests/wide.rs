// SPDX-License-Identifier: Apache-2.0
//! Elements that lie side by side are one access where facts and alignments allow it, also when
//! each has a guard of its own.

use super::expect_instructions;
use expect_test::{Expect, expect};

/// A kernel whose threads double so many elements each, every one where it is in bounds.
struct Doubling {
    element: &'static str,
    bytes: u32,
    count: u32,
    /// The facts about how many elements there are.
    n: &'static str,
    x: &'static str,
    y: &'static str,
}

/// Each thread has four, and all is known.
const FOUR: Doubling = Doubling {
    element: "float32",
    bytes: 4,
    count: 4,
    n: "multiple 4",
    x: "align 16 alone",
    y: "align 16 alone",
};

impl Doubling {
    fn text(&self) -> String {
        let Doubling { element, bytes, count, n, x, y } = self;
        let one = |at: u32| {
            let [by, index, is_in, offset, read, old, new, write] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|place| format!("v{}", 10 + 8 * at + place));
            format!(
                "{by}: int64 = const {at}  {index}: int64 = add v6, {by}
                 {is_in}: bool = lt {index}, v2
                 if {is_in} {{
                   inbounds {index}, v2
                   {offset}: int64 = mul {index}, v7
                   {read}: pointer.global = offset v0, {offset}
                   {old}: {element} = load {read} align {bytes}
                   {new}: {element} = add {old}, {old}
                   {write}: pointer.global = offset v1, {offset}
                   store {write}, {new} align {bytes}
                 }}\n"
            )
        };
        let all: String = (0..*count).map(one).collect();
        format!(
            "kernel k(v0 x: pointer.global {element} {x}, v1 y: pointer.global {element} {y} written, \
                      v2 n: int64 0..1073741824 {n}) block [256, 1, 1] {{
               v3: int64 = call block_idx.x()
               v4: int64 = call thread_idx.x()
               v5: int64 = const {count}
               v6: int64 = mul v4, v5
               v7: int64 = const {bytes}
               {all}
             }}"
        )
    }

    /// Expects these accesses.
    fn expect(&self, expected: Expect) {
        expect_instructions(&self.text(), "sm_90", &["ld.global", "st.global"], expected);
    }
}

#[test]
fn sixteen_bytes_of_any_type_are_one_access() {
    FOUR.expect(expect![[r#"
        ld.global.nc.v4.b32  {%r4, %r5, %r6, %r7}, [%rd4];
        st.global.v4.b32  [%rd5], {%r8, %r9, %r10, %r11};
    "#]]);
    let halves = Doubling { element: "bfloat16", bytes: 2, count: 8, n: "multiple 8", ..FOUR };
    halves.expect(expect![[r#"
        ld.global.nc.v4.b32  {%r4, %r5, %r6, %r7}, [%rd4];
        st.global.v4.b32  [%rd5], {%r11, %r10, %r9, %r8};
    "#]]);
    let bytes = Doubling { element: "int8", bytes: 1, count: 16, n: "multiple 16", ..FOUR };
    bytes.expect(expect![[r#"
        ld.global.nc.v4.b32  {%r4, %r5, %r6, %r7}, [%rd4];
        st.global.v4.b32  [%rd5], {%r51, %r44, %r37, %r30};
    "#]]);
    Doubling { element: "float64", bytes: 8, count: 2, n: "multiple 2", ..FOUR }.expect(expect![[
        r#"
        ld.global.nc.v2.b64  {%rd5, %rd6}, [%rd4];
        st.global.v2.b64  [%rd8], {%rd7, %rd9};
    "#
    ]]);
}

#[test]
fn a_length_that_is_no_multiple_leaves_elements() {
    Doubling { n: "", ..FOUR }.expect(expect![[r#"
        ld.global.nc.b32  %r6, [%rd1];
        st.global.b32  [%rd2], %r7;
        ld.global.nc.b32  %r8, [%rd1+4];
        st.global.b32  [%rd2+4], %r9;
        ld.global.nc.b32  %r11, [%rd1+8];
        st.global.b32  [%rd2+8], %r12;
        ld.global.nc.b32  %r14, [%rd1+12];
        st.global.b32  [%rd2+12], %r15;
    "#]]);
    // Half of the guards are alike.
    Doubling { n: "multiple 2", ..FOUR }.expect(expect![[r#"
        ld.global.nc.v2.b32  {%r4, %r5}, [%rd4];
        st.global.v2.b32  [%rd5], {%r6, %r7};
        ld.global.nc.v2.b32  {%r10, %r11}, [%rd7+8];
        st.global.v2.b32  [%rd8+8], {%r12, %r13};
    "#]]);
}

#[test]
fn an_access_is_as_wide_as_its_address_is_aligned() {
    Doubling { x: "align 8 alone", y: "align 4 alone", ..FOUR }.expect(expect![[r#"
        ld.global.nc.v2.b32  {%r4, %r5}, [%rd4];
        st.global.b32  [%rd5], %r6;
        st.global.b32  [%rd5+4], %r7;
        ld.global.nc.v2.b32  {%r8, %r9}, [%rd4+8];
        st.global.b32  [%rd5+8], %r10;
        st.global.b32  [%rd5+12], %r11;
    "#]]);
}

#[test]
fn what_may_be_written_in_between_is_read_in_order() {
    Doubling { x: "align 16", y: "align 16", ..FOUR }.expect(expect![[r#"
        ld.global.b32  %r4, [%rd4];
        st.global.b32  [%rd5], %r5;
        ld.global.b32  %r6, [%rd4+4];
        st.global.b32  [%rd5+4], %r7;
        ld.global.b32  %r8, [%rd4+8];
        st.global.b32  [%rd5+8], %r9;
        ld.global.b32  %r10, [%rd4+12];
        st.global.b32  [%rd5+12], %r11;
    "#]]);
}
