// SPDX-License-Identifier: Apache-2.0
//! All elements of a tile at once: `x.load()`, `x.store(values)`, `x.fill(value)`; and elements as
//! one value.

use super::Predicate;
use super::limit::Touched;
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::value::{Elaborated, Elements, Leaf, Tensor};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::Value;
use kernpack_layout::Shape;
use kernpack_syntax::Span;
use std::sync::Arc;

impl Elaborator<'_> {
    /// Elements as one value.
    pub fn vector_of(&mut self, elements: &Elements) -> Value {
        let items = elements.items.iter().map(|item| self.emit.typed(item, elements.scalar));
        let items = items.collect();
        self.emit.b.vector(items)
    }

    /// A value as elements.
    pub fn elements_of(&mut self, value: Value, scalar: Scalar, shape: Shape<Leaf>) -> Elaborated {
        let lanes = self.emit.b.ty(value).lanes();
        let items = (0..lanes).map(|lane| Elaborated::Typed(self.emit.b.extract(value, lane)));
        let items = items.collect();
        Elaborated::Elements(Arc::new(Elements { scalar, shape, items }))
    }

    /// The elements of a tile, in as few accesses as can be.
    pub fn load_all(&mut self, tensor: &Arc<Tensor>, span: Span) -> Elaborated {
        let Some(memory) = memory_of(tensor) else {
            let help = "load the tensor that the coordinates are of";
            return self.mistake("type", span, "coordinates are not loaded", help);
        };
        let scalar = memory.element;
        let Some(pieces) = self.pieces(tensor, span) else { return Elaborated::Poison };
        let (all, always) = (Touched::All(pieces.size), Predicate::Always);
        let Some(within) = self.keep_to_limits(tensor, all, &always, span) else {
            return Elaborated::Poison;
        };
        let pred = self.emit.narrowed(&always, within);
        let items = self.emit.load_pieces(tensor, &pieces, &pred);
        let Some(items) = self.algebra(items, span) else { return Elaborated::Poison };
        let items = items.into_iter().map(Elaborated::Typed).collect();
        let shape = tensor.layout.shape();
        Elaborated::Elements(Arc::new(Elements { scalar, shape, items }))
    }

    /// Writes the elements of a tile.
    pub fn store_all(&mut self, tensor: &Arc<Tensor>, value: &Elaborated, span: Span) {
        let Some(memory) = self.writable(tensor, span) else { return };
        let element = memory.element;
        let Some(pieces) = self.pieces(tensor, span) else { return };
        let Some(items) = self.items_for(value, pieces.size, element, span) else { return };
        let items: Vec<_> = items.iter().map(|item| self.emit.typed(item, element)).collect();
        let (all, always) = (Touched::All(pieces.size), Predicate::Always);
        let Some(within) = self.keep_to_limits(tensor, all, &always, span) else { return };
        let pred = self.emit.narrowed(&always, within);
        let stored = self.emit.store_pieces(tensor, &pieces, &items, &pred);
        self.algebra(stored, span);
    }

    /// The numbers that the elements of a tile become: one for all, or as many as there are.
    fn items_for(
        &mut self,
        value: &Elaborated,
        size: usize,
        element: Scalar,
        span: Span,
    ) -> Option<Vec<Elaborated>> {
        match value {
            Elaborated::Elements(elements) if elements.scalar != element => {
                let message = format!("elements are {element}, and these are {}", elements.scalar);
                let help = format!("write `.to(kp.{element})` behind them");
                self.mistake("element-type", span, message, help);
                None
            }
            Elaborated::Elements(elements) if elements.items.len() != size => {
                let message = format!("{} elements for a tile of {size}", elements.items.len());
                self.mistake("shape", span, message, "make both of one shape");
                None
            }
            Elaborated::Elements(elements) => Some(elements.items.clone()),
            value => {
                let typed = self.element_value(value, element, span)?;
                Some(vec![Elaborated::Typed(typed); size])
            }
        }
    }
}
