// SPDX-License-Identifier: Apache-2.0
//! Builds the package, and lets the program find libtvm_ffi.

fn main() {
    kernpack_build::package("../table.toml").compile();
}
