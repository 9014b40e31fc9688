// SPDX-License-Identifier: Apache-2.0
//! Several dtype variables together.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use crate::rule::{DTypeRows, join};
use kernpack_ffi_abi::{DType, ErrorKind};

/// The check.
pub const INFO: Info = Info {
    name: "dtype-combination",
    kind: ErrorKind::TypeError,
    doc: "There is a kernel for this combination of dtypes.",
    example: "Mismatched b.dtype on argument #1 when calling: `f(a: Tensor([n], TA), b: Tensor([n], TB))`, expected (TA, TB) in {(float16, float32)}, got (float16, float16)",
};

fn values(cx: &Planner<'_>, vars: &[String]) -> Vec<Value> {
    vars.iter().map(|var| cx.named(var).expect("the variable is bound").value).collect()
}

/// Whether the dtypes of `vars` are one of `rows`.
pub fn holds(cx: &mut Planner<'_>, vars: &[String], rows: &[Vec<DType>]) -> Value {
    let values = values(cx, vars);
    let mut any = cx.b.bool(false);
    for row in rows {
        let mut all = cx.b.bool(true);
        for (value, dtype) in values.iter().zip(row) {
            let eq = cx.b.eq_int(*value, dtype.packed());
            all = cx.b.and(all, eq);
        }
        any = cx.b.or(any, all);
    }
    any
}

/// Requires the dtypes of `vars` to be one of `rows`.
pub fn require(cx: &mut Planner<'_>, path: &Path, vars: &[String], rows: &[Vec<DType>]) {
    let cond = holds(cx, vars, rows);
    let subject = path.subject("Mismatched");
    let expected = format!("({}) in {}", join(vars), DTypeRows(rows));
    let mut got = Phrase::text("(");
    for (i, value) in values(cx, vars).iter().enumerate() {
        got = got.and(if i > 0 { ", " } else { "" }).and_value(*value, Format::DType);
    }
    cx.require(cond, INFO.complaint(subject, expected, got.and(")")));
}
