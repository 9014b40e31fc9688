// SPDX-License-Identifier: Apache-2.0
//! The index of each coordinate, of a layout of any kind.

use crate::composed::Composed;
use crate::error::Result;
use crate::evaluate::Object;
use crate::index::{add_indices, crd2idx};
use crate::int::Int;
use crate::layout::{Layout, Shape};
use crate::partition::Part;
use crate::slice::{Coord, Slot};
use crate::symbols::{Symbol, Symbols};
use crate::tuple::Tuple;

/// A function from coordinates to indices: a layout, with an offset or as part of a composed one.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The layout; of a composed one the inner one.
    pub layout: Layout<Symbol>,
    /// The whole of a composed one.
    pub composed: Option<Composed<Symbol>>,
    /// The offset that is added to each index.
    pub offset: Shape<Symbol>,
}

impl Mapping {
    /// The mapping that a layout is.
    pub fn of(layout: Layout<Symbol>) -> Mapping {
        Mapping { layout, composed: None, offset: Tuple::Leaf(Int::Known(0)) }
    }

    /// The mapping that an object is, where it is one.
    pub fn of_object(object: &Object) -> Option<Mapping> {
        match object {
            Object::Layout(layout) => Some(Mapping::of(layout.clone())),
            Object::Composed(composed) => Some(Mapping {
                composed: Some(composed.clone()),
                ..Mapping::of(composed.inner.clone())
            }),
            Object::Part(Part { layout, offset }) => {
                Some(Mapping { offset: offset.clone(), ..Mapping::of(layout.clone()) })
            }
            Object::Shape(_)
            | Object::Coord(_)
            | Object::Swizzle(_)
            | Object::Tiler(_)
            | Object::ThreadValue(..)
            | Object::Strides(_)
            | Object::Truth(_) => None,
        }
    }

    /// The index of a coordinate.
    ///
    /// # Errors
    /// A number beyond 64 bits, or a coordinate that the layout has not.
    pub fn index(&self, cx: &mut Symbols, coord: &Coord<Symbol>) -> Result<Shape<Symbol>> {
        let index = match &self.composed {
            Some(composed) => composed.crd2idx(cx, coord)?,
            None => crd2idx(cx, coord, &self.layout)?,
        };
        add_indices(cx, &self.offset, &index)
    }
}

/// The extent of each mode at the top, where all are known.
pub fn extents(shape: &Shape<Symbol>) -> Option<Vec<i64>> {
    let product = |size: i64, extent: Option<i64>| size.checked_mul(extent?);
    let mode =
        |mode: &Shape<Symbol>| mode.leaves().into_iter().map(Int::known).try_fold(1_i64, product);
    shape.modes().iter().map(mode).collect()
}

/// The coordinate with a number in each mode at the top.
pub fn coord(shape: &Shape<Symbol>, numbers: &[i64]) -> Coord<Symbol> {
    let at = |number: &i64| Tuple::Leaf(Slot::At(Int::Known(*number)));
    match (shape, numbers) {
        (Tuple::Leaf(_), [number]) => at(number),
        (_, numbers) => Tuple::Node(numbers.iter().map(at).collect()),
    }
}
