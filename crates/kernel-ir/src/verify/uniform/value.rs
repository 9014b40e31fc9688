// SPDX-License-Identifier: Apache-2.0
//! How alike the result of an operation is, from how alike its operands are.

use crate::constant::Const;
use crate::intrinsic::{Geometry, Level, Meaning, Spread, WarpOp};
use crate::kernel::{Kernel, Value};
use crate::op::{Binary, Call, OpKind, Operand};
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

    /// Of the operands, as alike as the least alike is.
    fn operands(&self, kind: &OpKind) -> Level {
        let mut level = Level::Grid;
        kind.uses(&mut |value| level = level.min(self.level(*value)));
        level
    }

    /// Computes the level of what an operation gives that reads no slot.
    pub fn define(&mut self, result: Value, kind: &OpKind) {
        let level = self.result(kind);
        self.set(result, level);
        self.is_thread_x[result.index()] = self.gives_thread_x(result, kind);
    }

    fn gives_thread_x(&self, result: Value, kind: &OpKind) -> bool {
        if let OpKind::Call(call) = kind {
            return matches!(call.intrinsic.meaning, Meaning::Geometry(Geometry::ThreadIdx(0)));
        }
        // A block has so few threads that 16 bits hold their numbers.
        let is_wide = |scalar: Scalar| scalar.is_int() && scalar.bits() >= 16;
        let OpKind::Convert(value, _) = kind else { return false };
        self.is_thread_x[value.index()] && self.kernel.ty(result).scalar().is_some_and(is_wide)
    }

    fn result(&self, kind: &OpKind) -> Level {
        let operands = self.operands(kind);
        match kind {
            OpKind::Binary(op, a, b) if self.is_warp(*op, *a, *b) => Level::Warp,
            OpKind::Call(call) => self.call(call, operands),
            // PTX may read registers that say which thread it is.
            OpKind::Ptx(_) => Level::Thread,
            OpKind::Load(load) => match self.kernel.ty(load.pointer) {
                // What blocks see of global memory is not compared.
                Type::Pointer(Space::Global | Space::Shared) => operands.min(Level::Block),
                Type::Pointer(Space::Local) | Type::Scalar(_) | Type::Vector(..) => Level::Thread,
            },
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
            | OpKind::Get(_)
            | OpKind::Set(..)
            | OpKind::Store(_)
            | OpKind::InBounds { .. }
            | OpKind::If { .. }
            | OpKind::For { .. }
            | OpKind::While { .. }
            | OpKind::Break
            | OpKind::Continue
            | OpKind::Return
            | OpKind::Print(..) => operands,
        }
    }

    fn call(&self, call: &Call, operands: Level) -> Level {
        if let Meaning::Geometry(Geometry::ThreadIdx(axis)) = call.intrinsic.meaning {
            return self.thread_idx(axis);
        }
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
