// SPDX-License-Identifier: Apache-2.0
//! Values that blocks of a cluster give one another: at the beginning of a kernel, where all of
//! them are.

use super::{Known, Maker, number};
use crate::intrinsic::Level;
use crate::kernel::{SharedArray, Size, Value};
use crate::op::{Binary, Operand, Rounding};
use crate::types::Scalar;

impl Maker {
    /// Turns of writing to shared memory and reading that of others, with barriers around.
    pub(super) fn neighbours(&mut self) {
        let is_counted = self.rng.percent(40);
        let element = match is_counted {
            true => self.rng.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64]),
            false => number(&mut self.rng),
        };
        let n_threads = u64::from(self.block.iter().product::<u32>());
        let array = SharedArray {
            name: "neighbours".to_string(),
            element,
            size: Size::Bytes(n_threads as u32 * element.bytes()),
            align: 16,
        };
        let shared = self.builder.shared(array);
        let base = self.builder.shared_address(shared);
        let thread = self.thread();
        self.fill(base, thread, element);
        self.meet();
        if is_counted {
            let other = self.neighbour(base);
            self.count_in(other, element, n_threads, "cluster");
            self.meet();
        }
        for _ in 0..self.rng.within(1, 2) {
            let other = self.neighbour(base);
            self.read_shared(other, element, n_threads);
        }
        self.meet();
        // The same thread of the next block has written a cell, and nobody else.
        if self.rng.percent(50) {
            let next = self.builder.index(1);
            let next = self.rank_behind(next);
            let next = self.map(base, next);
            self.fill(next, thread, element);
            self.meet();
            self.read_shared(base, element, n_threads);
            self.meet();
        }
    }

    /// The barrier of the cluster, with something between arrival and wait.
    fn meet(&mut self) {
        self.effect("cluster.arrive", vec![Operand::Word("release")]);
        for _ in 0..self.rng.within(0, 2) {
            self.compute();
        }
        self.effect("cluster.wait", Vec::new());
    }

    /// The array in any block of the cluster, its own among them.
    fn neighbour(&mut self, base: Value) -> Value {
        let by = self.index(16, true);
        let rank = self.rank_behind(by.value);
        self.map(base, rank)
    }

    /// The block so many behind this one, around the cluster.
    fn rank_behind(&mut self, by: Value) -> Value {
        let [own, size] = ["block_idx_in_cluster", "cluster_size"].map(|name| self.geometry(name));
        self.known.push(Known { value: own, level: Level::Block });
        let rank = self.builder.binary(Binary::Add, own, by);
        self.builder.binary(Binary::FloorMod, rank, size)
    }

    fn map(&mut self, base: Value, rank: Value) -> Value {
        let rank = self.builder.convert(rank, Scalar::I32, Rounding::NearestEven);
        let operands = [base, rank].map(Operand::Value).to_vec();
        let row = crate::intrinsic::find("shared.map").expect("the row is there");
        self.builder.call(row, operands).expect("it gives an address")
    }
}
