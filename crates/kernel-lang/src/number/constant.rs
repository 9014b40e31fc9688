// SPDX-License-Identifier: Apache-2.0
//! Operations on values of a kernel that are numbers without a type.

use crate::python::tree::{BinaryOp, CompareOp};
use crate::untyped::{self, Refused, Untyped};
use crate::value::Value;

/// The result of an operation on two numbers without a type.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Refused> {
    let number = |value: &Value| match value {
        Value::Int(int) => Ok(Untyped::Int(*int)),
        Value::Float(float) => Ok(Untyped::Float(*float)),
        _ => Err(Refused::Undefined),
    };
    Ok(match untyped::binary(op, number(left)?, number(right)?)? {
        Untyped::Int(int) => Value::Int(int),
        Untyped::Float(float) => Value::Float(float),
    })
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
