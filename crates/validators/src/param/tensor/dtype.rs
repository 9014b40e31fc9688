// SPDX-License-Identifier: Apache-2.0
//! The element type of a tensor, as it is written.

use kernpack_ffi_abi::DType;
use kernpack_syntax::Span;
use std::fmt;

/// The element type of a tensor.
#[derive(Clone, Debug)]
pub enum TensorDType {
    /// That dtype.
    Fixed(DType),
    /// The dtype of a dtype variable in this call.
    Var(String, Span),
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for TensorDType {
    fn eq(&self, other: &TensorDType) -> bool {
        match (self, other) {
            (TensorDType::Fixed(a), TensorDType::Fixed(b)) => a == b,
            (TensorDType::Var(a, _), TensorDType::Var(b, _)) => a == b,
            (TensorDType::Fixed(_), TensorDType::Var(..))
            | (TensorDType::Var(..), TensorDType::Fixed(_)) => false,
        }
    }
}

impl fmt::Display for TensorDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorDType::Fixed(dtype) => dtype.fmt(f),
            TensorDType::Var(name, _) => f.write_str(name),
        }
    }
}

impl From<DType> for TensorDType {
    fn from(dtype: DType) -> TensorDType {
        TensorDType::Fixed(dtype)
    }
}

impl From<&str> for TensorDType {
    fn from(var: &str) -> TensorDType {
        TensorDType::Var(var.to_string(), Span::default())
    }
}
