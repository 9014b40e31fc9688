// SPDX-License-Identifier: Apache-2.0
//! Names, structure, types, limits: what no text breaks, or only a very long one.

use super::super::{check_calls, verify};
use super::{expect_problems, expect_right, kernel, told};
use crate::constant::Const;
use crate::kernel::{File, Local, Place, PlaceData, Shared, Slot, Value};
use crate::op::{Call, Expr, Jump, Op, OpKind};
use crate::types::{Scalar, Type};
use expect_test::expect;
use kernpack_syntax::Diagnostic;

#[test]
fn so_many_bytes_are_passed() {
    let params = |count: usize| {
        let params: Vec<_> = (0..count).map(|n| format!("v{n} a: int64")).collect();
        format!("kernel k({}) {{}}", params.join(", "))
    };
    expect_right(&params(512));
    expect_problems(
        &params(513),
        expect![
            "error[kernel-malformed]: kernel `k`: its parameters have 4104 bytes, and at most 4096 are passed"
        ],
    );
}

#[test]
fn values_are_defined_once() {
    let text = "kernel k() { v0: int32 = const 1 v1: int32 = const 1 }";
    let mut twice = kernel(text);
    twice.body.0[1].result = Some(Value(0));
    expect![[r#"
        error[kernel-malformed]: `v0` is defined twice
          1:34 `v1: int32 = const 1`"#]]
    .assert_eq(&told(text, &verify(&twice).unwrap_err()));
}

#[test]
fn what_is_used_exists() {
    let mut wrong = kernel("kernel k() { local0 a: int8 count 1 }");
    let kinds = [
        OpKind::Expr(Expr::Get(Slot(0))),
        OpKind::Set(Slot(1), Value(0)),
        OpKind::Expr(Expr::Shared(Shared(0))),
        OpKind::Expr(Expr::Local(Local(1))),
    ];
    let op = |kind| Op { result: Some(Value(7)), kind, place: Place::NOWHERE };
    wrong.body.0 = kinds.map(op).into();
    wrong.body.0.push(Op { result: None, kind: OpKind::Jump(Jump::Return), place: Place(3) });
    wrong.locals[0].place = Place(9);
    wrong.places.push(PlaceData { file: Some(File(1)), ..PlaceData::NOWHERE });
    assert_eq!(wrong.places.len(), 3, "the first place that does not exist is 3");
    expect![[r#"
        error[kernel-malformed]: kernel `k`: the place `p2` is in no file, or has no caller
        error[kernel-malformed]: kernel `k`: a register tensor has no place
        error[kernel-malformed]: `s0` does not exist, in `v7: _ = get s0`
        error[kernel-malformed]: `v7` does not exist, in `v7: _ = get s0`
        error[kernel-malformed]: `s1` does not exist, in `v7: _ = set s1, v0`
        error[kernel-malformed]: `v0` is used and does not exist, in `v7: _ = set s1, v0`
        error[kernel-malformed]: `v7` does not exist, in `v7: _ = set s1, v0`
        error[kernel-malformed]: `shared0` does not exist, in `v7: _ = shared0`
        error[kernel-malformed]: `v7` does not exist, in `v7: _ = shared0`
        error[kernel-malformed]: `local1` does not exist, in `v7: _ = local1`
        error[kernel-malformed]: `v7` does not exist, in `v7: _ = local1`
        error[kernel-malformed]: the operation has no place, in `return`"#]]
    .assert_eq(&verify(&wrong).unwrap_err().to_string());
    let mut circle = kernel("kernel k() { }");
    circle.places.push(PlaceData { caller: Some(Place(1)), ..PlaceData::NOWHERE });
    expect!["error[kernel-malformed]: kernel `k`: the place `p1` is in no file, or has no caller"]
        .assert_eq(&verify(&circle).unwrap_err().to_string());
}

#[test]
fn regions_nest_no_deeper_than_readers_recurse() {
    let text = "kernel k(v0 c: bool) { if v0 { return } }";
    let nested = |depth: usize| {
        let mut nested = kernel(text);
        for _ in 1..depth {
            let kind = OpKind::If {
                condition: Value(0),
                then: std::mem::take(&mut nested.body),
                otherwise: Default::default(),
            };
            nested.body.0.push(Op { result: None, kind, place: Place::NOWHERE });
        }
        nested
    };
    assert!(verify(&nested(255)).is_ok());
    // Regions that stand behind one another do not nest.
    let row = "if v0 { } else { }\n".repeat(300);
    assert!(verify(&kernel(&format!("kernel k(v0 c: bool) {{ {row} }}"))).is_ok());
    let deep = nested(256);
    expect![[r#"
        error[kernel-malformed]: regions nest more than 256 deep
          1:32 `return`"#]]
    .assert_eq(&told(text, &verify(&deep).unwrap_err()));
}

#[test]
fn every_number_has_its_operations() {
    let mut text = String::from("kernel k(v0 c: bool) {\n");
    let mut next = 1;
    for scalar in Scalar::ALL {
        let bool_ops = ["and", "or", "xor", "eq"];
        let int_ops = ["add", "floordiv", "floormod", "mulhigh", "min", "shr", "shl", "xor", "le"];
        let float_ops = ["add", "sub", "mul", "div", "min", "max", "lt"];
        let (ops, unary): (&[&str], &str) = match (scalar, scalar.is_float()) {
            (Scalar::Bool, _) => (&bool_ops, "not"),
            (_, true) => (&float_ops, "abs"),
            (_, false) => (&int_ops, "not"),
        };
        let operand = next;
        let zero = Const::from_bits(*scalar, 0);
        text.push_str(&format!("v{operand}: {scalar} = const {zero}\n"));
        text.push_str(&format!("v{}: {scalar} = {unary} v{operand}\n", operand + 1));
        next += 2;
        for op in ops {
            let is_comparison = ["eq", "lt", "le"].contains(op);
            let ty = if is_comparison { Scalar::Bool } else { *scalar };
            text.push_str(&format!("v{next}: {ty} = {op} v{operand}, v{operand}\n"));
            next += 1;
        }
        for to in Scalar::ALL {
            text.push_str(&format!("v{next}: {to} = convert v{operand}\n"));
            next += 1;
        }
    }
    expect_right(&format!("{text}}}"));
}

#[test]
fn what_is_known_to_be_constant_is() {
    let text = "kernel k() { v0: int32 = const 1 v1: int32 = neg v0 v2: int32 = const 2 }";
    let mut wrong = kernel(text);
    let one = Some(Const::int(Scalar::I32, 1));
    wrong.values[1].constant = one;
    wrong.values[2].constant = one;
    expect![[r#"
        error[kernel-malformed]: kernel `k`: `v1` is known to be a constant, and no `const` gives it
        error[kernel-malformed]: `v2` is not known to be this constant
          1:53 `v2: int32 = const 2`"#]]
    .assert_eq(&told(text, &verify(&wrong).unwrap_err()));
    let mut wrong = kernel("kernel k(v0 a: int32, v1 b: int32) { }");
    wrong.values[0].constant = one;
    wrong.values[1].ty = Type::Scalar(Scalar::I64);
    expect![[r#"
        error[kernel-malformed]: kernel `k`: `v0` is not the parameter `a`
        error[kernel-malformed]: kernel `k`: `v1` is not the parameter `b`"#]]
    .assert_eq(&verify(&wrong).unwrap_err().to_string());
}

#[test]
fn what_a_target_refuses_is_told_at_its_place() {
    let text = "kernel k() {
           call barrier()
           call fence(gpu)
         }";
    let waits = kernel(text);
    let refused = |call: &Call| {
        let is_fence = call.intrinsic.name == "fence";
        is_fence.then(|| Diagnostic::new("kernel-arch", "there is no `fence`"))
    };
    assert!(check_calls(&waits, |_| None).is_ok());
    expect![[r#"
        error[kernel-arch]: there is no `fence`
          3:12 `call fence(gpu)`"#]]
    .assert_eq(&told(text, &check_calls(&waits, refused).unwrap_err()));
}

#[test]
fn maps_are_of_boxes_that_are_copied() {
    let map = |of: &str| format!("kernel k(v0 x: pointer.map {of}) {{}}");
    expect_right(&map("bfloat16 box [64, 128, 1, 2, 3] swizzle 128 written"));
    expect_problems(
        &map("int32 box [4, 257]"),
        expect!["error[kernel-malformed]: kernel `k`: the parameter `x` has a box of [4, 257]"],
    );
    expect_problems(
        &map("int32 box []"),
        expect!["error[kernel-malformed]: kernel `k`: the parameter `x` has a box of []"],
    );
    expect_problems(
        &map("int32 box [3]"),
        expect![
            "error[kernel-malformed]: kernel `k`: the parameter `x` has rows of 12 bytes, which are no multiple of 16"
        ],
    );
    expect_problems(
        &map("int32 box [4, 8] swizzle 32"),
        expect![
            "error[kernel-malformed]: kernel `k`: the parameter `x` has rows of 16 bytes, and a swizzle of 32"
        ],
    );
    expect_problems(
        &map("int32 box [12, 8] swizzle 48"),
        expect![
            "error[kernel-malformed]: kernel `k`: the parameter `x` has rows of 48 bytes, and a swizzle of 48"
        ],
    );
}

#[test]
fn nothing_but_copies_of_boxes_touches_a_map() {
    let kernel = |text: &str| {
        format!(
            "kernel k(v0 x: pointer.map int32 box [4, 8], v1 n: int32) {{
                shared0 t: int32 bytes 128 align 128
                v2: pointer.shared = shared0
                {text}
            }}"
        )
    };
    expect_right(&kernel("call tma.load2(v2, v0, v2, v1, v1)"));
    expect_problems(
        &kernel("v3: int32 = load v0 align 4"),
        expect![[r#"
        error[kernel-malformed]: nothing lies behind the address of a map
          4:17 `v3: int32 = load v0 align 4`"#]],
    );
    expect_problems(
        &kernel("store v0, v1 align 4"),
        expect![[r#"
        error[kernel-malformed]: nothing lies behind the address of a map
          4:17 `store v0, v1 align 4`"#]],
    );
    expect_problems(
        &kernel("v3: int64 = const 4 v4: pointer.map = offset v0, v3"),
        expect![[r#"
            error[kernel-malformed]: nothing lies behind the address of a map
              4:37 `v4: pointer.map = offset v0, v3`"#]],
    );
    expect_problems(
        &kernel("call tma.load3(v2, v0, v2, v1, v1, v1)"),
        expect![[r#"
        error[kernel-malformed]: `tma.load3` has 3 coordinates, and its map 2
          4:17 `call tma.load3(v2, v0, v2, v1, v1, v1)`"#]],
    );
    expect_problems(
        &kernel("call tma.store2(v0, v2, v1, v1)"),
        expect![[r#"
        error[read-only]: `x` is written, and is not `mut`
          4:17 `call tma.store2(v0, v2, v1, v1)` written here
          help: write `mut` behind the dtype of `x` in the signature"#]],
    );
}
