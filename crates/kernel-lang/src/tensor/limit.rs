// SPDX-License-Identifier: Apache-2.0
//! Limits that accesses of a view keep to, beyond the extents of its layout. A view has a place
//! among those that there are, and a tile of a tensor that tiles do not fill may reach beyond it:
//! there lies another row, or nothing. Both are said where memory is touched. A view that is only
//! touched where a predicate lets it may lie beyond where that does not hold.
//!
//! Not here: the index of an element in its view.

use super::{Predicate, Within};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::extents::Access;
use crate::python::tree::Name;
use crate::value::{Base, Leaf, Tensor};
use kernpack_kernel_ir::kernel::{self, Value};
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::{Claim, Const, Space};
use kernpack_layout::{
    Arith, Coord, Int, Layout, Result, Shape, Tiler, Tuple, add_indices, crd2idx,
    make_identity_layout, slice_and_offset,
};
use kernpack_syntax::Span;

/// A limit that accesses keep to.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    /// The number of a view is less than how many there are.
    Place {
        /// The number.
        at: Int<Leaf>,
        /// How many there are.
        extent: Int<Leaf>,
        /// That it is, as it was claimed where the view was made.
        claim: Option<Claim>,
        /// The tensor's name in messages.
        name: Name,
        /// Where the view was made.
        span: Span,
    },
    /// The coordinates of elements in what was cut into tiles.
    Cut {
        /// The coordinates, as far as the view's own go.
        layout: Layout<Leaf>,
        /// The first.
        offset: Shape<Leaf>,
        /// The extents of what was cut, of modes that tiles may not fill.
        extents: Tuple<Option<Int<Leaf>>>,
        /// Its name in messages.
        name: Name,
    },
}

/// Where a view was made makes no other one of it.
impl PartialEq for Limit {
    fn eq(&self, other: &Limit) -> bool {
        match (self, other) {
            (
                Limit::Place { at, extent, .. },
                Limit::Place { at: other_at, extent: other_extent, .. },
            ) => at == other_at && extent == other_extent,
            (
                Limit::Cut { layout, offset, extents, .. },
                Limit::Cut { layout: other, offset: other_offset, extents: other_extents, .. },
            ) => layout == other && offset == other_offset && extents == other_extents,
            (Limit::Place { .. }, Limit::Cut { .. }) | (Limit::Cut { .. }, Limit::Place { .. }) => {
                false
            }
        }
    }
}

impl Limit {
    /// The numbers that it is made of.
    pub fn leaves(&self) -> Vec<Int<Leaf>> {
        match self {
            Limit::Place { at, extent, .. } => vec![*at, *extent],
            Limit::Cut { layout, offset, extents, .. } => {
                let modes = layout.leaves().into_iter();
                let modes = modes.flat_map(|mode| [mode.extent, mode.stride.scale]);
                let offset = offset.leaves().into_iter().copied();
                let extents = extents.leaves().into_iter().flatten().copied();
                modes.chain(offset).chain(extents).collect()
            }
        }
    }
}

/// Which elements of a view are touched.
#[derive(Clone, Copy)]
pub(crate) enum Touched<'t> {
    /// The one with that coordinate.
    At(&'t Coord<Leaf>),
    /// So many, from the first.
    All(usize),
    /// Others than can be said.
    Any,
}

/// The tensor that an index is stated to be in bounds of, and where.
#[derive(Clone, Copy)]
pub(crate) struct Stated<'t> {
    /// The memory that it is a view of.
    pub base: &'t Base,
    /// Its name in messages.
    pub name: &'t Name,
    /// Where the access is written.
    pub span: Span,
}

/// The relation of an index to its extent.
enum Known {
    Inside,
    Outside,
    Nothing,
}

/// How a layout becomes that of another view.
type Moved<'m, T> = dyn FnMut(&mut Emission, &Layout<Leaf>) -> Result<T> + 'm;

