// SPDX-License-Identifier: Apache-2.0
//! What a host passes for a parameter: the closed vocabulary that headers, stubs and metadata are
//! written in. A kind says which of these it is, so that a new kind touches no exporter.

use crate::literal::Literal;
use kernpack_ffi_abi::DType;

/// A parameter as its callers see it.
#[derive(Clone, Debug, PartialEq)]
pub enum HostType {
    /// Takes no argument.
    Nothing,
    /// A tensor.
    Tensor {
        /// The number of dims, where it is the same in every call.
        rank: Option<usize>,
        /// Whether the function writes it.
        mutable: bool,
    },
    /// An integer of that dtype, or `bool`.
    Int(DType),
    /// A float of that dtype.
    Float(DType),
    /// That many integers, or any number.
    Shape(Option<usize>),
    /// Several values, some with names.
    Tuple(Vec<(Option<String>, HostType)>),
    /// The value, or nothing.
    Optional(Box<HostType>),
    /// A raw pointer.
    Pointer,
    /// A stream handle.
    Stream,
    /// A text.
    String,
    /// A dtype.
    DataType,
    /// Exactly that value.
    Literal(Literal),
}
