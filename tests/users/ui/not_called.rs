// SPDX-License-Identifier: Apache-2.0
//! A call that is not made is warned of.

#![deny(unused_must_use)]

mod table {
    include!("../../typed/packages/table.rs.txt");
}

fn main() {
    let x = ndarray::Array1::<f32>::zeros(4);
    table::add(&x);
}
