// SPDX-License-Identifier: Apache-2.0
//! The contents of a package, or of a package file, beyond what the command line tells.

use crate::ffi::{Args, Error, Value};
use kernpack_package::package::Site;
use kernpack_package::{Launch, WrittenLaunch, inspect, package_file};
use std::path::Path;

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

/// `kernpack_takes_archs(text) -> JSON`: whether a package file has sources that are compiled for
/// the GPUs that a caller names.
pub fn takes_archs(args: Args<'_>) -> Result<Value, Error> {
    let reading = package_file::read(args.text(0)?, Path::new(""));
    let functions = reading.package.functions.iter().chain(&reading.unsound);
    let mut launches = functions.flat_map(|function| &function.launches);
    Value::json(&launches.any(is_compiled))
}

/// Whether a launch is of kernels that are compiled for a GPU, and not before.
fn is_compiled(launch: &WrittenLaunch) -> bool {
    match launch {
        WrittenLaunch::Whole(Launch { site: Site::Gpu { source, .. }, .. }) => {
            source.is_arch_written().is_some()
        }
        WrittenLaunch::Kernel(_) | WrittenLaunch::Packed(_) => true,
        WrittenLaunch::Whole(Launch { site: Site::Host { .. }, .. }) | WrittenLaunch::Triton(_) => {
            false
        }
    }
}
