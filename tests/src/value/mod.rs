// SPDX-License-Identifier: Apache-2.0
//! The values of a call as data. They are read from the suite's [text] or from [JSON lines](json),
//! and laid out by [`memory`](crate::memory).

pub mod described;
pub mod json;
pub mod text;

use kernpack_ffi_abi::{DType, DeviceType};

/// An argument, or an element of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None.
    None,
    /// An Int.
    Int(i64),
    /// A Bool, with its whole payload.
    Bool(i64),
    /// A Float.
    Float(f64),
    /// An OpaquePtr.
    Ptr(u64),
    /// A BigInt: two's complement words, least significant first.
    BigInt(Vec<i64>),
    /// Anything else, by type index: checks read no more of it than that.
    Other(i32),
    /// Anything that is no object, by type index and payload.
    Inline(i32, u64),
    /// An `ffi.Shape`.
    Shape(Vec<i64>),
    /// An `ffi.Array`.
    Array(Vec<Value>),
    /// An `ffi.List`.
    List(Vec<Value>),
    /// A string.
    Str(Carrier, Vec<u8>),
    /// A tensor.
    Tensor(Tensor),
}

/// What holds a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A small string where it has at most 7 bytes, and else an object: as Python passes it.
    Any,
    /// An object.
    Object,
    /// A `const char*`.
    CString,
}

/// How a tensor arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// As a `DLTensor*`: type index 7.
    DLTensor,
    /// As a `Tensor` object: type index 70.
    Tensor,
}

/// A tensor, as `DLTensor` describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// How it arrives; `None`: it is tried both ways.
    pub arrival: Option<Arrival>,
    /// The data pointer: only a number.
    pub data: u64,
    /// Device type and index.
    pub device: (i32, i32),
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<i64>,
    /// The strides in elements; `None` is a NULL pointer.
    pub strides: Option<Vec<i64>>,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

impl Default for Tensor {
    fn default() -> Tensor {
        Tensor {
            arrival: None,
            data: 0x1000,
            device: (DeviceType::CPU.0, 0),
            dtype: DType::FLOAT32,
            shape: vec![],
            strides: Some(vec![]),
            byte_offset: 0,
        }
    }
}

impl Value {
    /// Whether some tensor in it is to be tried both ways.
    pub fn has_two_arrivals(&self) -> bool {
        match self {
            Value::Array(elements) | Value::List(elements) => {
                elements.iter().any(Value::has_two_arrivals)
            }
            Value::Tensor(tensor) => tensor.arrival.is_none(),
            _ => false,
        }
    }
}

/// The strides of a compact row-major tensor of that shape.
pub fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].wrapping_mul(shape[i]);
    }
    strides
}