impl Emission {
    /// A tensor that is about to be taken apart into tiles. One tiler for several modes goes
    /// through them one after the other: what is beyond goes on in the last that has more than one
    /// element.
    pub fn cut_limits(&mut self, tensor: &Tensor, tiler: &Tiler<Leaf>) -> Vec<Limit> {
        let mut limits = tensor.limits.clone();
        if tensor.base.is_coordinates() {
            return limits;
        }
        let shape = tensor.layout.shape();
        let mut has_rest = false;
        let mut limited = |cx: &mut Self, tiler: Option<&Tiler<Leaf>>, mode: &Layout<Leaf>| {
            let is_filled = tiler.is_none_or(|tiler| cx.fills(tiler, mode));
            has_rest |= !is_filled;
            mode.shape().map(&mut |extent| (!is_filled).then_some(*extent))
        };
        let extents = match tiler {
            Tiler::Modes(tilers) if !tensor.layout.is_leaf() => {
                let modes = tensor.layout.modes().iter().enumerate();
                let parts = modes.map(|(number, mode)| limited(self, tilers.get(number), mode));
                Tuple::Node(parts.collect())
            }
            Tiler::Keep | Tiler::Layout(_) | Tiler::Modes(_) => {
                limited(self, Some(tiler), &tensor.layout)
            }
        };
        if has_rest {
            limits.push(Limit::Cut {
                layout: make_identity_layout(&shape),
                offset: Tuple::Leaf(Int::Known(0)),
                extents,
                name: tensor.name.clone(),
            });
        }
        limits
    }

    /// Whether tiles are known to fill a mode. Where a tile has gaps, others lie in them.
    fn fills(&mut self, tiler: &Tiler<Leaf>, mode: &Layout<Leaf>) -> bool {
        match tiler {
            Tiler::Keep => true,
            Tiler::Layout(tile) => {
                let sizes = (kernpack_layout::reach(self, tile), kernpack_layout::size(self, mode));
                matches!(sizes, (Ok(tile), Ok(mode)) if self.divides(&tile, &mode))
            }
            Tiler::Modes(tilers) => {
                tilers.iter().zip(mode.modes()).all(|(tiler, mode)| self.fills(tiler, mode))
            }
        }
    }

    /// The limits of another view of the same elements. Of coordinates that have no such view no
    /// more is said.
    pub fn relaid_limits(
        &mut self,
        tensor: &Tensor,
        relay: &mut Moved<'_, Layout<Leaf>>,
    ) -> Vec<Limit> {
        self.moved_limits(tensor, &mut |cx, layout| {
            Ok((relay(cx, layout)?, Tuple::Leaf(Int::Known(0))))
        })
    }

    /// The limits of some of the elements.
    pub fn moved_limits(
        &mut self,
        tensor: &Tensor,
        part: &mut Moved<'_, (Layout<Leaf>, Shape<Leaf>)>,
    ) -> Vec<Limit> {
        let mut moved = Vec::with_capacity(tensor.limits.len());
        for limit in &tensor.limits {
            match limit {
                Limit::Place { .. } => moved.push(limit.clone()),
                Limit::Cut { layout, offset, extents, name } => {
                    let there = part(self, layout)
                        .and_then(|(layout, by)| Ok((layout, add_indices(self, offset, &by)?)));
                    if let Ok((layout, offset)) = there {
                        let (extents, name) = (extents.clone(), name.clone());
                        moved.push(Limit::Cut { layout, offset, extents, name });
                    }
                }
            }
        }
        moved
    }

    /// The elements whose coordinates all others lie between: the last, and the first where it
    /// may lie before 0. Where elements are touched each by itself, or coordinates go down, all.
    fn outermost(
        &self,
        layout: &Layout<Leaf>,
        offset: &Shape<Leaf>,
        size: usize,
        pred: &Predicate,
    ) -> Vec<usize> {
        let goes_up = |one: &Int<Leaf>| self.facts_of(one).min >= 0;
        let is_up = layout.leaves().iter().all(|mode| goes_up(&mode.stride.scale));
        match (pred, size) {
            (Predicate::Each(_), _) | (_, 0) => (0..size).collect(),
            _ if !is_up => (0..size).collect(),
            _ if offset.leaves().into_iter().all(goes_up) => vec![size - 1],
            _ => vec![0, size - 1],
        }
    }

    /// Where anything is touched.
    fn any_of(&mut self, pred: &Predicate) -> Option<kernel::Value> {
        match pred {
            Predicate::Always => None,
            Predicate::When(condition) => Some(*condition),
            Predicate::Each(conditions) => {
                let never = self.b.constant(Const::bool(false));
                let any = conditions
                    .iter()
                    .fold(never, |any, one| self.compute_binary(Binary::Or, any, *one));
                Some(any)
            }
        }
    }

