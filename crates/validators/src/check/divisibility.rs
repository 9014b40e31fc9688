// SPDX-License-Identifier: Apache-2.0
//! The rule `n % c == 0`.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::plan::{Arith, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "divisibility",
    kind: ErrorKind::ValueError,
    doc: "The value is a multiple of a constant.",
    example: "Invalid a.shape[0] on argument #0 when calling: `f(a: Tensor([n], float32))`, expected to be divisible by 16, got 126",
};

/// Requires a multiple of `divisor`, which is positive, except where `skip` holds. `subject` is how
/// the message begins.
pub fn require(cx: &mut Planner<'_>, subject: Phrase, value: Value, divisor: i64, skip: Value) {
    // Two's complement: for a power of two the low bits are the remainder, of negative values too.
    let rest = if divisor.count_ones() == 1 {
        let mask = cx.b.int(divisor - 1);
        cx.b.arith(Arith::BitAnd, value, mask)
    } else {
        let divisor = cx.b.int(divisor);
        cx.b.arith(Arith::Mod, value, divisor)
    };
    let divisible = cx.b.eq_int(rest, 0);
    let cond = cx.b.or(skip, divisible);
    let expected = format!("to be divisible by {divisor}");
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(value, Format::Int)));
}
