// SPDX-License-Identifier: Apache-2.0
//! The package alone says which dtypes a variable may be.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

impl table::scale::T for i32 {}

fn main() {}
