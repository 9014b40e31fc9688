// SPDX-License-Identifier: Apache-2.0
//! The types of elements are those of the dtypes.

mod table {
    include!("../../typed/packages/table.rs.txt");
}

struct Meters(f32);

impl kernpack::Element for Meters {
    const DTYPE: kernpack::DType = kernpack::DType::FLOAT32;
}

fn main() {
    let _ = table::load("table.so");
}
