// SPDX-License-Identifier: Apache-2.0
//! Makes the objects in `objects/` again, or in the folder that it is given: `make objects`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "../tests/prebuilt/make.rs"]
mod make;

fn main() -> ExitCode {
    // Cargo sets it for what it runs.
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(".".into()));
    let folder = std::env::args_os().nth(1).map_or_else(|| own.join("objects"), PathBuf::from);
    match write(&own, &folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn write(own: &Path, folder: &Path) -> Result<(), String> {
    for (name, bytes) in make::objects(own)? {
        let file = folder.join(name);
        std::fs::write(&file, bytes).map_err(|error| make::file_problem(&file, error))?;
    }
    Ok(())
}
