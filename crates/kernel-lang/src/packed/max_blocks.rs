// SPDX-License-Identifier: Apache-2.0
//! `kp.max_blocks(k(x, y), block=256)`: how many blocks of a launch the device of a call holds at
//! once, for the grid of that launch.
//!
//! How many there are depends on the code of the kernel, and so on everything that a launch says.
//! It is asked of the launch whose grid is computed from it, which has to be of the same kernel,
//! with the same arguments and the same blocks. So the code that is asked about is the code that
//! runs. Until then it is a number with a name of its own.
//!
//! Not here: what a call does to find out.

use super::expression::Evaluator;
use super::number::Row;
use super::value::{Evaluated, KernelCall};
use crate::argument::{Argument, Dim};
use crate::builtin;
use crate::call::Arg;
use kernpack_layout::Int;
use kernpack_syntax::{Diagnostic, Placed, Span};
use kernpack_validators::Geometry;
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::plan;

/// The function.
pub(super) const MAX_BLOCKS: Row = Row {
    name: builtin::MAX_BLOCKS,
    takes: &["kernel", "block", "smem="],
    doc: "How many blocks of a launch the device of the call holds at once, for the grid of that \
          launch: of the same kernel with its arguments, `k(x, y)`, with the same `block` and \
          `smem`. At least one for each multiprocessor.",
};

/// A question that has been asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    call: KernelCall,
    block: Vec<Placed<Number>>,
    smem: Number,
    span: Span,
}

/// The name of the answer to the question of that number, until a launch has it.
fn name(number: usize) -> String {
    format!("{}.{number}", plan::MAX_BLOCKS)
}

/// Whether it is such a name.
pub(super) fn is_name(name: &str) -> bool {
    number(name).is_some()
}

/// The number of the question whose answer has that name.
fn number(name: &str) -> Option<usize> {
    name.strip_prefix(plan::MAX_BLOCKS)?.strip_prefix('.')?.parse().ok()
}

/// Whether an expression is computed from an answer.
fn is_named_in(expr: &Number) -> bool {
    expr.names().iter().any(|name| is_name(&name.text))
}

/// Whether a number is computed from an answer, or one of a layout's.
pub(super) fn is_in(value: &Evaluated) -> bool {
    match value {
        Evaluated::Dim(expr) => is_named_in(expr),
        Evaluated::Layout(layout, _) => {
            let other = |dim: &Dim| (!is_named_in(&dim.expr)).then(|| Int::Dynamic(dim.clone()));
            layout.convert(&mut |dim: &Dim| other(dim)).is_none()
        }
        _ => false,
    }
}

impl Evaluator<'_> {
    /// `kp.max_blocks(k(x, y), block, smem)`
    pub(super) fn max_blocks(
        &mut self,
        args: &[Option<Arg<Evaluated>>],
        span: Span,
    ) -> Option<Evaluated> {
        let [Some(kernel), Some(block), smem] = args else { return None };
        let Evaluated::Call(call) = &kernel.value else {
            return self.expected("a kernel with its arguments", &kernel.value, kernel.span);
        };
        let block = self.extents_of(block.value.clone(), block.span);
        let smem = match smem {
            Some(smem) => self.number(&(smem.value.clone(), smem.span)),
            None => Some(Number::Int(0)),
        };
        let (block, smem) = (block?, smem?);
        let answer = Number::Symbol(name(self.asked.len()), span);
        self.asked.push(Asked { call: (**call).clone(), block, smem, span });
        Some(Evaluated::number(answer))
    }

    /// Gives the grid of a launch its number of blocks, where it is computed from that; nothing
    /// where it is of another launch, or anything else is computed from such a number.
    pub(super) fn with_max_blocks(
        &mut self,
        mut geometry: Geometry,
        call: &KernelCall,
        args: &[Argument],
        at: Span,
    ) -> Option<Geometry> {
        let Geometry { block, cluster, shared, priority, .. } = &geometry;
        let others = block.iter().chain(cluster).chain([shared]).chain(priority);
        if let Some(other) = others.into_iter().find(|other| is_named_in(other)) {
            self.report(known_late().label(other.span, "computed from it"));
            return None;
        }
        let of_grid = geometry.grid.iter().flat_map(|extent| extent.names());
        for number in of_grid.filter_map(|name| number(&name.text)) {
            let asked = self.asked[number].clone();
            if let Some(what) = self.difference(&asked, &geometry, call, args)? {
                let message = format!("`kp.max_blocks` has {what} than its launch");
                let problem = Diagnostic::new("launch-argument", message).label(asked.span, "here");
                let help = "ask of the kernel and its arguments, the `block` and the `smem` that \
                            this launch has";
                self.report(problem.mark(at, "launched here").help(help));
                return None;
            }
            if let Some(cluster) = geometry.cluster.first() {
                let message = "`kp.max_blocks` counts blocks, and the launch has clusters";
                let problem = Diagnostic::new("launch-argument", message).label(asked.span, "here");
                let problem = problem.mark(cluster.span, "how many blocks a cluster has");
                self.report(problem.help("compute the grid from `kp.device.sm_count`"));
                return None;
            }
        }
        for extent in &mut geometry.grid {
            extent.value = settled(&extent.value);
        }
        Some(geometry)
    }

    /// The difference between a launch and the one that was asked about; nothing inside where there
    /// is none.
    fn difference(
        &mut self,
        asked: &Asked,
        geometry: &Geometry,
        call: &KernelCall,
        args: &[Argument],
    ) -> Option<Option<&'static str>> {
        let Asked { call: KernelCall { kernel, .. }, block, smem, .. } = asked;
        let extent = |block: &[Placed<Number>], i: usize| {
            block.get(i).map_or(Number::Int(1), |extent| self.facts.canonical(extent))
        };
        let is_block = (0..3).all(|i| extent(block, i) == extent(&geometry.block, i));
        let is_smem = self.facts.canonical(smem) == self.facts.canonical(&geometry.shared);
        if kernel.module != call.kernel.module || kernel.name() != call.kernel.name() {
            return Some(Some("another kernel"));
        }
        Some(match self.arguments(&asked.call)? == args {
            false => Some("other arguments"),
            true if !is_block => Some("another `block`"),
            true if !is_smem => Some("another `smem`"),
            true => None,
        })
    }
}

/// An expression with the name of the answer that a launch has.
fn settled(expr: &Number) -> Number {
    match expr {
        Number::Symbol(name, span) if is_name(name) => {
            Number::Symbol(plan::MAX_BLOCKS.to_string(), *span)
        }
        Number::Binary(op, a, b) => Number::Binary(*op, settled(a).into(), settled(b).into()),
        Number::Int(_) | Number::Symbol(..) | Number::Field(..) => expr.clone(),
    }
}

/// The problem of whatever is computed from a number of blocks, and is no grid.
pub(super) fn known_late() -> Diagnostic {
    let message = "`kp.max_blocks` is known for the grid of its launch only";
    let problem = Diagnostic::new("packed-value", message);
    problem.help("compute the grid from it; a kernel asks `kp.grid_dim()`")
}
