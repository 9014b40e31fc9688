// SPDX-License-Identifier: Apache-2.0
//! The rules of expressions.

use super::{Findings, Verified, VerifyError, error};
use crate::plan::{Arith, DeviceFact, Expr, Plan, Type, Value};
use kernpack_ffi_abi::DType;

/// Checks every expression of a plan, in the order of their numbers.
pub fn verify(plan: &Plan) -> Result<Findings, VerifyError> {
    let mut findings = Findings { types: vec![], is_address: vec![] };
    for (number, expr) in plan.exprs.iter().enumerate() {
        let value = Value(number as u32);
        if expr.operands().iter().any(|operand| operand >= &value) {
            return Err(error(value, "uses itself"));
        }
        operand_types(value, expr, &findings)?;
        operation(value, expr)?;
        addresses(plan, value, expr, &findings)?;
        let ty = expr.own_type().unwrap_or_else(|operand| findings.types[operand.0 as usize]);
        findings.types.push(ty);
        findings.is_address.push(is_address(expr, &findings));
    }
    Ok(findings)
}

fn operand_types(value: Value, expr: &Expr, findings: &Findings) -> Verified {
    let type_of = |operand: &Value| findings.types[operand.0 as usize];
    let wanted = match expr {
        Expr::And(..) | Expr::Or(..) | Expr::Not(_) => [Type::Bool; 3],
        Expr::Select(_, a, _) => [Type::Bool, type_of(a), type_of(a)],
        Expr::TextIs(..) => [Type::Text; 3],
        _ => [Type::Int; 3],
    };
    let fits = expr.operands().iter().zip(wanted).all(|(operand, ty)| type_of(operand) == ty);
    if fits { Ok(()) } else { Err(error(value, "has an operand of another type")) }
}

/// Checks an operation by itself, whatever its operands.
fn operation(value: Value, expr: &Expr) -> Verified {
    match expr {
        Expr::Overflows(Arith::FloorDiv | Arith::Mod | Arith::BitAnd, ..) => {
            Err(error(value, "asks for an overflow that there is none of"))
        }
        Expr::Rounded(_, dtype)
            if ![DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32].contains(dtype) =>
        {
            Err(error(value, "rounds to no narrower float"))
        }
        Expr::Text(text) | Expr::TextIs(_, text) if text.contains('\0') => {
            Err(error(value, "has a NUL in its text"))
        }
        Expr::Element(_, index) if index.checked_mul(8).is_none() => {
            Err(error(value, "lies too far behind the first"))
        }
        _ => Ok(()),
    }
}

/// Only what reads takes an address, and what adds to one.
fn addresses(plan: &Plan, value: Value, expr: &Expr, findings: &Findings) -> Verified {
    let is_device = |operand: &Value| *plan.expr(*operand) == Expr::Device;
    let (address, others) = match expr {
        Expr::Load(base, _) | Expr::TextAt(base) => (Some(base), vec![]),
        Expr::Arith(Arith::Add, base, number) => (Some(base), vec![*number]),
        Expr::Element(base, index) if is_device(base) => {
            return match (*index as usize) < DeviceFact::ALL.len() + plan.launches.len() {
                true => Ok(()),
                false => Err(error(value, "is no fact of the device")),
            };
        }
        Expr::Element(base, _) => (Some(base), vec![]),
        _ => (None, expr.operands()),
    };
    let computes = others.iter().any(|operand| findings.is_address[operand.0 as usize]);
    if computes || address.is_some_and(is_device) {
        return Err(error(value, "computes with an address"));
    }
    Ok(())
}

fn is_address(expr: &Expr, findings: &Findings) -> bool {
    match expr {
        Expr::Args | Expr::Device => true,
        Expr::Arith(Arith::Add, base, _) => findings.is_address[base.0 as usize],
        _ => false,
    }
}