    /// The relation of an index to its extent.
    fn known_of(&self, at: &Int<Leaf>, extent: &Int<Leaf>) -> Known {
        let (of_at, of_extent) = (self.facts_of(at), self.facts_of(extent));
        if of_at.max < 0 || of_at.min >= of_extent.max {
            Known::Outside
        } else if of_at.min < 0 || of_at.max >= of_extent.min {
            Known::Nothing
        } else {
            Known::Inside
        }
    }

    /// The value of a condition, where that is known of all threads.
    fn truth_of(&self, condition: kernel::Value) -> Option<bool> {
        match self.b.known(condition) {
            Some(known) => Some(known.bits() != 0),
            None => self.known_truth(condition),
        }
    }
}

impl<'f> Elaborator<'f> {
    /// The limits of a view of which coordinates are chosen, with the places that are chosen.
    pub fn limits_of_slice(
        &mut self,
        tensor: &Tensor,
        coord: &Coord<Leaf>,
        places: Vec<(Int<Leaf>, Int<Leaf>)>,
        span: Span,
    ) -> Vec<Limit> {
        if tensor.base.is_coordinates() {
            return Vec::new();
        }
        let slice =
            &mut |cx: &mut Emission, layout: &Layout<Leaf>| slice_and_offset(cx, coord, layout);
        let mut limits = self.emit.moved_limits(tensor, slice);
        for place in places {
            limits.extend(self.limit_of(tensor, place, span));
        }
        limits
    }

    /// The limits of a view with its place among others.
    pub fn limits_of_place(
        &mut self,
        tensor: &Tensor,
        place: (Int<Leaf>, Int<Leaf>),
        span: Span,
    ) -> Vec<Limit> {
        let mut limits = tensor.limits.clone();
        if matches!(tensor.base, Base::Memory(_)) {
            limits.extend(self.limit_of(tensor, place, span));
        }
        limits
    }

    /// The limit of a place, where that is not plain. It is claimed at once, where what is computed
    /// behind it can make use of it.
    fn limit_of(
        &mut self,
        tensor: &Tensor,
        (at, extent): (Int<Leaf>, Int<Leaf>),
        span: Span,
    ) -> Option<Limit> {
        let claim = match self.emit.known_of(&at, &extent) {
            Known::Inside => return None,
            Known::Outside => None,
            Known::Nothing => {
                let (index, extent) = (self.emit.index(&at), self.emit.index(&extent));
                let stated = Stated { base: &tensor.base, name: &tensor.name, span };
                self.write_down((index, extent), stated);
                let check = self.emit.check(&tensor.name);
                Some(self.emit.b.claim_in_bounds(index, extent, check))
            }
        };
        Some(Limit::Place { at, extent, claim, name: tensor.name.clone(), span })
    }

    /// States that an access keeps to the limits of its view. Gives where it is made, if it can be.
    pub fn keep_to_limits(
        &mut self,
        tensor: &Tensor,
        touched: Touched<'_>,
        pred: &Predicate,
        span: Span,
    ) -> Option<Within> {
        let mut within = Some(Within::EVERYWHERE);
        for limit in &tensor.limits {
            let kept = match limit {
                Limit::Place { .. } => self.keep_to_place(limit, pred, &tensor.base),
                Limit::Cut { .. } => self.keep_to_cut(limit, touched, pred, (&tensor.base, span)),
            };
            within = self.emit.both_if_any(within, kept);
        }
        within
    }

    fn keep_to_place(&mut self, limit: &Limit, pred: &Predicate, base: &Base) -> Option<Within> {
        let Limit::Place { at, extent, claim, name, span } = limit else {
            return Some(Within::EVERYWHERE);
        };
        let condition = self.emit.any_of(pred);
        let is_always =
            condition.is_none_or(|condition| self.emit.truth_of(condition) == Some(true));
        if is_always && claim.is_some_and(|claim| self.emit.b.rely_on(claim)) {
            let (at, extent) = (self.emit.index(at), self.emit.index(extent));
            return Some(self.emit.within(at, extent));
        }
        self.state(at, extent, condition, Stated { base, name, span: *span }, true)
    }

