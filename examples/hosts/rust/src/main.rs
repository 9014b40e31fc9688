// SPDX-License-Identifier: Apache-2.0
//! The package is part of a Rust program, which calls it with arrays of `ndarray`: host calls.txt
//!
//! Its calls are those of `calls.txt`, one by one; a call that has no type is not made.

kernpack::include!(table);

use kernpack::{DLTensor, Element, Result, View};
use ndarray::{Array1, Array2, Axis, s};
use std::error::Error;
use std::fmt::Display;
use table::describe::Range;

/// 1, 2, 3, …
fn counted<T: Element + From<u8>>(rows: usize, columns: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(i, j)| T::from((i * columns + j + 1) as u8))
}

fn numbers(n: usize) -> Array1<f32> {
    counted(1, n).remove_axis(Axis(0))
}

fn shown<'v, T: Display + 'v>(values: impl IntoIterator<Item = &'v T>) -> String {
    let values: Vec<_> = values.into_iter().map(ToString::to_string).collect();
    format!("ok: [{}]", values.join(" "))
}

fn scale_halves() -> Result<String> {
    let (x, mut y) = (counted::<f32>(2, 4), Array2::zeros((2, 4)));
    table::scale(&x, &mut y).alpha(0.5).call()?;
    Ok(shown(&y))
}

fn scale_doubles() -> Result<String> {
    let (x, mut y) = (counted::<f64>(2, 4), Array2::zeros((2, 4)));
    table::scale(&x, &mut y).call()?;
    Ok(shown(&y))
}

/// A call of `scale` with arrays of these extents.
fn scale(x: [usize; 2], y: [usize; 2]) -> Result<String> {
    let (x, mut y) = (counted::<f32>(x[0], x[1]), Array2::zeros(y));
    table::scale(&x, &mut y).alpha(if x.is_empty() { 3.0 } else { 2.0 }).call()?;
    Ok(shown(&y))
}

fn scale_misaligned() -> Result<String> {
    let (line, mut y) = (numbers(9), Array2::<f32>::zeros((2, 4)));
    let x = line.slice(s![1..]).into_shape_with_order((2, 4)).expect("there are 8 elements");
    table::scale(x, &mut y).call()?;
    Ok(shown(&y))
}

fn scale_lines() -> Result<String> {
    let (x, mut y) = (numbers(8), Array1::<f32>::zeros(8));
    table::scale(&x, &mut y).call()?;
    Ok(shown(&y))
}

fn scale_nothing() -> Result<String> {
    let mut y = Array2::<f32>::zeros((2, 4));
    let shape = [2i64, 4];
    let (shape, dtype) = (shape.as_ptr() as u64, f32::DTYPE.packed());
    let x = DLTensor { device_type: 1, ndim: 2, dtype, shape, ..DLTensor::default() };
    // SAFETY: a function does not read what is NULL: it refuses it.
    let x = unsafe { View::<f32>::from_raw(x) }?;
    table::scale(x, &mut y).call()?;
    Ok(shown(&y))
}

fn describe(shape: [i64; 2], low: i32, high: i32, step: Option<i64>) -> Result<String> {
    let mut out = Array1::zeros(4);
    let call = table::describe(shape, Range { low, high }, &mut out);
    match step {
        Some(step) => call.step(step).call()?,
        None => call.call()?,
    }
    Ok(shown(&out))
}

fn add() -> Result<String> {
    let y = table::add(&numbers(4)).call()?;
    Ok(shown(y.as_slice()?))
}

fn add_out() -> Result<String> {
    let (a, b, mut y) = (numbers(4), numbers(4), Array1::zeros(4));
    table::add_out(&a, Some(&b), 1.5, &mut y).call()?;
    Ok(shown(&y))
}

fn take(index: u8, wrap: bool) -> Result<String> {
    let (x, mut out) = (counted(1, 4).remove_axis(Axis(0)), Array1::zeros(1));
    table::take(&x, index, wrap, &mut out).call()?;
    Ok(shown(&out))
}

/// What comes of a call, by its number; why it cannot be made.
fn outcome(number: usize) -> Result<Result<String>, &'static str> {
    Ok(match number {
        1 => scale_halves(),
        2 => scale_doubles(),
        3 => scale([0, 4], [0, 4]),
        4 => scale_misaligned(),
        6 => scale([2, 4], [2, 8]),
        7 => scale([2, 6], [2, 6]),
        8 => scale_lines(),
        9 => scale_nothing(),
        12 => describe([2, 3], 1, 5, None),
        13 => describe([2, 3], -1, 7, Some(10)),
        14 => describe([3, 2], 1, 5, None),
        17 => add(),
        18 => add_out(),
        19 => take(6, true),
        20 => take(6, false),
        _ => return Err("the functions have types"),
    })
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let [_, calls] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: host calls.txt".into());
    };
    let calls = std::fs::read_to_string(calls)?;
    let texts = calls.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (i, text) in texts.enumerate() {
        let outcome = match outcome(i + 1) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(refused)) => refused.to_string(),
            Err(reason) => format!("not expressible: {reason}"),
        };
        println!("{:2} {text}\n   {outcome}", i + 1);
    }
    Ok(())
}
