// SPDX-License-Identifier: Apache-2.0
//! What a prepared call has lent is not written by it.

mod streams {
    include!("../../typed/packages/streams.rs.txt");
}

use kernpack::{RawStream, View, ViewMut};

fn main() {
    let stream = RawStream::null(0);
    let (x, mut y) = ([0.0f32; 4], [0.0f32; 4]);
    let (x, y) = (View::new(&x, &[4]).unwrap(), ViewMut::new(&mut y, &[4]).unwrap());
    let mut prepared = streams::add_one(&stream, x, y).prepare().unwrap();
    let y = prepared.b();
    prepared.call().unwrap();
    let _ = format!("{y:?}");
}
