// SPDX-License-Identifier: Apache-2.0
//! How long each value of a kernel is needed: up to the last operation that reads it, and where a
//! loop reads a value from outside it, up to the end of that loop. Registers are shared by values
//! that are not needed at the same time, so that those of a warp stay in a processor's cache.
//!
//! Operations are counted in the order in which they are written, and the end of one with regions
//! counts as one more.

use crate::kernel::{Kernel, Value};
use crate::op::{Op, OpKind, Region};

/// Where values are needed for the last time, by value.
pub(super) struct Lifetimes {
    pub last_use: Vec<u32>,
}

impl Lifetimes {
    pub fn of(kernel: &Kernel) -> Lifetimes {
        let n_values = kernel.values.len();
        let mut walk =
            Walk { position: 0, made: vec![0; n_values], last: vec![0; n_values], loops: vec![] };
        walk.region(&kernel.body);
        Lifetimes { last_use: walk.last }
    }
}

struct Walk {
    position: u32,
    made: Vec<u32>,
    last: Vec<u32>,
    loops: Vec<OpenLoop>,
}

/// A loop that has begun, and what from outside is read in it.
struct OpenLoop {
    start: u32,
    read: Vec<Value>,
}

impl Walk {
    fn region(&mut self, region: &Region) {
        for op in &region.0 {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        self.position += 1;
        if let Some(result) = op.result {
            self.make(result);
        }
        match &op.kind {
            OpKind::While { before, condition, body } => {
                self.open();
                self.region(before);
                self.read(*condition);
                self.region(body);
                self.close();
            }
            OpKind::For { index, end, step, body, .. } => {
                op.kind.uses(&mut |value| self.read(*value));
                self.open();
                self.make(*index);
                self.region(body);
                for value in [*end, *step, *index] {
                    self.read(value);
                }
                self.close();
            }
            kind => {
                kind.uses(&mut |value| self.read(*value));
                let mut has_regions = false;
                for region in kind.regions() {
                    self.region(region);
                    has_regions = true;
                }
                self.position += u32::from(has_regions);
            }
        }
    }

    fn make(&mut self, value: Value) {
        self.made[value.index()] = self.position;
        self.last[value.index()] = self.position;
    }

    fn read(&mut self, value: Value) {
        let made = self.made[value.index()];
        self.last[value.index()] = self.position;
        if let Some(outermost) = self.loops.iter_mut().find(|open| made < open.start) {
            outermost.read.push(value);
        }
    }

    fn open(&mut self) {
        self.loops.push(OpenLoop { start: self.position, read: Vec::new() });
    }

    fn close(&mut self) {
        self.position += 1;
        let closed = self.loops.pop().map(|open| open.read).unwrap_or_default();
        for value in closed {
            self.last[value.index()] = self.position;
        }
    }
}
