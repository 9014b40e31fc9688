// SPDX-License-Identifier: Apache-2.0
//! The meaning of numbers, as the language's page has it. Each expression is computed of constants,
//! while compiling, and of arguments, by the interpreter: both are the same, and what is expected.

use super::{Argument, elaborate_k, run_clean, scalar, written};
use crate::argument::Constant;
use kernpack_interval::Interval;
use kernpack_kernel_ir::Const;
use kernpack_kernel_ir::Scalar::{
    self, BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64,
};
use kernpack_kernel_ir::interp::Memory;
use kernpack_validators::Expr;

/// The value of an expression, of `a` and `b`, as the bits of that type.
fn compute(expr: &str, gives: Scalar, operands: &[(Scalar, f64)]) -> Const {
    let typed: Vec<_> = operands.iter().map(|(scalar, value)| const_of(*scalar, *value)).collect();
    let run_time = run(expr, gives, &typed, false);
    let compile_time = run(expr, gives, &typed, true);
    assert_eq!(run_time.to_string(), compile_time.to_string(), "{expr} while compiling");
    run_time
}

fn const_of(scalar: Scalar, value: f64) -> Const {
    match scalar {
        Bool => Const::bool(value != 0.0),
        _ if scalar.is_float() => Const::float(scalar, value),
        _ => Const::from_bits(scalar, value as i128 as u64),
    }
}

fn run(expr: &str, gives: Scalar, operands: &[Const], is_constant: bool) -> Const {
    let names = ["a", "b"];
    let mut lines = String::new();
    let mut arguments = vec![written("out", gives, &["1"])];
    let mut values = Vec::new();
    for (name, operand) in names.iter().zip(operands) {
        let known = match operand.as_float() {
            Some(float) => Constant::Float(float),
            None if operand.scalar() == Bool => Constant::Bool(operand.bits() != 0),
            None if operand.scalar().is_signed() => {
                Constant::Int(operand.as_int().unwrap_or_default().into())
            }
            None => Constant::Int(operand.bits().into()),
        };
        arguments.push(match is_constant {
            true => Argument::Constant(known),
            false => scalar(name, operand.scalar()),
        });
        if is_constant {
            lines += &format!("    {name} = kp.{}({name}_)\n", operand.scalar());
        } else {
            lines += &format!("    {name} = {name}_\n");
        }
        values.push((*name, *operand));
    }
    let params: String = names[..operands.len()].iter().map(|name| format!(", {name}_")).collect();
    let source = format!("@kp.kernel\ndef k(out{params}):\n{lines}    out[0] = {expr}\n");
    let instance =
        elaborate_k(&source, &arguments, 1).unwrap_or_else(|problem| panic!("{problem}"));
    let number = |expr: &Expr, _| {
        let name = expr.to_string();
        let value = values.iter().find(|(known, _)| *known == name);
        value.unwrap_or_else(|| panic!("`{name}` is no operand")).1
    };
    let mut out = vec![Memory::fresh("out", gives, gives.bytes() as usize)];
    run_clean(instance, [[1; 3]; 2], &mut out, &number);
    out[0].elements()[0]
}

/// Expects a number of an expression of two.
fn expect(expr: &str, gives: Scalar, operands: &[(Scalar, f64)], expected: &str) {
    assert_eq!(compute(expr, gives, operands).to_string(), expected, "{expr} of {operands:?}");
}

#[test]
fn integers_wrap() {
    expect("a + b", I32, &[(I32, 2147483647.0), (I32, 1.0)], "-2147483648");
    expect("a - b", U8, &[(U8, 0.0), (U8, 1.0)], "255");
    expect("a * b", I16, &[(I16, 300.0), (I16, 300.0)], "24464");
    expect("-a", I8, &[(I8, -128.0)], "-128");
    expect("kp.abs(a)", I8, &[(I8, -128.0)], "-128");
    expect("~a", U16, &[(U16, 1.0)], "65534");
}

