// SPDX-License-Identifier: Apache-2.0
//! Kind `Shape`: some integers in one argument, `Shape([m, 4, _])`.
//!
//! *Accepts* an `ffi.Shape`, or an Array or List of Ints and Bools. *Binds* its symbols, like a tensor's dims. *Kernel argument*: `s[i]`.

use super::{Argument, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::dim::Dim;
use crate::expr::Field;
use crate::host_type::HostType;
use crate::parse::Parser;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
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
    const SAMPLES: &'static [&'static str] = &["Shape([])", "Shape([m, 4, _])"];

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
        for (i, dim) in self.0.iter().enumerate() {
            cx.dim(&at.part(Field::Element(i)), dim);
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let accepted = [TypeIndex::SHAPE, TypeIndex::ARRAY, TypeIndex::LIST];
        check::type_index::require(cx, at, "Shape", &accepted);
        check::shape_size::require(cx, &at.path, at.payload, self.0.len());
        let is_shape = cx.b.eq_int(at.type_index, TypeIndex::SHAPE.0);
        let data = cx.b.load(at.payload, shape_cell::DATA);
        for (i, dim) in self.0.iter().enumerate() {
            let path = at.path.part(Field::Element(i));
            let value = require_element(cx, &path, is_shape, data, i);
            cx.b.let_named(&path.text, value);
            check::dim::require(cx, &path, value, dim);
        }
    }

    fn host_type(&self) -> HostType {
        HostType::Shape(self.0.len())
    }
}

/// The `i`-th integer: a plain one of an `ffi.Shape`, or the payload of a value that is checked to be an integer.
fn require_element(
    cx: &mut Planner<'_>,
    path: &Path,
    is_shape: Value,
    data: Value,
    i: usize,
) -> Value {
    let boxed = cx.b.int((i * size_of::<Any>()) as i64);
    let element = cx.b.add_ints(data, boxed);
    let is_boxed = cx.b.not(is_shape);
    cx.when(is_boxed, |cx| {
        let type_index = cx.b.load(element, any::TYPE_INDEX);
        let payload = cx.b.load(element, any::PAYLOAD);
        let at = Argument { path: path.clone(), type_index, payload, optional: false };
        check::type_index::require(cx, &at, "int", &[TypeIndex::INT, TypeIndex::BOOL]);
    });
    let plain = cx.b.int((i * size_of::<i64>()) as i64);
    let payload = cx.b.int((i * size_of::<Any>()) as i64 + i64::from(any::PAYLOAD.offset));
    let offset = cx.b.select(is_shape, plain, payload);
    let address = cx.b.add_ints(data, offset);
    cx.b.element(address, 0)
}
