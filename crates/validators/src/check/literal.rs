// SPDX-License-Identifier: Apache-2.0
//! A parameter that must have exactly one value.

use super::{Info, type_index};
use crate::fault::{Format, Phrase};
use crate::literal::Literal;
use crate::param::Argument;
use crate::planner::Planner;
use kernpack_ffi_abi::{ErrorKind, TypeIndex};

/// The check.
pub const INFO: Info = Info {
    name: "literal",
    kind: ErrorKind::ValueError,
    doc: "The argument has the one value that the signature writes in place of a type. The kernel was made for that value only.",
    example: "Mismatched value on argument #0 when calling: `f(mode: 3)`, expected 3, got 4",
};

/// Requires the type and the value of `literal`.
pub fn require(cx: &mut Planner<'_>, at: &Argument, literal: &Literal) {
    let value = cx.b.int(literal.as_any().1);
    let subject = at.path.location("Mismatched value");
    let (cond, got) = match literal {
        Literal::None => return type_index::require(cx, at, "None", &[TypeIndex::NONE]),
        Literal::Bool(_) | Literal::Int(_) => {
            let word = if matches!(literal, Literal::Bool(_)) { "bool" } else { "int" };
            type_index::require(cx, at, word, &[TypeIndex::INT, TypeIndex::BOOL]);
            (cx.b.eq(at.payload, value), Phrase::value(at.payload, Format::Int))
        }
        Literal::Float(_) => {
            type_index::require(
                cx,
                at,
                "float",
                &[TypeIndex::FLOAT, TypeIndex::INT, TypeIndex::BOOL],
            );
            let bits = cx.float_payload(at);
            (cx.eq_float(bits, value), Phrase::value(bits, Format::Float))
        }
        Literal::DType(_) => {
            type_index::require(cx, at, "dtype", &[TypeIndex::DATA_TYPE]);
            let dtype = cx.dtype_payload(at);
            (cx.b.eq(dtype, value), Phrase::value(dtype, Format::DType))
        }
        Literal::Text(text) => {
            type_index::require(cx, at, "str", &type_index::STRINGS);
            let cond = cx.b.text_is_any(at.text, std::slice::from_ref(text));
            (cond, Phrase::value(at.text, Format::Text))
        }
    };
    cx.require(cond, INFO.complaint(subject, literal.to_string(), got));
}
