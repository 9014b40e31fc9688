// SPDX-License-Identifier: Apache-2.0
//! A tensor has the dtype of the signature.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use ndarray::Array1;

fn main() {
    let _ = table::add(&Array1::<f64>::zeros(4));
}
