// SPDX-License-Identifier: Apache-2.0
//! A tensor that is required is missing.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

fn main() {
    let x = ndarray::Array2::<f32>::zeros((1, 4));
    let _ = table::scale(&x);
}
