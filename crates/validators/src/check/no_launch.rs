// SPDX-License-Identifier: Apache-2.0
//! Some launch runs.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::planner::{NamedKind, Planner};
use crate::plan::Value;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "no-launch",
    kind: ErrorKind::ValueError,
    doc: "Where every launch of a function has a `when`, one of them holds: there is a kernel for these arguments.",
    example: "Unsupported arguments when calling: `f(x: Tensor([m, d], float32))`, expected d <= 4096 or d > 8192, got d = 5000",
};

/// Requires one of `conds`, whose texts are `texts` and name `names`.
pub fn require(cx: &mut Planner<'_>, conds: &[Value], texts: &[String], names: &[String]) {
    let mut cond = cx.b.bool(false);
    for each in conds {
        cond = cx.b.or(cond, *each);
    }
    let mut got = Phrase::default();
    for (i, name) in names.iter().enumerate() {
        let named = cx.named(name).expect("the name has a value");
        let format = if named.kind == NamedKind::DType { Format::DType } else { Format::Int };
        let value = named.value;
        got = got.and(format!("{}{name} = ", if i > 0 { ", " } else { "" })).and_value(value, format);
    }
    let expected = texts.join(" or ");
    cx.require(cond, INFO.complaint("Unsupported arguments", expected, got));
}
