// SPDX-License-Identifier: Apache-2.0
//! How alike the result of an operation is, from how alike its operands are. The level is what
//! others ask for. Beside it stands what leads to one further on: threads that reduce get the same
//! step by step, and the number of a thread becomes that of its warp by a division.

use crate::constant::Const;
use crate::intrinsic::{Geometry, Level, Meaning, Spread, WarpOp};
use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Binary, Call, Compare, Expr, Load, Operand, Qualifier};
use crate::types::{Scalar, Space, Type};
use kernpack_machine::block::WARP_SIZE;

/// The bits of a lane's number, and how many these are.
const ALL_LANE_BITS: u32 = WARP_SIZE - 1;
const WARP_LOG2: u32 = WARP_SIZE.ilog2();

/// How alike a value is.
#[derive(Clone, Copy, Debug)]
struct Alike {
    level: Level,
    /// Lanes of a warp whose numbers differ in these bits alone have the same.
    lane_bits: u32,
    /// Lanes of one number have the same in all warps of the block.
    is_of_lane: bool,
    /// It is the lane's number and a multiple of 32 that is the warp's.
    counts_lanes: bool,
    /// It is a multiple of two to the power of this.
    zeros: u32,
    /// The value of another lane that it is, and the bits in which that lane's number differs.
    exchanged: Option<(Value, u32)>,
}

impl Alike {
    /// All that follows from a level.
    fn of(level: Level) -> Alike {
        let lane_bits = if level >= Level::Warp { ALL_LANE_BITS } else { 0 };
        let is_of_lane = level >= Level::Block;
        Alike { level, lane_bits, is_of_lane, counts_lanes: false, zeros: 0, exchanged: None }
    }

    /// The likeness of what is computed from both.
    fn meet(self, other: Alike) -> Alike {
        Alike {
            level: self.level.min(other.level),
            lane_bits: self.lane_bits & other.lane_bits,
            is_of_lane: self.is_of_lane && other.is_of_lane,
            ..Alike::of(Level::Thread)
        }
    }

    fn is_warp_multiple(self) -> bool {
        self.level >= Level::Warp && self.zeros >= WARP_LOG2
    }
}

/// The values whose levels others are computed from.
pub(super) struct Values<'k> {
    kernel: &'k Kernel,
    all: Vec<Alike>,
    /// Whether a block is one warp: what is the warp's is the block's.
    is_one_warp: bool,
}

