// SPDX-License-Identifier: Apache-2.0
//! Parts of inputs that one thread brings to shared memory, phase by phase of an mbarrier, and
//! cells of an output that one thread sends from there.

use super::copies::Piece;
use super::{CELLS, Maker, Output};
use crate::intrinsic::{BULK_ALIGN, Level, MBARRIER_BYTES};
use crate::kernel::{SharedArray, Size, Value};
use crate::op::{Compare, Operand, Region, Store};
use crate::types::{Scalar, Type};

/// The most that is brought at once, in units of [`BULK_ALIGN`].
const MOST_UNITS: u64 = 8;

impl Maker {
    /// Phases of bringing, computing, waiting and reading. An mbarrier is made once, so that this
    /// stands in no loop.
    pub(super) fn phases(&mut self) {
        if self.rng.percent(25) {
            return self.arrive_with_copies();
        }
        let inputs = self.inputs.clone();
        let input = self.rng.pick(&inputs);
        let element_bytes = u64::from(input.element.bytes());
        let n_held = input.count * element_bytes / u64::from(BULK_ALIGN);
        let n_units = self.rng.within(1, n_held.min(MOST_UNITS));
        let bytes = n_units as u32 * BULK_ALIGN;
        let tile = self.array("brought", input.element, bytes, BULK_ALIGN);
        let all_arrive = self.rng.percent(40);
        let bar = self.mbarrier(if all_arrive { self.n_threads() } else { 1 });
        for phase in 0..self.rng.within(1, 3) {
            let unit = self.index(n_held - n_units + 1, false);
            let from = self.element(input.pointer, unit.value, BULK_ALIGN);
            let thread = self.rng.below(self.n_threads());
            let expects_first = self.rng.percent(60);
            let bring = |maker: &mut Maker| maker.bring([tile, from], bytes, bar, expects_first);
            let arrive = |maker: &mut Maker| {
                if all_arrive {
                    maker.effect("mbarrier.arrive", vec![Operand::Value(bar)]);
                }
            };
            self.only(thread, bring, arrive);
            for _ in 0..self.rng.within(0, 2) {
                self.compute();
            }
            self.wait_for(bar, phase);
            self.read_shared(tile, input.element, u64::from(bytes) / element_bytes);
            self.barrier();
            // What a thread writes there, the next copy overwrites behind a fence.
            if self.rng.percent(30) {
                let value = self.operand(Type::Scalar(input.element)).value;
                let align = input.element.bytes();
                let write = |maker: &mut Maker| {
                    maker.builder.store(Store {
                        pointer: tile,
                        value,
                        align,
                        condition: None,
                        qualifier: None,
                    });
                    maker.effect("fence.proxy_async", Vec::new());
                };
                self.only(thread, write, |_| {});
                self.barrier();
            }
        }
    }

    /// Each thread copies a piece, and arrives when that is there.
    fn arrive_with_copies(&mut self) {
        let bar = self.mbarrier(self.n_threads());
        let Piece { element, count, base } = self.begin_copy(0);
        self.effect("mbarrier.arrive_after_copies", vec![Operand::Value(bar)]);
        for _ in 0..self.rng.within(0, 2) {
            self.compute();
        }
        self.wait_for(bar, 0);
        self.read_shared(base, element, count);
        self.barrier();
    }

    /// A thread sends all cells of the block in an output, which each thread puts into shared
    /// memory.
    pub(super) fn send(&mut self) {
        let outputs = self.outputs.clone();
        let Output { pointer, element } = self.rng.pick(&outputs);
        let bytes = (self.n_threads() * CELLS) as u32 * element.bytes();
        if !bytes.is_multiple_of(BULK_ALIGN) {
            return self.share();
        }
        let tile = self.array("sent", element, bytes, BULK_ALIGN);
        let thread = self.thread();
        let own = self.element(tile, thread, CELLS as u32 * element.bytes());
        for cell in 0..CELLS {
            let value = self.operand(Type::Scalar(element)).value;
            let cell = self.builder.index(cell as i64);
            let pointer = self.element(own, cell, element.bytes());
            let align = element.bytes();
            self.builder.store(Store { pointer, value, align, condition: None, qualifier: None });
        }
        self.effect("fence.proxy_async", Vec::new());
        self.barrier();
        // The cells of a block begin with those of its first thread.
        let only_reads = self.rng.percent(20);
        let send = |maker: &mut Maker| {
            let bytes = maker.builder.int(Scalar::I32, bytes.into());
            let operands = [pointer, tile, bytes].map(Operand::Value).to_vec();
            maker.effect("copy.bulk_store", operands);
            maker.effect("copy.bulk_commit", Vec::new());
            if only_reads {
                maker.effect("copy.bulk_wait_read", vec![Operand::Constant(0)]);
            }
            maker.effect("copy.bulk_wait", vec![Operand::Constant(0)]);
        };
        self.only(0, send, |_| {});
        self.barrier();
    }

    fn n_threads(&self) -> u64 {
        u64::from(self.block.iter().product::<u32>())
    }

    fn array(&mut self, name: &str, element: Scalar, bytes: u32, align: u32) -> Value {
        let name = format!("{name}{}", self.line);
        let array = SharedArray { name, element, size: Size::Bytes(bytes), align };
        let shared = self.builder.shared(array);
        self.builder.shared_address(shared)
    }

    /// An mbarrier for so many arrivals, which all threads may use.
    fn mbarrier(&mut self, count: u64) -> Value {
        let bar = self.array("bar", Scalar::U64, MBARRIER_BYTES, MBARRIER_BYTES);
        let thread = self.rng.below(self.n_threads());
        let make = |maker: &mut Maker| {
            let count = maker.builder.int(Scalar::I32, count as i64);
            maker.effect("mbarrier.init", [bar, count].map(Operand::Value).to_vec());
        };
        self.only(thread, make, |_| {});
        self.barrier();
        bar
    }

    /// One thread does this, and the others that.
    fn only(
        &mut self,
        thread: u64,
        then: impl FnOnce(&mut Maker),
        otherwise: impl FnOnce(&mut Maker),
    ) {
        let own = self.thread();
        let thread = self.builder.index(thread as i64);
        let condition = self.builder.compare(Compare::Eq, own, thread);
        let [then, otherwise] = [self.part(then), self.part(otherwise)];
        self.builder.if_else(condition, then, otherwise);
    }

    fn part(&mut self, fill: impl FnOnce(&mut Maker)) -> Region {
        self.builder.open();
        fill(self);
        self.builder.close()
    }

    fn bring(&mut self, [to, from]: [Value; 2], bytes: u32, bar: Value, expects_first: bool) {
        let bytes = self.builder.int(Scalar::I32, bytes.into());
        let expect = |maker: &mut Maker| {
            maker.effect("mbarrier.arrive_expect_tx", [bar, bytes].map(Operand::Value).to_vec());
        };
        if expects_first {
            expect(self);
        }
        self.effect("copy.bulk", [to, from, bytes, bar].map(Operand::Value).to_vec());
        if !expects_first {
            expect(self);
        }
    }

    /// All threads wait for a phase, and some ask whether it is complete.
    fn wait_for(&mut self, bar: Value, phase: u64) {
        let phase = self.builder.int(Scalar::I32, phase as i64);
        let operands = [bar, phase].map(Operand::Value).to_vec();
        self.effect("mbarrier.wait", operands.clone());
        if self.rng.percent(30) {
            self.call("mbarrier.try_wait", operands, Level::Thread);
        }
    }
}
