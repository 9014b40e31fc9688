// SPDX-License-Identifier: Apache-2.0
//! Scalar types in PTX and in LLVM's names of its instructions: a row for each.

use crate::llvm::Ty;
use kernpack_kernel_ir::types::Scalar;

/// How a scalar is called, and where it is.
pub(super) struct Row {
    /// LLVM's letter for the register.
    pub letter: char,
    /// Its type there: bits, but for floats with registers of their own.
    pub register: Ty,
    /// The type of an atomic sum, where there is one. Sums do not depend on the sign, and PTX has
    /// signed ones of 32 bits alone.
    pub sum: Option<&'static str>,
    /// Its name in those of LLVM's instructions, for what is converted by one.
    pub converted: Option<&'static str>,
}

const fn new(
    (letter, register): (char, Ty),
    sum: Option<&'static str>,
    converted: Option<&'static str>,
) -> Row {
    Row { letter, register, sum, converted }
}

const SHORT: (char, Ty) = ('h', Ty::I16);
const WORD: (char, Ty) = ('r', Ty::I32);
const LONG: (char, Ty) = ('l', Ty::I64);

/// The row of a scalar.
pub(super) const fn row(scalar: Scalar) -> Row {
    match scalar {
        Scalar::Bool => new(('b', Ty::I1), None, None),
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => new(SHORT, None, None),
        Scalar::I32 => new(WORD, Some("u32"), Some("i")),
        Scalar::U32 => new(WORD, Some("u32"), Some("ui")),
        Scalar::I64 => new(LONG, Some("u64"), Some("ll")),
        Scalar::U64 => new(LONG, Some("u64"), Some("ull")),
        Scalar::F16 => new(SHORT, Some("noftz.f16"), None),
        Scalar::BF16 => new(SHORT, Some("noftz.bf16"), None),
        Scalar::F32 => new(('f', Ty::Float), Some("f32"), Some("f")),
        Scalar::F64 => new(('d', Ty::Double), Some("f64"), Some("d")),
    }
}
