// SPDX-License-Identifier: Apache-2.0
//! Names, structure, types, limits.

use super::super::verify;
use super::{expect_problems, expect_right, kernel};
use crate::constant::Const;
use crate::kernel::{File, Local, Place, PlaceData, Shared, Slot, Value};
use crate::op::{Expr, Jump, Op, OpKind};
use crate::types::{Scalar, Type};
use expect_test::expect;

#[test]
fn what_stands_around_operations() {
    expect_problems(
        r#"kernel "2 words"() {}"#,
        expect![[r#"
        kernel-malformed: kernel `2 words`: its name is no C identifier
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: float32 ..7) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` is a float32, of which nothing more is known
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: bool multiple 2) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` is a bool, of which nothing more is known
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: int32 8..7) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` can be no number
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: int32 multiple 0) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` is a multiple of 0
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: pointer.global float32 align 2) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` has an alignment of 2 bytes for float32
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: pointer.global int8 align 3) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` has an alignment of 3 bytes for int8
    "#]],
    );
    expect_problems(
        "kernel k(v0 x: pointer.global int8 align 2048) {}",
        expect![[r#"
        kernel-malformed: kernel `k`: the parameter `x` has an alignment of 2048 bytes for int8
    "#]],
    );
    expect_problems(
        "kernel k() block [1024, 2, _] {}",
        expect![[r#"
        kernel-malformed: kernel `k`: a block has 1 to 1024 threads, of which 64 in z
    "#]],
    );
    expect_problems(
        "kernel k() block [1, 1, 128] {}",
        expect![[r#"
        kernel-malformed: kernel `k`: a block has 1 to 1024 threads, of which 64 in z
    "#]],
    );
    expect_problems(
        "kernel k() block [0, 1, 1] {}",
        expect![[r#"
        kernel-malformed: kernel `k`: a block has 1 to 1024 threads, of which 64 in z
    "#]],
    );
    expect_problems(
        "kernel k() block [65536, 65536, 65536] {}",
        expect![[r#"
        kernel-malformed: kernel `k`: a block has 1 to 1024 threads, of which 64 in z
    "#]],
    );
    expect_problems(
        "kernel k() { s0 a: float32x3 }",
        expect![[r#"
        kernel-malformed: kernel `k`: `a` is a float32x3, which is no type
    "#]],
    );
    expect_problems(
        "kernel k() { shared0 a: int8 bytes 232449 align 1 }",
        expect![[r#"
        kernel-malformed: kernel `k`: its arrays have 232449 bytes, and a block has at most 232448
    "#]],
    );
    expect_problems(
        "kernel k() { shared0 a: int64 bytes 8 align 4 }",
        expect![[r#"
        kernel-malformed: kernel `k`: the array `a` has an alignment of 4 bytes for int64
    "#]],
    );
    expect_problems(
        "kernel k(v0 n: int32) { shared0 a: int8 bytes v0 align 1 }",
        expect![[r#"
        kernel-malformed: kernel `k`: the size of the array `a` is no parameter of int64
    "#]],
    );
    expect_problems(
        "kernel k() { shared0 a: int8 bytes v0 align 1 }",
        expect![[r#"
        kernel-malformed: kernel `k`: the size of the array `a` is no parameter of int64
    "#]],
    );
    expect_problems(
        "kernel k() { local0 a: int64 count 8193 }",
        expect![[r#"
        kernel-malformed: kernel `k`: its register tensors have 65544 bytes, and a thread has at most 65536
    "#]],
    );
}

#[test]
fn limits_are_reached() {
    expect_right(
        "kernel k(v0 n: int64 8..8 multiple 8, v1 x: pointer.global int8 align 1) block [8, 2, 64] {
          shared0 a: int8 bytes 232448 align 1024
          shared1 b: int8 bytes v0 align 1
          local0 a: int64 count 8192
          s0 a: float32x4 s1 b: int8x16 s2 c: float64x2 s3 d: pointer.shared
        }",
    );
    let params = |count: usize| {
        let params: Vec<_> = (0..count).map(|n| format!("v{n} a: int64")).collect();
        format!("kernel k({}) {{}}", params.join(", "))
    };
    expect_right(&params(512));
    expect_problems(
        &params(513),
        expect![[r#"
        kernel-malformed: kernel `k`: its parameters have 4104 bytes, and at most 4096 are passed
    "#]],
    );
}

#[test]
fn values_are_defined_before_their_use_and_once() {
    expect_problems(
        "kernel k(v0 c: bool) {
          v1: int32 = neg v2
          v2: int32 = const 1
          if v0 { v3: int32 = neg v2 } else { v4: int32 = neg v3 }
          v5: int32 = add v3, v9
          for v6: int32 = v6 to v2 step v2 { v7: int32 = neg v6 }
          v10: int32 = add v6, v7
          while { v11: bool = not v0 } v11 { v12: bool = not v11 }
          v13: bool = or v11, v12
          while { } v14 { v14: bool = not v0 }
        }",
        expect![[r#"
            kernel-malformed: `v2` is used before it is defined
              2: `v1: int32 = neg v2`
            kernel-malformed: `v3` is used outside its region
              4: `v4: int32 = neg v3`
            kernel-malformed: `v3` is used outside its region
              5: `v5: int32 = add v3, v9`
            kernel-malformed: `v9` is used before it is defined
              5: `v5: int32 = add v3, v9`
            kernel-malformed: `v6` is used before it is defined
              6: `for v6: int32 = v6 to v2 step v2`
            kernel-malformed: `v6` is used outside its region
              7: `v10: int32 = add v6, v7`
            kernel-malformed: `v7` is used outside its region
              7: `v10: int32 = add v6, v7`
            kernel-malformed: `v11` is used outside its region
              9: `v13: bool = or v11, v12`
            kernel-malformed: `v12` is used outside its region
              9: `v13: bool = or v11, v12`
            kernel-malformed: `v14` is used before it is defined
              10: `while`
        "#]],
    );
    let mut twice = kernel("kernel k() { v0: int32 = const 1 v1: int32 = const 1 }");
    twice.body.0[1].result = Some(Value(0));
    expect![[r#"
        error[kernel-malformed]: `v0` is defined twice
          at 33..52: "#]]
    .assert_eq(&verify(&twice).unwrap_err().to_string());
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
fn jumps_stand_where_they_can() {
    expect_problems(
        "kernel k(v0 c: bool) {
          if v0 { break }
          continue
          while { if v0 { return } } v0 { if v0 { break } else { continue } }
          while { while { } v0 { break } } v0 { return v1: bool = not v0 }
          if v0 { return } else { return }
        }",
        expect![[r#"
            kernel-malformed: a jump out of a loop stands in none
              2: `break`
            kernel-malformed: something stands behind a jump
              3: `continue`
            kernel-malformed: a jump out of a loop stands in none
              3: `continue`
            kernel-malformed: a jump stands in the condition of a loop
              4: `return`
            kernel-malformed: something stands behind a jump
              5: `return`
        "#]],
    );
}

#[test]
fn regions_nest_no_deeper_than_readers_recurse() {
    let nested = |depth: usize| {
        let mut nested = kernel("kernel k(v0 c: bool) { if v0 { return } }");
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
          at 31..37: "#]]
    .assert_eq(&verify(&deep).unwrap_err().to_string());
}

#[test]
fn operations_on_numbers_have_types() {
    expect_problems(
        "kernel k(v0 b: bool, v1 i: int32, v2 u: uint32, v3 f: float32, v4 x: pointer.global int8 align 1) {
          v5: float32x2 = splat v3
          v6: bool = neg v0
          v7: float32 = not v3
          v8: pointer.global = abs v4
          v9: float32 = neg v1
          v10: int32 = add v1, v2
          v11: bool = add v0, v0
          v12: int32 = div v1, v1
          v13: float32 = floordiv v3, v3
          v14: float32 = and v3, v3
          v15: bool = shl v0, v0
          v16: bool = lt v0, v0
          v17: bool = eq v5, v5
          v18: int32 = eq v1, v1
          v19: int32 = select v1, v1, v1
          v20: int32 = select v0, v1, v2
          v21: pointer.global = convert v1
          v22: float32x4 = convert v5
          v23: int8 = convert v1 down
          v24: bool = convert v3 zero
          v25: int16 = bitcast v1
          v26: int8 = bitcast v0
          v27: pointer.global = bitcast v4
          v28: float32x4 = vector v3, v3, v3
          v29: float32x2 = vector v3, v1
          v31: float32x2 = splat v5
          v32: float32 = extract v5, 2
          v33: float32 = extract v3, 0
          v34: float32x2 = insert v5, 1, v1
          v35: bool = const true
          v36: float32 = vector v3
          v37: float32x2 = vector v0, v0
          v38: float32x4 = vector v3, v3, v3, v3, v3
        }",
        expect![[r#"
            kernel-malformed: `neg` is not defined on bool
              3: `v6: bool = neg v0`
            kernel-malformed: `not` is not defined on float32
              4: `v7: float32 = not v3`
            kernel-malformed: `v4` is an address
              5: `v8: pointer.global = abs v4`
            kernel-malformed: the operation gives int32, and its result is float32
              6: `v9: float32 = neg v1`
            kernel-malformed: expected two of one type, found int32 and uint32
              7: `v10: int32 = add v1, v2`
            kernel-malformed: `add` is not defined on bool
              8: `v11: bool = add v0, v0`
            kernel-malformed: `div` is not defined on int32
              9: `v12: int32 = div v1, v1`
            kernel-malformed: `floordiv` is not defined on float32
              10: `v13: float32 = floordiv v3, v3`
            kernel-malformed: `and` is not defined on float32
              11: `v14: float32 = and v3, v3`
            kernel-malformed: `shl` is not defined on bool
              12: `v15: bool = shl v0, v0`
            kernel-malformed: `lt` is not defined on bool
              13: `v16: bool = lt v0, v0`
            kernel-malformed: `eq` is not defined on float32x2
              14: `v17: bool = eq v5, v5`
            kernel-malformed: the operation gives bool, and its result is int32
              15: `v18: int32 = eq v1, v1`
            kernel-malformed: expected bool, found `v1`, which is int32
              16: `v19: int32 = select v1, v1, v1`
            kernel-malformed: expected two of one type, found int32 and uint32
              17: `v20: int32 = select v0, v1, v2`
            kernel-malformed: an address is no number
              18: `v21: pointer.global = convert v1`
            kernel-malformed: the operation gives float32x2, and its result is float32x4
              19: `v22: float32x4 = convert v5`
            kernel-malformed: int32 is not rounded to int8
              20: `v23: int8 = convert v1 down`
            kernel-malformed: float32 is not rounded to bool
              21: `v24: bool = convert v3 zero`
            kernel-malformed: int32 and int16 have not the same bits
              22: `v25: int16 = bitcast v1`
            kernel-malformed: bool and int8 have not the same bits
              23: `v26: int8 = bitcast v0`
            kernel-malformed: pointer.global and pointer.global have not the same bits
              24: `v27: pointer.global = bitcast v4`
            kernel-malformed: the operation gives float32x3, and its result is float32x4
              25: `v28: float32x4 = vector v3, v3, v3`
            kernel-malformed: a vector is of scalars of one type
              26: `v29: float32x2 = vector v3, v1`
            kernel-malformed: a splat makes a vector of a scalar, found float32x2
              27: `v31: float32x2 = splat v5`
            kernel-malformed: float32x2 has no lane 2
              28: `v32: float32 = extract v5, 2`
            kernel-malformed: float32 has no lane 0
              29: `v33: float32 = extract v3, 0`
            kernel-malformed: expected float32, found `v1`, which is int32
              30: `v34: float32x2 = insert v5, 1, v1`
            kernel-malformed: a vector of 1 float32
              32: `v36: float32 = vector v3`
            kernel-malformed: a vector of 2 bool
              33: `v37: float32x2 = vector v0, v0`
            kernel-malformed: a vector of 5 float32
              34: `v38: float32x4 = vector v3, v3, v3, v3, v3`
        "#]],
    );
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
fn memory_and_control_have_types() {
    expect_problems(
        r#"kernel k(v0 b: bool, v1 i: int32, v2 n: int64, v3 f: float32, v4 x: pointer.global float32 align 4 written) {
          s0 s: float32
          v5: pointer.global = offset v4, v1
          v6: pointer.global = offset v2, v2
          v7: pointer.shared = offset v4, v2
          v8: float32 = load v2 align 4
          v9: float32 = load v4 align 2
          v10: float32 = load v4 align 12
          v11: pointer.global = load v4 align 8
          v12: float32 = load v4 align 4 when v1 else v3
          v13: float32 = load v4 align 4 when v0 else v1
          store v2, v3 align 4
          store v4, v3 align 1
          store v4, v4 align 8
          store v4, v3 align 4 when v1
          inbounds v1, v2
          inbounds v3, v3
          v14: int32 = get s0
          set s0, v1
          if v1 { }
          for v15: int64 = v1 to v2 step v2 { }
          for v16: float32 = v3 to v3 step v3 { }
          while { } v2 { }
          v17: int32 = neg v1
          print "{}"
          print "{} {}", v1
          print "\u{0}"
          print "{}", v4
          v18: float32 = ptx "mov.f32 {0}, {2};" v3
          ptx "{1}" v3
          v19: int8 = ptx "x"
          ptx "{0}" v0
          v20: pointer.global = ptx "x"
        }"#,
        expect![[r#"
            kernel-malformed: expected int64, found `v1`, which is int32
              3: `v5: pointer.global = offset v4, v1`
            kernel-malformed: expected a pointer, found `v2`, which is int64
              4: `v6: pointer.global = offset v2, v2`
            kernel-malformed: the operation gives pointer.global, and its result is pointer.shared
              5: `v7: pointer.shared = offset v4, v2`
            kernel-malformed: expected a pointer, found `v2`, which is int64
              6: `v8: float32 = load v2 align 4`
            kernel-malformed: the access has an alignment of 2 bytes for float32
              7: `v9: float32 = load v4 align 2`
            kernel-malformed: the access has an alignment of 12 bytes for float32
              8: `v10: float32 = load v4 align 12`
            kernel-malformed: an address is not kept in memory
              9: `v11: pointer.global = load v4 align 8`
            kernel-malformed: expected bool, found `v1`, which is int32
              10: `v12: float32 = load v4 align 4 when v1 else v3`
            kernel-malformed: expected float32, found `v1`, which is int32
              11: `v13: float32 = load v4 align 4 when v0 else v1`
            kernel-malformed: expected a pointer, found `v2`, which is int64
              12: `store v2, v3 align 4`
            kernel-malformed: the access has an alignment of 1 bytes for float32
              13: `store v4, v3 align 1`
            kernel-malformed: an address is not kept in memory
              14: `store v4, v4 align 8`
            kernel-malformed: expected bool, found `v1`, which is int32
              15: `store v4, v3 align 4 when v1`
            kernel-malformed: expected integers of one type, found int32, int64
              16: `inbounds v1, v2`
            kernel-malformed: expected integers of one type, found float32, float32
              17: `inbounds v3, v3`
            kernel-malformed: the operation gives float32, and its result is int32
              18: `v14: int32 = get s0`
            kernel-malformed: expected float32, found `v1`, which is int32
              19: `set s0, v1`
            kernel-malformed: expected bool, found `v1`, which is int32
              20: `if v1`
            kernel-malformed: expected integers of one type, found int64, int32, int64, int64
              21: `for v15: int64 = v1 to v2 step v2`
            kernel-malformed: expected integers of one type, found float32, float32, float32, float32
              22: `for v16: float32 = v3 to v3 step v3`
            kernel-malformed: expected bool, found `v2`, which is int64
              23: `while`
            kernel-malformed: a format with 1 `{}` for 0 numbers
              25: `print "{}"`
            kernel-malformed: a format with 2 `{}` for 1 numbers
              26: `print "{} {}", v1`
            kernel-malformed: a text has a NUL in it
              27: `print "\u{0}"`
            kernel-malformed: `v4` is not one number: pointer.global
              28: `print "{}", v4`
            kernel-malformed: `{2}` stands for nothing
              29: `v18: float32 = ptx "mov.f32 {0}, {2};" v3`
            kernel-malformed: `{1}` stands for nothing
              30: `ptx "{1}" v3`
            kernel-malformed: PTX takes and gives registers, which no int8 is
              31: `v19: int8 = ptx "x"`
            kernel-malformed: PTX takes and gives registers, which no bool is
              32: `ptx "{0}" v0`
            kernel-malformed: PTX gives no address
              33: `v20: pointer.global = ptx "x"`
        "#]],
    );
}

#[test]
fn calls_are_as_their_rows_say() {
    expect_problems(
        "kernel k(v0 b: bool, v1 i: int32, v2 f: float32, v3 d: float64, v4 x: pointer.global float32 align 4 written) {
          local0 a: float32 count 1
          v5: float32 = call sqrt()
          v6: float32 = call exp(v3)
          v7: float32 = call fma(v2, v2, v3)
          v8: int32 = call popcount(v2)
          v9: int32 = call popcount(3)
          v10: float32 = call sqrt(local0)
          v11: float32 = call sqrt(v4)
          v12: int32 = call atomic.add(v1, v1, relaxed, gpu)
          v13: bool = call atomic.add(v4, v0, relaxed, gpu)
          v14: int64 = call sqrt(v2)
          call sqrt(v2)
          v15: int32 = call barrier()
          v16: uint32 = call vote.ballot(v1)
          v17: float32 = call atomic.and(v4, v2, relaxed, gpu)
          v18: int32 = call atomic.add(v4, v1, 1, gpu)
        }",
        expect![[r#"
            kernel-malformed: `sqrt` takes 1 operands, found 0
              3: `v5: float32 = call sqrt()`
            kernel-malformed: operand 0 of `exp` is float32, found float64
              4: `v6: float32 = call exp(v3)`
            kernel-malformed: operand 2 of `fma` is the type of operand 0, found float64
              5: `v7: float32 = call fma(v2, v2, v3)`
            kernel-malformed: operand 0 of `popcount` is an integer, found float32
              6: `v8: int32 = call popcount(v2)`
            kernel-malformed: operand 0 of `popcount` is an integer, found 3
              7: `v9: int32 = call popcount(3)`
            kernel-malformed: operand 0 of `sqrt` is float32 or float64, found a register tensor
              8: `v10: float32 = call sqrt(local0)`
            kernel-malformed: operand 0 of `sqrt` is float32 or float64, found pointer.global
              9: `v11: float32 = call sqrt(v4)`
            kernel-malformed: operand 0 of `atomic.add` is a pointer to global or shared memory, found int32
              10: `v12: int32 = call atomic.add(v1, v1, relaxed, gpu)`
            kernel-malformed: operand 1 of `atomic.add` is int32 or int64 or uint32 or uint64 or float16 or bfloat16 or float32 or float64, found bool
              11: `v13: bool = call atomic.add(v4, v0, relaxed, gpu)`
            kernel-malformed: the operation gives float32, and its result is int64
              12: `v14: int64 = call sqrt(v2)`
            kernel-malformed: the operation gives float32, to nothing
              13: `call sqrt(v2)`
            kernel-malformed: the operation gives nothing
              14: `v15: int32 = call barrier()`
            kernel-malformed: operand 0 of `vote.ballot` is a bool, found int32
              15: `v16: uint32 = call vote.ballot(v1)`
            kernel-malformed: operand 1 of `atomic.and` is int32 or int64 or uint32 or uint64, found float32
              16: `v17: float32 = call atomic.and(v4, v2, relaxed, gpu)`
            kernel-malformed: operand 2 of `atomic.add` is relaxed or acquire or release or acq_rel, found 1
              17: `v18: int32 = call atomic.add(v4, v1, 1, gpu)`
        "#]],
    );
}

#[test]
fn what_is_known_to_be_constant_is() {
    let mut wrong =
        kernel("kernel k() { v0: int32 = const 1 v1: int32 = neg v0 v2: int32 = const 2 }");
    let one = Some(Const::int(Scalar::I32, 1));
    wrong.values[1].constant = one;
    wrong.values[2].constant = one;
    expect![[r#"
        error[kernel-malformed]: kernel `k`: `v1` is known to be a constant, and no `const` gives it
        error[kernel-malformed]: `v2` is not known to be this constant
          at 52..71: "#]]
    .assert_eq(&verify(&wrong).unwrap_err().to_string());
    let mut wrong = kernel("kernel k(v0 a: int32, v1 b: int32) { }");
    wrong.values[0].constant = one;
    wrong.values[1].ty = Type::Scalar(Scalar::I64);
    expect![[r#"
        error[kernel-malformed]: kernel `k`: `v0` is not the parameter `a`
        error[kernel-malformed]: kernel `k`: `v1` is not the parameter `b`"#]]
    .assert_eq(&verify(&wrong).unwrap_err().to_string());
}

#[test]
fn functions_only_compute() {
    expect_right(
        "function f(v0 x: float32) float32 {
          s0 a: float32
          v1: bool = lt v0, v0
          set s0, v0
          if v1 { v2: float32 = call exp(v0) set s0, v2 }
          v3: float32 = get s0
        } gives v3",
    );
    expect_problems(
        r#"function f(v0 x: pointer.global float32 align 4 written, v1 b: bool) float32 {
          shared0 a: int8 bytes 1 align 1
          if v1 { v2: float32 = load v0 align 4 store v0, v2 align 4 }
          call barrier()
          v3: int64 = call thread_idx.x()
          return
        } gives v2"#,
        expect![[r#"
            kernel-malformed: kernel `f`: a function takes numbers
            kernel-malformed: kernel `f`: a function has no memory
            kernel-malformed: kernel `f`: `v2` is no float32 of its body
            kernel-malformed: a function only computes
              3: `v2: float32 = load v0 align 4`
            kernel-malformed: a function only computes
              3: `store v0, v2 align 4`
            kernel-malformed: a function only computes
              4: `call barrier()`
            kernel-malformed: a function only computes
              5: `v3: int64 = call thread_idx.x()`
            kernel-malformed: a function only computes
              6: `return`
        "#]],
    );
    expect_problems(
        "function f(v0 x: float32) float32 { } gives v0",
        expect![[r#"
        kernel-malformed: kernel `f`: `v0` is no float32 of its body
    "#]],
    );
    expect_problems(
        "function f(v0 x: float32) float64 { v1: float32 = neg v0 } gives v1",
        expect![[r#"
            kernel-malformed: kernel `f`: `v1` is no float64 of its body
        "#]],
    );
}

#[test]
fn rows_need_an_architecture() {
    use super::super::check_needs;
    use crate::intrinsic::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, Needs};
    use crate::intrinsic::{Nvptx, Spread, Touches};
    const TAKES: &[Accepts] = &[];
    static NEW: Intrinsic = Intrinsic {
        name: "new",
        doc: "",
        takes: TAKES,
        gives: Gives::Nothing,
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Nothing,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning: Meaning::Fence,
        nvptx: Nvptx::Ptx("new;", Needs { sm: 90, ptx: 81 }),
    };
    let mut new = kernel("kernel k() { return }");
    let call = crate::op::Call { intrinsic: &NEW, operands: Vec::new() };
    new.body.0[0].kind = OpKind::Call(call);
    assert!(verify(&new).is_ok());
    assert!(check_needs(&new, 90, 81).is_ok());
    expect![[r#"
        error[kernel-arch]: `new` needs sm_90, and code is made for sm_89
          at 13..19: 
          help: build for sm_90 or newer alone, or do without it"#]]
    .assert_eq(&check_needs(&new, 89, 81).unwrap_err().to_string());
    expect![[r#"
        error[kernel-arch]: `new` needs PTX 8.1, and code is made for PTX 8.0
          at 13..19: "#]]
    .assert_eq(&check_needs(&new, 90, 80).unwrap_err().to_string());
}
