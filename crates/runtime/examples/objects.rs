// SPDX-License-Identifier: Apache-2.0
//! Makes the objects in `objects/` again, or in the folder that it is given: `make objects`.

use std::path::PathBuf;

#[path = "../tests/prebuilt/make.rs"]
mod make;

fn main() {
    // Cargo sets it for what it runs.
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(".".into()));
    let folder = std::env::args_os().nth(1).map_or_else(|| own.join("objects"), PathBuf::from);
    for (name, bytes) in make::objects(&own).unwrap_or_else(|problem| panic!("{problem}")) {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}
