// SPDX-License-Identifier: Apache-2.0
//! A pointer that must not be NULL.

use super::Info;
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "pointer-null",
    kind: ErrorKind::ValueError,
    doc: "A `Pointer(…, nonnull)` is not NULL.",
    example: "Invalid pointer on argument #0 when calling: `f(p: Pointer(float32))`, expected a non-NULL pointer, got NULL",
};

/// Requires an address other than NULL.
pub fn require(cx: &mut Planner<'_>, path: &Path, address: Value) {
    let null = cx.b.int(0);
    let cond = cx.b.compare(Compare::Ne, address, null);
    let subject = path.location("Invalid pointer");
    cx.require(cond, INFO.complaint(subject, "a non-NULL pointer", "NULL"));
}
