// SPDX-License-Identifier: Apache-2.0
//! A call is there no longer than the package that was loaded.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

fn main() {
    let x = ndarray::Array1::<f32>::zeros(4);
    let call = {
        let package = table::load("table.so").unwrap();
        package.add(&x)
    };
    call.call().unwrap();
}
