// SPDX-License-Identifier: Apache-2.0
//! The type of an argument.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::param::Argument;
use crate::planner::Planner;
use kernpack_ffi_abi::{ErrorKind, TypeIndex};

/// The check.
pub const INFO: Info = Info {
    name: "type",
    kind: ErrorKind::TypeError,
    doc: "The argument is of a type that its parameter accepts. Python objects that tvm_ffi cannot convert arrive as `a Python object`.",
    example: "Mismatched type on argument #1 when calling: `f(a: Tensor([n], float32), b: int32)`, expected int, got Tensor",
};

/// The type indices of strings.
pub const STRINGS: [TypeIndex; 3] = [TypeIndex::SMALL_STR, TypeIndex::STR, TypeIndex::RAW_STR];

/// Requires one of some type indices.
pub fn require(cx: &mut Planner<'_>, at: &Argument, expected: &str, accepted: &[TypeIndex]) {
    let cond = cx.b.eq_any(at.type_index, accepted.iter().map(|index| index.0.into()));
    let accepts_none = at.optional || accepted.contains(&TypeIndex::NONE);
    let suffix = if accepts_none && expected != "None" { " or None" } else { "" };
    let got = Phrase::value(at.type_index, Format::TypeIndex);
    let subject = at.path.location("Mismatched type");
    cx.require(cond, INFO.complaint(subject, format!("{expected}{suffix}"), got));
}
