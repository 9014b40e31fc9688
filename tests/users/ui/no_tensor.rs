// SPDX-License-Identifier: Apache-2.0
//! A vector and a number lend no tensor.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

fn main() {
    let _ = table::add(&vec![0.0f32; 4]);
    let _ = table::add(1.0f32);
}
