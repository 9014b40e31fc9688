// SPDX-License-Identifier: Apache-2.0
//! The layout algebra on values: layouts, tensors, shapes and tilers.

use crate::elaborate::Elaborator;
use crate::value::{LayoutValue, Leaf, Tensor, Value};
use kernpack_layout::{Int, Layout, PartOf, Result, Shape, Tiler, Tuple, add_indices};
use kernpack_syntax::Span;
use std::sync::Arc;

impl<'f> Elaborator<'f> {
    /// A value as a shape: integers, nested in tuples.
    pub fn shape(&mut self, value: &Value, span: Span) -> Option<Shape<Leaf>> {
        match value {
            Value::Tuple(tuple) => {
                let parts: Vec<_> = tuple.items.iter().map(|item| self.shape(item, span)).collect();
                Some(Tuple::Node(parts.into_iter().collect::<Option<_>>()?))
            }
            Value::Layout(layout) => Some(layout.layout.shape()),
            value => {
                let index = self.to_index(value, span)?;
                Some(Tuple::Leaf(self.leaf(index)))
            }
        }
    }

    /// A value as a layout: a layout, a tensor's, or the compact one of a shape.
    pub fn layout(&mut self, value: &Value, span: Span) -> Option<LayoutValue> {
        match value {
            Value::Poison => None,
            Value::Layout(layout) => Some((**layout).clone()),
            Value::Tensor(tensor) => {
                Some(LayoutValue { layout: tensor.layout.clone(), swizzle: None })
            }
            value => {
                let shape = self.shape(value, span)?;
                let layout = kernpack_layout::make_layout(self, &shape);
                let layout = self.algebra(layout, span)?;
                Some(LayoutValue { layout, swizzle: None })
            }
        }
    }

    /// A value as what layouts are divided by.
    pub fn tiler(&mut self, value: &Value, span: Span) -> Option<Tiler<Leaf>> {
        match value {
            Value::None => Some(Tiler::Keep),
            Value::Layout(layout) => Some(Tiler::Layout(layout.layout.clone())),
            Value::Tuple(tuple) => {
                let parts: Vec<_> = tuple.items.iter().map(|item| self.tiler(item, span)).collect();
                Some(Tiler::Modes(parts.into_iter().collect::<Option<_>>()?))
            }
            value => {
                let shape = self.shape(value, span)?;
                let tiler = Tiler::of_shape(self, &shape);
                self.algebra(tiler, span)
            }
        }
    }

    /// What the algebra gives; its errors are diagnostics.
    pub fn algebra<T>(&mut self, result: Result<T>, span: Span) -> Option<T> {
        match result {
            Ok(result) => Some(result),
            Err(error) => {
                self.layout_error(&error, span);
                None
            }
        }
    }

    /// Another layout of the same elements: of a tensor a tensor, of anything else a layout.
    pub fn relayout(
        &mut self,
        value: &Value,
        span: Span,
        make: impl FnOnce(&mut Self, &Layout<Leaf>) -> Result<Layout<Leaf>>,
    ) -> Value {
        let value = self.given(value.clone(), span);
        let Some(of) = self.layout(&value, span) else { return Value::Poison };
        let made = make(self, &of.layout);
        let Some(layout) = self.algebra(made, span) else { return Value::Poison };
        match &value {
            Value::Tensor(tensor) => Value::Tensor(Arc::new(tensor.with_layout(layout))),
            _ => Value::Layout(Arc::new(LayoutValue { layout, swizzle: of.swizzle })),
        }
    }

    /// A part of a tensor, or of a layout, of which the place is left out.
    pub fn part(
        &mut self,
        value: &Value,
        span: Span,
        make: impl FnOnce(&mut Self, &Layout<Leaf>) -> Result<PartOf<Elaborator<'f>>>,
    ) -> Value {
        let value = self.given(value.clone(), span);
        let Some(of) = self.layout(&value, span) else { return Value::Poison };
        let made = make(self, &of.layout);
        let Some(part) = self.algebra(made, span) else { return Value::Poison };
        let Value::Tensor(tensor) = &value else {
            return Value::Layout(Arc::new(LayoutValue { layout: part.layout, swizzle: None }));
        };
        let offset = add_indices(self, &tensor.offset, &part.offset);
        match self.algebra(offset, span) {
            Some(offset) => {
                Value::Tensor(Arc::new(Tensor { offset, ..tensor.with_layout(part.layout) }))
            }
            None => Value::Poison,
        }
    }

    /// The number of elements, where it is known while compiling and not too large.
    pub fn known_size(&mut self, layout: &Layout<Leaf>, span: Span) -> Option<usize> {
        let size = kernpack_layout::size(self, layout);
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
