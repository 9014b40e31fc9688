// SPDX-License-Identifier: Apache-2.0
//! What an accepted call does, as data: the tensors it allocates, the kernels it launches and the arguments they get, all in terms of the
//! plan's values.

use super::Value;
use kernpack_ffi_abi::DType;

/// A compact row-major tensor that the entry point allocates through the environment's allocator.
#[derive(Clone, Debug)]
pub struct Alloc {
    /// Its name in the signature or the package file.
    pub name: String,
    /// Its extents, checked not to be negative.
    pub dims: Vec<Value>,
    /// Its size in bytes, checked to be a 64-bit integer.
    pub bytes: Value,
    /// Its packed dtype: a constant, or what a dtype variable is bound to.
    pub dtype: Value,
    /// The alignment of its data, in bytes; a power of two.
    pub align: u32,
}

/// The C type of a scalar argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CScalar {
    /// An integer type, or `bool`.
    Int(DType),
    /// A float type; the value is the bits of a float64, checked to fit, and is rounded to the type as it is passed.
    Float(DType),
    /// A pointer.
    Pointer,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum LaunchArg {
    /// A value of the plan, already checked to fit its C type.
    Value(Value, CScalar),
    /// The data pointer of a result, by number.
    Result(usize),
    /// The data pointer of a workspace, by number.
    Workspace(usize),
    /// The environment's stream for the call's device.
    EnvStream,
    /// Several arguments as one C struct, passed by value.
    Struct(Vec<LaunchArg>),
}

/// A kernel to run where a condition holds.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where it runs; `None`: always.
    pub cond: Option<Value>,
    /// Its number in the function's description.
    pub index: usize,
    /// Its arguments.
    pub args: Vec<LaunchArg>,
}

impl LaunchArg {
    /// Calls `f` with every value of the plan that the argument uses.
    pub fn for_each_value(&self, f: &mut dyn FnMut(Value)) {
        match self {
            LaunchArg::Value(value, _) => f(*value),
            LaunchArg::Result(_) | LaunchArg::Workspace(_) | LaunchArg::EnvStream => {}
            LaunchArg::Struct(fields) => fields.iter().for_each(|field| field.for_each_value(f)),
        }
    }
}
