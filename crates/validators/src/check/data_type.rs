// SPDX-License-Identifier: Apache-2.0
//! A dtype that is an argument of its own.

use super::dtype::alternatives;
use super::{Info, type_index};
use crate::fault::{Format, Phrase};
use crate::param::Argument;
use crate::plan::{Guarded, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::{DType, ErrorKind, TypeIndex};

/// The check.
pub const INFO: Info = Info {
    name: "dtype",
    kind: ErrorKind::TypeError,
    doc: "The argument is one of the dtypes that its rules allow, or the name of one.",
    example: "Mismatched dtype on argument #0 when calling: `f(out: DataType)`, expected float16 or float32, got int8",
};

/// Requires a dtype that the variable of the parameter's name may have, or its name; returns it,
/// packed.
pub fn require(cx: &mut Planner<'_>, at: &Argument) -> Value {
    let [small, object, raw] = type_index::STRINGS;
    let accepted = [TypeIndex::DATA_TYPE, small, object, raw];
    type_index::require(cx, at, "dtype", &accepted);
    let allowed = cx.bindings().dtypes[&at.path.text].allowed.clone();
    let names: Vec<_> = allowed.iter().map(ToString::to_string).collect();
    let complaint =
        |got| INFO.complaint(at.path.location("Mismatched dtype"), alternatives(&allowed), got);

    let is_dtype = cx.b.eq_int(at.type_index, TypeIndex::DATA_TYPE.0);
    let given = cx.dtype_payload(at);
    cx.b.open();
    let is_allowed = cx.b.eq_any(given, allowed.iter().map(|dtype| dtype.packed().into()));
    cx.require(is_allowed, complaint(Phrase::value(given, Format::DType)));
    cx.b.close(is_dtype, &[]);

    let is_name = cx.b.not(is_dtype);
    cx.b.open();
    cx.b.let_named(format!("{}.name", at.path.text), at.text);
    let is_known = cx.b.text_is_any(at.text, &names);
    cx.require(is_known, complaint(Phrase::value(at.text, Format::Text)));
    let named = by_name(cx, at.text, &allowed);
    cx.b.close(is_name, &[Guarded { inner: named, otherwise: given }])[0]
}

/// The dtype of that name among some, packed.
fn by_name(cx: &mut Planner<'_>, name: Value, among: &[DType]) -> Value {
    let mut named = cx.b.int(among[0].packed());
    for dtype in &among[1..] {
        let is_it = cx.b.text_is(name, &dtype.to_string());
        let dtype = cx.b.int(dtype.packed());
        named = cx.b.select(is_it, dtype, named);
    }
    named
}
