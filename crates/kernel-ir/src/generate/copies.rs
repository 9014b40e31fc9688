// SPDX-License-Identifier: Apache-2.0
//! Copies of inputs into shared memory that go on while threads compute, in one group or two.

use super::Maker;
use crate::kernel::{SharedArray, Size, Value};
use crate::op::Operand;
use crate::types::{Scalar, Type};

/// Elements of an input that the threads of a block copy.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub element: Scalar,
    pub count: u64,
    /// Where they are copied to.
    pub base: Value,
}

impl Maker {
    /// A turn of copying, computing, waiting and reading, with barriers around.
    pub(super) fn copies(&mut self) {
        let n_pieces = self.rng.within(1, 2);
        let pieces: Vec<_> = (0..n_pieces).map(|number| self.begin_copy(number)).collect();
        for _ in 0..self.rng.within(0, 3) {
            self.compute();
        }
        for (number, piece) in pieces.iter().enumerate() {
            let n_left = n_pieces as i64 - 1 - number as i64;
            self.effect("copy.wait", vec![Operand::Constant(n_left)]);
            self.barrier();
            let Piece { element, count, base } = *piece;
            self.read_shared(base, element, count);
        }
        self.barrier();
    }

    /// Each thread begins a copy, in a group of its own.
    pub(super) fn begin_copy(&mut self, number: u64) -> Piece {
        let inputs = self.inputs.clone();
        let input = self.rng.pick(&inputs);
        let bytes = self.rng.pick(&[4, 8, 16]).max(u64::from(input.element.bytes()));
        let n_threads = u64::from(self.block.iter().product::<u32>());
        let array = SharedArray {
            name: format!("copied{}_{number}", self.line),
            element: input.element,
            size: Size::Bytes((n_threads * bytes) as u32),
            align: 16,
        };
        let shared = self.builder.shared(array);
        let base = self.builder.shared_address(shared);
        let thread = self.thread();
        let to = self.element(base, thread, bytes as u32);
        let held = input.count * u64::from(input.element.bytes());
        let is_uniform = self.rng.percent(20);
        let index = self.index(held / bytes, is_uniform);
        let from = self.element(input.pointer, index.value, bytes as u32);
        let given = match self.rng.percent(50) {
            true => self.builder.constant(crate::Const::bool(true)),
            false => self.operand(Type::Scalar(Scalar::Bool)).value,
        };
        if self.rng.percent(30) {
            // What is there before is gone.
            let first = self.builder.index(0);
            self.fill(to, first, input.element);
        }
        let [to, from, given] = [to, from, given].map(Operand::Value);
        self.effect("copy.async", vec![to, from, Operand::Constant(bytes as i64), given]);
        self.effect("copy.commit", Vec::new());
        let element = input.element;
        Piece { element, count: n_threads * bytes / u64::from(element.bytes()), base }
    }
}
