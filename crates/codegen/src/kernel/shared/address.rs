// SPDX-License-Identifier: Apache-2.0
//! Addresses, with what is constant in them added last. The accesses of an unrolled loop differ in
//! that alone, and an instruction has room for it: what is before it is computed once for all.
//!
//! Sums are those of `int64`, which wraps, so that constants may be added in any order. Not here:
//! accesses.

use super::{Lowering, Target};
use crate::llvm::{Exact, Operation, Ty, V};
use kernpack_interval::Interval;
use kernpack_kernel_ir::Const;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::types::{Scalar, Type};

/// A number as another one and a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifted<'c> {
    /// The other one, of an integer in 32 bits or in 64; nothing where all is constant.
    rest: Option<V<'c>>,
    /// The range of the other one.
    range: Interval,
    /// The constant.
    by: i64,
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    /// Finds what is constant in an `int64` that was computed, and computes the rest. Where nobody
    /// asks for that, it is removed.
    pub(super) fn split_sum(&mut self, result: Value, op: Binary, left: Value, right: Value) {
        if self.kernel.ty(result) != Type::Scalar(Scalar::I64) {
            return;
        }
        let (a, b) = (self.shifted(left), self.shifted(right));
        let (operation, by) = match op {
            Binary::Add => (Operation::Add, a.by.wrapping_add(b.by)),
            Binary::Sub => (Operation::Sub, a.by.wrapping_sub(b.by)),
            // The product of two sums is none.
            Binary::Mul if a.rest.is_some() != b.rest.is_some() => {
                (Operation::Mul, a.by.wrapping_mul(b.by))
            }
            _ => return,
        };
        if by == 0 {
            return;
        }
        let range = self.range_without(result, by);
        let ty = if Scalar::I32.holds(range) { Ty::I32 } else { Ty::I64 };
        // Of a sum the constants are gone; of a product the one is the factor.
        let side = |side: Shifted<'c>| match side.rest {
            Some(rest) => self.extended(rest, ty, side.range),
            None if op == Binary::Mul => self.emitter.int(ty, side.by),
            None => self.emitter.int(ty, 0),
        };
        let rest = self.emitter.sum(operation, Exact::No, side(a), side(b));
        self.shifted.insert(result, Shifted { rest: Some(rest), range, by });
    }

    /// The range of a value from which a constant is taken.
    fn range_without(&self, value: Value, by: i64) -> Interval {
        let Interval { min, max, .. } = self.ranges.value(value);
        Interval::new(min - i128::from(by), max - i128::from(by))
    }

    /// A value as another one and a constant.
    fn shifted(&self, value: Value) -> Shifted<'c> {
        let known = self.kernel.constant(value).and_then(Const::as_int);
        let noted = self.shifted.get(&value).copied();
        noted.unwrap_or_else(|| match known {
            Some(by) => Shifted { rest: None, range: Interval::new(0, 0), by },
            None => {
                Shifted { rest: Some(self.kept(value)), range: self.ranges.value(value), by: 0 }
            }
        })
    }

    pub(super) fn lower_offset(&mut self, result: Value, pointer: Value, bytes: Value) {
        if let Some((local, variable)) = self.registers.variable(result) {
            self.set_value(result, self.locals[local.index()][variable]);
            return;
        }
        let (base, bytes) = (self.kept(pointer), self.shifted(bytes));
        let rest = bytes.rest.map_or(base, |rest| {
            self.emitter.offset(base, self.extended(rest, Ty::I64, bytes.range))
        });
        let address = match bytes.by {
            0 => rest,
            by => self.emitter.offset(rest, self.emitter.int(Ty::I64, by)),
        };
        if bytes.by != 0 {
            let range = Interval::new(0, 0);
            self.shifted.insert(result, Shifted { rest: Some(rest), range, by: bytes.by });
        }
        self.set_value(result, address);
    }

    /// An address as another one and a constant number of bytes, as far as one is known.
    pub(in crate::kernel) fn split_address(&self, pointer: Value) -> (V<'c>, i64) {
        match self.shifted.get(&pointer) {
            Some(&Shifted { rest: Some(rest), by, .. }) => (rest, by),
            Some(Shifted { rest: None, .. }) | None => (self.full(pointer), 0),
        }
    }
}
