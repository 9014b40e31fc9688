// SPDX-License-Identifier: Apache-2.0
//! Terms to what they are written for: layouts, shapes, coordinates, tilers.
//!
//! Where an operation stands, what it results in is read.

use super::{Form, ParseError, Term};
use crate::arith::{Arith, Op};
use crate::composed::{Composed, Outer};
use crate::error::Error;
use crate::evaluate::Object;
use crate::facts::Facts;
use crate::int::Int;
use crate::layout::{Layout, Shape, Stride, Strides, make_layout};
use crate::partition::Part;
use crate::slice::{Coord, Slot};
use crate::swizzle::Swizzle;
use crate::symbols::{Symbol, Symbols};
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use std::collections::HashMap;

type Read<T> = Result<T, ParseError>;

/// Reads the terms of one text, in which a name is one number.
pub(crate) struct Reader<'c> {
    pub(crate) cx: &'c mut Symbols,
    /// The facts of names, which may stand where any of them does.
    facts: HashMap<String, Facts>,
}

impl Term {
    /// An error at this place.
    pub(crate) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.at.clone())
    }

    /// An error of what is made of it.
    pub(crate) fn refused(&self, error: Error) -> ParseError {
        let message = error.to_string();
        ParseError { refused: Some(Box::new(error)), ..self.error(message) }
    }

    fn expected(&self, what: &str) -> ParseError {
        self.error(format!("expected {what}, found {}", self.kind()))
    }

    /// That an operation results in something else than is expected.
    pub(crate) fn found(&self, what: &str, object: &Object) -> ParseError {
        self.error(format!("expected {what}, found {}", object.kind()))
    }

    /// Its kind, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.form {
            Form::Int(_) | Form::Unknown(_) | Form::Name(..) | Form::Operation(..) => "a number",
            Form::Free => "`_`",
            Form::Basis(..) => "a stride along a mode",
            Form::Tuple(_) => "a tuple",
            Form::Tiler(_) => "a tiler",
            Form::Layout(_) => "a layout",
            Form::Swizzle(_) => "a swizzle",
            Form::Composed(_) => "a composed layout",
            Form::Part(_) => "a part of a layout",
            Form::Owners(_) => "a tile with a layout of threads and values",
            Form::Call(..) => "an operation",
        }
    }

    fn parts(&self) -> &[Term] {
        match &self.form {
            Form::Int(_) | Form::Unknown(_) | Form::Name(..) | Form::Free | Form::Swizzle(_) => &[],
            Form::Basis(scale, _) => std::slice::from_ref(scale),
            Form::Operation(_, parts)
            | Form::Layout(parts)
            | Form::Part(parts)
            | Form::Owners(parts) => &parts[..],
            Form::Composed(parts) => &parts[..],
            Form::Tuple(parts) | Form::Tiler(parts) | Form::Call(_, parts) => parts,
        }
    }
}

