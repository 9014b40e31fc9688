// SPDX-License-Identifier: Apache-2.0
//! Values of kernels for the layout algebra.

use crate::algebra::{Algebra, Form, Remake};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::number::Kind;
use crate::python::tree::CompareOp;
use crate::value::{Elaborated, LayoutValue, Leaf, Tensor};
use kernpack_layout::{Coord, Int, Layout, Part, Result, Swizzle, Tiler, add_indices};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl<'f> Algebra for Elaborator<'f> {
    type Value = Elaborated;
    type Leaf = Leaf;
    type Tensor = Arc<Tensor>;
    type Numbers = Emission;

    fn form(&mut self, value: &Elaborated, span: Span) -> Option<Form<Self>> {
        Some(match &self.given(value.clone(), span) {
            Elaborated::Poison => return None,
            Elaborated::None => Form::None,
            Elaborated::Tuple(tuple) => Form::Tuple(tuple.items.clone()),
            Elaborated::Layout(of) => Form::Layout(of.layout.clone(), of.swizzle),
            Elaborated::Tensor(tensor) => Form::Tensor(tensor.clone(), tensor.layout.clone()),
            Elaborated::Swizzle(swizzle) => Form::Swizzle(*swizzle),
            Elaborated::Elements(elements) => {
                let shape = elements.shape.clone();
                let layout = self.compute(span, |cx| kernpack_layout::make_layout(cx, &shape))?;
                Form::Layout(layout, None)
            }
            value => match (value.as_int().map(i64::try_from), self.emit.kind(value)) {
                (Some(Ok(number)), _) => Form::Number(Int::Known(number)),
                (_, Some(Kind::Int | Kind::Float | Kind::Of(_))) => {
                    let index = self.read_index(value, span)?;
                    Form::Number(self.emit.leaf(index))
                }
                (_, None) => Form::Other,
            },
        })
    }

    fn called(&self, value: &Elaborated) -> String {
        self.emit.describe(value)
    }

    fn refuse(&mut self, problem: Diagnostic) {
        self.report(problem);
    }

    fn compute<T>(
        &mut self,
        span: Span,
        operation: impl FnOnce(&mut Emission) -> Result<T>,
    ) -> Option<T> {
        let result = operation(&mut self.emit);
        self.algebra(result, span)
    }

    fn of_number(&self, number: &Int<Leaf>) -> Elaborated {
        self.emit.index_value(number)
    }

    fn of_tuple(&self, items: Vec<Elaborated>) -> Elaborated {
        Elaborated::tuple(items)
    }

    fn of_layout(&self, layout: Layout<Leaf>, swizzle: Option<Swizzle>) -> Elaborated {
        Elaborated::Layout(Arc::new(LayoutValue { layout, swizzle }))
    }

    fn of_swizzle(&self, swizzle: Swizzle) -> Elaborated {
        Elaborated::Swizzle(swizzle)
    }

    fn of_view(
        &mut self,
        tensor: Arc<Tensor>,
        layout: Layout<Leaf>,
        relay: &Remake<'_, Self, Layout<Leaf>>,
    ) -> Elaborated {
        let limits = self.emit.relaid_limits(&tensor, &mut |cx, layout| relay(cx, layout));
        Elaborated::Tensor(Arc::new(tensor.with_layout(layout, limits)))
    }

    fn of_part(
        &mut self,
        tensor: Arc<Tensor>,
        part: Part<Leaf>,
        take: &Remake<'_, Self, Part<Leaf>>,
        span: Span,
    ) -> Option<Elaborated> {
        let offset = self.compute(span, |cx| add_indices(cx, &tensor.offset, &part.offset))?;
        let limits = self.emit.moved_limits(&tensor, &mut |cx, layout| {
            let part = take(cx, layout)?;
            Ok((part.layout, part.offset))
        });
        let moved = Tensor { offset, ..tensor.with_layout(part.layout, limits) };
        Some(Elaborated::Tensor(Arc::new(moved)))
    }

    fn cut(&mut self, tensor: Arc<Tensor>, tiler: &Tiler<Leaf>) -> Arc<Tensor> {
        let limits = self.emit.cut_limits(&tensor, tiler);
        if limits.len() == tensor.limits.len() {
            return tensor;
        }
        Arc::new(Tensor { limits, ..(*tensor).clone() })
    }

    fn within(
        &mut self,
        part: Elaborated,
        thread: &Int<Leaf>,
        threads: &Layout<Leaf>,
        span: Span,
    ) -> Elaborated {
        let Elaborated::Tensor(tensor) = part else { return part };
        let count = kernpack_layout::reach(&mut self.emit, threads);
        let Some(count) = self.algebra(count, span) else { return Elaborated::Poison };
        let limits = self.limits_of_place(&tensor, (*thread, count), span);
        Elaborated::Tensor(Arc::new(Tensor { limits, ..(*tensor).clone() }))
    }

    fn of_tile(
        &mut self,
        tensor: Arc<Tensor>,
        tiles: Layout<Leaf>,
        at: &Coord<Leaf>,
        relay: &Remake<'_, Self, Layout<Leaf>>,
        span: Span,
    ) -> Option<Elaborated> {
        let limits = self.emit.relaid_limits(&tensor, &mut |cx, layout| relay(cx, layout));
        let tiles = tensor.with_layout(tiles, limits);
        Some(self.slice(&tiles, at, span)).filter(|value| !value.is_poison())
    }

    fn all_less(&mut self, pairs: &[(Int<Leaf>, Int<Leaf>)], span: Span) -> Option<Elaborated> {
        let mut all = Elaborated::Bool(true);
        for (a, b) in pairs {
            let (a, b) = (self.emit.index_value(a), self.emit.index_value(b));
            let one = self.compare_numbers(CompareOp::Lt, &a, &b, span)?;
            all = self.both(&all, &one, span);
        }
        Some(all)
    }
}

impl Elaborator<'_> {
    /// A value as a layout: a layout, a tensor's, or the compact one of a shape.
    pub fn layout(&mut self, value: &Elaborated, span: Span) -> Option<LayoutValue> {
        let (layout, swizzle) = self.read_layout(value, span)?;
        Some(LayoutValue { layout, swizzle })
    }

    /// The result of the algebra; its errors are diagnostics.
    pub fn algebra<T>(&mut self, result: Result<T>, span: Span) -> Option<T> {
        match result {
            Ok(result) => Some(result),
            Err(error) => {
                self.layout_error(&error, span);
                None
            }
        }
    }

    /// The number of elements, where it is known while compiling and not too large.
    pub fn known_size(&mut self, layout: &Layout<Leaf>, span: Span) -> Option<usize> {
        let size = kernpack_layout::size(&mut self.emit, layout);
        match self.algebra(size, span)? {
            Int::Known(size) if (0..=4096).contains(&size) => Some(size as usize),
            Int::Known(size) => {
                let message = format!("{size} elements of a thread");
                self.mistake("register-tensor", span, message, "let each thread have at most 4096");
                None
            }
            Int::Dynamic(_) => {
                let message = "how many elements there are is not known while compiling";
                let help = "take tiles of a constant shape, as with `kp.local_tile`";
                self.mistake("register-tensor", span, message, help);
                None
            }
        }
    }
}
