// SPDX-License-Identifier: Apache-2.0
//! A prepared call holds its tensors, which have to be there as long as it.

mod streams {
    include!("../../typed/packages/streams.rs.txt");
}

use kernpack::{RawStream, View, ViewMut};

fn main() {
    let stream = RawStream::null(0);
    let x = [0.0f32; 4];
    let mut prepared = {
        let mut y = [0.0f32; 4];
        let (x, y) = (View::new(&x, &[4]).unwrap(), ViewMut::new(&mut y, &[4]).unwrap());
        streams::add_one(&stream, x, y).prepare().unwrap()
    };
    prepared.call().unwrap();
}
