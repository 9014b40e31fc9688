// SPDX-License-Identifier: Apache-2.0
//! Elements that lie side by side, and the facts that are missing for one access of them.

use super::{HEAD, guarded_sum, widened, widened_behind};
use crate::kernel::Kernel;
use crate::ranges::Ranges;
use crate::widen::sites;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

/// Expects these accesses of a kernel of these operations, and facts that are missing.
fn expect_sites(body: &str, expected: Expect) {
    expect_sites_of(&widened(body), expected);
}

fn expect_sites_of(kernel: &Kernel, expected: Expect) {
    let mut shown = String::new();
    for site in sites(kernel, &Ranges::of(kernel)) {
        let verb = if site.is_write { "writes" } else { "reads" };
        let (tensor, bytes) = (&site.tensor, site.adjacent_bytes);
        writeln!(shown, "{verb} {tensor}: {bytes}, {:?}", site.missing).expect("it is a text");
    }
    expected.assert_eq(&shown);
}

/// Two elements of `x`, each where a condition holds, of an index that is a multiple of 4.
fn two(first: &str, second: &str) -> String {
    guarded_sum(11, first, "v5") + &guarded_sum(17, second, "v10")
}

#[test]
fn guards_differ_where_a_number_of_the_call_is_no_multiple() {
    expect_sites(
        &two("lt v5, v3", "lt v10, v3"),
        expect![[r#"
        reads x: 8, []
    "#]],
    );
    expect_sites(
        &two("lt v5, v4", "lt v10, v4"),
        expect![[r#"
        reads x: 8, [Multiple { name: "m", of: 2 }]
    "#]],
    );
}

#[test]
fn guards_differ_where_they_have_nothing_in_common() {
    let body = "v40: bool = eq v5, v4  v41: bool = eq v10, v4\n".to_string()
        + &guarded_sum(11, "not v40", "v5")
        + &guarded_sum(17, "not v41", "v10");
    expect_sites(
        &body,
        expect![[r#"
        reads x: 8, [Together]
    "#]],
    );
}

/// Two elements of a row of a tensor, in a copy from `x` to another.
fn row(target: &str, length: &str) -> String {
    format!(
        "v11: int64 = mul v6, {length}
         v12: int64 = mul v11, v8
         v13: int64 = add v12, v8
         v14: pointer.global = offset v0, v12
         v15: pointer.global = offset v0, v13
         v16: pointer.global = offset {target}, v12
         v17: pointer.global = offset {target}, v13
         v18: float32 = load v14 align 4
         store v16, v18 align 4
         v19: float32 = load v15 align 4
         store v17, v19 align 4"
    )
}

#[test]
fn an_address_is_no_multiple_where_the_length_of_rows_is_none() {
    expect_sites(
        &row("v1", "v3"),
        expect![[r#"
        reads x: 8, []
        writes y: 8, []
    "#]],
    );
    expect_sites(
        &row("v1", "v4"),
        expect![[r#"
        reads x: 8, [Multiple { name: "j", of: 2 }]
        writes y: 8, [Multiple { name: "j", of: 2 }]
    "#]],
    );
    // Of the thread alone.
    expect_sites(
        &row("v1", "v9"),
        expect![[r#"
        reads x: 8, [Multiple { name: "j", of: 2 }]
        writes y: 8, [Multiple { name: "j", of: 2 }]
    "#]],
    );
}

#[test]
fn memory_may_be_the_same() {
    expect_sites(
        &row("v2", "v3"),
        expect![[r#"
        reads x: 8, []
        writes z: 8, [Alone { name: "z" }]
    "#]],
    );
}

#[test]
fn what_lies_apart_is_an_access_by_itself() {
    expect_sites(
        "v11: int64 = const 8
         v12: pointer.global = offset v0, v11
         v13: float32 = load v0 align 4
         v14: float32 = load v12 align 4
         v15: pointer.shared = shared0
         store v15, v13 align 4
         v16: pointer.local = local0
         store v16, v14 align 4",
        expect![[r#"
            reads x: 4, []
            writes tile: 4, []
        "#]],
    );
}

/// Each side of a branch computes where its row begins, and the two elements lie side by side.
#[test]
fn what_regions_compute_alike_is_one_number() {
    let side = |first: u32, at: u32| {
        let [product, begin, offset, bytes, address, value] =
            [0, 1, 2, 3, 4, 5].map(|place| format!("v{}", first + place));
        format!(
            "{product}: int64 = mul v6, v4
             {begin}: int64 = mul {product}, v8
             {offset}: int64 = const {at}
             {bytes}: int64 = add {begin}, {offset}
             {address}: pointer.global = offset v0, {bytes}
             {value}: float32 = load {address} align 4"
        )
    };
    let (first, second) = (side(12, 0), side(18, 4));
    expect_sites(
        &format!("v11: bool = lt v6, v4  if v11 {{ {first} }} else {{ {second} }}"),
        expect![[r#"
            reads x: 8, [Together, Multiple { name: "j", of: 2 }]
        "#]],
    );
}

#[test]
fn elements_lie_side_by_side_in_whatever_order_they_are_read() {
    let load = |element: u32| {
        let value = 20 + 3 * element;
        let [address, loaded] = [value + 1, value + 2];
        format!(
            "v{value}: int64 = const {}
             v{address}: pointer.global = offset v0, v{value}
             v{loaded}: float32 = load v{address} align 4\n",
            element % 10 * 4
        )
    };
    // The second of them twice, as of one read by two.
    let body: String = [3, 1, 0, 11, 2].map(load).concat();
    expect_sites(
        &body,
        expect![[r#"
        reads x: 16, []
    "#]],
    );
}

#[test]
fn a_tensor_is_aligned_too_little() {
    let head = HEAD.replacen("float32 align 16 alone", "float32 align 8 alone", 1);
    let body = two("lt v5, v3", "lt v10, v3");
    expect_sites_of(
        &widened_behind(&head, &body).0,
        expect![[r#"
        reads x: 8, []
    "#]],
    );
    let head = head.replacen("float32 align 8 alone", "float32 align 4 alone", 1);
    expect_sites_of(
        &widened_behind(&head, &body).0,
        expect![[r#"
        reads x: 8, [Aligned { name: "x", bytes: 8 }]
    "#]],
    );
}

#[test]
fn sites_stand_in_the_order_of_lines_with_each_place_once() {
    let kernel = widened(
        "v20: float32 = load v0 align 4 @7:3
         v21: float32 = load v0 align 4 @5:9
         v22: float32 = load v0 align 4 @5:2
         v23: float32 = load v0 align 4 @5:2",
    );
    let sites = sites(&kernel, &Ranges::of(&kernel));
    let places = sites.iter().map(|site| {
        let places = site.places.iter().map(|place| (place.line, place.column));
        places.collect::<Vec<_>>()
    });
    assert_eq!(places.collect::<Vec<_>>(), [vec![(5, 2), (5, 9)], vec![(7, 3)]]);
}
