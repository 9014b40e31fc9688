// SPDX-License-Identifier: Apache-2.0
//! Elements and slices: `x[i, j]`, `x[row, None]`.

use super::limit::{Limit, Stated, Touched};
use super::{Predicate, Within};
use crate::algebra::{Algebra, mode_of, shape_value};
use crate::builtin;
use crate::call::counted;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::memory_of;
use crate::integer::Integer;
use crate::number::Kind;
use crate::python::tree::Expr;
use crate::value::{Elaborated, Leaf, Memory, Tensor};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::{self};
use kernpack_kernel_ir::op::Store;
use kernpack_layout::{
    Arith, Coord, Int, Layout, Result, Shape, Slot, Tuple, add_indices, crd2idx, slice_and_offset,
};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl Emission {
    /// The address of an element, and what it is a multiple of: at least of the element's bytes, as
    /// memory is aligned to them and a swizzle keeps them together.
    pub fn address(&mut self, memory: &Memory, at: &Int<Leaf>) -> Result<(kernel::Value, u32)> {
        let bytes = i64::from(memory.element.bytes());
        let offset = match memory.swizzle {
            Some(swizzle) => self.swizzled(swizzle, at, bytes)?,
            None => Arith::mul(self, at, &Int::Known(bytes))?,
        };
        let divisor = match &offset {
            Int::Known(0) => 0,
            offset => self.facts_of(offset).divisor,
        };
        let align = kernpack_layout::gcd(i64::from(memory.align), divisor).max(bytes);
        let align = 1_u32 << align.trailing_zeros().min(20);
        let offset = self.index(&offset);
        Ok((self.b.offset(memory.pointer, offset), align))
    }

    /// The value of an element.
    fn load_at(
        &mut self,
        memory: &Memory,
        at: &Int<Leaf>,
        within: Within,
    ) -> Result<kernel::Value> {
        let value = self.load_run(memory, at, 1, within.condition())?;
        if memory.element.is_int() {
            self.know(value, memory.element.integers().into());
        }
        Ok(value)
    }

    /// Makes an element something.
    fn store_at(
        &mut self,
        memory: &Memory,
        at: &Int<Leaf>,
        value: kernel::Value,
        within: Within,
    ) -> Result<()> {
        let (pointer, _) = self.address(memory, at)?;
        let (align, qualifier) = (memory.element.bytes(), memory.qualifier);
        self.b.store(Store { pointer, value, align, qualifier, condition: within.condition() });
        Ok(())
    }
}