impl<'c> Reader<'c> {
    /// A reader of the names in a text.
    pub(crate) fn new(cx: &'c mut Symbols, text: &Term) -> Read<Reader<'c>> {
        let mut reader = Reader { cx, facts: HashMap::new() };
        reader.note_facts(text)?;
        Ok(reader)
    }

    fn note_facts(&mut self, term: &Term) -> Read<()> {
        if let Form::Name(name, Some(facts)) = &term.form {
            let before = self.facts.insert(name.clone(), *facts);
            if before.is_some_and(|before| before != *facts) {
                return Err(term.error(format!("`{name}` is said to be something else, too")));
            }
        }
        term.parts().iter().try_for_each(|part| self.note_facts(part))
    }

    pub(crate) fn int(&mut self, term: &Term) -> Read<Int<Symbol>> {
        match &term.form {
            Form::Int(number) => Ok(Int::Known(*number)),
            Form::Unknown(facts) => Ok(known_or(facts, |facts| self.cx.unknown(facts))),
            Form::Name(name, _) => {
                let facts = self.facts.get(name).copied().unwrap_or(Facts::NON_NEGATIVE);
                Ok(known_or(&facts, |facts| self.cx.name(name, facts)))
            }
            Form::Operation(op, operands) => self.operation(term, *op, &operands[..]),
            Form::Call(name, operands) => match function(name) {
                Some(op) => self.operation(term, op, operands),
                None => match self.shape(term)? {
                    Tuple::Leaf(int) => Ok(int),
                    Tuple::Node(_) => Err(term.expected("a number")),
                },
            },
            // Parentheses around an operand.
            Form::Tuple(terms) if terms.len() == 1 => self.int(&terms[0]),
            Form::Free
            | Form::Basis(..)
            | Form::Tuple(_)
            | Form::Tiler(_)
            | Form::Layout(_)
            | Form::Swizzle(_)
            | Form::Part(_)
            | Form::Owners(_)
            | Form::Composed(_) => Err(term.expected("a number")),
        }
    }

    fn operation(&mut self, term: &Term, op: Op, operands: &[Term]) -> Read<Int<Symbol>> {
        let [a, b] = operands else {
            return Err(term.error(format!("`{}` is of two numbers", op.name())));
        };
        let (a, b) = (self.int(a)?, self.int(b)?);
        let cx = &mut *self.cx;
        let result = match op {
            Op::Add => cx.add(&a, &b),
            Op::Sub => cx.sub(&a, &b),
            Op::Mul => cx.mul(&a, &b),
            Op::Div => cx.div(&a, &b),
            Op::CeilDiv => cx.ceil_div(&a, &b),
            Op::Rem => cx.rem(&a, &b),
            Op::Min => cx.min(&a, &b),
            Op::Max => cx.max(&a, &b),
            Op::And | Op::Xor | Op::Shl | Op::Shr => cx.compute(op, &a, &b),
        };
        result.map_err(|error| term.refused(error))
    }

    pub(crate) fn shape(&mut self, term: &Term) -> Read<Shape<Symbol>> {
        match &term.form {
            Form::Tuple(terms) => self.tuple(terms, Self::shape),
            Form::Call(name, _) if function(name).is_none() => match self.evaluate(term)? {
                Object::Shape(shape) => Ok(shape),
                other => Err(term.found("a tuple of numbers", &other)),
            },
            _ => Ok(Tuple::Leaf(self.int(term)?)),
        }
    }

    pub(crate) fn strides(&mut self, term: &Term) -> Read<Strides<Symbol>> {
        match &term.form {
            Form::Tuple(terms) => self.tuple(terms, Self::strides),
            Form::Basis(scale, basis) => {
                Ok(Tuple::Leaf(Stride { scale: self.int(scale)?, basis: basis.clone() }))
            }
            _ => Ok(Tuple::Leaf(self.int(term)?.into())),
        }
    }

    pub(crate) fn coord(&mut self, term: &Term) -> Read<Coord<Symbol>> {
        match &term.form {
            Form::Tuple(terms) => self.tuple(terms, Self::coord),
            Form::Free => Ok(Tuple::Leaf(Slot::Free)),
            Form::Call(..) => Ok(Coord::at(&self.shape(term)?)),
            _ => Ok(Tuple::Leaf(Slot::At(self.int(term)?))),
        }
    }

    fn tuple<T>(
        &mut self,
        terms: &[Term],
        each: impl Fn(&mut Self, &Term) -> Read<Tuple<T>>,
    ) -> Read<Tuple<T>> {
        Ok(Tuple::Node(terms.iter().map(|term| each(self, term)).collect::<Read<_>>()?))
    }

    pub(crate) fn layout(&mut self, term: &Term) -> Read<Layout<Symbol>> {
        match &term.form {
            Form::Layout(parts) => {
                let (shape, strides) = (self.extents(&parts[0])?, self.strides(&parts[1])?);
                Layout::of(&shape, &strides).map_err(|error| term.refused(error))
            }
            Form::Basis(..) | Form::Swizzle(_) | Form::Composed(_) | Form::Tiler(_) => {
                Err(term.expected("a layout"))
            }
            Form::Call(name, _) if function(name).is_none() => {
                let object = self.evaluate(term)?;
                self.layout_of(term, object)
            }
            Form::Part(_) => {
                let part = self.part(term)?;
                self.layout_of(term, Object::Part(part))
            }
            Form::Owners(parts) => self.layout(&parts[0]),
            _ => {
                let shape = self.extents(term)?;
                make_layout(self.cx, &shape).map_err(|error| term.refused(error))
            }
        }
    }

    /// A layout at an offset.
    pub(crate) fn part(&mut self, term: &Term) -> Read<Part<Symbol>> {
        let Form::Part(parts) = &term.form else {
            return Err(term.expected("a part of a layout"));
        };
        Ok(Part { layout: self.layout(&parts[0])?, offset: self.shape(&parts[1])? })
    }

    /// The layout that the result of an operation is, or that there is of it.
    pub(crate) fn layout_of(&mut self, term: &Term, object: Object) -> Read<Layout<Symbol>> {
        match object {
            Object::Layout(layout) => Ok(layout),
            // A part that begins where its layout does is that layout.
            Object::Part(part) if part.is_at_origin() => Ok(part.layout),
            Object::ThreadValue(_, layout) => Ok(layout),
            Object::Shape(shape) => {
                make_layout(self.cx, &shape).map_err(|error| term.refused(error))
            }
            other => Err(term.found("a layout", &other)),
        }
    }

    /// A shape, of which no extent is negative.
    fn extents(&mut self, term: &Term) -> Read<Shape<Symbol>> {
        let shape = self.shape(term)?;
        let known = shape.leaves().into_iter().filter_map(Int::known);
        match known.into_iter().find(|&extent| extent < 0) {
            Some(extent) => Err(term.refused(Error::NegativeExtent { extent })),
            None => Ok(shape),
        }
    }

    pub(crate) fn tiler(&mut self, term: &Term) -> Read<Tiler<Symbol>> {
        match &term.form {
            Form::Free => Ok(Tiler::Keep),
            Form::Tuple(terms) | Form::Tiler(terms) => {
                let tilers = terms.iter().map(|term| self.tiler(term));
                Ok(Tiler::Modes(tilers.collect::<Read<_>>()?))
            }
            Form::Call(name, _) if function(name).is_none() => match self.evaluate(term)? {
                Object::Tiler(tiler) => Ok(tiler),
                Object::Shape(shape) => {
                    Tiler::of_shape(self.cx, &shape).map_err(|error| term.refused(error))
                }
                object => Ok(Tiler::Layout(self.layout_of(term, object)?)),
            },
            _ => Ok(Tiler::Layout(self.layout(term)?)),
        }
    }

    pub(crate) fn swizzle(&mut self, term: &Term) -> Read<Swizzle> {
        match &term.form {
            Form::Swizzle(numbers) => self.swizzle_of(term, *numbers),
            Form::Call(..) => match self.evaluate(term)? {
                Object::Swizzle(swizzle) => Ok(swizzle),
                other => Err(term.found("a swizzle", &other)),
            },
            _ => Err(term.expected("a swizzle")),
        }
    }

    /// The swizzle of bits, base and shift.
    pub(crate) fn swizzle_of(
        &mut self,
        term: &Term,
        [bits, base, shift]: [i64; 3],
    ) -> Read<Swizzle> {
        let parts = (u32::try_from(bits), u32::try_from(base), i32::try_from(shift));
        let (Ok(bits), Ok(base), Ok(shift)) = parts else {
            return Err(term.error("bits and base of a swizzle are counts of bits"));
        };
        Swizzle::new(bits, base, shift).map_err(|error| term.refused(error))
    }

    pub(crate) fn composed(&mut self, term: &Term) -> Read<Composed<Symbol>> {
        if let Form::Call(..) = &term.form {
            return match self.evaluate(term)? {
                Object::Composed(composed) => Ok(composed),
                other => Err(term.found("a composed layout", &other)),
            };
        }
        let Form::Composed(parts) = &term.form else {
            return Err(term.expected("a composed layout"));
        };
        let [outer, offset, inner] = &**parts;
        let outer = match &outer.form {
            Form::Swizzle(_) => Outer::Swizzle(self.swizzle(outer)?),
            _ => Outer::Layout(self.layout(outer)?),
        };
        let (offset, inner) = (self.shape(offset)?, self.layout(inner)?);
        Ok(Composed { outer, offset, inner })
    }
}

/// The number that facts leave, or a symbol.
fn known_or(facts: &Facts, symbol: impl FnOnce(Facts) -> Symbol) -> Int<Symbol> {
    match facts.known() {
        Some(number) => Int::Known(number),
        None => Int::Dynamic(symbol(*facts)),
    }
}

/// The operations on numbers that are written as calls.
pub(crate) fn function(name: &str) -> Option<Op> {
    let ops = [Op::CeilDiv, Op::Div, Op::Rem, Op::Min, Op::Max, Op::Shl, Op::Shr];
    ops.into_iter().find(|op| op.name() == name)
}
