// SPDX-License-Identifier: Apache-2.0
//! Tensors of `candle-core`: lent in every layout, written by operations of candle's, and made of
//! results.
//!
//! A crate of its own, as `candle-core` is large: the tests of the workspace do not wait for it.
//! The packages are those of `typed/`, which its build script builds.
#![cfg(test)]

kernpack::include!(everything);
kernpack::include!(table);

use candle_core::{
    CpuStorage, CustomOp2, DType, Device, InplaceOp1, Layout, Shape, Tensor as Candle,
};
use expect_test::{Expect, expect};
use kernpack::{CandleElement, CandleTensor, Cpu, Error, Lend, Result, View, ViewMut};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// 0, 1, 2, …
fn numbers(rows: usize, columns: usize) -> Candle {
    let count = (rows * columns) as f32;
    Candle::arange(0.0, count, &Device::Cpu).unwrap().reshape((rows, columns)).unwrap()
}

/// The numbers that arrive of a tensor under `strides=any`.
fn arrived(x: &Candle) -> Vec<Vec<f32>> {
    let (m, n) = x.dims2().unwrap();
    let (mut y, shape) = (vec![0.0; m * n], [m as i64, n as i64]);
    let written = ViewMut::new(&mut y, &shape).unwrap();
    everything::strided(x.tensor(), written).call().unwrap();
    y.chunks(n).map(<[f32]>::to_vec).collect()
}

#[track_caller]
fn expect_refusal<T>(outcome: Result<T>, expected: &Expect) {
    expected.assert_eq(&outcome.err().expect("it is refused").to_string());
}

#[test]
fn tensors_are_lent_as_they_lie() {
    let x = numbers(3, 4);
    for view in [
        x.clone(),
        x.t().unwrap(),
        x.narrow(0, 1, 2).unwrap(),
        x.narrow(1, 1, 2).unwrap().t().unwrap(),
        x.narrow(0, 2, 1).unwrap().broadcast_as((5, 4)).unwrap(),
        x.narrow(0, 3, 0).unwrap(),
    ] {
        assert_eq!(arrived(&view), view.to_vec2::<f32>().unwrap());
    }
}

#[test]
fn tensors_that_are_not_compact_are_refused_by_the_package() {
    let mut y = [0.0; 16];
    let y = ViewMut::new(&mut y, &[4, 4]).unwrap();
    expect_refusal(
        table::scale(numbers(4, 4).t().unwrap().tensor::<f32>(), y).call(),
        &expect![
            "ValueError: Mismatched x.strides[0] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got 1"
        ],
    );
}

#[test]
fn another_dtype_is_refused() {
    let x = numbers(1, 4);
    for (dtype, name) in [(DType::F64, "float64"), (DType::BF16, "bfloat16"), (DType::U8, "uint8")]
    {
        let refused = table::sums(x.to_dtype(dtype).unwrap().tensor()).call().unwrap_err();
        let expected = format!("TypeError: expected a tensor of float32, got {name}");
        assert_eq!(refused.to_string(), expected);
    }
    let mut storage = CpuStorage::F8E4M3(vec![]);
    let layout = Layout::contiguous(0);
    let expected = expect!["TypeError: expected a tensor of float32, got f8e4m3"];
    expect_refusal(View::<f32>::from_candle(&storage, &layout), &expected);
    expect_refusal(ViewMut::<f32>::from_candle(&mut storage, &layout), &expected);
}

/// An argument and a result of a type.
fn expect_elements<T: CandleElement>(name: &str) {
    let mut storage = T::to_cpu_storage_owned(vec![T::from_f64(1.0)]);
    let layout = Layout::contiguous(1);
    assert!(View::<T>::from_candle(&storage, &layout).is_ok(), "{name}");
    assert!(ViewMut::<T>::from_candle(&mut storage, &layout).is_ok(), "{name}");
    let other = CpuStorage::F4(vec![0]);
    let refused = View::<T>::from_candle(&other, &layout).err().unwrap().to_string();
    assert_eq!(refused, format!("TypeError: expected a tensor of {name}, got f4"));
    let refused = View::<kernpack::dtype::float64>::from_candle(&storage, &layout);
    match name {
        "float64" => assert!(refused.is_ok()),
        name => {
            let refused = refused.unwrap_err().to_string();
            assert_eq!(refused, format!("TypeError: expected a tensor of float64, got {name}"));
        }
    }
}

#[test]
fn all_types_of_elements_that_both_have_are_lent() {
    use kernpack::dtype::{bfloat16, float16};
    expect_elements::<u8>("uint8");
    expect_elements::<u32>("uint32");
    expect_elements::<i16>("int16");
    expect_elements::<i32>("int32");
    expect_elements::<i64>("int64");
    expect_elements::<bfloat16>("bfloat16");
    expect_elements::<float16>("float16");
    expect_elements::<f32>("float32");
    expect_elements::<f64>("float64");
}

/// Writes zeros.
struct Zero;

impl InplaceOp1 for Zero {
    fn name(&self) -> &'static str {
        "zero"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        let (m, n) = layout.shape().dims2()?;
        let (zeros, shape) = (vec![0.0; m * n], [m as i64, n as i64]);
        let y = ViewMut::from_candle(storage, layout)?;
        Ok(everything::strided(View::new(&zeros, &shape)?, y).call()?)
    }
}

