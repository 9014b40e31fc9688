// SPDX-License-Identifier: Apache-2.0
//! Walks over operations: the values that one uses, and the regions that stand in it. Whoever wants
//! no more of an operation than that need not match it.

use crate::kernel::Value;
use crate::op::{Asm, Assert, Expr, Guard, Load, OpKind, Operand, Region, Store};

/// One walk for shared and for exclusive references: the patterns are the same.
macro_rules! walks {
    ($( $(#[$doc:meta])* $uses:ident, $(#[$regions_doc:meta])* $regions:ident: [$($mutable:tt)*]; )*) => {
        impl Expr { $(
            $(#[$doc])*
            pub fn $uses<'o>(&'o $($mutable)* self, visit: &mut dyn FnMut(&'o $($mutable)* Value)) {
                match self {
                    Expr::Const(_) | Expr::Shared(_) | Expr::Local(_) | Expr::Get(_) => {}
                    Expr::Unary(_, value)
                    | Expr::Convert(value, _)
                    | Expr::Bitcast(value)
                    | Expr::Splat(value)
                    | Expr::Extract(value, _) => visit(value),
                    Expr::Binary(_, a, b)
                    | Expr::Compare(_, a, b)
                    | Expr::Insert(a, _, b)
                    | Expr::Offset(a, b) => [a, b].into_iter().for_each(visit),
                    Expr::Select(a, b, c) => [a, b, c].into_iter().for_each(visit),
                    Expr::Vector(values) => values.into_iter().for_each(visit),
                    Expr::Load(Load { pointer, guard, .. }) => {
                        visit(pointer);
                        if let Some(Guard { condition, otherwise }) = guard {
                            [condition, otherwise].into_iter().for_each(visit);
                        }
                    }
                }
            }
        )* }

        impl OpKind { $(
            $(#[$doc])*
            pub fn $uses<'o>(&'o $($mutable)* self, visit: &mut dyn FnMut(&'o $($mutable)* Value)) {
                match self {
                    OpKind::Expr(expr) => expr.$uses(visit),
                    OpKind::Jump(_) => {}
                    OpKind::Set(_, value)
                    | OpKind::If { condition: value, .. }
                    | OpKind::While { condition: value, .. } => visit(value),
                    OpKind::InBounds { index, extent, .. } => [index, extent].into_iter().for_each(visit),
                    OpKind::For { first, end, step, .. } => {
                        [first, end, step].into_iter().for_each(visit);
                    }
                    OpKind::Print(_, values) | OpKind::Asm(Asm { operands: values, .. }) => {
                        values.into_iter().for_each(visit);
                    }
                    OpKind::Assert(Assert { condition, values, .. }) => {
                        visit(condition);
                        values.into_iter().for_each(visit);
                    }
                    OpKind::Store(Store { pointer, value, condition, .. }) => {
                        [pointer, value].into_iter().chain(condition).for_each(visit);
                    }
                    OpKind::Call(call) => {
                        for operand in &$($mutable)* call.operands {
                            if let Operand::Value(value) = operand {
                                visit(value);
                            }
                        }
                    }
                }
            }

            $(#[$regions_doc])*
            pub fn $regions(& $($mutable)* self) -> impl Iterator<Item = & $($mutable)* Region> {
                let (first, second) = match self {
                    OpKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
                    OpKind::For { body, .. } => (Some(body), None),
                    OpKind::While { before, body, .. } => (Some(before), Some(body)),
                    OpKind::Expr(_) | OpKind::Store(_) | OpKind::InBounds { .. } => (None, None),
                    OpKind::Set(..) | OpKind::Jump(_) => (None, None),
                    OpKind::Call(_) | OpKind::Print(..) => (None, None),
                    OpKind::Assert(_) | OpKind::Asm(_) => (None, None),
                };
                first.into_iter().chain(second)
            }
        )* }
    };
}

walks! {
    /// The values that it uses itself: not what the operations in its regions use. The condition of
    /// a `while` is used behind the region that computes it.
    uses,
    /// The regions that stand in it, in the order of its text.
    regions: [];
    /// The values that it uses itself, to be changed.
    uses_mut,
    /// The regions that stand in it, to be changed.
    regions_mut: [mut];
}
