// SPDX-License-Identifier: Apache-2.0
//! Compiled packages, looked into without loading or running them.

use crate::{Error, Result};
use kernpack_package::inspect::inspect_file;
use serde_json::Value;
use std::fs::File;
use std::path::Path;

/// The contents of an object or a shared object: the kind of the file, what it runs on, and all
/// that its packages say of themselves, as `kernpack inspect --json` prints it.
///
/// # Errors
/// Where the file cannot be read, or no package is in it.
pub fn inspect(path: impl AsRef<Path>) -> Result<Value> {
    let name = path.as_ref().display();
    let file = File::open(&path);
    let file = file.map_err(|error| Error::Runtime(format!("cannot read `{name}`: {error}")))?;
    let found = inspect_file(&file).map_err(|error| Error::Value(format!("`{name}`: {error}")))?;
    serde_json::to_value(&found).map_err(|error| Error::Runtime(error.to_string()))
}
