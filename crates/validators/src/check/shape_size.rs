// SPDX-License-Identifier: Apache-2.0
//! The number of a Shape's elements.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;
use kernpack_ffi_abi::layout::{seq_cell, shape_cell};

/// The check.
pub const INFO: Info = Info {
    name: "shape-size",
    kind: ErrorKind::ValueError,
    doc: "The Shape, Array or List has as many elements as the Shape of the signature gives it, and where `*s` stands among them, as many more as `*s` has elsewhere in the call; never more than 64 then.",
    example: "Mismatched Shape on argument #0 when calling: `f(s: Shape([m, n]))`, expected shape size=2, got 3",
};

// One load serves both kinds of object.
const _: () = assert!(shape_cell::SIZE.offset == seq_cell::SIZE.offset);

/// Requires `size` elements.
pub fn require(cx: &mut Planner<'_>, path: &Path, actual: Value, size: usize) {
    let cond = cx.b.eq_int(actual, size as i64);
    let subject = path.location("Mismatched Shape");
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("shape size={size}"), got));
}
