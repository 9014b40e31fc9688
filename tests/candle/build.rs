// SPDX-License-Identifier: Apache-2.0
//! Builds the packages.

fn main() {
    for name in ["everything", "table"] {
        kernpack_build::package(format!("../typed/packages/{name}.toml")).compile();
    }
}
