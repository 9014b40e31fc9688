// SPDX-License-Identifier: Apache-2.0
//! Names the cfgs that the objects in `objects/` are built with, and links the one of this machine
//! into the integration test, which calls into it.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(kernpack_freestanding, kernpack_checks, kernpack_cuda)");
    println!("cargo::rustc-check-cfg=cfg(kernpack_arch, values(\"x86_64\", \"aarch64\"))");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=objects");
    let variable = |name| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let object = format!("objects/runtime-{}.o", variable("CARGO_CFG_TARGET_ARCH"));
    let object = Path::new(&variable("CARGO_MANIFEST_DIR")).join(object);
    if env::var_os("CARGO_FEATURE_PREBUILT").is_some() && object.exists() {
        println!("cargo::rustc-link-arg-tests={}", object.display());
    }
}
