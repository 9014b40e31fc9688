// SPDX-License-Identifier: Apache-2.0
//! An array is written once.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::{Array1, Array2};

fn main() {
    let (x, mut y) = (Array2::<f32>::zeros((2, 2)), Array1::zeros(2));
    table::sums_out(&x, &mut y, &mut y).call().unwrap();
}
