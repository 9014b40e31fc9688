// SPDX-License-Identifier: Apache-2.0
//! What is inside a package, beyond what the command line tells.

use crate::ffi::{Args, Error, Value};
use kernpack_package::inspect;

/// `kernpack_images(path) -> JSON`: the GPU images of a file, with where they lie in it.
pub fn images(args: Args<'_>) -> Result<Value, Error> {
    let path = args.text(0)?;
    let file = std::fs::read(path);
    let file = file.map_err(|error| Error::value(format!("cannot read `{path}`: {error}")))?;
    let images = inspect::images(&file);
    let images =
        images.map_err(|error| Error::value(format!("cannot inspect `{path}`: {error}")))?;
    Value::json(&images)
}
