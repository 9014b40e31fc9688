// SPDX-License-Identifier: Apache-2.0
//! The same memory as elements of another type: `kp.recast_tensor`.
//!
//! The new elements stay within what was cut into tiles, whether they are parts of the old ones or
//! have them as parts. Not here: the layout of other elements, which is the algebra's.

use super::limit::Limit;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::memory_of;
use crate::value::{Base, Elaborated, Leaf, Memory, Tensor};
use kernpack_kernel_ir::Scalar;
use kernpack_layout::{
    Arith, Coord, Int, Layout, Mode, Shape, Tuple, add_indices, crd2idx, recast_layout,
};
use kernpack_syntax::Span;
use std::sync::Arc;

/// A limit of coordinates: their layout, the first, and the extents that they stay below.
type Cut = (Layout<Leaf>, Shape<Leaf>, Tuple<Option<Int<Leaf>>>);

/// A mode whose extent other elements change: where it begins among those of coordinates, and the
/// extents before and after.
type Changed = (usize, Int<Leaf>, Int<Leaf>);

impl Elaborator<'_> {
    /// The same memory as elements of another type.
    pub fn recast(&mut self, tensor: &Arc<Tensor>, to: Scalar, span: Span) -> Elaborated {
        let Some(memory) = memory_of(tensor) else {
            return self.mistake("type", span, "coordinates have no type", "recast memory");
        };
        let (new, old) = (i64::from(to.bits()), i64::from(memory.element.bits()));
        let layout = recast_layout(&mut self.emit, &tensor.layout, new, old);
        let Some(layout) = self.algebra(layout, span) else { return Elaborated::Poison };
        let Tuple::Leaf(offset) = &tensor.offset else { return Elaborated::Poison };
        let offset = match new.cmp(&old) {
            std::cmp::Ordering::Equal => Ok(*offset),
            std::cmp::Ordering::Less => Arith::mul(&mut self.emit, offset, &Int::Known(old / new)),
            std::cmp::Ordering::Greater => {
                let ratio = Int::Known(new / old);
                if !self.emit.divides(&ratio, offset) {
                    let message = format!("the first element is not known to be one of {to}");
                    let help = "begin at a multiple, or say so in the signature";
                    return self.mistake("layout", span, message, help);
                }
                Arith::div(&mut self.emit, offset, &ratio)
            }
        };
        let Some(offset) = self.algebra(offset, span) else { return Elaborated::Poison };
        if memory.align < to.bytes() {
            let message = format!("`{}` is not known to be aligned for {to}", tensor.name);
            let help = format!("write `align={}` in the signature", to.bytes());
            return self.mistake("layout", span, message, help);
        }
        if let Some(swizzle) = memory.swizzle.filter(|swizzle| to.bytes() > 1 << swizzle.base()) {
            let message = format!(
                "`{}` is swizzled in units smaller than {to}: {swizzle} in bytes",
                tensor.name
            );
            let help = "give the swizzle a base that keeps the bytes of an element together";
            return self.mistake("layout", span, message, help);
        }
        let base = Base::Memory(Memory { element: to, ..memory.clone() });
        let (name, offset) = (tensor.name.clone(), Tuple::Leaf(offset));
        let limits = self.emit.recast_limits(tensor, &layout, (new, old));
        Elaborated::Tensor(Arc::new(Tensor { name, base, offset, layout, limits }))
    }
}

impl Emission {
    /// The limits of the elements of another type, which lie so: `new` bits each, and not `old`.
    /// Where coordinates are not so many steps as there are elements, no more is said of them.
    fn recast_limits(
        &mut self,
        tensor: &Tensor,
        layout: &Layout<Leaf>,
        (new, old): (i64, i64),
    ) -> Vec<Limit> {
        let mut limits = Vec::with_capacity(tensor.limits.len());
        for limit in &tensor.limits {
            match limit {
                Limit::Cut { layout: coords, offset, extents, name } if new != old => {
                    let cut = (coords.clone(), offset.clone(), extents.clone());
                    let recast = match new < old {
                        true => self.cut_of_smaller((&tensor.layout, layout), cut, old / new),
                        false => self.cut_of_larger((&tensor.layout, layout), cut, new / old),
                    };
                    if let Some((layout, offset, extents)) = recast {
                        limits.push(Limit::Cut { layout, offset, extents, name: name.clone() });
                    }
                }
                Limit::Place { .. } | Limit::Cut { .. } => limits.push(limit.clone()),
            }
        }
        limits
    }

