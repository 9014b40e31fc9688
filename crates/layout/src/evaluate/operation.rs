// SPDX-License-Identifier: Apache-2.0
//! An operation by its name, and its arguments as what it takes.

use super::{OPERATIONS, Object};
use crate::composed::Composed;
use crate::error::Result;
use crate::index::add_indices;
use crate::int::Int;
use crate::layout::{Layout, Shape};
use crate::parse::{Form, ParseError, Reader, Term};
use crate::partition::Part;
use crate::slice::Coord;
use crate::symbols::{Symbol, Symbols};
use crate::tiler::Tiler;
use crate::tuple::Tuple;

pub(crate) type Read<T> = std::result::Result<T, ParseError>;

/// An operation of a layout with something else.
type By<T> = fn(&mut Symbols, &Layout<Symbol>, &T) -> Result<Layout<Symbol>>;

/// A row of the table of operations.
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, those that may be left out in brackets.
    pub arguments: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) run: fn(&mut Call<'_, '_>) -> Read<Object>,
}

impl Operation {
    /// Its result, in a sentence.
    pub fn doc(&self) -> &'static str {
        self.doc.trim_start()
    }

    /// How many arguments there are at least, and at most.
    fn arity(&self) -> (usize, usize) {
        let required = self.arguments.split('[').next().unwrap_or_default();
        let count = |text: &str| text.split(',').filter(|part| !part.trim().is_empty()).count();
        match self.arguments.ends_with("...") {
            true => (count(required) - 1, usize::MAX),
            false => (count(required), count(&self.arguments.replace(['[', ']'], ""))),
        }
    }
}

/// A layout, composed or at an offset or neither.
pub(crate) enum Mapping {
    Layout(Layout<Symbol>),
    Part(Part<Symbol>),
    Composed(Composed<Symbol>),
}

/// An operation with its arguments.
pub(crate) struct Call<'r, 'c> {
    pub(crate) reader: &'r mut Reader<'c>,
    pub(crate) term: &'r Term,
    arguments: &'r [Term],
}

/// The result of the operation of that name.
pub(crate) fn call(
    reader: &mut Reader<'_>,
    term: &Term,
    name: &str,
    arguments: &[Term],
) -> Read<Object> {
    let Some(operation) = OPERATIONS.iter().find(|operation| operation.name == name) else {
        return Err(term.error(format!("there is no operation `{name}`")));
    };
    let (least, most) = operation.arity();
    if !(least..=most).contains(&arguments.len()) {
        let Operation { name, arguments: takes, .. } = operation;
        let n_arguments = arguments.len();
        let message = format!("expected `{name}({takes})`, found {n_arguments} arguments");
        return Err(term.error(message));
    }
    (operation.run)(&mut Call { reader, term, arguments })
}

