// SPDX-License-Identifier: Apache-2.0
//! Operations on values of a kernel that are numbers without a type.

use crate::python::tree::{BinaryOp, CompareOp};
use crate::untyped::{self, Refused, Untyped};
use crate::value::Value;

/// The result of an operation on two numbers without a type.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Refused> {
    let number = |value: &Value| untyped_of(value).ok_or(Refused::Undefined);
    Ok(match untyped::binary(op, &number(left)?, &number(right)?)? {
        Untyped::Int(int) => Value::Int(int),
        Untyped::Float(float) => Value::Float(float),
    })
}

/// Whether a comparison of two numbers without a type holds.
pub(super) fn compare(op: CompareOp, left: &Value, right: &Value) -> Option<bool> {
    let order = untyped::order(&untyped_of(left)?, &untyped_of(right)?);
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

fn untyped_of(value: &Value) -> Option<Untyped> {
    match value {
        Value::Int(int) => Some(Untyped::Int(int.clone())),
        Value::Float(float) => Some(Untyped::Float(*float)),
        _ => None,
    }
}
