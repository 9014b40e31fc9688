// SPDX-License-Identifier: Apache-2.0
//! Operations on values of a kernel that are numbers without a type.

use crate::python::tree::{BinaryOp, CompareOp};
use crate::untyped::{self, Refused, Untyped};
use crate::value::Elaborated;

/// The result of an operation on two numbers without a type.
pub(super) fn binary(
    op: BinaryOp,
    left: &Elaborated,
    right: &Elaborated,
) -> Result<Elaborated, Refused> {
    let number = |value: &Elaborated| untyped_of(value).ok_or(Refused::Undefined);
    Ok(match untyped::binary(op, &number(left)?, &number(right)?)? {
        Untyped::Int(int) => Elaborated::Int(int),
        Untyped::Float(float) => Elaborated::Float(float),
    })
}

/// Whether a comparison of two numbers without a type holds.
pub(super) fn compare(op: CompareOp, left: &Elaborated, right: &Elaborated) -> Option<bool> {
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

fn untyped_of(value: &Elaborated) -> Option<Untyped> {
    match value {
        Elaborated::Int(int) => Some(Untyped::Int(int.clone())),
        Elaborated::Float(float) => Some(Untyped::Float(*float)),
        _ => None,
    }
}
