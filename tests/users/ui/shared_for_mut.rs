// SPDX-License-Identifier: Apache-2.0
//! A tensor that a function writes is lent to be written.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

fn main() {
    let (x, y) = (ndarray::Array2::<f32>::zeros((1, 4)), ndarray::Array2::zeros((1, 4)));
    let _ = table::scale(&x, &y);
}
