// SPDX-License-Identifier: Apache-2.0
//! Compiled modules find the stand-ins for libtvm_ffi in the test program itself, which therefore
//! exports its symbols.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for kind in ["tests", "bins"] {
        println!("cargo:rustc-link-arg-{kind}=-rdynamic");
    }
    println!("cargo:rustc-link-arg=-rdynamic");
}
