// SPDX-License-Identifier: Apache-2.0
//! A function on a stream takes no array in the memory of the host.

mod streams {
    include!("../../typed/packages/streams.rs.txt");
}

use kernpack::RawStream;

fn main() {
    let stream = RawStream::null(0);
    let x = ndarray::Array1::<f32>::zeros(4);
    let mut y = [0.0f32; 4];
    let y = kernpack::ViewMut::new(&mut y, &[4]).unwrap();
    let _ = streams::add_one(&stream, &x, y);
}
