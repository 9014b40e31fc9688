// SPDX-License-Identifier: Apache-2.0
//! Tensors of one dtype variable have one dtype.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::Array2;

fn main() {
    let (x, mut y) = (Array2::<f32>::zeros((1, 4)), Array2::<f64>::zeros((1, 4)));
    let _ = table::scale(&x, &mut y);
}