#[test]
fn division_rounds_down_and_never_traps() {
    for (a, b, quotient, rest) in [
        (7.0, 2.0, "3", "1"),
        (-7.0, 2.0, "-4", "1"),
        (7.0, -2.0, "-4", "-1"),
        (-7.0, -2.0, "3", "-1"),
        (7.0, 0.0, "0", "7"),
        (-2147483648.0, -1.0, "-2147483648", "0"),
    ] {
        expect("a // b", I32, &[(I32, a), (I32, b)], quotient);
        expect("a % b", I32, &[(I32, a), (I32, b)], rest);
    }
    expect("a / b", F32, &[(F32, 1.0), (F32, 0.0)], "inf");
}

#[test]
fn a_quotient_that_is_rounded_up_has_the_type_of_its_operands() {
    for (a, b, quotient) in [
        (7.0, 2.0, "4"),
        (-7.0, 2.0, "-3"),
        (7.0, -2.0, "-3"),
        (-7.0, -2.0, "4"),
        (8.0, 2.0, "4"),
        (7.0, 0.0, "0"),
        (0.0, 0.0, "0"),
        (2147483647.0, 2.0, "1073741824"),
        (-2147483648.0, 7.0, "-306783378"),
        (-2147483648.0, -1.0, "-2147483648"),
    ] {
        expect("kp.ceil_div(a, b)", I32, &[(I32, a), (I32, b)], quotient);
    }
    expect("kp.ceil_div(a, 2)", U8, &[(U8, 255.0)], "128");
    expect("kp.ceil_div(7, a)", U64, &[(U64, 2.0)], "4");
    expect("kp.ceil_div(a, b)", I64, &[(I64, 7.0), (I64, 2.0)], "4");
    expect("kp.ceil_div(a, b)", I64, &[(I64, 7.0), (I32, 2.0)], "4");
}

#[test]
fn a_choice_between_literals_takes_the_other_type() {
    expect("a + (1 if a > 0 else 2)", I32, &[(I32, 5.0)], "6");
    expect("(1 if a > 0 else 2) + a", I32, &[(I32, -5.0)], "-3");
    expect("a + (0.1 if a > 0 else 1)", F64, &[(F64, 1.0)], "1.1");
    expect("a + kp.where(a > 0, 1, 2)", F16, &[(F16, -1.0)], "1.0");
    expect("a * (1 if a > 4 else (2 if a > 2 else 3))", U8, &[(U8, 3.0)], "6");
    expect("1 if a > 0 else 2", I16, &[(I16, 1.0)], "1");
    expect("kp.float64(0.1 if a > 0 else 1)", F64, &[(I32, 1.0)], "0.1");
    expect("max(1 if a > 0 else 2, a)", I32, &[(I32, -1.0)], "2");
    expect("a << (1 if a > 0 else 2)", I32, &[(I32, 3.0)], "6");
    // What is computed of one has a type.
    expect("max(1 if a > 0 else 2, 4)", I64, &[(I32, 1.0)], "4");
    expect("-(1 if a > 0 else 2)", I64, &[(I32, 1.0)], "-1");
    expect("kp.abs(-1 if a > 0 else 2)", I64, &[(I32, 1.0)], "1");
    expect("1 + (1 if a > 0 else 2)", I64, &[(I32, 1.0)], "2");
    expect("0.5 + (1 if a > 0 else 2)", F32, &[(I32, 1.0)], "1.5");
    expect("kp.sqrt(4 if a > 0 else 9)", F32, &[(I32, -1.0)], "3.0");
}

#[test]
fn a_literal_takes_the_other_type() {
    expect("a + 1", I8, &[(I8, 127.0)], "-128");
    expect("a + 1", F16, &[(F16, 0.5)], "1.5");
    expect("1 / a", BF16, &[(BF16, 2.0)], "0.5");
    expect("a * 0.5", F32, &[(I32, 3.0)], "1.5");
    expect("2 - a", U32, &[(U32, 3.0)], "4294967295");
}

#[test]
fn mixed_numbers_meet_in_the_wider() {
    expect("a + b", I64, &[(I32, 2147483647.0), (I64, 1.0)], "2147483648");
    expect("a + b", I32, &[(I32, -1.0), (U8, 255.0)], "254");
    expect("a + b", F32, &[(F16, 1.0), (F32, 0.25)], "1.25");
    expect("a + b", F64, &[(I32, 1.0), (F64, 0.25)], "1.25");
    expect("a < b", Bool, &[(U8, 200.0), (U16, 300.0)], "true");
}

