// SPDX-License-Identifier: Apache-2.0
//! Builds the package.

fn main() {
    kernpack_build::package("src/scoring.toml").compile();
}
