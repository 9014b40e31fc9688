// SPDX-License-Identifier: Apache-2.0
//! Types of host languages that parameters are passed as: the closed vocabulary that headers,
//! stubs, metadata and descriptions are written in. A kind says which of these it is, so that a new
//! kind touches no exporter.

use crate::dim::Dim;
use crate::literal::Literal;
use crate::param::{Pointer, Tensor};
use kernpack_ffi_abi::DType;

/// A parameter as its callers see it.
#[derive(Clone, Debug, PartialEq)]
pub enum HostType {
    /// The environment's stream, which takes no argument.
    EnvStream,
    /// A tensor.
    Tensor(Box<Tensor>),
    /// An integer of that dtype, or `bool`.
    Int(DType),
    /// A float of that dtype.
    Float(DType),
    /// Integers that satisfy these dims.
    Shape(Vec<Dim>),
    /// Several values, some with names.
    Tuple(Vec<(Option<String>, HostType)>),
    /// The value, or nothing.
    Optional(Box<HostType>),
    /// A raw pointer.
    Pointer(Pointer),
    /// A stream handle.
    Stream,
    /// A text.
    String,
    /// A dtype.
    DataType,
    /// Exactly that value.
    Literal(Literal),
}

/// The path of a tuple's element: `pair.x`, or `pair[0]` where it has no name.
pub fn element_path(path: &str, number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{path}.{name}"),
        None => format!("{path}[{number}]"),
    }
}
