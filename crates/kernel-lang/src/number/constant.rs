// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on numbers without a type, which only the compiler sees: Python's own, on integers of
//! 128 bits and float64.

use crate::python::tree::{BinaryOp, CompareOp};
use crate::value::Value;

/// Why there is no result.
pub(super) enum Refused {
    /// `/` of integers.
    IntDivision,
    /// Division by zero.
    ByZero,
    /// It does not fit, or is none of the operations of such numbers.
    None,
}

/// The result of an operation on two numbers without a type.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Refused> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => ints(op, *a, *b),
        (Value::Int(a), Value::Float(b)) => floats(op, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => floats(op, *a, *b as f64),
        (Value::Float(a), Value::Float(b)) => floats(op, *a, *b),
        _ => Err(Refused::None),
    }
}

fn ints(op: BinaryOp, a: i128, b: i128) -> Result<Value, Refused> {
    let shift = || u32::try_from(b).ok().filter(|count| *count < 127);
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::FloorDiv if b == 0 => return Err(Refused::ByZero),
        BinaryOp::Mod if b == 0 => return Err(Refused::ByZero),
        BinaryOp::FloorDiv => floor_div(a, b),
        BinaryOp::Mod => floor_div(a, b).and_then(|q| a.checked_sub(q.checked_mul(b)?)),
        BinaryOp::Div => return Err(Refused::IntDivision),
        BinaryOp::Pow if b < 0 => return Ok(Value::Float((a as f64).powf(b as f64))),
        BinaryOp::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        BinaryOp::Shl => shift().and_then(|count| a.checked_mul(1_i128.checked_shl(count)?)),
        BinaryOp::Shr => shift().map(|count| a >> count),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::MatMul => None,
    };
    result.map(Value::Int).ok_or(Refused::None)
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let is_below = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i128::from(is_below))
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Value, Refused> {
    Ok(Value::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0.0 => return Err(Refused::ByZero),
        BinaryOp::Div => a / b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::FloorDiv
        | BinaryOp::Mod
        | BinaryOp::MatMul
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor => return Err(Refused::None),
    }))
}

/// Whether a comparison of two numbers without a type holds.
pub(super) fn compare(op: CompareOp, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        _ => return None,
    };
    Some(match op {
        CompareOp::Eq => order.is_some_and(|order| order.is_eq()),
        CompareOp::Ne => order.is_none_or(|order| order.is_ne()),
        CompareOp::Lt => order.is_some_and(|order| order.is_lt()),
        CompareOp::Le => order.is_some_and(|order| order.is_le()),
        CompareOp::Gt => order.is_some_and(|order| order.is_gt()),
        CompareOp::Ge => order.is_some_and(|order| order.is_ge()),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => return None,
    })
}
