// SPDX-License-Identifier: Apache-2.0
//! Walks over operations: the values that one uses, and the regions that stand in it. Whoever wants
//! no more of an operation than that need not match it.

use crate::kernel::Value;
use crate::op::{Guard, Load, OpKind, Operand, Ptx, Region, Store};

/// One walk for shared and for exclusive references: the patterns are the same.
macro_rules! walks {
    ($( $(#[$doc:meta])* $uses:ident, $(#[$regions_doc:meta])* $regions:ident: [$($mutable:tt)*]; )*) => {
        impl OpKind { $(
            $(#[$doc])*
            pub fn $uses<'o>(&'o $($mutable)* self, visit: &mut dyn FnMut(&'o $($mutable)* Value)) {
                match self {
                    OpKind::Const(_)
                    | OpKind::Shared(_)
                    | OpKind::Local(_)
                    | OpKind::Get(_)
                    | OpKind::Break
                    | OpKind::Continue
                    | OpKind::Return => {}
                    OpKind::Unary(_, value)
                    | OpKind::Convert(value, _)
                    | OpKind::Bitcast(value)
                    | OpKind::Splat(value)
                    | OpKind::Extract(value, _)
                    | OpKind::Set(_, value)
                    | OpKind::If { condition: value, .. }
                    | OpKind::While { condition: value, .. } => visit(value),
                    OpKind::Binary(_, a, b)
                    | OpKind::Compare(_, a, b)
                    | OpKind::Insert(a, _, b)
                    | OpKind::Offset(a, b)
                    | OpKind::InBounds { index: a, extent: b } => [a, b].into_iter().for_each(visit),
                    OpKind::Select(a, b, c)
                    | OpKind::For { first: a, end: b, step: c, .. } => {
                        [a, b, c].into_iter().for_each(visit);
                    }
                    OpKind::Vector(values)
                    | OpKind::Print(_, values)
                    | OpKind::Ptx(Ptx { operands: values, .. }) => {
                        values.into_iter().for_each(visit);
                    }
                    OpKind::Load(Load { pointer, guard, .. }) => {
                        visit(pointer);
                        if let Some(Guard { condition, otherwise }) = guard {
                            [condition, otherwise].into_iter().for_each(visit);
                        }
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
                    OpKind::Const(_)
                    | OpKind::Unary(..)
                    | OpKind::Binary(..)
                    | OpKind::Compare(..)
                    | OpKind::Select(..)
                    | OpKind::Convert(..)
                    | OpKind::Bitcast(_)
                    | OpKind::Vector(_)
                    | OpKind::Splat(_)
                    | OpKind::Extract(..)
                    | OpKind::Insert(..)
                    | OpKind::Shared(_)
                    | OpKind::Local(_)
                    | OpKind::Offset(..)
                    | OpKind::Load(_)
                    | OpKind::Store(_)
                    | OpKind::InBounds { .. }
                    | OpKind::Get(_)
                    | OpKind::Set(..)
                    | OpKind::Break
                    | OpKind::Continue
                    | OpKind::Return
                    | OpKind::Call(_)
                    | OpKind::Print(..)
                    | OpKind::Ptx(_) => (None, None),
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