impl<'r> Call<'r, '_> {
    pub(crate) fn cx(&mut self) -> &mut Symbols {
        self.reader.cx
    }

    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    pub(crate) fn argument(&self, number: usize) -> &'r Term {
        &self.arguments[number]
    }

    /// An argument that is a layout of any kind. An operation in it is done once.
    pub(crate) fn mapping(&mut self, number: usize) -> Read<Mapping> {
        let term = self.argument(number);
        match &term.form {
            Form::Composed(_) => Ok(Mapping::Composed(self.reader.composed(term)?)),
            Form::Part(_) => Ok(Mapping::Part(self.reader.part(term)?)),
            Form::Call(..) => match self.reader.evaluate(term)? {
                Object::Composed(composed) => Ok(Mapping::Composed(composed)),
                Object::Part(part) => Ok(Mapping::Part(part)),
                object => Ok(Mapping::Layout(self.reader.layout_of(term, object)?)),
            },
            _ => Ok(Mapping::Layout(self.reader.layout(term)?)),
        }
    }

    pub(crate) fn layout(&mut self, number: usize) -> Read<Layout<Symbol>> {
        self.reader.layout(self.argument(number))
    }

    pub(crate) fn shape(&mut self, number: usize) -> Read<Shape<Symbol>> {
        self.reader.shape(self.argument(number))
    }

    pub(crate) fn coord(&mut self, number: usize) -> Read<Coord<Symbol>> {
        self.reader.coord(self.argument(number))
    }

    pub(crate) fn tiler(&mut self, number: usize) -> Read<Tiler<Symbol>> {
        self.reader.tiler(self.argument(number))
    }

    pub(crate) fn int(&mut self, number: usize) -> Read<Int<Symbol>> {
        self.reader.int(self.argument(number))
    }

    /// A number that has to be known.
    pub(crate) fn number(&mut self, number: usize) -> Read<i64> {
        let known = self.int(number)?.known();
        known.ok_or_else(|| self.argument(number).error("expected a number that is known"))
    }

    /// The number of a mode.
    pub(crate) fn mode(&mut self, number: usize) -> Read<usize> {
        let mode = usize::try_from(self.number(number)?);
        // More modes than anybody means would only cost memory.
        match mode {
            Ok(mode @ 0..=64) => Ok(mode),
            Ok(_) | Err(_) => Err(self.argument(number).error("expected a number from 0 to 64")),
        }
    }

    /// The numbers of modes, from an argument on.
    pub(crate) fn modes(&mut self, from: usize) -> Read<Vec<usize>> {
        (from..self.len()).map(|number| self.mode(number)).collect()
    }

    /// A tuple of numbers that are known, such as an order.
    pub(crate) fn numbers(&mut self, number: usize) -> Read<Tuple<i64>> {
        let shape = self.shape(number)?;
        let known = shape.try_map(&mut |int| int.known().ok_or(()));
        known.map_err(|()| self.argument(number).error("expected numbers that are known"))
    }

    /// The result of an operation, or why there is none.
    pub(crate) fn done<T>(&self, result: Result<T>) -> Read<T> {
        result.map_err(|error| self.term.refused(error))
    }

    /// A layout that an operation makes of the first argument, and of a composed layout the same of
    /// its inner one; of a part, the part that begins where it does.
    pub(crate) fn of_first(
        &mut self,
        each: impl FnOnce(&mut Symbols, &Layout<Symbol>) -> Result<Layout<Symbol>>,
    ) -> Read<Object> {
        match self.mapping(0)? {
            Mapping::Composed(composed) => {
                let composed = composed.map_inner(self.cx(), each);
                Ok(Object::Composed(self.done(composed)?))
            }
            Mapping::Part(Part { layout, offset }) => {
                let layout = each(self.cx(), &layout);
                Ok(Object::Part(Part { layout: self.done(layout)?, offset }))
            }
            Mapping::Layout(layout) => {
                let layout = each(self.cx(), &layout);
                Ok(Object::Layout(self.done(layout)?))
            }
        }
    }

    /// A part of an argument that is a layout, or a part itself, whose offset is added.
    pub(crate) fn part_of(
        &mut self,
        number: usize,
        each: impl FnOnce(&mut Symbols, &Layout<Symbol>) -> Result<Part<Symbol>>,
    ) -> Read<Object> {
        let (layout, begin) = match self.mapping(number)? {
            Mapping::Part(Part { layout, offset }) => (layout, offset),
            Mapping::Layout(layout) => (layout, Tuple::Leaf(Int::Known(0))),
            Mapping::Composed(composed) => {
                let term = self.argument(number);
                return Err(term.found("a layout", &Object::Composed(composed)));
            }
        };
        let part = each(self.cx(), &layout);
        let Part { layout, offset } = self.done(part)?;
        let offset = add_indices(self.cx(), &begin, &offset);
        Ok(Object::Part(Part { layout, offset: self.done(offset)? }))
    }

    /// As [`Call::of_first`], with a layout for the second argument.
    pub(crate) fn by_layout(&mut self, each: By<Layout<Symbol>>) -> Read<Object> {
        let other = self.layout(1)?;
        self.of_first(|cx, layout| each(cx, layout, &other))
    }

    /// As [`Call::of_first`], with a tiler for the second argument.
    pub(crate) fn by_tiler(&mut self, each: By<Tiler<Symbol>>) -> Read<Object> {
        let tiler = self.tiler(1)?;
        self.of_first(|cx, layout| each(cx, layout, &tiler))
    }

    /// A layout that an operation makes of two.
    pub(crate) fn of_two(&mut self, each: By<Layout<Symbol>>) -> Read<Object> {
        let (a, b) = (self.layout(0)?, self.layout(1)?);
        let layout = each(self.cx(), &a, &b);
        Ok(Object::Layout(self.done(layout)?))
    }
}
