// SPDX-License-Identifier: Apache-2.0
//! Layouts with an offset and a function behind them, which is a swizzle or another layout:
//! `S<3,4,3> o 0 o (8,8):(8,1)` has for a coordinate `c` the index `S(0 + (8,8):(8,1)(c))`.
//!
//! The outer function and the offset stay as they are while the inner layout is divided, sliced and
//! composed, so that every operation on layouts is one on these, too.

use crate::arith::Arith;
use crate::composition::composition_by;
use crate::error::{Error, Result, text};
use crate::index::{add_indices, crd2idx};
use crate::int::{Int, Value};
use crate::layout::{Layout, LayoutOf, Shape, ShapeOf};
use crate::recast::recast_layout;
use crate::slice::{Coord, slice_and_offset};
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};

/// A layout, an offset that is added to its indices, and a function of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed<V = Infallible> {
    /// The function.
    pub outer: Outer<V>,
    /// The offset that is added before it: an index of the inner layout.
    pub offset: Shape<V>,
    /// The layout that takes the coordinates.
    pub inner: Layout<V>,
}

/// The outer map of a composed layout, from an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Outer<V = Infallible> {
    /// Other bits.
    Swizzle(Swizzle),
    /// The index at a coordinate.
    Layout(Layout<V>),
}

impl<V: Value> Composed<V> {
    /// A layout with a swizzle, and without an offset.
    pub fn swizzled(swizzle: Swizzle, inner: Layout<V>) -> Composed<V> {
        Composed { outer: Outer::Swizzle(swizzle), offset: Tuple::Leaf(Int::Known(0)), inner }
    }

    /// The index of a coordinate. Free modes count as 0.
    pub fn crd2idx<C: Arith<Value = V>>(&self, cx: &mut C, coord: &Coord<V>) -> Result<ShapeOf<C>> {
        let index = crd2idx(cx, coord, &self.inner)?;
        let index = add_indices(cx, &self.offset, &index)?;
        match (&self.outer, &index) {
            (Outer::Swizzle(swizzle), Tuple::Leaf(index)) => {
                Ok(Tuple::Leaf(swizzle.apply(cx, index)?))
            }
            (Outer::Swizzle(_), Tuple::Node(_)) => {
                Err(Error::BasisStrides { what: "a swizzle", layout: text(&self.inner) })
            }
            (Outer::Layout(outer), index) => crd2idx(cx, &Coord::at(index), outer),
        }
    }

    /// The same function of what an operation makes of the inner layout.
    pub fn map_inner<C: Arith<Value = V>>(
        &self,
        cx: &mut C,
        each: impl FnOnce(&mut C, &LayoutOf<C>) -> Result<LayoutOf<C>>,
    ) -> Result<Composed<V>> {
        Ok(Composed { inner: each(cx, &self.inner)?, ..self.clone() })
    }

    /// The layout of `self(rhs(c))`.
    pub fn composition<C: Arith<Value = V>>(
        &self,
        cx: &mut C,
        rhs: &Tiler<V>,
    ) -> Result<Composed<V>> {
        self.map_inner(cx, |cx, inner| composition_by(cx, inner, rhs))
    }

    /// The part that a coordinate leaves free, with its index in the offset.
    pub fn slice<C: Arith<Value = V>>(&self, cx: &mut C, coord: &Coord<V>) -> Result<Composed<V>> {
        let (inner, index) = slice_and_offset(cx, coord, &self.inner)?;
        let offset = add_indices(cx, &self.offset, &index)?;
        Ok(Composed { outer: self.outer.clone(), offset, inner })
    }

    /// The layout of the same memory, as elements of another width: [`recast_layout`] of inner
    /// layout and offset, and the swizzle of indices that count those elements.
    pub fn recast<C: Arith<Value = V>>(
        &self,
        cx: &mut C,
        new_bits: i64,
        old_bits: i64,
    ) -> Result<Composed<V>> {
        let refused = |why: &str| Error::Recast {
            layout: text(self),
            new_bits,
            old_bits,
            why: why.to_string(),
        };
        let Outer::Swizzle(swizzle) = &self.outer else {
            return Err(refused("the outer layout has elements of its own"));
        };
        let (up, down) = crate::recast::ratio(new_bits, old_bits, self)?;
        let offset = match &self.offset {
            Tuple::Leaf(offset) if cx.facts_of(offset).is_multiple_of(up) => {
                let offset = cx.div(offset, &Int::Known(up))?;
                Tuple::Leaf(cx.mul(&offset, &Int::Known(down))?)
            }
            Tuple::Leaf(_) | Tuple::Node(_) => {
                return Err(refused("the offset is not known to be one of whole elements"));
            }
        };
        let outer = Outer::Swizzle(swizzle.recast(new_bits, old_bits)?);
        let inner = recast_layout(cx, &self.inner, new_bits, old_bits)?;
        Ok(Composed { outer, offset, inner })
    }
}

impl<V: Display> Display for Composed<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.outer {
            Outer::Swizzle(swizzle) => swizzle.fmt(f)?,
            Outer::Layout(layout) => layout.fmt(f)?,
        }
        f.write_str(" o ")?;
        self.offset.fmt(f)?;
        f.write_str(" o ")?;
        self.inner.fmt(f)
    }
}
