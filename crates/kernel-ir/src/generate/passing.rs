// SPDX-License-Identifier: Apache-2.0
//! Values that threads of the whole grid give one another: at the beginning of a kernel, where all
//! of them are. Its launch is cooperative.

use super::{CELLS, Maker};
use crate::kernel::Value;

impl Maker {
    /// A turn of writing cells of an output, which begins there, and reading those of any of so
    /// many threads, with barriers around.
    pub(super) fn pass_on(&mut self, bases: &[Value], n_threads: u64) {
        let place = self.rng.below(self.outputs.len() as u64) as usize;
        let (base, element) = (bases[place], self.outputs[place].element);
        for cell in 0..self.rng.within(1, CELLS) {
            self.store_cell(place, cell);
        }
        self.effect("barrier.grid", Vec::new());
        for _ in 0..self.rng.within(1, 3) {
            self.read_shared(base, element, n_threads * CELLS);
        }
        self.effect("barrier.grid", Vec::new());
    }
}
