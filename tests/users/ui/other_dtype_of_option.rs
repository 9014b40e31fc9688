// SPDX-License-Identifier: Apache-2.0
//! A tensor that may be left out has the dtype of the signature too.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::Array1;

fn main() {
    let a = Array1::<f32>::zeros(4);
    let _ = table::add(&a).b(&Array1::<f64>::zeros(4));
}
