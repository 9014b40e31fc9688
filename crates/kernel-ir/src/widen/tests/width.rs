// SPDX-License-Identifier: Apache-2.0
//! Whether more that is known of parameters makes accesses wider.

use crate::kernel::Kernel;
use crate::text::{self, Item};
use crate::widen::is_as_wide;

/// A kernel that stores to `y` at these numbers of bytes beyond `i` elements of 16 bytes, of which
/// each is in bounds or not.
fn kernel(y: &str, n: &str, at: &[u32]) -> Kernel {
    let mut text = format!(
        "kernel k(v0 y: pointer.global float32 {y} written, v1 n: int64 0..65536 {n}, v2 i: int64 0..64) {{
           v3: float32 = const 1.0
           v4: int64 = const 16
           v5: int64 = mul v2, v4\n"
    );
    for (number, at) in (0..).zip(at) {
        let [by, bytes, is_in, address] =
            [0, 1, 2, 3].map(|one| format!("v{}", 6 + 4 * number + one));
        text += &format!(
            "{by}: int64 = const {at}
             {bytes}: int64 = add v5, {by}
             {is_in}: bool = lt {bytes}, v1
             if {is_in} {{
               {address}: pointer.global = offset v0, {bytes}
               store {address}, v3 align 4
             }}\n"
        );
    }
    let items =
        text::parse(&(text + "}")[..].into()).unwrap_or_else(|problems| panic!("{problems}"));
    let [Item::Kernel(kernel)] = &items[..] else { panic!("{items:?}") };
    kernel.clone()
}

const BESIDE: [u32; 4] = [0, 4, 8, 12];

#[test]
fn an_alignment_counts_where_elements_lie_side_by_side() {
    let [aligned, others] = ["align 16", "align 4"].map(|y| kernel(y, "multiple 16", &BESIDE));
    assert!(!is_as_wide(&aligned, &others));
    let [aligned, others] = ["align 16", "align 4"].map(|y| kernel(y, "multiple 16", &[0, 8]));
    assert!(is_as_wide(&aligned, &others), "no two of them meet");
    let [aligned, others] = ["align 32", "align 16"].map(|y| kernel(y, "multiple 16", &BESIDE));
    assert!(is_as_wide(&aligned, &others), "no access has more than 16 bytes");
}

#[test]
fn an_alignment_counts_where_elements_are_made_together() {
    let [aligned, others] = ["align 16", "align 4"].map(|y| kernel(y, "multiple 1", &BESIDE));
    assert!(is_as_wide(&aligned, &others), "each has a guard of its own");
}

#[test]
fn a_divisor_counts_where_it_makes_guards_one() {
    let [divided, others] = ["multiple 16", "multiple 1"].map(|n| kernel("align 4", n, &BESIDE));
    assert!(!is_as_wide(&divided, &others));
    let [divided, others] = ["multiple 16", "multiple 1"].map(|n| kernel("align 4", n, &[0]));
    assert!(is_as_wide(&divided, &others));
}
