// SPDX-License-Identifier: Apache-2.0
//! Exchanges of the threads of a warp. All 32 take part. What moves between them are 32 bits:
//! numbers of fewer are extended, and those of more go in two pieces. Of a lane's number, or of how
//! far away it is, the instructions go by the lower five bits.

use super::Nvptx;
use crate::kernel::shared::{Lowering, bits_ty, scalar_ty};
use crate::llvm::{Operation, Ty, V};
use kernpack_kernel_ir::intrinsic::WarpOp;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::types::{Scalar, Type};
use kernpack_machine::block::WARP_SIZE;

/// All lanes of a warp.
pub(super) const EVERYONE: i64 = -1;

impl<'c> Lowering<'c, '_, Nvptx> {
    /// The operands are values: what is exchanged and, of a shuffle, with whom.
    pub(super) fn lower_warp(&mut self, result: Value, op: WarpOp, operands: &[Value]) {
        match op {
            WarpOp::ShuffleIdx => self.shuffle(result, "idx", operands),
            WarpOp::ShuffleUp => self.shuffle(result, "up", operands),
            WarpOp::ShuffleDown => self.shuffle(result, "down", operands),
            WarpOp::ShuffleXor => self.shuffle(result, "bfly", operands),
            WarpOp::Any => self.vote(result, "any", operands[0]),
            WarpOp::All => self.vote(result, "all", operands[0]),
            WarpOp::Ballot => self.vote(result, "ballot", operands[0]),
            WarpOp::Match => self.lower_match(result, operands[0]),
        }
    }

    fn vote(&mut self, result: Value, which: &str, condition: Value) {
        let everyone = self.emitter.int(Ty::I32, EVERYONE);
        let name = format!("llvm.nvvm.vote.{which}.sync");
        let voted = self.plain_intrinsic(&name, &[everyone, self.kept(condition)]);
        self.set_value(result, voted);
    }

    fn lower_match(&mut self, result: Value, value: Value) {
        let scalar = self.scalar(value);
        let bits = self.as_bits(self.full(value), scalar);
        let (bits, variant) = match scalar.bits() {
            64 => (bits, "i64"),
            _ => (self.emitter.resize(bits, Ty::I32, false), "i32"),
        };
        let everyone = self.emitter.int(Ty::I32, EVERYONE);
        let name = format!("llvm.nvvm.match.any.sync.{variant}");
        let lanes = self.plain_intrinsic(&name, &[everyone, bits]);
        self.set_value(result, lanes);
    }

    fn shuffle(&mut self, result: Value, which: &str, operands: &[Value]) {
        let (value, with) = (operands[0], operands[1]);
        let scalar = self.scalar(value);
        let bits = self.as_bits(self.full(value), scalar);
        let lane = self.cut(with, Scalar::I32);
        let exchange = |piece| self.exchange(which, piece, lane);
        let emitter = self.emitter;
        let exchanged = match scalar.bits() {
            64 => {
                let half = emitter.int(Ty::I64, 32);
                let upper = emitter.arith(Operation::ShiftRightZeros, bits, half);
                let [lower, upper] = [bits, upper]
                    .map(|piece| exchange(emitter.resize(piece, Ty::I32, false)))
                    .map(|piece| emitter.resize(piece, Ty::I64, false));
                let upper = emitter.arith(Operation::ShiftLeft, upper, half);
                emitter.arith(Operation::Or, upper, lower)
            }
            _ => {
                let piece = exchange(emitter.resize(bits, Ty::I32, false));
                emitter.resize(piece, bits_ty(scalar), false)
            }
        };
        let exchanged = match scalar {
            Scalar::Bool => emitter.resize(exchanged, Ty::I1, false),
            _ => emitter.bitcast(exchanged, scalar_ty(scalar)),
        };
        self.set_number(result, exchanged, scalar);
    }

    fn exchange(&self, which: &str, piece: V<'c>, lane: V<'c>) -> V<'c> {
        let int = |number| self.emitter.int(Ty::I32, number);
        // The first lane that counts, or the last.
        let bound = if which == "up" { 0 } else { i64::from(WARP_SIZE) - 1 };
        let name = format!("llvm.nvvm.shfl.sync.{which}.i32");
        self.plain_intrinsic(&name, &[int(EVERYONE), piece, lane, int(bound)])
    }

    fn scalar(&self, value: Value) -> Scalar {
        match self.kernel.ty(value) {
            Type::Scalar(scalar) => scalar,
            Type::Vector(..) | Type::Pointer(_) => unreachable!("{value} is a number"),
        }
    }

    /// The bits of a number, or of a truth value those of a byte.
    fn as_bits(&self, value: V<'c>, scalar: Scalar) -> V<'c> {
        match scalar {
            Scalar::Bool => self.emitter.resize(value, Ty::I8, false),
            _ => self.emitter.bitcast(value, bits_ty(scalar)),
        }
    }
}
