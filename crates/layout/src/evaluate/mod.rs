// SPDX-License-Identifier: Apache-2.0
//! Operations as they are written: `zipped_divide((8,16):(16,1), (4,4))`.
//!
//! Operations have CuTe's names and take their arguments in CuTe's order; [`OPERATIONS`] has them
//! all. Wherever a layout, a shape, a number or a tiler may stand, an operation may that results in
//! one.

mod operation;
mod operations;

pub use operation::Operation;
pub(crate) use operation::call;
pub use operations::OPERATIONS;

use crate::composed::Composed;
use crate::layout::{Layout, Shape};
use crate::parse::{Form, ParseError, Reader, Term, term};
use crate::partition::Part;
use crate::slice::{Coord, Slot};
use crate::swizzle::Swizzle;
use crate::symbols::{Symbol, Symbols};
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use std::fmt::{self, Display, Formatter};

/// The object that a text describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// A number, or a tuple of numbers.
    Shape(Shape<Symbol>),
    /// A coordinate with free modes.
    Coord(Coord<Symbol>),
    /// A layout.
    Layout(Layout<Symbol>),
    /// A layout with an offset and a swizzle or an outer layout.
    Composed(Composed<Symbol>),
    /// A swizzle by itself.
    Swizzle(Swizzle),
    /// A tiler that is no shape.
    Tiler(Tiler<Symbol>),
    /// A part of a layout, with the index at which it begins.
    Part(Part<Symbol>),
    /// The shape of a tile, and the layout of threads and values in it.
    ThreadValue(Shape<Symbol>, Layout<Symbol>),
    /// Strides by themselves.
    Strides(crate::Strides<Symbol>),
    /// An answer to a question.
    Truth(bool),
}

/// Reads a text, and does its operations.
pub fn evaluate(text: &str, cx: &mut Symbols) -> Result<Object, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.evaluate(&term)
}

impl Reader<'_> {
    /// The object of a term.
    pub(crate) fn evaluate(&mut self, term: &Term) -> Result<Object, ParseError> {
        match &term.form {
            Form::Call(name, arguments) => match crate::parse::function(name) {
                Some(_) => Ok(Object::Shape(Tuple::Leaf(self.int(term)?))),
                None => call(self, term, name, arguments),
            },
            Form::Layout(_) => Ok(Object::Layout(self.layout(term)?)),
            Form::Composed(_) => Ok(Object::Composed(self.composed(term)?)),
            Form::Part(_) => Ok(Object::Part(self.part(term)?)),
            Form::Owners(parts) => {
                Ok(Object::ThreadValue(self.shape(&parts[1])?, self.layout(&parts[0])?))
            }
            Form::Swizzle(_) => Ok(Object::Swizzle(self.swizzle(term)?)),
            Form::Basis(..) => Err(term.error("a stride along a mode stands behind the `:` only")),
            Form::Tiler(_) => Ok(Object::Tiler(self.tiler(term)?)),
            Form::Tuple(terms) if terms.iter().any(has_layout) => {
                Ok(Object::Tiler(self.tiler(term)?))
            }
            Form::Tuple(_)
            | Form::Int(_)
            | Form::Free
            | Form::Unknown(_)
            | Form::Name(..)
            | Form::Operation(..) => Ok(number_or_coord(self.coord(term)?)),
        }
    }
}

/// Whether a term is no tuple of numbers alone.
fn has_layout(term: &Term) -> bool {
    match &term.form {
        Form::Tuple(terms) => terms.iter().any(has_layout),
        Form::Layout(_) | Form::Tiler(_) => true,
        Form::Call(name, _) => crate::parse::function(name).is_none(),
        Form::Int(_)
        | Form::Free
        | Form::Unknown(_)
        | Form::Name(..)
        | Form::Operation(..)
        | Form::Basis(..)
        | Form::Swizzle(_)
        | Form::Part(_)
        | Form::Owners(_)
        | Form::Composed(_) => false,
    }
}

/// A tuple of numbers, unless a mode is free.
fn number_or_coord(coord: Coord<Symbol>) -> Object {
    let number = &mut |slot: &Slot<Symbol>| match slot {
        Slot::Free => Err(()),
        Slot::At(at) => Ok(at.clone()),
    };
    coord.try_map(number).map_or(Object::Coord(coord), Object::Shape)
}

impl Object {
    /// Its kind, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Object::Shape(Tuple::Leaf(_)) => "a number",
            Object::Shape(Tuple::Node(_)) => "a tuple",
            Object::Coord(_) => "a coordinate",
            Object::Layout(_) => "a layout",
            Object::Composed(_) => "a composed layout",
            Object::Swizzle(_) => "a swizzle",
            Object::Tiler(_) => "a tiler",
            Object::Part(_) => "a part of a layout",
            Object::ThreadValue(..) => "a tile with a layout of threads and values",
            Object::Strides(_) => "a tuple of strides",
            Object::Truth(_) => "a yes or no",
        }
    }
}

impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Object::Shape(shape) => shape.fmt(f),
            Object::Coord(coord) => coord.fmt(f),
            Object::Layout(layout) => layout.fmt(f),
            Object::Composed(composed) => composed.fmt(f),
            Object::Swizzle(swizzle) => swizzle.fmt(f),
            Object::Tiler(tiler) => tiler.fmt(f),
            Object::Part(part) => part.fmt(f),
            Object::ThreadValue(tile, layout) => {
                layout.fmt(f)?;
                f.write_str(" in ")?;
                tile.fmt(f)
            }
            Object::Strides(strides) => strides.fmt(f),
            Object::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
        }
    }
}