#[test]
fn a_tensor_is_locked_while_it_is_lent() {
    let x = numbers(2, 2);
    let (tensor, (done, is_done)) = (x.tensor::<f32>(), channel());
    let lent = tensor.lend(&Cpu).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| done.send(x.inplace_op1(&Zero).is_ok()).unwrap());
        let meanwhile = is_done.recv_timeout(Duration::from_millis(50));
        assert_eq!(meanwhile, Err(RecvTimeoutError::Timeout));
        drop(lent);
        assert_eq!(is_done.recv(), Ok(true));
    });
    assert_eq!(arrived(&x), [[0.0; 2]; 2]);
}

#[test]
fn a_part_is_written_in_place() {
    let x = numbers(3, 3);
    x.narrow(0, 1, 2).unwrap().narrow(1, 0, 2).unwrap().inplace_op1(&Zero).unwrap();
    assert_eq!(arrived(&x), [[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 0.0, 8.0]]);
    let refused = x.narrow(0, 0, 1).unwrap().broadcast_as((2, 3)).unwrap().inplace_op1(&Zero);
    assert!(refused.is_err());
}

#[test]
fn a_layout_beyond_its_storage_is_refused() {
    let mut storage = CpuStorage::F32(vec![0.0; 6]);
    let layout = |shape: &[usize], strides: &[usize], start| {
        Layout::new(Shape::from(shape), strides.to_vec(), start)
    };
    let accepted = [
        layout(&[2, 3], &[3, 1], 0),
        layout(&[2, 2], &[3, 1], 1),
        layout(&[], &[], 5),
        layout(&[0, 3], &[100, 100], 1000),
        layout(&[1], &[usize::MAX], 5),
    ];
    for layout in accepted {
        assert!(View::<f32>::from_candle(&storage, &layout).is_ok(), "{layout:?}");
    }
    let refused = [
        layout(&[2, 3], &[3, 1], 1),
        layout(&[], &[], 6),
        layout(&[2], &[6], 0),
        layout(&[3], &[usize::MAX / 2 + 1], 0),
        layout(&[2], &[usize::MAX], 1),
        layout(&[2, 3], &[3], 0),
        layout(&[0, 3], &[3], 0),
        layout(&[1 << 63], &[0], 0),
        layout(&[1 << 32, 1 << 32], &[0, 0], 0),
    ];
    for layout in refused {
        let refused = View::<f32>::from_candle(&storage, &layout).unwrap_err().to_string();
        let expected = "ValueError: a storage of 6 elements has no tensor of the shape ";
        assert!(refused.starts_with(expected), "{refused}");
    }
    expect_refusal(
        ViewMut::<f32>::from_candle(&mut storage, &layout(&[7], &[1], 0)),
        &expect![
            "ValueError: a storage of 6 elements has no tensor of the shape [7] and the strides [1] that starts at 0"
        ],
    );
    expect_refusal(
        ViewMut::<f32>::from_candle(&mut storage, &layout(&[3, 2], &[0, 1], 0)),
        &expect![
            "ValueError: expected a tensor to write, got one whose elements share memory: the shape [3, 2] and the strides [0, 1]"
        ],
    );
}

/// y = a + b
struct Add;

impl CustomOp2 for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let b = View::from_candle(b, b_layout)?;
        Ok(table::add(View::from_candle(a, a_layout)?).b(b).call()?.to_candle_storage()?)
    }
}

#[test]
fn an_operation_of_candles_is_a_call() {
    let [a, b] =
        [0.0f32, 10.0].map(|first| Candle::arange(first, first + 4.0, &Device::Cpu).unwrap());
    let sum = a.apply_op2(&b, Add).unwrap();
    assert_eq!(sum.to_vec1::<f32>().unwrap(), [10.0, 12.0, 14.0, 16.0]);
    let tail = b.narrow(0, 1, 3).unwrap();
    let sum = tail.apply_op2(&tail, Add).unwrap();
    assert_eq!(sum.to_vec1::<f32>().unwrap(), [22.0, 24.0, 26.0]);
    let refused = a.apply_op2(&tail, Add).unwrap_err().to_string();
    assert!(refused.contains("expected to match a.shape[0], got 3 (a.shape[0] is 4)"), "{refused}");
}

#[test]
fn results_become_tensors_of_candles() {
    let x = numbers(2, 3);
    let sums = table::sums(x.tensor()).call().unwrap();
    let columns = sums.columns.to_candle().unwrap();
    assert_eq!(columns.to_vec1::<f32>().unwrap(), [3.0, 5.0, 7.0]);
    let one = everything::filled(0, kernpack::DType::FLOAT32).call::<f32>().unwrap();
    assert_eq!(one.c.to_candle().unwrap().to_scalar::<i64>().unwrap(), 32);
    let (storage, shape) = one.a.to_candle_storage().unwrap();
    assert!(matches!(storage, CpuStorage::F32(elements) if elements.is_empty()));
    assert_eq!(shape.dims(), [0]);
    assert_eq!(one.a.to_candle().unwrap().dims(), [0]);
    // A tensor that became one of candle's is still there.
    assert_eq!(sums.columns.as_slice().unwrap(), [3.0, 5.0, 7.0]);
}

#[test]
fn errors_are_candles_with_the_whole_message() {
    let error = candle_core::Error::from(Error::Value("an extent".to_string()));
    let shown = error.to_string();
    assert_eq!(shown.lines().next(), Some("ValueError: an extent"));
}
