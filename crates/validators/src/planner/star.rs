// SPDX-License-Identifier: Apache-2.0
//! Stars: what `*b` stands for in a call, and the loops over its dims.
//!
//! A star is measured at its first use in a place where an argument must be, and others are held
//! against it. What lies in the dims of a star is never copied: it is read where the caller has it.

use super::Planner;
use super::name::{Named, NamedKind};
use crate::check;
use crate::dim::Star;
use crate::expr::Field;
use crate::path::Path;
use crate::plan::{Arith, Value};

/// Integers in a row in memory: the extents of a star's dims, or their strides.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The address of the first.
    pub start: Value,
    /// The bytes from one to the next.
    pub step: Value,
}

/// The dims that a star stands for in a call.
#[derive(Clone, Copy, Debug)]
pub struct StarDims {
    /// The extents.
    pub extents: Row,
    /// How many there are.
    pub ndim: Value,
    /// Their product, modulo 2^64.
    pub numel: Value,
    /// Whether that is the product.
    pub fits: Value,
    /// Whether one of them is 0.
    pub empty: Value,
}

/// A use of a star.
#[derive(Clone, Debug)]
pub struct StarUse {
    /// The star.
    pub star: Star,
    /// The tensor or Shape.
    pub owner: Path,
    /// The field that has an extent of that.
    pub field: fn(i64) -> Field,
    /// How many dims stand in front of the star.
    pub n_before: usize,
    /// How many dims there are beside those of the star.
    pub n_others: usize,
    /// How many dims there are in all.
    pub n_dims: Value,
    /// The extents of the star's dims.
    pub extents: Row,
}

/// A star whose dims others are held against.
#[derive(Clone, Debug)]
pub struct BoundStar {
    /// Where its dims are from.
    pub from: StarUse,
    /// The dims that it stands for.
    pub dims: StarDims,
}

/// In which order a loop goes through the dims of a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Backward,
}

/// A turn of a loop over the dims of a star.
pub struct StarTurn {
    /// The number of the dim, counted from the star's first.
    pub number: Value,
    /// The values that the turn before handed on.
    pub carried: Vec<Value>,
}

impl StarUse {
    /// The star's name.
    pub fn name(&self) -> &str {
        self.star.name.as_deref().unwrap_or("_")
    }

    /// How many dims the star stands for.
    pub fn ndim(&self, cx: &mut Planner<'_>) -> Value {
        let n_others = cx.b.int(self.n_others as i64);
        cx.b.arith(Arith::Sub, self.n_dims, n_others)
    }

    /// The path of the star's dim of that number.
    pub fn path(&self, cx: &mut Planner<'_>, number: Value) -> Path {
        let before = cx.b.int(self.n_before as i64);
        let number = cx.b.add_ints(number, before);
        self.owner.counted_dim(self.field, number)
    }
}

impl<'s> Planner<'s> {
    /// The number of a row's element.
    pub fn row_element(&mut self, row: Row, number: Value) -> Value {
        let offset = self.b.mul(number, row.step);
        let address = self.b.add_ints(row.start, offset);
        self.b.element(address, 0)
    }

    /// Goes through `ndim` dims of a star. `firsts` are the values that are handed on from turn to
    /// turn, with their names; what is left of them is returned.
    pub fn for_each_dim(
        &mut self,
        ndim: Value,
        direction: Direction,
        firsts: &[(&str, Value)],
        body: impl FnOnce(&mut Planner<'s>, &StarTurn) -> Vec<Value>,
    ) -> Vec<Value> {
        let turn = self.b.open_repeat("i", firsts);
        let number = match direction {
            Direction::Forward => turn.number,
            Direction::Backward => {
                let one = self.b.int(1);
                let last = self.b.arith(Arith::Sub, ndim, one);
                self.b.arith(Arith::Sub, last, turn.number)
            }
        };
        let nexts = body(self, &StarTurn { number, carried: turn.carried.clone() });
        self.b.close_repeat(turn, ndim, &nexts)
    }

    /// A star that has been bound.
    pub fn bound_star(&self, star: &Star) -> Option<&BoundStar> {
        self.stars.get(&ndim_of(star.name.as_deref()?))
    }

    /// Holds a tensor's rank or the size of a Shape against a star that has been bound, or against
    /// what any star leaves open.
    pub fn check_n_dims(&mut self, at: &StarUse) {
        match self.bound_star(&at.star).cloned() {
            Some(bound) => check::rank::require_same(self, at, &bound),
            None => {
                check::rank::require_room(self, at);
                let ndim = at.ndim(self);
                self.b.let_named(format!("{}{}", at.name(), Field::Ndim), ndim);
            }
        }
    }

    /// Binds the star, or holds its dims against those that it has, now or as soon as it has any.
    pub fn star(&mut self, at: &StarUse) -> StarDims {
        if let Some(bound) = self.bound_star(&at.star).cloned() {
            check::dim::require_same_dims(self, at, &bound);
            return StarDims { extents: at.extents, ..bound.dims };
        }
        let dims = self.measure(at);
        let Some(name) = &at.star.name else { return dims };
        if self.bindings.stars.get(name).is_some_and(|binding| binding.path == at.owner.text) {
            self.bind_star(name, at, dims);
        } else {
            self.check_star(name, at);
        }
        dims
    }

    /// Requires every extent not to be negative, and multiplies them.
    fn measure(&mut self, at: &StarUse) -> StarDims {
        let ndim = at.ndim(self);
        let (one, yes, no) = (self.b.int(1), self.b.bool(true), self.b.bool(false));
        let name = at.name();
        let names = ["numel", "fits", "empty"].map(|field| format!("{name}.{field}"));
        let firsts = [(&names[0][..], one), (&names[1][..], yes), (&names[2][..], no)];
        let left = self.for_each_dim(ndim, Direction::Forward, &firsts, |cx, turn| {
            let extent = cx.row_element(at.extents, turn.number);
            let path = at.path(cx, turn.number);
            cx.b.let_named(&path.text, extent);
            check::negative_dim::require(cx, &path, extent);
            let [numel, fits, empty] = turn.carried[..] else {
                unreachable!("three are handed on")
            };
            let overflows = cx.b.overflows(Arith::Mul, numel, extent);
            let no_overflow = cx.b.not(overflows);
            let is_zero = cx.b.eq_int(extent, 0);
            vec![cx.b.mul(numel, extent), cx.b.and(fits, no_overflow), cx.b.or(empty, is_zero)]
        });
        // An extent 0 makes the product 0, whatever overflowed on the way.
        let fits = self.b.or(left[2], left[1]);
        StarDims { extents: at.extents, ndim, numel: left[0], fits, empty: left[2] }
    }

    fn bind_star(&mut self, name: &str, at: &StarUse, dims: StarDims) {
        let bound = BoundStar { from: at.clone(), dims };
        self.stars.insert(ndim_of(name), bound);
        let named = |value, field: Field| {
            let path = at.owner.called(format!("{name}{field}"));
            Named::new(value, NamedKind::Int, &path)
        };
        let numel = named(dims.numel, Field::Numel);
        self.define(named(dims.ndim, Field::Ndim));
        self.define(Named { valid: Some(dims.fits), ..numel });
    }
}

/// The name of how many dims a star stands for.
pub(super) fn ndim_of(star: &str) -> String {
    format!("{star}{}", Field::Ndim)
}
