// SPDX-License-Identifier: Apache-2.0
//! Some launch runs.

use super::{Info, rule};
use crate::plan::Value;
use crate::planner::Planner;
use crate::rule::{Rule, join};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "no-launch",
    kind: ErrorKind::ValueError,
    doc: "Where every launch of a function has a `when`, one of them holds: there is a kernel for these arguments.",
    example: "Unsupported arguments when calling: `f(x: Tensor([m, d], float32))`, expected d <= 4096 or d > 8192, got d = 5000",
};

/// Requires one of `conds`, which say whether these rules hold.
pub fn require(cx: &mut Planner<'_>, conds: &[Value], whens: &[&[Rule]]) {
    let mut cond = cx.b.bool(false);
    for each in conds {
        cond = cx.b.or(cond, *each);
    }
    let got = rule::named_values(cx, whens.iter().copied().flatten());
    let texts: Vec<_> = whens.iter().map(|when| join(*when)).collect();
    cx.require(cond, INFO.complaint("Unsupported arguments", texts.join(" or "), got));
}
