// SPDX-License-Identifier: Apache-2.0
//! The condition on which kernels may use accesses of 16 bytes, where no call is refused because of
//! it: such functions are gone through twice, with that known and without.
//!
//! * Every result begins at a multiple of 16 bytes. That is so of what a call allocates; a twin,
//!   which is passed its results, asks.
//! * Where the signature was made of a call's arguments, every tensor of these begins there too,
//!   and so does each run of its elements, and each ends at one: none is compiled for anew because
//!   of where its tensors lie. Signatures that somebody writes say themselves what their kernels
//!   may know of arguments.

use kernpack_validators::dim::Dim;
use kernpack_validators::expr::{Expr, Op};
use kernpack_validators::host_type::element_path;
use kernpack_validators::param::{Order, Strides, Tensor, TensorDType};
use kernpack_validators::plan::ALLOCATED_ALIGN;
use kernpack_validators::{Comparison, HostType, Rule, RuleKind, Signature};

/// The bytes of a wide access.
const BYTES: u32 = ALLOCATED_ALIGN;

/// The condition, for a signature that was made of a call's arguments or not; nothing where there
/// is nothing to ask.
pub(super) fn rule(signature: &Signature, is_made: bool) -> Option<Rule> {
    let mut rules = Vec::new();
    for param in signature.params.iter().filter(|_| is_made) {
        add(&param.name, &param.kind.host_type(), &mut rules);
    }
    let loose = signature.results.iter().filter(|result| may_be_narrow(&result.tensor));
    rules.extend(loose.map(|result| RuleKind::Aligned(result.name.clone(), BYTES)));
    let rule = |kind| Rule { kind, span: signature.span };
    let mut rules: Vec<Rule> = rules.into_iter().map(rule).collect();
    match rules.len() {
        0 => None,
        1 => rules.pop(),
        _ => Some(rule(RuleKind::And(rules))),
    }
}

/// Whether the signature lets a result that has more than an element lie anywhere.
fn may_be_narrow(result: &Tensor) -> bool {
    !result.dims().is_empty() && result.alignment().is_none_or(|bytes| bytes < BYTES)
}

fn add(path: &str, host_type: &HostType, rules: &mut Vec<RuleKind>) {
    match host_type {
        HostType::Tensor(tensor) => add_tensor(path, tensor, rules),
        HostType::Tuple(fields) => {
            for (number, (name, field)) in fields.iter().enumerate() {
                add(&element_path(path, number, name.as_deref()), field, rules);
            }
        }
        _ => {}
    }
}

fn add_tensor(path: &str, tensor: &Tensor, rules: &mut Vec<RuleKind>) {
    let TensorDType::Fixed(dtype) = tensor.dtype() else { return };
    let (bytes, dims) = (dtype.element_bytes().max(1), tensor.dims());
    let per = i64::from(BYTES / bytes.min(BYTES));
    let divides = |number: &Dim| match number {
        Dim::Expr(expr) if per > 1 && expr.as_int().is_none_or(|known| known % per != 0) => {
            let rest = Expr::binary(Op::Mod, expr.clone(), Expr::Int(per));
            Some(RuleKind::Compare(rest, Comparison::Eq, Expr::Int(0)))
        }
        Dim::Expr(_) | Dim::Any | Dim::Star(_) => None,
    };
    let is_one = |stride: &Dim| matches!(stride, Dim::Expr(expr) if expr.as_int() == Some(1));
    let (fastest, strides) = match tensor.strides_wanted() {
        _ if dims.is_empty() => return,
        Strides::Any | Strides::Compact(Order::Ranks(_)) => return,
        Strides::Compact(Order::Row) => (dims.last(), &[][..]),
        Strides::Compact(Order::Col) => (dims.first(), &[][..]),
        Strides::Dims(strides) => {
            // Without a run of elements side by side there is nothing that is wide.
            let Some((_, others)) = strides.split_last().filter(|(last, _)| is_one(last)) else {
                return;
            };
            (dims.last(), others)
        }
    };
    rules.push(RuleKind::Aligned(path.to_string(), BYTES));
    rules.extend(fastest.into_iter().chain(strides).filter_map(divides));
}
