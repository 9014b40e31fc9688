// SPDX-License-Identifier: Apache-2.0
//! Composition: the layout that takes an index of one layout for a coordinate of another.
//!
//! `composition(a, b)` has, for each coordinate `c` of `b`, the index `a(b(c))`. Each mode of `b`
//! is composed by itself with the coalesced `a`, and takes from its modes what its stride skips and
//! its extent reaches. That is a layout only where strides and extents of `b` end where modes of
//! `a` do. What `b` has beyond the end of `a` goes on in `a`'s last mode.
//!
//! Of numbers that are not known, it has to follow from facts: an extent that 8 divides may be
//! split after 8 elements, and others may not. CuTe takes that for granted, and has wrong indices
//! where it does not hold.

use crate::arith::Arith;
use crate::coalesce::coalesce;
use crate::error::{Error, Result, text};
use crate::int::Int;
use crate::layout::{IntOf, Layout, LayoutOf, Mode, Stride};
use crate::tiler::Tiler;
use crate::tuple::Tuple;

/// The layout of `lhs(rhs(c))`, nested as `rhs` or deeper.
///
/// A stride of `rhs` along a mode picks that mode of `lhs`.
pub fn composition<C: Arith>(
    cx: &mut C,
    lhs: &LayoutOf<C>,
    rhs: &LayoutOf<C>,
) -> Result<LayoutOf<C>> {
    let flat = coalesce(cx, lhs)?;
    rhs_modes(cx, lhs, &flat, rhs)
}

/// As [`composition`], mode by mode where the tiler has modes. Modes that it has none for are
/// dropped.
pub fn composition_by<C: Arith>(
    cx: &mut C,
    lhs: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    match tiler {
        Tiler::Keep => Ok(lhs.clone()),
        Tiler::Layout(rhs) => composition(cx, lhs, rhs),
        Tiler::Modes(tilers) => {
            tiler.require_modes_of(lhs)?;
            let pairs = lhs.modes().iter().zip(tilers);
            let modes = pairs.map(|(mode, tiler)| composition_by(cx, mode, tiler));
            Ok(Tuple::Node(modes.collect::<Result<_>>()?))
        }
    }
}

fn rhs_modes<C: Arith>(
    cx: &mut C,
    lhs: &LayoutOf<C>,
    flat: &LayoutOf<C>,
    rhs: &LayoutOf<C>,
) -> Result<LayoutOf<C>> {
    match rhs {
        Tuple::Node(modes) => {
            let modes = modes.iter().map(|mode| rhs_modes(cx, lhs, flat, mode));
            Ok(Tuple::Node(modes.collect::<Result<_>>()?))
        }
        Tuple::Leaf(mode) if mode.stride.is_plain() => Taken::new(flat, mode).compose(cx),
        Tuple::Leaf(mode) => {
            let basis = &mode.stride.basis;
            let picked = lhs.get(basis).ok_or_else(|| Error::NoMode {
                tuple: text(lhs),
                rank: lhs.rank(),
                mode: basis.first().copied().unwrap_or(0),
            })?;
            let flat = coalesce(cx, picked)?;
            let plain = Mode::new(mode.extent.clone(), mode.stride.scale.clone());
            Taken::new(&flat, &plain).compose(cx)
        }
    }
}

/// What one mode of the right layout takes from the left one.
struct Taken<'l, V> {
    /// The left layout, coalesced.
    lhs: &'l Layout<V>,
    /// The mode of the right one, with a plain stride.
    rhs: &'l Mode<V>,
    /// What was taken so far.
    modes: Vec<Mode<V>>,
    /// How many elements are left to take.
    count: Int<V>,
    /// How many elements of the next mode are from one to the next.
    step: Int<V>,
}

impl<'l, V: crate::Value> Taken<'l, V> {
    fn new(lhs: &'l Layout<V>, rhs: &'l Mode<V>) -> Taken<'l, V> {
        let (count, step) = (rhs.extent.clone(), rhs.stride.scale.clone());
        Taken { lhs, rhs, modes: Vec::new(), count, step }
    }

    fn compose<C: Arith<Value = V>>(mut self, cx: &mut C) -> Result<Layout<V>> {
        if self.step.is(0) {
            return Ok(Layout::mode(self.count, 0));
        }
        let leaves = self.lhs.leaves();
        let Some((last, others)) = leaves.split_last() else {
            return Ok(Layout::mode(self.count, 0));
        };
        if others.is_empty() {
            return self.take(cx, self.count.clone(), last).map(Tuple::Leaf);
        }
        for mode in others {
            if self.count.is(1) {
                break;
            }
            self.pass(cx, mode)?;
        }
        if !self.count.is(1) {
            let rest = self.take(cx, self.count.clone(), last)?;
            self.modes.push(rest);
        }
        Ok(Tuple::of_leaves(self.modes, Mode::unit()))
    }

    /// So many elements of a mode, at the distance they are at.
    fn take<C: Arith<Value = V>>(
        &self,
        cx: &mut C,
        count: IntOf<C>,
        mode: &Mode<V>,
    ) -> Result<Mode<V>> {
        let scale = cx.mul(&self.step, &mode.stride.scale)?;
        let stride = Stride { scale, basis: mode.stride.basis.clone() };
        Ok(Mode { extent: count, stride })
    }

    /// Takes from a mode what is to be taken of it, and leaves the rest for those behind it.
    fn pass<C: Arith<Value = V>>(&mut self, cx: &mut C, mode: &Mode<V>) -> Result<()> {
        if self.fits(cx, &mode.extent) {
            let all = self.take(cx, self.count.clone(), mode)?;
            self.modes.push(all);
            self.count = Int::Known(1);
            return Ok(());
        }
        let is_forward = cx.facts_of(&self.step).min >= 0;
        if is_forward && cx.divides(&mode.extent, &self.step) {
            // Each element is in another row of this mode.
            self.step = cx.div(&self.step, &mode.extent)?;
            return Ok(());
        }
        if !is_forward || !cx.divides(&self.step, &mode.extent) {
            return Err(self.uneven_stride(&mode.extent));
        }
        let run = cx.div(&mode.extent, &self.step)?;
        if cx.divides(&self.count, &run) {
            // What the mode has is several times what is wanted.
            let all = self.take(cx, self.count.clone(), mode)?;
            self.modes.push(all);
            self.count = Int::Known(1);
            return Ok(());
        }
        if !cx.divides(&run, &self.count) {
            return Err(self.uneven_shape(&run));
        }
        if !run.is(1) {
            let part = self.take(cx, run.clone(), mode)?;
            self.modes.push(part);
        }
        self.count = cx.div(&self.count, &run)?;
        self.step = Int::Known(1);
        Ok(())
    }

    /// Whether the bounds alone say that the mode has all that is wanted.
    fn fits<C: Arith<Value = V>>(&self, cx: &C, extent: &Int<V>) -> bool {
        let [count, step, extent] = [&self.count, &self.step, extent].map(|int| cx.facts_of(int));
        let last = (count.max as i128 - 1) * step.max as i128;
        step.min > 0 && last < extent.min as i128
    }

    fn uneven_stride(&self, extent: &Int<V>) -> Error {
        Error::StrideDivisibility {
            lhs: text(self.lhs),
            rhs: text(&Tuple::Leaf(self.rhs.clone())),
            extent: text(extent),
            step: text(&self.step),
        }
    }

    fn uneven_shape(&self, run: &Int<V>) -> Error {
        Error::ShapeDivisibility {
            lhs: text(self.lhs),
            rhs: text(&Tuple::Leaf(self.rhs.clone())),
            count: text(&self.count),
            run: text(run),
        }
    }
}
