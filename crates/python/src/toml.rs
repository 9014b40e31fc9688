// SPDX-License-Identifier: Apache-2.0
//! Files in TOML that Python reads: versions of it that kernpack runs on have no reader of their
//! own. Not here: package files, which `crates/package` reads.

use crate::ffi::{Args, Error, Value};

/// `kernpack_read_toml(text) -> JSON`: what a text says, as tables of JSON.
pub fn read(args: Args<'_>) -> Result<Value, Error> {
    let table = toml::from_str::<toml::Table>(args.text(0)?);
    Value::json(&table.map_err(|error| Error::value(error.to_string()))?)
}