impl Elaborator<'_> {
    /// `of[index]`
    pub fn subscript(&mut self, of: &Expr, index: &Expr, span: Span) -> Elaborated {
        let value = self.expr(of);
        let value = self.given(value, of.span);
        let index_value = self.expr(index);
        match &value {
            Elaborated::Poison => Elaborated::Poison,
            Elaborated::Tuple(tuple) => match (&index_value, &tuple.names[..]) {
                (Elaborated::Text(name), [_, ..]) => match tuple.named(name) {
                    Some(item) => item.clone(),
                    None => {
                        let known = tuple.names.iter().flatten().map(|name| &**name);
                        let help = builtin::attribute_help(name, &known.collect::<Vec<_>>());
                        let message = format!("there is no item {name:?}");
                        self.mistake("subscript", index.span, message, help)
                    }
                },
                _ => self.item(&tuple.items, &index_value, index.span),
            },
            Elaborated::Elements(elements) => self.item(&elements.items, &index_value, index.span),
            Elaborated::Tensor(_) | Elaborated::Pointer(_) => {
                self.load_element(&value, &index_value, span)
            }
            Elaborated::Mbarrier(barriers) => self.mbarrier_at(barriers, &index_value, index.span),
            Elaborated::Layout(layout) => {
                let of = (&layout.layout, layout.swizzle);
                mode_of(self, of, &index_value, index.span).unwrap_or(Elaborated::Poison)
            }
            other => {
                let message = format!("{} has no elements", self.emit.describe(other));
                self.mistake("subscript", span, message, "index a tensor or a tuple")
            }
        }
    }

    /// An item of a tuple, by a constant that may count from the end.
    fn item(&mut self, items: &[Elaborated], index: &Elaborated, span: Span) -> Elaborated {
        if index.is_poison() {
            return Elaborated::Poison;
        }
        let at = match index {
            Elaborated::Int(at) => Some(at.clone()),
            other => other.as_int().map(Integer::from),
        };
        let Some(at) = at else {
            let message =
                format!("a tuple has constant indices, found {}", self.emit.describe(index));
            let help = "put its items into a register tensor, or choose with `if`";
            return self.mistake("subscript", span, message, help);
        };
        let count = items.len() as i128;
        let place = at.small().map(|at| if at < 0 { at + count } else { at });
        let place = place.and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| items.get(place)) {
            Some(item) => item.clone(),
            None => {
                let message = format!("there is no item {at} of {count}");
                self.mistake("subscript", span, message, format!("count from 0 to {}", count - 1))
            }
        }
    }

    /// An element of a tensor, or the view that a coordinate leaves free.
    pub fn load_element(&mut self, of: &Elaborated, index: &Elaborated, span: Span) -> Elaborated {
        let Some((tensor, coord)) = self.place(of, index, span) else { return Elaborated::Poison };
        if coord.has_free() {
            return self.slice(&tensor, &coord, span);
        }
        let Some((at, within)) = self.element_index(&tensor, &coord, span) else {
            return Elaborated::Poison;
        };
        match (memory_of(&tensor), &at) {
            (Some(memory), Tuple::Leaf(at)) => {
                let loaded = self.emit.load_at(memory, at, within);
                self.algebra(loaded, span).map_or(Elaborated::Poison, Elaborated::Typed)
            }
            (None, Tuple::Leaf(at)) => self.emit.index_value(at),
            (_, at) => shape_value(self, at),
        }
    }

    /// `of[index] = value`, where the two stand there.
    pub fn store_element(
        &mut self,
        of: &Elaborated,
        index: &Elaborated,
        value: &Elaborated,
        span: Span,
        value_span: Span,
    ) {
        let of = self.given(of.clone(), span);
        let Some((tensor, coord)) = self.place(&of, index, span) else { return };
        if coord.has_free() {
            let help = "write `kp.copy(source, x[i, None])`, or assign each element in a loop";
            self.mistake("subscript", span, "a view is assigned to", help);
            return;
        }
        let Some((at, within)) = self.element_index(&tensor, &coord, span) else { return };
        let Some(memory) = self.writable(&tensor, span) else { return };
        let memory = memory.clone();
        let Some(value) = self.element_value(value, memory.element, value_span) else {
            return;
        };
        if let Tuple::Leaf(at) = at {
            let stored = self.emit.store_at(&memory, &at, value, within);
            self.algebra(stored, span);
        }
    }

    /// The memory of a tensor, where it may be written; a diagnostic where not.
    pub fn writable<'t>(&mut self, tensor: &'t Tensor, span: Span) -> Option<&'t Memory> {
        let Some(memory) = memory_of(tensor) else {
            let help = "assign to the tensor that the coordinates are of";
            self.mistake("read-only", span, "coordinates cannot be assigned to", help);
            return None;
        };
        if !memory.is_written {
            let name = &tensor.name;
            let problem = Diagnostic::new("read-only", format!("`{name}` is not `mut`"));
            let help = format!("write `mut` for `{name}` in the signature, or make it a result");
            self.report(problem.label(span, "written here").help(help));
            return None;
        }
        self.emit.note_written(memory.pointer);
        Some(memory)
    }

    /// A value as an element of that type.
    pub fn element_value(
        &mut self,
        value: &Elaborated,
        element: Scalar,
        span: Span,
    ) -> Option<kernel::Value> {
        self.value_of("elements are", value, element, span)
    }

    /// A value as one of the type that something has: `the result is`.
    pub fn value_of(
        &mut self,
        what_is: &str,
        value: &Elaborated,
        element: Scalar,
        span: Span,
    ) -> Option<kernel::Value> {
        let fits = match self.emit.kind(value) {
            Some(Kind::Of(scalar)) => {
                scalar == element && !matches!(value, Elaborated::Elements(_))
            }
            Some(Kind::Int) if element == Scalar::Bool => false,
            Some(Kind::Int) => {
                if !self.fits(value, element, span) {
                    return None;
                }
                true
            }
            Some(Kind::Float) => element.is_float(),
            None => false,
        };
        if fits {
            return Some(self.emit.typed(value, element));
        }
        if !value.is_poison() {
            let message = format!("{what_is} {element}, and this is {}", self.emit.describe(value));
            self.mistake(
                "element-type",
                span,
                message,
                format!("write `kp.{element}(…)` around it"),
            );
        }
        None
    }

    /// A tensor and a coordinate of it.
    fn place(
        &mut self,
        of: &Elaborated,
        index: &Elaborated,
        span: Span,
    ) -> Option<(Arc<Tensor>, Coord<Leaf>)> {
        let coord = self.read_coord(index, span)?;
        match of {
            Elaborated::Tensor(tensor) => Some((tensor.clone(), coord)),
            Elaborated::Pointer(tensor) => {
                let tensor = tensor.with_layout(Layout::mode(i64::MAX, 1), tensor.places());
                Some((Arc::new(tensor), coord))
            }
            Elaborated::Poison => None,
            other => {
                let message = format!("{} has no elements", self.emit.describe(other));
                self.mistake("subscript", span, message, "index a tensor");
                None
            }
        }
    }

    /// The view that a coordinate leaves free, which accesses of it state to be there.
    pub fn slice(&mut self, tensor: &Tensor, coord: &Coord<Leaf>, span: Span) -> Elaborated {
        let Some(places) = self.places(&tensor.layout, coord, &tensor.name, span) else {
            return Elaborated::Poison;
        };
        let sliced = slice_and_offset(&mut self.emit, coord, &tensor.layout);
        let moved = sliced.and_then(|(layout, offset)| {
            Ok((layout, add_indices(&mut self.emit, &tensor.offset, &offset)?))
        });
        match moved {
            Ok((layout, offset)) => {
                let limits = self.limits_of_slice(tensor, coord, places, span);
                Elaborated::Tensor(Arc::new(Tensor { layout, offset, limits, ..tensor.clone() }))
            }
            Err(error) => self.layout_error(&error, span),
        }
    }

    /// The index of an element, which is stated to be in bounds, and where it is accessed.
    pub fn element_index(
        &mut self,
        tensor: &Tensor,
        coord: &Coord<Leaf>,
        span: Span,
    ) -> Option<(Shape<Leaf>, Within)> {
        let always = Predicate::Always;
        let mut within = self.keep_to_limits(tensor, Touched::At(coord), &always, span);
        let stated = Stated { base: &tensor.base, name: &tensor.name, span };
        for (at, extent) in self.places(&tensor.layout, coord, &tensor.name, span)? {
            let kept = self.state(&at, &extent, None, stated, false);
            within = self.emit.both_if_any(within, kept);
        }
        let within = within?;
        let index = crd2idx(&mut self.emit, coord, &tensor.layout);
        match index.and_then(|index| add_indices(&mut self.emit, &tensor.offset, &index)) {
            Ok(index) => Some((index, within)),
            Err(error) => {
                self.layout_error(&error, span);
                None
            }
        }
    }

    /// The numbers of a coordinate with the extents that they have to be less than, mode by mode.
    fn places(
        &mut self,
        layout: &Layout<Leaf>,
        coord: &Coord<Leaf>,
        name: &str,
        span: Span,
    ) -> Option<Vec<(Int<Leaf>, Int<Leaf>)>> {
        match coord {
            Tuple::Leaf(Slot::Free) => Some(Vec::new()),
            Tuple::Leaf(Slot::At(at)) => {
                let extent = kernpack_layout::size(&mut self.emit, layout);
                Some(extent.map_or_else(|_| Vec::new(), |extent| vec![(*at, extent)]))
            }
            Tuple::Node(coords) => {
                let shape = layout.shape();
                if layout.is_leaf() || coords.len() != layout.rank() {
                    let rank = counted(layout.rank(), "mode");
                    let message =
                        format!("`{name}` has {rank}, and the index has {}", coords.len());
                    let problem = Diagnostic::new("rank", message);
                    let problem = problem.label(span, format!("the shape is {shape}"));
                    self.report(problem.help("write an index for each mode, `None` for all of it"));
                    return None;
                }
                let pairs = coords.iter().zip(layout.modes());
                let places = pairs.map(|(coord, mode)| self.places(mode, coord, name, span));
                let places: Vec<_> = places.collect();
                Some(places.into_iter().collect::<Option<Vec<_>>>()?.concat())
            }
        }
    }

    // Addresses.

    /// The address so many elements further.
    pub fn pointer_offset(
        &mut self,
        tensor: &Arc<Tensor>,
        count: &Elaborated,
        span: Span,
    ) -> Elaborated {
        let Some(index) = self.read_index(count, span) else { return Elaborated::Poison };
        let by = Tuple::Leaf(self.emit.leaf(index));
        let offset = add_indices(&mut self.emit, &tensor.offset, &by);
        let Some(offset) = self.algebra(offset, span) else { return Elaborated::Poison };
        let limits = tensor.places();
        Elaborated::Pointer(Arc::new(Tensor { offset, limits, ..(**tensor).clone() }))
    }

    /// Reports why layouts have no result.
    pub fn layout_error(&mut self, error: &kernpack_layout::Error, span: Span) -> Elaborated {
        self.mistake(
            "layout",
            span,
            error.to_string(),
            "see the page on layouts for what is needed",
        )
    }
}

impl Tensor {
    /// The same memory, with another layout and its limits.
    pub fn with_layout(&self, layout: Layout<Leaf>, limits: Vec<Limit>) -> Tensor {
        Tensor { layout, limits, ..self.clone() }
    }

    /// The limits that stay whatever the elements are: those of the views that it is made of.
    pub fn places(&self) -> Vec<Limit> {
        let limits = self.limits.iter();
        limits.filter(|limit| matches!(limit, Limit::Place { .. })).cloned().collect()
    }
}
