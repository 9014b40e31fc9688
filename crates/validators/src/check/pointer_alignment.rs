// SPDX-License-Identifier: Apache-2.0
//! The alignment of a pointer.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Arith, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "pointer-alignment",
    kind: ErrorKind::ValueError,
    doc: "The address of a `Pointer(…, align=n)` is a multiple of n bytes.",
    example: "Misaligned pointer on argument #0 when calling: `f(p: Pointer(float32))`, expected alignment=16 bytes, got address % 16 == 4",
};

/// Requires a multiple of `align` bytes, a power of two.
pub fn require(cx: &mut Planner<'_>, path: &Path, address: Value, align: u32) {
    let mask = cx.b.int(i64::from(align) - 1);
    let rest = cx.b.arith(Arith::BitAnd, address, mask);
    let cond = cx.b.eq_int(rest, 0);
    let subject = path.location("Misaligned pointer");
    let got = Phrase::text(format!("address % {align} == ")).and_value(rest, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("alignment={align} bytes"), got));
}