impl<'k> Values<'k> {
    /// Nothing parts threads yet: parameters are the whole grid's.
    pub fn new(kernel: &'k Kernel) -> Values<'k> {
        let mut all = vec![Alike::of(Level::Grid); kernel.values.len()];
        for (alike, param) in all.iter_mut().zip(&kernel.params) {
            if let ParamKind::Scalar(_, facts) = &param.kind {
                alike.zeros = facts.divisor.trailing_zeros();
            }
        }
        let threads = kernel.block.iter().try_fold(1_u32, |all, one| all.checked_mul((*one)?));
        let is_one_warp = threads.is_some_and(|threads| threads <= WARP_SIZE);
        Values { kernel, all, is_one_warp }
    }

    pub fn level(&self, value: Value) -> Level {
        self.all[value.index()].level
    }

    pub fn levels(self) -> Vec<Level> {
        self.all.into_iter().map(|alike| alike.level).collect()
    }

    /// Sets how alike the index of a loop is: it is the first number and multiples of the step.
    pub fn set_index(&mut self, index: Value, first: Value, step: Value) {
        let (first, step) = (self.all[first.index()], self.all[step.index()]);
        let counts_lanes = first.counts_lanes && step.is_warp_multiple();
        let zeros = first.zeros.min(step.zeros);
        self.put(index, Alike { counts_lanes, zeros, ..first.meet(step) });
    }

    /// Draws the conclusions: what all lanes have the same is the warp's.
    fn put(&mut self, value: Value, mut alike: Alike) {
        if alike.lane_bits == ALL_LANE_BITS {
            let level = if alike.is_of_lane { Level::Block } else { Level::Warp };
            alike.level = alike.level.max(level);
        }
        if self.is_one_warp && alike.level == Level::Warp {
            alike.level = Level::Block;
        }
        let known = Alike::of(alike.level);
        alike.lane_bits |= known.lane_bits;
        alike.is_of_lane |= known.is_of_lane;
        self.all[value.index()] = alike;
    }

    /// Sets how alike what an expression gives is, where slots have these levels: as alike as its
    /// operands, but for what is loaded, what lanes reduce, and the place of a warp.
    pub fn set_expr(&mut self, result: Value, expr: &Expr, slots: &[Level]) {
        let mut alike = Alike::of(Level::Grid);
        expr.uses(&mut |value| alike = alike.meet(self.all[value.index()]));
        match expr {
            Expr::Get(slot) => alike = Alike::of(slots[slot.index()]),
            // Others may write meanwhile.
            Expr::Load(Load { qualifier: Some(Qualifier::Volatile), .. }) => {
                alike = Alike::of(Level::Thread);
            }
            Expr::Load(load) => match self.kernel.ty(load.pointer) {
                // What blocks see of global memory is not compared.
                Type::Pointer(Space::Global | Space::Shared | Space::Cluster) => {
                    alike.level = alike.level.min(Level::Block);
                }
                Type::Pointer(Space::Local | Space::Map) | Type::Scalar(_) | Type::Vector(..) => {
                    alike = Alike::of(Level::Thread);
                }
            },
            Expr::Const(number) => {
                alike.zeros = number.as_int().map_or(0, |number| number.trailing_zeros());
            }
            Expr::Binary(op, a, b) => self.binary(&mut alike, *op, *a, *b),
            Expr::Compare(op, a, b) if self.parts_at_warps(*op, *a, *b) => {
                alike.level = alike.level.max(Level::Warp);
            }
            Expr::Convert(value, _) => {
                // What an integer loses above keeps multiples of 32 what they are.
                let from = self.all[value.index()];
                let is_wide = |scalar: Scalar| scalar.is_int() && scalar.bits() >= 16;
                let keeps = |value: Value| self.kernel.ty(value).scalar().is_some_and(is_wide);
                if keeps(*value) && keeps(result) {
                    alike.counts_lanes = from.counts_lanes;
                    alike.zeros = from.zeros;
                }
            }
            _ => {}
        }
        self.put(result, alike);
    }

    fn binary(&self, alike: &mut Alike, op: Binary, a: Value, b: Value) {
        let (of_a, of_b) = (self.all[a.index()], self.all[b.index()]);
        let number = self.kernel.constant(b).and_then(Const::as_int);
        if is_commutative(op) {
            alike.lane_bits |= self.reduced(a, b) | self.reduced(b, a);
        }
        let is_by_warps = number.is_some_and(|by| by > 0 && by % i64::from(WARP_SIZE) == 0);
        match op {
            Binary::Add => {
                alike.zeros = of_a.zeros.min(of_b.zeros);
                alike.counts_lanes = of_a.counts_lanes && of_b.is_warp_multiple()
                    || of_b.counts_lanes && of_a.is_warp_multiple();
            }
            Binary::Sub => {
                alike.zeros = of_a.zeros.min(of_b.zeros);
                alike.counts_lanes = of_a.counts_lanes && of_b.is_warp_multiple();
            }
            Binary::Mul => alike.zeros = of_a.zeros.saturating_add(of_b.zeros),
            Binary::Shl => {
                let by = number.and_then(|by| u32::try_from(by).ok()).unwrap_or(0);
                alike.zeros = of_a.zeros.saturating_add(by);
            }
            Binary::FloorMod if is_by_warps => {
                alike.counts_lanes = of_a.counts_lanes;
                alike.zeros = of_a.zeros.min(WARP_LOG2);
            }
            Binary::FloorDiv if is_by_warps && of_a.counts_lanes => {
                alike.level = alike.level.max(Level::Warp);
            }
            Binary::Shr if of_a.counts_lanes && number.is_some_and(|by| by >= WARP_LOG2.into()) => {
                alike.level = alike.level.max(Level::Warp);
            }
            _ => {}
        }
    }

    /// The bits in which lanes may differ that get the same of a number, and of what it is in the
    /// lane that differs in one bit.
    fn reduced(&self, own: Value, other: Value) -> u32 {
        match self.all[other.index()].exchanged {
            Some((of, bit)) if of == own => self.all[own.index()].lane_bits | bit,
            Some(_) | None => 0,
        }
    }

    /// Whether a comparison with a multiple of 32 parts no lanes of a warp.
    fn parts_at_warps(&self, op: Compare, a: Value, b: Value) -> bool {
        let (a, b) = (self.all[a.index()], self.all[b.index()]);
        match op {
            Compare::Lt | Compare::Ge => a.counts_lanes && b.is_warp_multiple(),
            Compare::Gt | Compare::Le => b.counts_lanes && a.is_warp_multiple(),
            Compare::Eq | Compare::Ne => false,
        }
    }

    /// Sets how alike what a row gives is.
    pub fn set_call(&mut self, result: Value, call: &Call) {
        let mut operands = Alike::of(Level::Grid);
        for operand in &call.operands {
            if let Operand::Value(value) = operand {
                operands = operands.meet(self.all[value.index()]);
            }
        }
        let mut alike = match call.intrinsic.result {
            Spread::AsOperands => operands,
            Spread::Varies => Alike::of(Level::Thread),
            Spread::Uniform(level) => Alike::of(level),
        };
        match call.intrinsic.meaning {
            Meaning::Geometry(geometry) => alike = self.geometry(geometry, alike),
            Meaning::Warp(op) => self.exchange(&mut alike, op, operands, call),
            _ => {}
        }
        self.put(result, alike);
    }

    fn geometry(&self, geometry: Geometry, alike: Alike) -> Alike {
        match geometry {
            Geometry::ThreadIdx(axis) => {
                let [x, y, z] = self.kernel.block;
                let is_in_rows =
                    x.is_some_and(|x| x % WARP_SIZE == 0) || (y, z) == (Some(1), Some(1));
                let counts_lanes = axis == 0 && is_in_rows;
                Alike { counts_lanes, ..Alike::of(self.thread_idx(axis)) }
            }
            Geometry::Lane => Alike { counts_lanes: true, is_of_lane: true, ..alike },
            Geometry::BlockDim(axis) => {
                let zeros = self.kernel.block[axis].map_or(0, u32::trailing_zeros);
                Alike { zeros, ..alike }
            }
            Geometry::BlockIdx(_)
            | Geometry::GridDim(_)
            | Geometry::Warp
            | Geometry::Warpgroup
            | Geometry::BlockInCluster(_)
            | Geometry::BlockInClusterDim(_)
            | Geometry::ClusterIdx(_)
            | Geometry::ClusterDim(_)
            | Geometry::ClusterRank
            | Geometry::ClusterSize => alike,
        }
    }

    /// The likeness of what lanes exchange. Where they take part that are not there, a kernel is
    /// wrong; a vote is among those that are, and so differs among warps.
    fn exchange(&self, alike: &mut Alike, op: WarpOp, operands: Alike, call: &Call) {
        let [Operand::Value(value), Operand::Value(lane)] = call.operands[..] else { return };
        if matches!(op, WarpOp::Any | WarpOp::All | WarpOp::Ballot | WarpOp::Match) {
            return;
        }
        alike.is_of_lane = operands.is_of_lane;
        alike.level = alike.level.max(operands.level);
        match op {
            // A lane that is the same for the warp gives it one value.
            WarpOp::ShuffleIdx if self.level(lane) >= Level::Warp => {
                alike.lane_bits = ALL_LANE_BITS;
            }
            WarpOp::ShuffleXor => {
                let bits = self.kernel.constant(lane).and_then(Const::as_int);
                let bits = bits.map(|bits| bits as u32 & ALL_LANE_BITS);
                if let Some(bits) = bits {
                    // Lanes that have the same ask lanes that have the same.
                    alike.lane_bits = self.all[value.index()].lane_bits;
                    alike.exchanged = bits.is_power_of_two().then_some((value, bits));
                }
            }
            _ => {}
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
            Some(threads) if axis > 0 && threads % WARP_SIZE == 0 => Level::Warp,
            Some(_) | None => Level::Thread,
        }
    }
}

/// Whether an operation gives the same where its operands are exchanged. Of floats, a NaN is like
/// any other.
fn is_commutative(op: Binary) -> bool {
    match op {
        Binary::Add
        | Binary::Mul
        | Binary::MulHigh
        | Binary::Min
        | Binary::Max
        | Binary::And
        | Binary::Or
        | Binary::Xor => true,
        Binary::Sub
        | Binary::Div
        | Binary::FloorDiv
        | Binary::FloorMod
        | Binary::Shl
        | Binary::Shr => false,
    }
}
