// SPDX-License-Identifier: Apache-2.0
//! The demands of a launch on whoever assembles its kernel: `min_blocks=` and `max_registers=`.
//! They are part of the code, and so constants.

use super::expression::Evaluator;
use super::settle::block;
use super::value::Evaluated;
use crate::python::tree::{Call, Expr};
use kernpack_kernel_ir::kernel::Demands;
use kernpack_machine::multiprocessor::{LEAST_REGISTERS, MOST_REGISTERS, Multiprocessor};
use kernpack_syntax::{Diagnostic, Placed};
use kernpack_validators::Geometry;
use kernpack_validators::expr::Expr as Number;
use std::ops::RangeInclusive;

/// Their keywords, each with what it is.
pub(super) const KEYWORDS: [(&str, &str); 2] = [
    (
        "min_blocks",
        "How many blocks a multiprocessor has to hold at once, as far as registers matter: a \
         constant, where `block` is constant.",
    ),
    ("max_registers", "The most registers of a thread: a constant, without `min_blocks`."),
];

impl Evaluator<'_> {
    /// The demands of a launch; nothing where one of them is no good, or `geometry` is not known.
    pub fn demands(&mut self, call: &Call, geometry: Option<&Geometry>) -> Option<Demands> {
        let blocks = self.optional(call, "min_blocks", Evaluator::constant_or_none);
        let registers = self.optional(call, "max_registers", Evaluator::constant_or_none);
        let (blocks, registers) = (blocks?.flatten(), registers?.flatten());
        if let (Some(blocks), Some(registers)) = (&blocks, &registers) {
            let message = "`min_blocks` and `max_registers` both say how many registers there are";
            let problem = Diagnostic::new("launch-argument", message).label(blocks.span, "the one");
            self.report(problem.mark(registers.span, "the other").help("write one of them"));
            return None;
        }
        let min_blocks = match blocks {
            Some(count) => self.blocks_demanded(&count, geometry?)?,
            None => None,
        };
        let of_thread = LEAST_REGISTERS.into()..=MOST_REGISTERS.into();
        let max_registers = match registers {
            Some(count) => Some(self.count_in(&count, "max_registers", of_thread)?),
            None => None,
        };
        Some(Demands { min_blocks, max_registers })
    }

    /// How many blocks of a launch a multiprocessor has to hold; nothing inside for blocks that the
    /// launch is refused for.
    fn blocks_demanded(&mut self, count: &Placed<i64>, geometry: &Geometry) -> Option<Option<u32>> {
        let threads = |block: [Option<u32>; 3]| {
            block.iter().try_fold(1_u64, |all, one| Some(all * u64::from((*one)?)))
        };
        if let Some(threads) = threads(block(geometry)) {
            let most = Multiprocessor::largest().most_blocks_of(threads);
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            return self.count_in(count, "min_blocks", 1..=most).map(Some);
        }
        if geometry.block.iter().all(|extent| extent.as_int().is_some()) {
            return Some(None);
        }
        let message = "`min_blocks` is of blocks whose threads are known";
        let problem = Diagnostic::new("launch-argument", message).label(count.span, "here");
        self.report(problem.help("make `block` constant, or write `max_registers`"));
        None
    }

    fn count_in(
        &mut self,
        count: &Placed<i64>,
        name: &str,
        range: RangeInclusive<i64>,
    ) -> Option<u32> {
        if range.contains(count) {
            return u32::try_from(**count).ok();
        }
        let message =
            format!("`{name}` is {} to {} here, not {}", range.start(), range.end(), **count);
        self.report(Diagnostic::new("launch-argument", message).label(count.span, "out of range"));
        None
    }

    /// A number that is part of the code; nothing inside for `None`.
    fn constant_or_none(&mut self, expr: &Expr) -> Option<Option<Placed<i64>>> {
        let value = self.expr(expr)?;
        if let Evaluated::None = value {
            return Some(None);
        }
        match self.number(&(value, expr.span))? {
            Number::Int(count) => Some(Some(Placed::new(count, expr.span))),
            _ => {
                let message = "this depends on the call, and what is assembled does not";
                let problem = Diagnostic::new("launch-argument", message).label(expr.span, "here");
                self.report(problem.help("write a constant"));
                None
            }
        }
    }
}
