// SPDX-License-Identifier: Apache-2.0
//! Kind `Shape`: some integers in one argument, `Shape([m, 4, _])`, `Shape([m, *s])`.
//!
//! *Accepts* an `ffi.Shape`, or an Array or List of Ints and Bools. *Binds* its symbols, like a
//! tensor's dims. *Kernel argument*: `s[i]`.

use super::{Argument, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::dim::{Dim, Rank, Star};
use crate::expr::Field;
use crate::host_type::HostType;
use crate::parse::Parser;
use crate::path::Path;
use crate::plan::{Arith, Value};
use crate::planner::{Direction, Planner, Row, StarUse};
use crate::rule::join;
use kernpack_ffi_abi::TypeIndex;
use kernpack_ffi_abi::layout::{Any, any, shape_cell};
use kernpack_syntax::Diagnostic;
use std::fmt;

/// Some integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape(Vec<Dim>);

impl Shape {
    /// Integers that satisfy these dims.
    pub fn new(dims: impl IntoIterator<Item = impl Into<Dim>>) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
    }
}

impl ParamSyntax for Shape {
    const NAME: &'static str = "Shape";
    const SAMPLES: &'static [&'static str] = &["Shape([])", "Shape([m, 4, _])", "Shape([m, *s])"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("Shape").then(|| {
            parser.expect("(")?;
            let dims = parser.parse_dims()?;
            parser.expect(")")?;
            Ok(Shape(dims).into())
        })
    }
}

impl ParamKind for Shape {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "Shape([{}])", join(&self.0))
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        cx.shape(at, &self.0);
        for (i, dim) in self.0.iter().enumerate() {
            match dim {
                Dim::Star(star) => cx.star(at, star, false),
                Dim::Any | Dim::Expr(_) => cx.dim(&self.path(at, i), dim),
            }
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let accepted = [TypeIndex::SHAPE, TypeIndex::ARRAY, TypeIndex::LIST];
        check::type_index::require(cx, at, "Shape", &accepted);
        let size = cx.b.load(at.payload, shape_cell::SIZE);
        let elements = Elements::of(at, cx);
        let star = self.star_use(&at.path, size, elements, cx);
        match &star {
            None => check::shape_size::require(cx, &at.path, size, self.0.len()),
            Some(star) => cx.check_n_dims(star),
        }
        for (i, dim) in self.0.iter().enumerate() {
            if let (Dim::Star(_), Some(star)) = (dim, &star) {
                elements.require_star(star, cx);
                cx.star(star);
                continue;
            }
            let path = self.path(&at.path, i);
            let number = self.number(i, size, cx);
            let value = elements.require(&path, number, cx);
            cx.b.let_named(&path.text, value);
            check::dim::require(cx, &path, value, dim);
        }
    }

    fn host_type(&self) -> HostType {
        HostType::Shape(self.0.clone())
    }
}

impl Shape {
    /// The path of the element that is written at place `i`, which is no star.
    fn path(&self, at: &Path, i: usize) -> Path {
        Rank::of(&self.0).path(at, Field::Element, i)
    }

    /// The number of the element that is written at place `i`, among as many as there are.
    fn number(&self, i: usize, size: Value, cx: &mut Planner<'_>) -> Value {
        match Star::among(&self.0) {
            Some((star, _)) if i > star => {
                let from_last = cx.b.int((self.0.len() - i) as i64);
                cx.b.arith(Arith::Sub, size, from_last)
            }
            _ => cx.b.int(i as i64),
        }
    }

    fn star_use(
        &self,
        path: &Path,
        size: Value,
        elements: Elements,
        cx: &mut Planner<'_>,
    ) -> Option<StarUse> {
        let (n_before, star) = Star::among(&self.0)?;
        let number = cx.b.int(n_before as i64);
        Some(StarUse {
            star: star.clone(),
            owner: path.clone(),
            field: Field::Element,
            n_before,
            n_others: self.0.len() - 1,
            n_dims: size,
            extents: elements.from(number, cx),
        })
    }
}

/// The integers of a Shape: plain ones of an `ffi.Shape`, or the payloads of values that are
/// checked to be integers.
#[derive(Clone, Copy)]
struct Elements {
    is_shape: Value,
    data: Value,
}

impl Elements {
    fn of(at: &Argument, cx: &mut Planner<'_>) -> Elements {
        let is_shape = cx.b.eq_int(at.type_index, TypeIndex::SHAPE.0);
        Elements { is_shape, data: cx.b.load(at.payload, shape_cell::DATA) }
    }

    /// Requires the element of that number to be an integer, and returns it.
    fn require(self, path: &Path, number: Value, cx: &mut Planner<'_>) -> Value {
        let is_boxed = cx.b.not(self.is_shape);
        cx.when(is_boxed, |cx| self.require_int(path, number, cx));
        let row = self.from(number, cx);
        cx.b.element(row.start, 0)
    }

    /// Requires the element of that number, which is a value of any type, to be an integer.
    fn require_int(self, path: &Path, number: Value, cx: &mut Planner<'_>) {
        let size = cx.b.int(size_of::<Any>() as i64);
        let offset = cx.b.mul(number, size);
        let element = cx.b.add_ints(self.data, offset);
        let at = Argument::of(path.clone(), element, cx);
        check::type_index::require(cx, &at, "int", &[TypeIndex::INT, TypeIndex::BOOL]);
    }

    /// Requires the elements of a star to be integers.
    fn require_star(self, star: &StarUse, cx: &mut Planner<'_>) {
        let ndim = star.ndim(cx);
        let is_boxed = cx.b.not(self.is_shape);
        cx.when(is_boxed, |cx| {
            cx.for_each_dim(ndim, Direction::Forward, &[], |cx, turn| {
                let before = cx.b.int(star.n_before as i64);
                let number = cx.b.add_ints(turn.number, before);
                let path = star.path(cx, turn.number);
                self.require_int(&path, number, cx);
                vec![]
            });
        });
    }

    /// The integers from that number on.
    fn from(self, number: Value, cx: &mut Planner<'_>) -> Row {
        let plain = cx.b.int(size_of::<i64>() as i64);
        let boxed = cx.b.int(size_of::<Any>() as i64);
        let step = cx.b.select(self.is_shape, plain, boxed);
        let (plain, boxed) = (cx.b.mul(number, plain), cx.b.mul(number, boxed));
        let payload = cx.b.int(any::PAYLOAD.offset);
        let boxed = cx.b.add_ints(boxed, payload);
        let offset = cx.b.select(self.is_shape, plain, boxed);
        Row { start: cx.b.add_ints(self.data, offset), step }
    }
}
