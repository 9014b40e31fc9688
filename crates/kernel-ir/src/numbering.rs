// SPDX-License-Identifier: Apache-2.0
//! Which value an expression gave, so that what is computed twice is computed once. A value is
//! known in its region and in those within, until the region closes.
//!
//! Not here: which expressions give the same each time.

use crate::kernel::Value;
use crate::op::Expr;
use crate::types::Type;
use rustc_hash::FxHashMap;

/// The expressions that were computed where things are built now.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    computed: FxHashMap<(Type, Expr), Computed>,
    /// The regions that are open, the outermost first. Each has a number of its own.
    open: Vec<u32>,
    n_regions: u32,
}

/// A value, and the region that defines it.
#[derive(Clone, Copy, Debug)]
struct Computed {
    value: Value,
    depth: usize,
    region: u32,
}

impl Numbering {
    /// A region opens.
    pub fn open(&mut self) {
        self.open.push(self.n_regions);
        self.n_regions += 1;
    }

    /// The innermost region closes: what it defines is no longer known.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// The value that an expression of that type already is.
    pub fn find(&self, expr: &(Type, Expr)) -> Option<Value> {
        let computed = self.computed.get(expr)?;
        let is_open = self.open.get(computed.depth) == Some(&computed.region);
        is_open.then_some(computed.value)
    }

    /// An expression was computed in the innermost region.
    pub fn note(&mut self, expr: (Type, Expr), value: Value) {
        let Some((&region, outer)) = self.open.split_last() else { return };
        self.computed.insert(expr, Computed { value, depth: outer.len(), region });
    }
}
