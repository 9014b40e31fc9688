// SPDX-License-Identifier: Apache-2.0
//! Signatures for Python: as data, and checked without a call.

use crate::ffi::{Args, Error, Value};
use kernpack_syntax::Diagnostics;
use kernpack_validators::Signature;
use kernpack_validators::described::check_described;
use serde_json::json;

/// `kernpack_describe(signature) -> JSON`
pub fn describe(args: Args<'_>) -> Result<Value, Error> {
    let signature = Signature::parse(args.text(0)?).map_err(wrong)?;
    let description = signature.describe().map_err(wrong)?;
    Value::json(&description)
}

/// `kernpack_describe_tensor(text) -> JSON`: the type of a result or of a workspace.
pub fn describe_tensor(args: Args<'_>) -> Result<Value, Error> {
    Value::json(&kernpack_validators::describe_tensor(args.text(0)?).map_err(wrong)?)
}

/// `kernpack_check(signature, call) -> JSON`: what the checks say of a call that JSON describes,
/// its `kind` and `message`, or null where it is accepted.
pub fn check(args: Args<'_>) -> Result<Value, Error> {
    let refused = check_described(args.text(0)?, args.text(1)?);
    let refused = refused.map_err(|error| Error::value(error.to_string()))?;
    let answer = refused.map(|refused| {
        json!({ "kind": refused.kind.to_string(), "name": refused.name, "message": refused.message })
    });
    Value::json(&answer)
}

fn wrong(problems: Diagnostics) -> Error {
    Error::value(problems.to_string())
}
