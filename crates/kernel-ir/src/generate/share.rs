// SPDX-License-Identifier: Apache-2.0
//! Statements that threads execute together: what they exchange in a warp, and in shared memory.

use super::{Maker, number};
use crate::intrinsic::{self, Level};
use crate::kernel::{SharedArray, Size, Value};
use crate::op::{Binary, Load, Operand, Store};
use crate::types::{Scalar, Type};

impl Maker {
    /// Values from other lanes.
    pub(super) fn exchange(&mut self) {
        match self.rng.below(4) {
            0 | 1 => self.shuffle(),
            2 => {
                let name = self.rng.pick(&["vote.any", "vote.all", "vote.ballot"]);
                let operand = self.operand(Type::Scalar(Scalar::Bool)).value;
                self.call(name, vec![Operand::Value(operand)], Level::Thread);
            }
            _ => {
                // The bits of NaNs are not looked at.
                let mut scalar = number(&mut self.rng);
                if scalar.is_float() {
                    scalar = Scalar::I32;
                }
                let operand = self.operand(Type::Scalar(scalar)).value;
                self.call("match.any", vec![Operand::Value(operand)], Level::Thread);
            }
        }
    }

    fn shuffle(&mut self) {
        let names = ["shuffle.idx", "shuffle.up", "shuffle.down", "shuffle.xor"];
        let name = self.rng.pick(&names);
        let scalar = self.rng.pick(Scalar::ALL);
        let value = self.operand(Type::Scalar(scalar)).value;
        let lane = self.lane();
        self.call(name, vec![Operand::Value(value), Operand::Value(lane)], Level::Thread);
    }

    /// A number of a lane, of any type of integer.
    fn lane(&mut self) -> Value {
        let scalar = self.rng.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U8]);
        let operand = self.operand(Type::Scalar(scalar)).value;
        let most = self.builder.int(scalar, 31);
        self.builder.binary(Binary::And, operand, most)
    }

    /// A turn of writing and reading shared memory, with barriers around: whoever comes next finds
    /// it free.
    pub(super) fn share(&mut self) {
        let n_threads = u64::from(self.block.iter().product::<u32>());
        let is_counted = self.rng.percent(30);
        let element = match is_counted {
            true => self.rng.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64]),
            false => number(&mut self.rng),
        };
        let bytes = element.bytes() * n_threads as u32;
        let name = format!("shared{}", self.line);
        let array = SharedArray { name, element, size: Size::Bytes(bytes), align: 16 };
        let shared = self.builder.shared(array);
        let base = self.builder.shared_address(shared);
        let thread = self.thread();
        self.fill(base, thread, element);
        self.barrier();
        if is_counted {
            self.count_in(base, element, n_threads, "block");
            self.barrier();
        }
        for _ in 0..self.rng.within(1, 2) {
            self.read_shared(base, element, n_threads);
        }
        self.barrier();
        // A thread's own cell is its own behind the barrier.
        if self.rng.percent(30) {
            let value = self.operand(Type::Scalar(element)).value;
            let pointer = self.element(base, thread, element.bytes());
            self.builder.store(Store {
                pointer,
                value,
                align: element.bytes(),
                qualifier: None,
                condition: None,
            });
            self.barrier();
        }
    }

    /// Reads one of so many elements of an array of the block.
    pub(super) fn read_shared(&mut self, base: Value, element: Scalar, count: u64) {
        let is_uniform = self.rng.percent(30);
        let index = self.index(count, is_uniform);
        let align = element.bytes();
        let pointer = self.element(base, index.value, align);
        let load = Load { pointer, align, qualifier: None, guard: None };
        let value = self.builder.load(Type::Scalar(element), load);
        self.remember(value, index.level.min(Level::Block));
    }

    /// Adds to one of so many elements of an array, where that scope may do so too.
    pub(super) fn count_in(
        &mut self,
        base: Value,
        element: Scalar,
        n_threads: u64,
        scope: &'static str,
    ) {
        let index = self.index(n_threads, false);
        let pointer = self.element(base, index.value, element.bytes());
        let value = self.operand(Type::Scalar(element)).value;
        let operands = vec![
            Operand::Value(pointer),
            Operand::Value(value),
            Operand::Word("relaxed"),
            Operand::Word(scope),
        ];
        self.effect("atomic.add", operands);
    }

    /// The barrier of all threads: that of the block, or one with a number that all come to.
    pub(super) fn barrier(&mut self) {
        if !self.rng.percent(20) {
            return self.effect("barrier", Vec::new());
        }
        let number = self.rng.within(1, intrinsic::N_BARRIERS as u64 - 1) as i64;
        let number = self.builder.int(Scalar::I32, number);
        let n_threads = i64::from(self.block.iter().product::<u32>());
        let operands = vec![Operand::Value(number), Operand::Constant(n_threads)];
        self.effect("barrier.sync", operands);
    }

    /// Calls a row that gives nothing, or of which the result is not used.
    pub(super) fn effect(&mut self, name: &str, operands: Vec<Operand>) {
        if let Some(row) = intrinsic::find(name) {
            self.builder.call(row, operands);
        }
    }
}
