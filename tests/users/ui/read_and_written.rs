// SPDX-License-Identifier: Apache-2.0
//! An array that is written cannot be read.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::Array2;

fn main() {
    let mut x = Array2::<f32>::zeros((4, 4));
    table::scale(&x, &mut x).call().unwrap();
}
