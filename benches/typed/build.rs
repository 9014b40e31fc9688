// SPDX-License-Identifier: Apache-2.0
//! Builds the packages and the calls in C. What the package of one function takes goes into the
//! file that `KERNPACK_BUILD_MILLISECONDS` names, a line each time.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

fn main() {
    let start = Instant::now();
    kernpack_build::package("add_one.toml").compile();
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if let Ok(path) = std::env::var("KERNPACK_BUILD_MILLISECONDS") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{milliseconds}"));
        written.expect("the file can be written");
    }
    kernpack_build::package("../../examples/rms_norm_cuda/rms_norm.toml").compile();
    println!("cargo::rerun-if-changed=src/by_hand.c");
    cc::Build::new()
        .file("src/by_hand.c")
        .opt_level(2)
        .warnings_into_errors(true)
        .compile("by_hand");
}
