// SPDX-License-Identifier: Apache-2.0
//! Functions of a running program, for Python: which names they use, and what is told of names
//! that kernpack has not.

use crate::ffi::{Args, Error, Value};
use kernpack_package::program;

/// `kernpack_names(text, is_method) -> JSON`: the names that the functions of a text use and do not
/// bind, each with the attributes behind it. Of a text that is no Python there are none: who reads
/// it says so.
pub fn names(args: Args<'_>) -> Result<Value, Error> {
    Value::json(&program::names(args.text(0)?, args.int(1)? != 0))
}

/// `kernpack_foreign_help(path) -> JSON`: what to do for a name of CuTe DSL's, or for a path of
/// one, `cutlass.Float32`; null of others.
pub fn foreign_help(args: Args<'_>) -> Result<Value, Error> {
    Value::json(&program::foreign_help(args.text(0)?))
}
