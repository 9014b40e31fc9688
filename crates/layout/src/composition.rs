// SPDX-License-Identifier: Apache-2.0
//! Composition: the layout that takes an index of one layout for a coordinate of another.
//!
//! `composition(a, b)` has, for each coordinate `c` of `b`, the index `a(b(c))`. Each mode of `b`
//! is composed by itself with the coalesced `a`: from each mode of `a` it takes a part, which its
//! stride skips and its extent reaches. That is a layout only where strides and extents of `b` end
//! where modes of `a` do, and where the parts that modes of `b` take from one mode of `a` stay
//! within it when they are added up. What `b` has beyond the end of `a` goes on in `a`'s last mode,
//! also where that has extent 1: `a(n)` is an index for every number `n`, and
//! `composition(1:7, 3:1)` is `3:7`.
//!
//! Of numbers that are not known, it has to follow from facts: an extent that 8 divides may be
//! split after 8 elements, and others may not. CuTe takes that for granted, and has wrong indices
//! where it does not hold.

use crate::arith::Arith;
use crate::coalesce::coalesce_beyond;
use crate::error::{Error, Result, text};
use crate::index::crd2idx;
use crate::int::{Int, Value};
use crate::layout::{Layout, LayoutOf, Mode, Shape, Stride};
use crate::slice::Slot;
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
    let mut composer = Composer { lhs, rhs, picked: Vec::new() };
    let composed = rhs.try_map_modes(&mut |mode| composer.compose(cx, mode))?;
    composer.require_no_carry(cx)?;
    Ok(composed)
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

/// Composes the modes of a layout, and remembers what they take.
struct Composer<'l, V> {
    lhs: &'l Layout<V>,
    rhs: &'l Layout<V>,
    picked: Vec<Picked<V>>,
}

/// A mode of the left layout, or all of it.
struct Picked<V> {
    /// The path of the mode, which is the basis of strides.
    basis: Vec<usize>,
    /// The mode, coalesced.
    flat: Layout<V>,
    /// The parts that were taken of each of its modes but the last.
    parts: Vec<Vec<Part<V>>>,
}

/// Elements of a mode: so many, so far apart.
struct Part<V> {
    count: Int<V>,
    step: Int<V>,
}

