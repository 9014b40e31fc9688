// SPDX-License-Identifier: Apache-2.0
//! Indices that only the extent of something else bounds: a kernel asks whether `i < x.shape[0]`
//! and goes to `y[i]`, and nothing that is known of the call says that `y` is as large.
//!
//! It is found over a kernel's finished operations, in one walk: where an index is stated to be in
//! bounds, the conditions around (`walk.rs`) are looked through for what bounds it (`judge.rs`).
//! Numbers are compared as sums of what threads and calls have (`form.rs`).
//!
//! Whoever is told of it trusts that it is so. So it is silent about all that it does not see
//! through: an index on whose way stands anything that has to do with the extent, or with data; a
//! condition that is not comparisons of integers; extents that any fact of the call relates
//! ([`Relations`]), however it relates them. An index that nothing but the grid bounds is none of
//! its findings, and neither is one that something bounds which is not of the call.
//!
//! Not here: what a call's facts relate (`packed/facts/`), and the words (`packed/unrelated.rs`).

mod definition;
mod form;
mod judge;
mod relations;
mod support;
#[cfg(test)]
mod tests;
mod walk;

pub use relations::Relations;

use crate::python::tree::Name;
use crate::value::Leaf;
use definition::Definitions;
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::{Place, Value};
use kernpack_layout::{Facts, Int, Layout, Tuple};
use kernpack_syntax::{Placed, Span};
use kernpack_validators::Expr;
use rustc_hash::FxHashMap;

/// The facts about a call beside what it passes to the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'r> {
    /// The blocks of the grid in x, y and z, as far as they are known.
    pub grid: &'r [Placed<Expr>],
    /// The numbers of the call that its facts relate.
    pub relations: &'r Relations,
}

/// An access of which an index is bounded by the extent of something else alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Unrelated {
    /// The access.
    pub access: Span,
    /// The call in whose place it stands, where it is a function's that the kernel calls.
    pub called: Option<Span>,
    /// The tensor.
    pub tensor: Name,
    /// The mode of the index, among those that the kernel is passed.
    pub mode: usize,
    /// The extent of that mode.
    pub extent: Expr,
    /// The condition or loop that bounds the index.
    pub bound: Span,
    /// The least extent that would be enough by that bound.
    pub limit: Expr,
}

/// An index that was stated to be in bounds of an argument's mode.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The tensor's name.
    pub name: Name,
    /// Where the access is written.
    pub span: Span,
    /// The call in whose place it stands.
    pub called: Option<Span>,
}

/// The extents of a tensor that a kernel is passed.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    /// The tensor's name.
    pub name: Name,
    /// The extents, each with the mode that it is of.
    pub extents: Vec<(usize, Int<Leaf>)>,
}

impl Extents {
    /// Those of a layout.
    pub fn of(name: &Name, layout: &Layout<Leaf>) -> Extents {
        let modes = match layout {
            Tuple::Node(modes) => &modes[..],
            Tuple::Leaf(_) => std::slice::from_ref(layout),
        };
        let extents = modes.iter().enumerate().flat_map(|(number, mode)| {
            mode.leaves().into_iter().map(move |leaf| (number, leaf.extent))
        });
        Extents { name: name.clone(), extents: extents.collect() }
    }
}

/// The accesses that were written down while a kernel was elaborated.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    arguments: Vec<Extents>,
    stated: FxHashMap<(Value, Value, Place), Access>,
}

impl Accesses {
    /// Writes down a tensor that the kernel is passed.
    pub fn add_argument(&mut self, argument: Extents) {
        self.arguments.push(argument);
    }

    /// Writes down a statement that is made at a place. Of several alike, the first counts.
    pub fn add(&mut self, (index, extent, place): (Value, Value, Place), access: Access) {
        self.stated.entry((index, extent, place)).or_insert(access);
    }

    /// The access that a statement is of, where it is one.
    fn of(&self, statement: (Value, Value, Place)) -> Option<&Access> {
        self.stated.get(&statement)
    }

    /// The mode of a tensor that has an extent.
    fn mode(&self, name: &Name, extent: Value, kernel: &Kernel) -> Option<usize> {
        let constant = kernel.constant(extent).and_then(|constant| constant.as_int());
        let is_it = |one: &Int<Leaf>| match one {
            Int::Known(number) => constant == Some(*number),
            Int::Dynamic(leaf) => leaf.value == extent,
        };
        let named = self.arguments.iter().filter(|one| one.name == *name);
        let mut extents = named.flat_map(|one| &one.extents);
        extents.find(|(_, one)| is_it(one)).map(|(mode, _)| *mode)
    }
}

/// A number that a kernel is passed, in terms of the call.
pub(crate) struct Given<'k> {
    /// Its value in the kernel.
    pub value: Value,
    /// A divisor of it.
    pub divisor: i64,
    /// Its expression.
    pub expr: &'k Expr,
}

/// A kernel whose values are not numbered anew yet, with what is known of them.
pub(crate) struct Finished<'k> {
    /// The kernel.
    pub kernel: &'k Kernel,
    /// The numbers that it is passed.
    pub given: Vec<Given<'k>>,
    /// The facts about integers.
    pub facts: &'k FxHashMap<Value, Facts>,
    /// The accesses.
    pub accesses: &'k Accesses,
    /// The expression of a number of the call, as it is best written.
    pub written: &'k dyn Fn(Value) -> Option<Expr>,
}

/// The indices of a kernel that the extent of something else alone bounds, in order.
pub(crate) fn unrelated(finished: &Finished<'_>, surroundings: Surroundings<'_>) -> Vec<Unrelated> {
    let definitions = Definitions::of(finished.kernel, &finished.given);
    walk::Walk::new(finished, &definitions, surroundings).findings()
}
