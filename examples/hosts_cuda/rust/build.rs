// SPDX-License-Identifier: Apache-2.0
//! Makes the package's typed functions. Its machine code is in the library that the program loads.

fn main() {
    kernpack_build::package("../../rms_norm_cuda/rms_norm.toml").compile();
}
