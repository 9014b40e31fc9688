// SPDX-License-Identifier: Apache-2.0
//! Gives the library the driver's name inside: once it is loaded from wherever it lies,
//! `dlopen("libcuda.so.1")` finds it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
}
