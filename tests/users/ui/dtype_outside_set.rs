// SPDX-License-Identifier: Apache-2.0
//! A dtype is one of those that the signature lists.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::Array2;

fn main() {
    let (x, mut y) = (Array2::<i32>::zeros((1, 4)), Array2::<i32>::zeros((1, 4)));
    let _ = table::scale(&x, &mut y);
}
