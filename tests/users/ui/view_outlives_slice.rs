// SPDX-License-Identifier: Apache-2.0
//! A view is there no longer than its slice.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

use kernpack::View;

fn main() {
    let mut y = ndarray::Array2::<f32>::zeros((1, 4));
    let x = {
        let numbers = vec![0.0f32; 4];
        View::new(&numbers, &[1, 4]).unwrap()
    };
    table::scale(x, &mut y).call().unwrap();
}