    fn keep_to_cut(
        &mut self,
        limit: &Limit,
        touched: Touched<'_>,
        pred: &Predicate,
        (base, span): (&Base, Span),
    ) -> Option<Within> {
        let mut within = Some(Within::EVERYWHERE);
        let Limit::Cut { layout, offset, extents, name } = limit else { return within };
        let stated = Stated { base, name, span };
        let mut keep = |cx: &mut Self, index: Result<Shape<Leaf>>, condition| {
            let at = index.and_then(|index| add_indices(&mut cx.emit, offset, &index));
            let Ok(at) = at else { return };
            for (at, extent) in pairs(&at, extents) {
                let kept = cx.state(&at, &extent, condition, stated, true);
                within = cx.emit.both_if_any(within, kept);
            }
        };
        match touched {
            Touched::At(coord) => {
                let index = crd2idx(&mut self.emit, coord, layout);
                keep(self, index, pred.at(0));
            }
            Touched::All(size) => {
                for number in self.emit.outermost(layout, offset, size, pred) {
                    let coord = Coord::at(&Tuple::Leaf(Int::Known(number as i64)));
                    let index = crd2idx(&mut self.emit, &coord, layout);
                    keep(self, index, pred.at(number));
                }
            }
            Touched::Any => {}
        }
        within
    }

    /// States that an index is in bounds where a condition holds; gives where the access is made,
    /// if it can be. What is stated already may be enough.
    pub fn state(
        &mut self,
        at: &Int<Leaf>,
        extent: &Int<Leaf>,
        condition: Option<kernel::Value>,
        stated: Stated<'_>,
        is_once: bool,
    ) -> Option<Within> {
        let truth = condition.map_or(Some(true), |one| self.emit.truth_of(one));
        match (self.emit.known_of(at, extent), truth) {
            (Known::Inside, _) | (_, Some(false)) => Some(Within::EVERYWHERE),
            (Known::Outside, Some(true)) if !self.guards.is_unreached() => {
                let Stated { name, span, .. } = stated;
                let index = at.known().map_or("the index".to_string(), |at| at.to_string());
                let message = match extent.known() {
                    Some(extent) => {
                        format!("{index} is out of bounds of `{name}`, which has {extent}")
                    }
                    None => format!("{index} is out of bounds of `{name}`"),
                };
                self.mistake("bounds", span, message, "count from 0 up to the extent");
                None
            }
            (Known::Outside | Known::Nothing, _) => {
                let (mut at, mut extent) = (self.emit.index(at), self.emit.index(extent));
                if let Some(condition) = condition.filter(|_| truth.is_none()) {
                    let (zero, one) = (self.emit.b.index(0), self.emit.b.index(1));
                    at = self.emit.select_typed(condition, at, zero);
                    if self.emit.facts_of_value(extent).min < 1 {
                        extent = self.emit.select_typed(condition, extent, one);
                    }
                }
                if !(is_once && self.emit.b.has_stated(at, extent)) {
                    self.write_down((at, extent), stated);
                    let check = self.emit.check(stated.name);
                    self.emit.b.in_bounds(at, extent, check);
                }
                Some(self.emit.within(at, extent))
            }
        }
    }

    /// Writes down that an index is stated to be in bounds here, where threads come by and the
    /// tensor is what a call passes.
    fn write_down(&mut self, (index, extent): (Value, Value), stated: Stated<'_>) {
        let is_passed =
            matches!(stated.base, Base::Memory(memory) if memory.space == Space::Global);
        if !is_passed || self.guards.is_unreached() {
            return;
        }
        let caller = self.places.caller();
        let called = caller.map(|caller| self.emit.b.kernel().place(caller).span);
        let place = self.emit.b.place();
        let access = Access { name: stated.name.clone(), span: stated.span, called };
        self.emit.accesses.add((index, extent, place), access);
    }
}

/// Coordinates and the extents that they keep to. A coordinate that is left out is 0.
fn pairs(at: &Shape<Leaf>, extents: &Tuple<Option<Int<Leaf>>>) -> Vec<(Int<Leaf>, Int<Leaf>)> {
    match (at, extents) {
        (Tuple::Leaf(at), Tuple::Leaf(Some(extent))) => vec![(*at, *extent)],
        (Tuple::Node(at), Tuple::Node(extents)) => {
            at.iter().zip(extents).flat_map(|(at, extents)| pairs(at, extents)).collect()
        }
        _ => Vec::new(),
    }
}
