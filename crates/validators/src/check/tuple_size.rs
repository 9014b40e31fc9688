// SPDX-License-Identifier: Apache-2.0
//! The number of a tuple's elements.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;
use kernpack_ffi_abi::layout::seq_cell;

/// The check.
pub const INFO: Info = Info {
    name: "tuple-size",
    kind: ErrorKind::ValueError,
    doc: "The Array or List has as many elements as the Tuple of the signature.",
    example: "Mismatched tuple size on argument #0 when calling: `f(p: Tuple(int32, int32))`, expected tuple size=2, got 3",
};

/// Requires `size` elements in the Array or List at `object`.
pub fn require(cx: &mut Planner<'_>, path: &Path, object: Value, size: usize) {
    let actual = cx.b.load(object, seq_cell::SIZE);
    let cond = cx.b.eq_int(actual, size as i64);
    let subject = path.location("Mismatched tuple size");
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("tuple size={size}"), got));
}
