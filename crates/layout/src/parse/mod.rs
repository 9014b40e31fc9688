// SPDX-License-Identifier: Apache-2.0
//! Layouts from text, as CuTe prints them and as this crate does: `(4,8):(8,1)`, or `(4,8)` for the
//! compact layout of that shape. What is not known is `?`, which may say what is known of it,
//! `?{div=8}`, or has a name.

mod read;
mod term;

pub(crate) use read::{Reader, function};
pub(crate) use term::{Form, Term, term};

use crate::composed::Composed;
use crate::error::Error;
use crate::layout::{Layout, Shape};
use crate::slice::Coord;
use crate::symbols::{Symbol, Symbols};
use crate::tiler::Tiler;
use std::ops::Range;

/// The mistake of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// The mistake, in one line.
    pub message: String,
    /// Where, in bytes of the text.
    pub at: Range<usize>,
    /// The error of an operation, or of making a layout; nothing where the text is not written
    /// as it should be.
    pub refused: Option<Box<Error>>,
}

impl ParseError {
    /// That a text is not written as it should be.
    pub(crate) fn new(message: impl Into<String>, at: Range<usize>) -> ParseError {
        ParseError { message: message.into(), at, refused: None }
    }
}

/// Reads a layout: `(4,8):(8,1)`, or a shape for the compact layout of it.
pub fn layout(text: &str, cx: &mut Symbols) -> Result<Layout<Symbol>, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.layout(&term)
}

/// Reads a shape, or any other tuple of integers: `(4,(8,?))`.
pub fn shape(text: &str, cx: &mut Symbols) -> Result<Shape<Symbol>, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.shape(&term)
}

/// Reads a coordinate, in which modes may be free: `(2,(_,1))`.
pub fn coord(text: &str, cx: &mut Symbols) -> Result<Coord<Symbol>, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.coord(&term)
}

/// Reads a tiler: a shape, a layout, or in parentheses or `<…>` a tiler for each mode.
pub fn tiler(text: &str, cx: &mut Symbols) -> Result<Tiler<Symbol>, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.tiler(&term)
}

/// Reads a layout with offset and swizzle: `S<3,4,3> o 0 o (8,8):(8,1)`.
pub fn composed(text: &str, cx: &mut Symbols) -> Result<Composed<Symbol>, ParseError> {
    let term = term(text)?;
    Reader::new(cx, &term)?.composed(&term)
}