#[test]
fn shifts_end_at_the_width() {
    expect("a << b", I32, &[(I32, 1.0), (I32, 31.0)], "-2147483648");
    expect("a << b", I32, &[(I32, 1.0), (I32, 32.0)], "0");
    expect("a >> b", I32, &[(I32, -8.0), (I32, 1.0)], "-4");
    expect("a >> b", I32, &[(I32, -8.0), (I32, 99.0)], "-1");
    expect("a >> b", U32, &[(U32, 4294967288.0), (U32, 32.0)], "0");
    expect("a << b", I32, &[(I32, 1.0), (I32, -1.0)], "0");
    expect("a >> b", U32, &[(U32, 8.0), (I32, 1.0)], "4");
    expect("a << b", I32, &[(I32, 1.0), (I64, 4294967296.0)], "0");
}

#[test]
fn floats_become_integers_towards_zero_and_saturate() {
    expect("kp.int32(a)", I32, &[(F32, -1.9)], "-1");
    expect("kp.int32(a)", I32, &[(F32, 3e9)], "2147483647");
    expect("kp.int32(a)", I32, &[(F32, f64::NAN)], "0");
    expect("kp.uint8(a)", U8, &[(F32, -5.0)], "0");
    expect("kp.int32(a, rounding=\"nearest\")", I32, &[(F32, 2.5)], "2");
    expect("kp.int32(a, rounding=\"up\")", I32, &[(F32, 2.1)], "3");
    expect("a.to(kp.int8)", I8, &[(I32, 300.0)], "44");
    expect("kp.float32(a)", F32, &[(I32, 16777217.0)], "16777216.0");
    expect("kp.convert(a, kp.float16, rounding=\"zero\")", F16, &[(F32, 65535.0)], "65504.0");
    expect("kp.int32(a)", I32, &[(Bool, 1.0)], "1");
    expect("kp.bool(a)", Bool, &[(F32, 0.5)], "true");
}

#[test]
fn extremes_leave_out_what_is_no_number() {
    expect("kp.min(a, b)", F32, &[(F32, f64::NAN), (F32, 1.0)], "1.0");
    expect("kp.max(a, b)", F32, &[(F32, 1.0), (F32, f64::NAN)], "1.0");
    expect("kp.min(a, b)", F32, &[(F32, 0.0), (F32, -0.0)], "-0.0");
    expect("max(a, b, 3)", F32, &[(F32, 0.0), (F32, -0.0)], "3.0");
    expect("kp.isnan(a)", Bool, &[(F32, f64::NAN)], "true");
    expect("a == a", Bool, &[(F32, f64::NAN)], "false");
    expect("a != a", Bool, &[(F64, f64::NAN)], "true");
}

#[test]
fn halves_round_each_operation() {
    expect("a + b + b", F16, &[(F16, 2048.0), (F16, 1.0)], "2048.0");
    expect("a * a + b", BF16, &[(BF16, 1.0234375), (BF16, -1.0)], "0.046875");
    expect("kp.fma(a, a, b)", F32, &[(F32, 1.000244140625), (F32, -1.0)], "0.00048834085");
    expect("a * a + b", F32, &[(F32, 1.000244140625), (F32, -1.0)], "0.00048828125");
    expect("kp.sqrt(a)", F64, &[(F64, 2.0)], "1.4142135623730951");
}

#[test]
fn comparisons_chain_and_conditions_stop_early() {
    expect("0 < a < 5", Bool, &[(I32, 3.0)], "true");
    expect("0 < a < 5", Bool, &[(I32, 7.0)], "false");
    expect("a < 0 or a > 5", Bool, &[(I32, 7.0)], "true");
    expect("a > 0 and not a > 5", Bool, &[(I32, 7.0)], "false");
    expect("1 if a > b else 2", I64, &[(I32, 7.0), (I32, 5.0)], "1");
    expect("a if a > 0 else 0", I32, &[(I32, -7.0)], "0");
    expect("kp.where(a > 0, a, b)", F32, &[(F32, -1.0), (F32, 4.0)], "4.0");
    expect("a in (1, 2, 3)", Bool, &[(I32, 2.0)], "true");
    expect("(a, b) == (b, a)", Bool, &[(I32, 2.0), (I32, 2.0)], "true");
}

