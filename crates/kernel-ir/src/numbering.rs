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
    /// Indices and extents of which it was stated that they are in bounds, and where.
    stated: FxHashMap<(Value, Value), usize>,
    regions: Vec<Place>,
    /// The regions that are open, the outermost first.
    open: Vec<usize>,
    /// Those that were closed, by the first value that is defined in each.
    closed: FxHashMap<Value, usize>,
}

/// A value, and the region that defines it.
#[derive(Clone, Copy, Debug)]
struct Computed {
    value: Value,
    region: usize,
}

/// Where what a region has is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// There, within so many others.
    Own { depth: usize },
    /// In a region that it was appended to.
    In(usize),
}

impl Numbering {
    /// A region opens.
    pub fn open(&mut self) {
        self.regions.push(Place::Own { depth: self.open.len() });
        self.open.push(self.regions.len() - 1);
    }

    /// The innermost region closes: what it defines, that value first, is no longer known.
    pub fn close(&mut self, first: Option<Value>) {
        let closed = self.open.pop();
        self.closed.extend(first.zip(closed));
    }

    /// Brings the values of a region that was closed into the innermost one, where they are known.
    pub fn append(&mut self, first: Option<Value>) {
        let appended = first.and_then(|first| self.closed.remove(&first));
        if let (Some(appended), Some(&innermost)) = (appended, self.open.last()) {
            self.regions[appended] = Place::In(innermost);
        }
    }

    /// The value that an expression of that type already is.
    pub fn find(&self, expr: &(Type, Expr)) -> Option<Value> {
        let computed = self.computed.get(expr)?;
        self.is_known(computed.region).then_some(computed.value)
    }

    /// The innermost region.
    pub fn innermost(&self) -> usize {
        self.open.last().copied().unwrap_or_default()
    }

    /// Whether what a region has is known in the innermost one.
    pub fn is_known(&self, region: usize) -> bool {
        let (region, depth) = self.whole(region);
        self.open.get(depth) == Some(&region)
    }

    /// Whether a region is the innermost one, or was appended to it.
    pub fn is_innermost(&self, region: usize) -> bool {
        self.open.last() == Some(&self.whole(region).0)
    }

    /// The region that has what a region had, and within how many others it is.
    fn whole(&self, mut region: usize) -> (usize, usize) {
        loop {
            match self.regions[region] {
                Place::Own { depth } => return (region, depth),
                Place::In(other) => region = other,
            }
        }
    }

    /// It was stated in the innermost region that an index is in bounds.
    pub fn state(&mut self, index_and_extent: (Value, Value)) {
        if let Some(&region) = self.open.last() {
            self.stated.insert(index_and_extent, region);
        }
    }

    /// Whether that was stated where it is known now.
    pub fn has_stated(&self, index_and_extent: (Value, Value)) -> bool {
        self.stated.get(&index_and_extent).is_some_and(|region| self.is_known(*region))
    }

    /// An expression was computed in the innermost region.
    pub fn note(&mut self, expr: (Type, Expr), value: Value) {
        let Some(&region) = self.open.last() else { return };
        self.computed.insert(expr, Computed { value, region });
    }
}
