// SPDX-License-Identifier: Apache-2.0
//! Stride symbols: those that only strides bind. Each use in a dim that is not free has the value,
//! so the planner goes through the uses and merges what they say.

use super::Planner;
use super::name::{Named, NamedKind, StrideOrigin};
use crate::check;
use crate::path::Path;
use crate::plan::Value;

/// A stride of a symbol that only strides bind.
#[derive(Clone, Debug)]
pub struct StrideSeen {
    /// The symbol.
    pub symbol: String,
    /// Where it stands.
    pub path: Path,
    /// Its value.
    pub actual: Value,
    /// Whether its dim is not free.
    pub here: Value,
}

impl Planner<'_> {
    /// Takes a stride of a symbol that only strides bind: its value so far, and the rules over it.
    pub fn bind_stride(&mut self, symbol: &str, at: &check::stride::StrideUse<'_>) {
        let before = self.names.get(symbol).map(|named| (named.value, named.stride));
        let here = self.b.not(at.free);
        let given = self.b.bool(true);
        let (value, bound, skip) = match before {
            Some((value, Some(StrideOrigin { bound: known, given }))) => {
                let compact = self.b.select(given, value, at.compact);
                let later = self.b.select(at.free, compact, at.actual);
                let merged = self.b.select(known, value, later);
                (merged, self.b.or(known, here), self.b.or(at.free, known))
            }
            _ => (self.b.select(at.free, at.compact, at.actual), here, at.free),
        };
        let (symbol, path) = (symbol.to_string(), at.path.clone());
        let seen =
            StrideSeen { symbol: symbol.clone(), path: path.clone(), actual: at.actual, here };
        self.stride_uses.push(seen);
        let named = Named {
            name: symbol.clone(),
            stride: Some(StrideOrigin { bound, given }),
            ..Named::new(value, NamedKind::Int, &path)
        };
        self.names.insert(symbol.clone(), named);
        self.flush_on(&[symbol], &path, Some((at.actual, skip)));
    }

    /// The strides seen so far of a symbol that only strides bind.
    pub fn strides_of(&self, symbol: &str) -> Vec<StrideSeen> {
        self.stride_uses.iter().filter(|seen| seen.symbol == symbol).cloned().collect()
    }

    /// Whether only strides bind the symbol.
    pub fn is_stride_symbol(&self, symbol: &str) -> bool {
        self.bindings.symbols.get(symbol).is_some_and(|binding| !binding.stride_uses.is_empty())
    }
}
