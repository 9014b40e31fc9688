// SPDX-License-Identifier: Apache-2.0
//! Calls on the CPU, of views of two arrays, beside those of C through the packed symbol.

use crate::add_one;
use crate::rounds::{figure, time};
use serde_json::Value;
use std::hint::black_box;

const N_CALLS: i64 = 2_000;

/// An array as C has it.
#[repr(C)]
struct Array {
    data: *mut f32,
    shape: [i64; 2],
    strides: [i64; 2],
}

unsafe extern "C" {
    fn tensors_in_each_call(a: *mut Array, b: *mut Array, n_calls: i64) -> i64;
    fn tensors_made_before(a: *mut Array, b: *mut Array, n_calls: i64) -> i64;
}

type ByHand = unsafe extern "C" fn(*mut Array, *mut Array, i64) -> i64;

/// Memory whose address is a multiple of 64, with its 64 elements as an array.
#[repr(align(64))]
struct Elements([f32; 64]);

impl Elements {
    fn view(&self) -> ndarray::ArrayView2<'_, f32> {
        ndarray::ArrayView2::from_shape((4, 16), &self.0).expect("there are 64 elements")
    }

    fn view_mut(&mut self) -> ndarray::ArrayViewMut2<'_, f32> {
        ndarray::ArrayViewMut2::from_shape((4, 16), &mut self.0).expect("there are 64 elements")
    }

    fn in_c(&mut self) -> Array {
        Array { data: self.0.as_mut_ptr(), shape: [4, 16], strides: [16, 1] }
    }
}

/// The figures of the CPU.
pub fn measure() -> Vec<Value> {
    // What it takes to make two tensors, C saves that has made them before.
    let references: [(&str, f64, ByHand); 2] = [
        ("that makes its tensors in each call", 1.10, tensors_in_each_call),
        ("whose tensors were made before", 1.30, tensors_made_before),
    ];
    references.map(|(title, ratio, by_hand)| beside(title, ratio, by_hand)).to_vec()
}

fn beside(title: &str, ratio: f64, by_hand: ByHand) -> Value {
    let (a, mut b) = (Elements([1.0; 64]), Elements([0.0; 64]));
    let (mut c, mut d) = (Elements([1.0; 64]), Elements([0.0; 64]));
    let (mut in_c, mut out_c) = (c.in_c(), d.in_c());
    let ours = || {
        let (x, mut y) = (a.view(), b.view_mut());
        time(N_CALLS, || {
            for _ in 0..N_CALLS {
                add_one::add_one(black_box(&x), black_box(&mut y)).call().expect("it is accepted");
            }
        })
    };
    let by_hand = || {
        time(N_CALLS, || {
            // SAFETY: both arrays are there, and nobody else has them.
            let n_failed = unsafe { by_hand(&mut in_c, &mut out_c, N_CALLS) };
            assert_eq!(n_failed, 0, "it is accepted");
        })
    };
    let name = format!("typed call from Rust, 2 views of ndarray, beside C {title}");
    figure(&name, ratio, ours, by_hand)
}
