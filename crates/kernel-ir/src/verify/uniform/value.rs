// SPDX-License-Identifier: Apache-2.0
//! How alike the result of an operation is, from how alike its operands are.

use crate::constant::Const;
use crate::intrinsic::{Geometry, Level, Meaning, Spread, WarpOp};
use crate::kernel::{Kernel, Value};
use crate::op::{Binary, Call, Expr, Operand};
use crate::types::{Scalar, Space, Type};

/// The threads of a warp.
const WARP: u32 = 32;

/// What the levels of values are computed from.
pub(super) struct Values<'k> {
    kernel: &'k Kernel,
    levels: Vec<Level>,
    /// Values that are the thread's place in x, which `// 32` makes that of its warp.
    is_thread_x: Vec<bool>,
}

impl<'k> Values<'k> {
    /// Nothing parts threads yet: parameters are the whole grid's.
    pub fn new(kernel: &'k Kernel) -> Values<'k> {
        let n_values = kernel.values.len();
        Values { kernel, levels: vec![Level::Grid; n_values], is_thread_x: vec![false; n_values] }
    }

    pub fn level(&self, value: Value) -> Level {
        self.levels[value.index()]
    }

    pub fn levels(self) -> Vec<Level> {
        self.levels
    }

    pub fn set(&mut self, value: Value, level: Level) {
        self.levels[value.index()] = level;
    }

    /// Sets the level of what an expression gives, where slots have these levels: it is as alike as
    /// its operands, but for what is loaded, and for the place of a warp.
    pub fn set_expr(&mut self, result: Value, expr: &Expr, slots: &[Level]) {
        let mut level = Level::Grid;
        expr.uses(&mut |value| level = level.min(self.level(*value)));
        if let Expr::Get(slot) = expr {
            level = slots[slot.index()];
        }
        if let Expr::Load(load) = expr {
            level = match self.kernel.ty(load.pointer) {
                // What blocks see of global memory is not compared.
                Type::Pointer(Space::Global | Space::Shared) => level.min(Level::Block),
                Type::Pointer(Space::Local) | Type::Scalar(_) | Type::Vector(..) => Level::Thread,
            };
        }
        if let Expr::Binary(op, a, b) = expr
            && self.is_warp(*op, *a, *b)
        {
            level = Level::Warp;
        }
        self.set(result, level);
        if let Expr::Convert(value, _) = expr {
            // A block has so few threads that 16 bits hold their numbers.
            let is_wide = |scalar: Scalar| scalar.is_int() && scalar.bits() >= 16;
            let holds_thread = self.kernel.ty(result).scalar().is_some_and(is_wide);
            self.is_thread_x[result.index()] = self.is_thread_x[value.index()] && holds_thread;
        }
    }

    /// Sets the level of what a row gives.
    pub fn set_call(&mut self, result: Value, call: &Call) {
        let is_thread_x =
            matches!(call.intrinsic.meaning, Meaning::Geometry(Geometry::ThreadIdx(0)));
        self.is_thread_x[result.index()] = is_thread_x;
        self.set(result, self.call(call));
    }

    fn call(&self, call: &Call) -> Level {
        if let Meaning::Geometry(Geometry::ThreadIdx(axis)) = call.intrinsic.meaning {
            return self.thread_idx(axis);
        }
        let levels = call.operands.iter().filter_map(|operand| match operand {
            Operand::Value(value) => Some(self.level(*value)),
            Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
        });
        let operands = levels.min().unwrap_or(Level::Grid);
        // A lane that is the same for the warp gives it one value.
        if let (Meaning::Warp(WarpOp::ShuffleIdx), [_, Operand::Value(lane)]) =
            (call.intrinsic.meaning, &call.operands[..])
            && self.level(*lane) >= Level::Warp
        {
            return operands.max(Level::Warp);
        }
        match call.intrinsic.result {
            Spread::AsOperands => operands,
            Spread::Varies => Level::Thread,
            Spread::Uniform(level) => level,
        }
    }

    /// The place of a thread: one for all where the block is that thin, and one for a warp where
    /// each warp has a part of a row.
    fn thread_idx(&self, axis: usize) -> Level {
        let block = self.kernel.block;
        if block[axis] == Some(1) {
            return Level::Grid;
        }
        let below = block[..axis].iter().try_fold(1_u32, |all, one| all.checked_mul((*one)?));
        match below {
            Some(threads) if axis > 0 && threads % WARP == 0 => Level::Warp,
            Some(_) | None => Level::Thread,
        }
    }

    /// Whether an operation gives the place of a thread's warp: `thread_idx.x // 32`.
    fn is_warp(&self, op: Binary, a: Value, b: Value) -> bool {
        let [x, y, z] = self.kernel.block;
        let is_in_rows = x.is_some_and(|x| x % WARP == 0) || (y, z) == (Some(1), Some(1));
        if !(is_in_rows && self.is_thread_x[a.index()]) {
            return false;
        }
        match (op, self.kernel.constant(b).and_then(Const::as_int)) {
            (Binary::FloorDiv, Some(number)) => number > 0 && number % i64::from(WARP) == 0,
            (Binary::Shr, Some(count)) => count >= 5,
            (_, _) => false,
        }
    }
}