    /// Coordinates of parts of elements, `n` of each, are counted in parts.
    fn cut_of_smaller(
        &mut self,
        layouts: (&Layout<Leaf>, &Layout<Leaf>),
        (coords, offset, extents): Cut,
        n: i64,
    ) -> Option<Cut> {
        let recast = changed_modes(layouts, &coords)?;
        let n = Int::Known(n);
        let mut modes: Vec<_> = coords.leaves().into_iter().cloned().collect();
        for (at, mode) in modes.iter_mut().enumerate() {
            let is_parts = recast.iter().any(|(changed, ..)| *changed == at);
            match is_parts {
                true if mode.stride.scale.is(1) => mode.extent = self.mul(&mode.extent, &n).ok()?,
                true => return None,
                false => mode.stride.scale = self.mul(&mode.stride.scale, &n).ok()?,
            }
        }
        let offset = offset.try_map(&mut |at| self.mul(at, &n)).ok()?;
        let extents = extents.try_map(&mut |extent| match extent {
            Some(extent) => self.mul(extent, &n).map(Some),
            None => Ok(None),
        });
        Some((with_modes(&coords, modes), offset, extents.ok()?))
    }

    /// Coordinates of `n` elements that are one are those of the last of them.
    fn cut_of_larger(
        &mut self,
        layouts: (&Layout<Leaf>, &Layout<Leaf>),
        (coords, mut offset, extents): Cut,
        n: i64,
    ) -> Option<Cut> {
        let mut modes: Vec<_> = coords.leaves().into_iter().cloned().collect();
        let mut left = n;
        let mut recast = changed_modes(layouts, &coords)?;
        // Of the mode whose extent is not known there are as many as the others leave.
        recast.sort_by_key(|(_, before, _)| before.known().is_none());
        for (at, before, after) in recast {
            let factor = match (before.known(), after.known()) {
                (Some(before), Some(after)) => before.checked_div(after)?,
                _ => left,
            };
            left = left.checked_div(factor)?;
            let mode = &mut modes[at];
            let is_whole = self.divides(&Int::Known(factor), &mode.extent);
            if !is_whole || self.facts_of(&mode.stride.scale).min < 0 {
                return None;
            }
            let last = Coord::at(&Tuple::Leaf(Int::Known(factor - 1)));
            let last = crd2idx(self, &last, &Tuple::Leaf(mode.clone())).ok()?;
            offset = add_indices(self, &offset, &last).ok()?;
            mode.extent = self.div(&mode.extent, &Int::Known(factor)).ok()?;
            mode.stride.scale = self.mul(&mode.stride.scale, &Int::Known(factor)).ok()?;
        }
        Some((with_modes(&coords, modes), offset, extents))
    }
}

/// The modes of a layout that other elements make longer or shorter. Coordinates may have several
/// for one.
fn changed_modes(
    (old, new): (&Layout<Leaf>, &Layout<Leaf>),
    coords: &Layout<Leaf>,
) -> Option<Vec<Changed>> {
    let mut firsts = Vec::new();
    first_modes(old, coords, &mut 0, &mut firsts)?;
    let extents = old.leaves().into_iter().zip(new.leaves());
    let pairs = firsts.into_iter().zip(extents);
    let changed = pairs.filter(|(_, (old, new))| old.extent != new.extent);
    Some(changed.map(|(at, (old, new))| (at, old.extent, new.extent)).collect())
}

/// Where each mode of a layout begins among those of a finer one.
fn first_modes(
    of: &Layout<Leaf>,
    finer: &Layout<Leaf>,
    next: &mut usize,
    firsts: &mut Vec<usize>,
) -> Option<()> {
    match (of, finer) {
        (Tuple::Leaf(_), finer) => {
            firsts.push(*next);
            *next += finer.leaves().len();
            Some(())
        }
        (Tuple::Node(of), Tuple::Node(finer)) if of.len() == finer.len() => {
            let mut pairs = of.iter().zip(finer);
            pairs.try_for_each(|(of, finer)| first_modes(of, finer, next, firsts))
        }
        (Tuple::Node(_), _) => None,
    }
}

/// A layout with other modes, nested alike.
fn with_modes(layout: &Layout<Leaf>, modes: Vec<Mode<Leaf>>) -> Layout<Leaf> {
    let mut modes = modes.into_iter();
    layout.map(&mut |mode| modes.next().unwrap_or_else(|| mode.clone()))
}
