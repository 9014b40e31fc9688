// SPDX-License-Identifier: Apache-2.0
//! Functions that another version wrote are not compiled.

mod table {
    const _: () = ::kernpack::call::expect_version("0.0.9");
}

fn main() {}
