// SPDX-License-Identifier: Apache-2.0
//! A prepared call holds what stays in its place.

mod streams {
    include!("../../typed/packages/streams.rs.txt");
}

use kernpack::{Element, Lend, RawStream, Result};

struct Own(Vec<f32>);

// SAFETY: it is a program that does not compile.
unsafe impl<S: ?Sized> Lend<S> for Own {
    type Element = f32;
    type Guard<'a>
        = ()
    where
        Self: 'a,
        S: 'a;

    fn lend<'a>(&'a self, _: &'a S) -> Result<(kernpack::DLTensor, ())> {
        let _ = f32::DTYPE;
        unimplemented!("{}", self.0.len())
    }
}

fn main() {
    let stream = RawStream::null(0);
    let mut y = [0.0f32; 4];
    let y = kernpack::ViewMut::new(&mut y, &[4]).unwrap();
    let _ = streams::add_one(&stream, Own(vec![]), y).prepare();
}