impl<V: Value> Composer<'_, V> {
    /// Takes from the left layout the modes for a mode of the right one.
    fn compose<C: Arith<Value = V>>(&mut self, cx: &mut C, rhs: &Mode<V>) -> Result<Layout<V>> {
        if rhs.stride.scale.is(0) {
            return Ok(Layout::mode(rhs.extent.clone(), 0));
        }
        let picked = self.pick(cx, rhs)?;
        let (count, step) = (rhs.extent.clone(), rhs.stride.scale.clone());
        Taken { from: picked, rhs, modes: Vec::new(), rest: Part { count, step } }.compose(cx)
    }

    /// The part of the left layout that strides of that basis are in.
    fn pick<C: Arith<Value = V>>(&mut self, cx: &mut C, rhs: &Mode<V>) -> Result<&mut Picked<V>> {
        let basis = &rhs.stride.basis;
        if let Some(at) = self.picked.iter().position(|picked| picked.basis == *basis) {
            return Ok(&mut self.picked[at]);
        }
        let overlaps =
            |other: &Picked<V>| other.basis.starts_with(basis) || basis.starts_with(&other.basis);
        if self.picked.iter().any(overlaps) {
            return Err(Error::MixedStrides { layout: text(self.rhs) });
        }
        let part = crate::modes::get(self.lhs, basis)?;
        let flat = coalesce_beyond(cx, &part)?;
        let parts = (1..flat.leaves().len()).map(|_| Vec::new()).collect();
        self.picked.push(Picked { basis: basis.clone(), flat, parts });
        let last = self.picked.len() - 1;
        Ok(&mut self.picked[last])
    }

    /// That what was taken of a mode stays within it when it is added up.
    fn require_no_carry<C: Arith<Value = V>>(&self, cx: &C) -> Result<()> {
        for Picked { flat, parts, .. } in &self.picked {
            for (mode, parts) in flat.leaves().into_iter().zip(parts) {
                if parts.len() > 1 && !stays_within(cx, parts, &mode.extent) {
                    return Err(Error::Carry {
                        lhs: text(flat),
                        rhs: text(self.rhs),
                        extent: text(&mode.extent),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Whether the sum of an element of each part is within an extent: by the bounds, or since each
/// part begins at a multiple of where the one before it ends.
fn stays_within<C: Arith>(cx: &C, parts: &[Part<C::Value>], extent: &Int<C::Value>) -> bool {
    let reach = |part: &Part<C::Value>| {
        let [count, step] = [&part.count, &part.step].map(|int| i128::from(cx.facts_of(int).max));
        (count - 1).saturating_mul(step)
    };
    let sum = parts.iter().map(reach).fold(0, i128::saturating_add);
    sum < i128::from(cx.facts_of(extent).min) || is_chain(cx, parts, extent)
}

fn is_chain<C: Arith>(cx: &C, parts: &[Part<C::Value>], extent: &Int<C::Value>) -> bool {
    let mut left: Vec<_> = parts.iter().collect();
    // The part that others begin behind comes first.
    while left.len() > 1 {
        let follows = |first: &Part<C::Value>, next: &Part<C::Value>| {
            !std::ptr::eq(first, next) && begins_behind(cx, first, &next.step)
        };
        let is_first = |first: &&Part<C::Value>| {
            left.iter().all(|next| std::ptr::eq(*first, *next) || follows(first, next))
        };
        let Some(at) = left.iter().position(is_first) else { return false };
        left.remove(at);
    }
    left.iter().all(|last| begins_behind(cx, last, extent))
}

/// Whether a number is a multiple of where a part ends.
fn begins_behind<C: Arith>(cx: &C, part: &Part<C::Value>, number: &Int<C::Value>) -> bool {
    let Part { count, step } = part;
    match (count, step) {
        (Int::Known(count), Int::Known(step)) => {
            let end = count.checked_mul(*step);
            end.is_some_and(|end| cx.facts_of(number).is_multiple_of(end))
        }
        (_, Int::Known(1)) => cx.divides(count, number),
        (_, _) => cx.is_product_of(number, count, step),
    }
}

/// The modes that one mode of the right layout takes.
struct Taken<'l, V> {
    from: &'l mut Picked<V>,
    /// The mode of the right layout.
    rhs: &'l Mode<V>,
    /// The modes so far.
    modes: Vec<Mode<V>>,
    /// The rest of the next mode and of those behind it.
    rest: Part<V>,
}

impl<V: Value> Taken<'_, V> {
    fn compose<C: Arith<Value = V>>(mut self, cx: &mut C) -> Result<Layout<V>> {
        let leaves: Vec<_> = self.from.flat.leaves().into_iter().cloned().collect();
        let Some((last, others)) = leaves.split_last() else {
            return Ok(Layout::mode(self.rest.count, 0));
        };
        if others.is_empty() {
            return take(cx, self.rest.count.clone(), &self.rest.step, last).map(Tuple::Leaf);
        }
        for (number, mode) in others.iter().enumerate() {
            if self.rest.count.is(1) {
                break;
            }
            self.pass(cx, number, mode)?;
        }
        if !self.rest.count.is(1) {
            self.modes.push(take(cx, self.rest.count.clone(), &self.rest.step, last)?);
        }
        match self.modes.is_empty() {
            true => Ok(Tuple::Leaf(self.single(cx))),
            false => Ok(Tuple::of_leaves(self.modes, Mode::unit())),
        }
    }

    /// A mode of one element. Its stride is the index of what would be the next one, so that what
    /// goes on beyond it finds that; and 0 where the index is no step in one direction.
    fn single<C: Arith<Value = V>>(&self, cx: &mut C) -> Mode<V> {
        let next = Tuple::Leaf(Slot::At(self.rhs.stride.scale.clone()));
        let next = crd2idx(cx, &next, &self.from.flat).ok();
        let stride = next.and_then(|index| one_step(&index, &mut Vec::new()));
        Mode { extent: Int::Known(1), stride: stride.unwrap_or_else(|| Stride::from(0)) }
    }

    /// Takes from a mode what is to be taken of it, and leaves the rest for those behind it.
    fn pass<C: Arith<Value = V>>(
        &mut self,
        cx: &mut C,
        number: usize,
        mode: &Mode<V>,
    ) -> Result<()> {
        let Part { count, step } = &self.rest;
        if self.fits(cx, &mode.extent) {
            return self.part(cx, number, mode, count.clone(), Int::Known(1));
        }
        let is_forward = cx.facts_of(step).min >= 0;
        if is_forward && cx.divides(&mode.extent, step) {
            // Each element is in another row of this mode.
            self.rest.step = cx.div(step, &mode.extent)?;
            return Ok(());
        }
        if !is_forward || !cx.divides(step, &mode.extent) {
            return Err(self.uneven_stride(&mode.extent));
        }
        let run = cx.div(&mode.extent, step)?;
        if cx.divides(count, &run) {
            // The mode has several times the extent that is wanted.
            return self.part(cx, number, mode, count.clone(), Int::Known(1));
        }
        if !cx.divides(&run, count) {
            return Err(self.uneven_shape(&run));
        }
        let rest = cx.div(count, &run)?;
        self.part(cx, number, mode, run, rest)?;
        self.rest.step = Int::Known(1);
        Ok(())
    }

    /// Takes so many elements of a mode, which leaves others.
    fn part<C: Arith<Value = V>>(
        &mut self,
        cx: &mut C,
        number: usize,
        mode: &Mode<V>,
        count: Int<V>,
        rest: Int<V>,
    ) -> Result<()> {
        self.rest.count = rest;
        if !count.is(1) {
            let step = self.rest.step.clone();
            self.modes.push(take(cx, count.clone(), &step, mode)?);
            self.from.parts[number].push(Part { count, step });
        }
        Ok(())
    }

    /// Whether the bounds alone say that the mode has all that is wanted.
    fn fits<C: Arith<Value = V>>(&self, cx: &C, extent: &Int<V>) -> bool {
        let Part { count, step } = &self.rest;
        let [count, step, extent] = [count, step, extent].map(|int| cx.facts_of(int));
        let last = (i128::from(count.max) - 1) * i128::from(step.max);
        step.min > 0 && last < i128::from(extent.min)
    }

    fn uneven_stride(&self, extent: &Int<V>) -> Error {
        Error::StrideDivisibility {
            lhs: text(&self.from.flat),
            rhs: text(&Tuple::Leaf(self.rhs.clone())),
            extent: text(extent),
            step: text(&self.rest.step),
        }
    }

    fn uneven_shape(&self, run: &Int<V>) -> Error {
        Error::ShapeDivisibility {
            lhs: text(&self.from.flat),
            rhs: text(&Tuple::Leaf(self.rhs.clone())),
            count: text(&self.rest.count),
            run: text(run),
        }
    }
}

/// So many elements of a mode, at a distance from one another.
fn take<C: Arith>(
    cx: &mut C,
    count: Int<C::Value>,
    step: &Int<C::Value>,
    mode: &Mode<C::Value>,
) -> Result<Mode<C::Value>> {
    let scale = cx.mul(step, &mode.stride.scale)?;
    let stride = Stride { scale, basis: mode.stride.basis.clone() };
    Ok(Mode { extent: count, stride })
}

/// The stride that moves by an index, in which at most one number is not 0.
fn one_step<V: Value>(index: &Shape<V>, path: &mut Vec<usize>) -> Option<Stride<V>> {
    let modes = match index {
        Tuple::Leaf(scale) => return Some(Stride { scale: scale.clone(), basis: path.clone() }),
        Tuple::Node(modes) => modes,
    };
    let moves = |mode: &Shape<V>| mode.leaves().iter().any(|number| !number.is(0));
    let mut moving = modes.iter().enumerate().filter(|(_, mode)| moves(mode));
    let (Some((number, mode)), None) = (moving.next(), moving.next()) else { return None };
    path.push(number);
    one_step(mode, path)
}
