// SPDX-License-Identifier: Apache-2.0
//! Signatures for Python: as data, and checked without a call.

use crate::ffi::{Args, Error, Value};
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Cursor, Diagnostics, lex};
use kernpack_validators::described::check_described;
use kernpack_validators::description::{Description, Slot};
use kernpack_validators::{Signature, describe_workspace};
use serde::Serialize;
use serde_json::{Map, json};

/// `kernpack_describe(signature, workspace, …) -> JSON`: a description, with what is said of the
/// workspaces, `ws: Tensor([4*m], uint8)`, under `workspaces`.
pub fn describe(args: Args<'_>) -> Result<Value, Error> {
    let signature = Signature::parse(args.text(0)?).map_err(wrong)?;
    let description = signature.describe().map_err(wrong)?;
    let workspaces = (1..args.len()).map(|at| describe_workspace(args.text(at)?).map_err(wrong));
    let workspaces = workspaces.collect::<Result<Vec<_>, Error>>()?;
    Value::json(&Described { description, workspaces })
}

/// A signature as Python is told of it.
#[derive(Serialize)]
struct Described {
    #[serde(flatten)]
    description: Description,
    workspaces: Vec<Slot>,
}

/// `kernpack_function_name(signature) -> str`: the name with which the text of a signature begins,
/// right or wrong in all else; None where it begins with none.
pub fn function_name(args: Args<'_>) -> Result<Value, Error> {
    let (tokens, _) = lex(args.text(0)?.into());
    let mut cursor = Cursor::new(&tokens);
    let name = cursor.expect_name("a name").ok().filter(|_| cursor.at_mark("("));
    Ok(name.map_or(Value::None, |(name, _)| Value::Text(name.to_string())))
}

/// `kernpack_dtypes() -> JSON`: the bits of an element of each dtype.
pub fn dtypes(_: Args<'_>) -> Result<Value, Error> {
    let bits = |name: String| Some((DType::parse(&name)?.element_bits(), name));
    let bits = DType::names().filter_map(bits).map(|(bits, name)| (name, bits.into()));
    Value::json(&bits.collect::<Map<_, _>>())
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