#[test]
fn bits_are_counted() {
    expect("kp.popc(a)", U32, &[(U32, 255.0)], "8");
    expect("kp.clz(a)", I32, &[(I32, 1.0)], "31");
    expect("kp.ctz(a)", I32, &[(I32, 8.0)], "3");
    expect("kp.brev(a)", U8, &[(U8, 1.0)], "128");
    expect("kp.bitcast(a, kp.uint32)", U32, &[(F32, 1.0)], "1065353216");
    expect("kp.mul_hi(a, b)", U32, &[(U32, 4294967295.0), (U32, 2.0)], "1");
    expect("a & b | 1 ^ 3", I32, &[(I32, 12.0), (I32, 10.0)], "10");
    expect("a ^ b", U64, &[(U64, 12.0), (U64, 10.0)], "6");
}

#[test]
fn literals_are_computed_as_in_python() {
    expect("kp.make_layout((4, 2), stride=(1, 8))(a, 1)", I64, &[(I32, 3.0)], "11");
    expect("kp.crd2idx((a, 1), kp.make_layout((4, 2)))", I64, &[(I32, 3.0)], "7");
    expect("kp.idx2crd(a, (4, 2))[1]", I64, &[(I32, 7.0)], "1");
    expect("kp.elem_less((a, 1), (b, 2))", Bool, &[(I32, 7.0), (I32, 8.0)], "true");
    expect("2 ** 10", I64, &[], "1024");
    expect("7 // -2", I64, &[], "-4");
    expect("7 % -2", I64, &[], "-1");
    expect("3 / 2.0", F32, &[], "1.5");
    expect("18446744073709551615", U64, &[], "18446744073709551615");
    expect("-kp.float32.inf", F32, &[], "-inf");
    expect("kp.float16.max", F16, &[], "65504.0");
    expect("kp.int8.min", I8, &[], "-128");
    expect("kp.float32(1) if kp.float16.width == 16 else 2", F32, &[], "1.0");
    expect("len((1, 2) + (3,)) + (4, 5)[-1]", I64, &[], "8");
    expect("max(i * j for i, j in zip((1, 2), (3, 4)))", I64, &[], "8");
    expect("len([i for i in range(10) if i % 3 == 0])", I64, &[], "4");
}

/// Every integer type, at its edges and around 0, divided by such numbers: as exact numbers say,
/// wrapped to the type, and 0 by 0.
#[test]
fn ceil_div_is_exact_at_every_edge() {
    for scalar in [I8, I16, I32, I64, U8, U16, U32, U64] {
        let Interval { min, max, .. } = scalar.integers();
        let near = [min, min + 1, -7, -2, -1, 0, 1, 2, 7, max / 2, max - 7, max - 1, max];
        let numbers: Vec<i128> = near.into_iter().filter(|n| (min..=max).contains(n)).collect();
        for &a in &numbers {
            for &b in &numbers {
                let exact = match b {
                    0 => 0,
                    _ => a / b + i128::from(a % b != 0 && (a < 0) == (b < 0)),
                };
                let wanted = Const::from_bits(scalar, exact as u64);
                let [x, y] = [a, b].map(|n| Const::from_bits(scalar, n as u64));
                let of_numbers = run("kp.ceil_div(a, b)", scalar, &[x, y], false);
                assert_eq!(of_numbers, wanted, "{a} by {b} of {scalar}");
                let of_constants = run("kp.ceil_div(a, b)", scalar, &[x, y], true);
                assert_eq!(of_constants, wanted, "{a} by {b} of {scalar} while compiling");
                let by_literal = run(&format!("kp.ceil_div(a, {b})"), scalar, &[x], false);
                assert_eq!(by_literal, wanted, "{a} by the literal {b} of {scalar}");
                let of_literal = run(&format!("kp.ceil_div({a}, a)"), scalar, &[y], false);
                assert_eq!(of_literal, wanted, "the literal {a} by {b} of {scalar}");
            }
        }
    }
}
