// SPDX-License-Identifier: Apache-2.0
//! The number of arguments.

use super::Info;
use crate::count::count;
use crate::fault::{Format, Phrase};
use crate::plan::Compare;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "arity",
    kind: ErrorKind::TypeError,
    doc: "The call has as many arguments as the signature has parameters; trailing ones with defaults may be left out, and EnvStream parameters take none.",
    example: "Mismatched number of arguments when calling: `f(a: int32, b: int32)`, expected 2 arguments, got 3",
};

/// Requires between `least` and `most` arguments.
pub fn require(cx: &mut Planner<'_>, least: usize, most: usize) {
    let n_args = cx.b.num_args();
    let cond = if least == most {
        cx.b.eq_int(n_args, most as i64)
    } else {
        let (least, most) = (cx.b.int(least as i64), cx.b.int(most as i64));
        let enough = cx.b.compare(Compare::Le, least, n_args);
        let few = cx.b.compare(Compare::Le, n_args, most);
        cx.b.and(enough, few)
    };
    let expected = if least == most {
        count(most, "argument")
    } else {
        format!("{least} to {most} arguments")
    };
    let got = Phrase::value(n_args, Format::Int);
    cx.require(cond, INFO.complaint("Mismatched number of arguments", expected, got));
}
