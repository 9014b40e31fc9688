// SPDX-License-Identifier: Apache-2.0
//! Calls of every function of `everything`, with each kind of argument given and left out.

#![expect(unsafe_code, reason = "functions that take pointers are unsafe, and packed views raw")]

use crate::everything::{nested, pointers, written};
use crate::packages::everything;
use core::ffi::c_void;
use core::ptr;
use kernpack::dtype::{complex64, float4_e2m1fnx2, float6_e2m3fn, float8_e4m3fn, float16, int4};
use kernpack::{DLTensor, DType, DeviceType, Element, RawStream, Tensor, View, ViewMut};
use ndarray::{Array0, Array1, Array2, arr0, arr1, arr2, array};

type Arrays = (Array1<i64>, Array1<u64>, Array1<f64>);

fn scalars_of(u64: u64, f16: f32, bf16: f32) -> Arrays {
    let mut arrays = (Array1::zeros(8), Array1::zeros(1), Array1::zeros(4));
    let (ints, big, floats) = (&mut arrays.0, &mut arrays.1, &mut arrays.2);
    let call = everything().scalars(
        i8::MIN,
        i16::MIN,
        i32::MIN,
        i64::MIN,
        u8::MAX,
        u16::MAX,
        u32::MAX,
        u64,
        f16,
        bf16,
        f32::MIN_POSITIVE,
        f64::MAX,
        true,
        ints,
        big,
        floats,
    );
    call.call().unwrap();
    arrays
}

#[test]
fn scalars_arrive_as_they_are() {
    let (ints, big, floats) = scalars_of(u64::MAX, f32::INFINITY, -0.5);
    let least = [i8::MIN as i64, i16::MIN as i64, i32::MIN as i64, i64::MIN];
    let most = [u8::MAX as i64, u16::MAX as i64, u32::MAX as i64, 1];
    assert_eq!(ints.to_vec(), [least, most].concat());
    assert_eq!(big[0], u64::MAX);
    let expected = [f64::INFINITY, -0.5, f64::from(f32::MIN_POSITIVE), f64::MAX];
    assert_eq!(floats.to_vec(), expected);
}

#[test]
fn integers_without_a_sign_arrive_on_both_sides_of_what_an_int_holds() {
    for value in [0, 1, i64::MAX as u64, 1 << 63, (1 << 63) + 1, u64::MAX] {
        assert_eq!(scalars_of(value, 0.0, 0.0).1[0], value);
    }
}

#[test]
fn halves_are_rounded_by_the_package() {
    let (_, _, floats) = scalars_of(0, 1.0 + 1.0 / 1024.0 / 4.0, 1.0 + 1.0 / 128.0 * 0.75);
    assert_eq!(floats.to_vec()[..2], [1.0, 1.0 + 1.0 / 128.0]);
}

#[test]
fn defaults_are_those_of_the_signature() {
    let mut arrays: Arrays = (Array1::zeros(7), Array1::zeros(1), Array1::zeros(6));
    let call = everything().defaults(&mut arrays.0, &mut arrays.1, &mut arrays.2);
    call.call().unwrap();
    let (ints, big, floats) = arrays;
    assert_eq!(ints.to_vec(), [-128, i64::MIN, 1, 0, 7, 1, -1]);
    assert_eq!(big[0], i64::MAX as u64 + 5);
    assert_eq!(floats.to_vec(), [1e300, -3.0, 0.5, 1.0, -1.0, i64::MIN as f64]);
}

#[test]
fn whatever_may_be_left_out_can_be_given() {
    let mut arrays: Arrays = (Array1::zeros(7), Array1::zeros(1), Array1::zeros(6));
    let call = everything().defaults(&mut arrays.0, &mut arrays.1, &mut arrays.2);
    let call = call.a(1).b(2).c(u64::MAX).d(false).e(true).f(0.5).g(1.5).h(2.5).i(3.5);
    // What is None where it is left out is given without Some.
    call.j(None).k(4.5).l(3).m(true).o(5.5).p(None).call().unwrap();
    let (ints, big, floats) = arrays;
    assert_eq!(ints.to_vec(), [1, 2, 0, 1, 0, 3, 1]);
    assert_eq!(big[0], u64::MAX);
    assert_eq!(floats.to_vec(), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
}

#[test]
fn texts_arrive_with_all_their_characters() {
    let text = |mode: Option<&str>, other: Option<&str>, required: Option<&str>| {
        let mut out = Array1::zeros(1);
        let mut call = everything().text(&mut out).required(required);
        if let Some(mode) = mode {
            call = call.mode(mode);
        }
        if let Some(other) = other {
            call = call.other(other);
        }
        call.call().unwrap();
        out[0]
    };
    assert_eq!(text(None, None, Some("x")), 1);
    assert_eq!(text(Some("a \"quoted\" \\ {} ü 日本\n\tb"), None, None), 101);
    assert_eq!(text(Some("\0"), Some("relu"), Some("")), 110);
    let refused = everything().text(&mut Array1::zeros(1)).mode("").other("ü\0").call();
    let expected = r#", got mode = "", other = "\xc3\xbc\x00", required = "x""#;
    assert!(refused.as_ref().unwrap_err().message().ends_with(expected), "{refused:?}");
}

/// A tensor on the CPU over bytes.
fn raw<T: Element>(bytes: &[u8], shape: &[i64]) -> DLTensor {
    DLTensor {
        data: bytes.as_ptr() as u64,
        device_type: DeviceType::CPU.0,
        ndim: shape.len() as i32,
        dtype: T::DTYPE.packed(),
        shape: shape.as_ptr() as u64,
        ..DLTensor::default()
    }
}

fn packed<T: Element>(bytes: &'static [u8]) -> View<'static, T> {
    // SAFETY: three elements of at most a byte are in three bytes.
    unsafe { View::from_raw(raw::<T>(bytes, &[3])) }.unwrap()
}

#[test]
fn elements_without_a_type_of_rusts_are_lent() {
    let mut out = Array1::zeros(2);
    let complex = [complex64([1.0, 2.0]); 3];
    let bytes = [float8_e4m3fn(4), float8_e4m3fn(0), float8_e4m3fn(0)];
    let result = everything()
        .packed(
            packed::<int4>(&[0x21, 0x03, 0]),
            packed::<float4_e2m1fnx2>(&[2, 0, 0]),
            View::new(&bytes, &[3]).unwrap(),
            packed::<float6_e2m3fn>(&[8, 0, 0]),
            &arr1(&[true, false, false]),
            View::new(&complex, &[3]).unwrap(),
            &mut out,
        )
        .call()
        .unwrap();
    assert_eq!(out.to_vec(), [0x21 + 2 + 4 + 8 + 1, 3]);
    // The result's two bytes are no slice of three elements.
    let message = result.as_slice().unwrap_err().to_string();
    let expected = "ValueError: elements of int4 are packed in bytes, so that there is no slice of \
                    them: read the bytes at `address`";
    assert_eq!(message, expected);
    // SAFETY: three elements are in two bytes.
    let bytes = unsafe { *(result.address() as *const [u8; 2]) };
    assert_eq!((bytes, result.len()), ([0x21, 0x03], 3));
}

#[test]
fn a_view_has_the_dtype_of_its_type() {
    let bytes = [0u8; 4];
    // SAFETY: nobody reads it.
    let refused = unsafe { View::<f32>::from_raw(raw::<int4>(&bytes, &[1])) }.unwrap_err();
    assert_eq!(refused.to_string(), "TypeError: expected a tensor of float32, got int4");
}

#[test]
fn a_view_counts_the_elements_of_its_slice() {
    let mut numbers = [0.0f32; 6];
    let told = |shape: &[i64]| View::new(&[0.0f32; 6], shape).unwrap_err().to_string();
    assert_eq!(told(&[2, 4]), "ValueError: a tensor of shape [2, 4] needs 8 elements, got 6");
    let too_many = "needs more elements than memory can hold, got 6";
    assert_eq!(told(&[-1, -6]), format!("ValueError: a tensor of shape [-1, -6] {too_many}"));
    let huge = [i64::MAX, i64::MAX];
    assert_eq!(told(&huge), format!("ValueError: a tensor of shape {huge:?} {too_many}"));
    assert!(ViewMut::new(&mut numbers, &[]).is_err());
    assert!(ViewMut::new(&mut numbers, &[2, 3]).is_ok());
}

#[test]
fn dtypes_of_two_tensors_go_together() {
    let (mut y, mut z) = (Array1::<f32>::zeros(2), Array1::<f64>::zeros(2));
    everything().joint(&arr1(&[1.5f32, 2.5]), &mut z).call().unwrap();
    everything().joint(&arr1(&[3u8, 4]), &mut y).call().unwrap();
    assert_eq!((y, z.clone()), (arr1(&[3.0, 4.0]), arr1(&[1.5, 2.5])));
    // Rust knows what each may be, and the package which of them go together.
    let refused = everything().joint(&arr1(&[3u8, 4]), &mut z).call().unwrap_err();
    let expected = "TypeError: Mismatched y.dtype on argument #1 when calling: `joint(x: \
                    Tensor([n], TA), y: Tensor([n], TB))`, expected ";
    assert!(refused.to_string().starts_with(expected), "{refused}");
    let halves = [float16::from_f32(1.0); 2];
    let mut y = [0.0f32; 2];
    let (halves, y_view) = (View::new(&halves, &[2]), ViewMut::new(&mut y, &[2]));
    everything().joint(halves.unwrap(), y_view.unwrap()).call().unwrap();
    assert_eq!(y, [15360.0; 2]);
}

#[test]
fn tensors_and_shapes_have_any_number_of_dims() {
    let mut out = Array1::zeros(4);
    everything().stars(&arr2(&[[1.0f32; 3]; 2]), &[2, 3], &mut out).call().unwrap();
    assert_eq!(out.to_vec(), [2, 1, 3, 0]);
    let x = ndarray::ArrayD::<f32>::zeros(vec![5]);
    everything().stars(&x, &[5], &mut out).more(&[]).call().unwrap();
    assert_eq!(out.to_vec(), [1, 0, 5, 1]);
    let refused = everything().stars(&x, &[5, 5], &mut out).call().unwrap_err();
    let expected = "ValueError: Mismatched Shape on argument #1 when calling: `stars(x: \
                    Tensor([*b, d], float32), s: Shape([*b, d]), out: Tensor([4], int64), more: \
                    Optional[Shape([*_])])`, expected shape size=1 (b.ndim is 0), got 2";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn what_is_pinned_may_be_lent_too() {
    let x = array![[1.0f32, 2.0]];
    let mut y = Array2::zeros((1, 2));
    everything().copy(&x, &mut y).call().unwrap();
    assert_eq!(x, y);
    let data = DLTensor { device_type: DeviceType::CUDA_HOST.0, ..raw::<f32>(&[], &[1, 2]) };
    let data = DLTensor { data: x.as_ptr() as u64, ..data };
    // SAFETY: it has so many elements.
    let pinned = unsafe { View::<f32>::from_raw(data) }.unwrap();
    y.fill(0.0);
    everything().copy(pinned, &mut y).call().unwrap();
    assert_eq!(x, y);
}

#[test]
fn optionals_by_position_are_options() {
    let (x, mut out) = (arr1(&[1.0f32, 2.0]), Array1::<f32>::zeros(2));
    everything().optionals(Some(&x), None, None, None, &mut out).call().unwrap();
    assert_eq!(out.to_vec(), [1.0, 2.0]);
    let none = None::<&Array1<f32>>;
    everything().optionals(none, Some([2, 3]), Some(-1), Some(true), &mut out).call().unwrap();
    assert_eq!(out.to_vec(), [6.0, 6.0]);
}

#[test]
fn optionals_that_may_be_left_out_are_given_bare() {
    let (x, mut out) = (arr1(&[1.0f32, 2.0]), Array1::<f32>::zeros(2));
    let (mut y, mut z) = (Array1::<f32>::zeros(2), Array1::<f64>::zeros(2));
    let call = everything().optionals(Some(&x), None, None, None, &mut out);
    call.b(&x).extents([2]).y(&mut y).call().unwrap();
    assert_eq!((out.to_vec(), y.to_vec()), (vec![2.0, 4.0], vec![2.0, 4.0]));
    // What is given last counts, whatever its type is.
    let call = everything().optionals(Some(&x), None, None, None, &mut out).y(&mut y);
    call.y(&mut z).U(DType::FLOAT64).call().unwrap();
    assert_eq!(z.to_vec(), [1.0, 2.0]);
    let call = everything().optionals(Some(&x), None, None, None, &mut out).y(&mut z);
    let refused = call.call().unwrap_err().to_string();
    assert!(refused.starts_with("TypeError: Mismatched"), "{refused}");
}

#[test]
fn tuples_are_structs_and_nest() {
    let (x, mut y, mut out) = (arr1(&[1.0f64, 2.0]), Array1::<f64>::zeros(2), Array1::zeros(4));
    let inner = nested::P1 { _0: -7, lo: 0.5, _2: (), _3: () };
    let last = nested::PLast { _0: 1 << 63, _1: &mut y };
    let p = nested::P { x: &x, _1: inner, grid: [2, 3], mode: "any", last: Some(last) };
    everything().nested(p, &mut out).call().unwrap();
    assert_eq!(out.to_vec(), [-7.0, 0.5, 6.0, 2f64.powi(63)]);
    assert_eq!(x, y);
    let (x, last) = (arr1(&[1.0f32]), None::<nested::PLast<&mut Array1<f32>>>);
    let p = nested::P { x: &x, _1: inner, grid: [2, 3], mode: "any", last };
    everything().nested(p, &mut out).call().unwrap();
    assert_eq!(out.to_vec(), [-7.0, 0.5, 6.0, -1.0]);
}

#[test]
fn tuples_that_may_be_left_out_have_tensors_to_write() {
    let x = arr1(&[1.0f32, 2.0]);
    let (mut y, mut z) = (Array1::<f32>::zeros(2), Array1::<f32>::zeros(2));
    everything().written(&x).call().unwrap();
    everything().written(&x).q(written::Q { y: &mut y, by: 3.0, _2: 1 }).call().unwrap();
    assert_eq!(y.to_vec(), [4.0, 7.0]);
    let q = written::Q { y: &mut y, by: 2.0, _2: 0 };
    let r = written::R { _0: &mut z, s: "", e: Some(0.5) };
    everything().written(&x).r(r).q(q).T(DType::FLOAT32).call().unwrap();
    assert_eq!((y.to_vec(), z.to_vec()), (vec![2.0, 4.0], vec![-1.0, -2.0]));
}

#[test]
fn the_caller_tells_the_dtype_that_no_tensor_tells() {
    let x = arr1(&[1.5f32, -2.0]);
    let y: Tensor<f64> = everything().cast(&x).call().unwrap();
    assert_eq!(y.as_slice().unwrap(), [1.5, -2.0]);
    let y = everything().cast(&x).out(DType::FLOAT32).call::<f32>().unwrap();
    assert_eq!(y.as_slice().unwrap(), [1.5, -2.0]);
    // It is told twice, so that it can be told differently.
    let refused = everything().cast(&x).call::<f32>().unwrap_err();
    assert_eq!(refused.to_string(), "TypeError: expected a tensor of float32, got float64");
    let refused = everything().cast(&x).out(DType::INT8).call::<f32>().unwrap_err();
    assert!(refused.to_string().starts_with("TypeError: Mismatched "), "{refused}");
}

#[test]
fn several_results_are_fields() {
    let results = everything().filled(2, DType::FLOAT64).call::<f64>().unwrap();
    assert_eq!(results.a.as_slice().unwrap(), [0.0, 1.0]);
    assert_eq!(results.r#type.as_slice().unwrap(), [0.0, -1.0]);
    assert_eq!(results.c.as_slice().unwrap(), [64]);
    assert_eq!(results.c.shape(), [0; 0]);
    let results = everything().split(&arr1(&[1.0f32])).call().unwrap();
    assert_eq!(results.low.as_slice().unwrap(), [0.0]);
    assert_eq!(results.high.as_slice().unwrap(), [2.0]);
    assert_eq!(results.r#type.as_slice().unwrap(), [32]);
    assert_eq!(format!("{:?}", results.low), "Tensor([1], float32, cpu:0)");
    let (mut low, mut high, mut is) = (Array1::zeros(1), Array1::zeros(1), Array0::zeros(()));
    everything().split_out(&arr1(&[1.0f64]), &mut low, &mut high, &mut is).call().unwrap();
    assert_eq!((low, high, is), (arr1(&[0.0f64]), arr1(&[2.0]), arr0(64)));
}

#[test]
fn results_are_arguments_of_the_next_call() {
    let mut y = everything().cast(&arr1(&[1.0f32])).out(DType::FLOAT32).call::<f32>().unwrap();
    let z = everything().cast(&y).call::<f64>().unwrap();
    assert_eq!(z.as_slice().unwrap(), [1.0]);
    everything().scratch(&arr1(&[3.0f32]), &mut y).call().unwrap();
    assert_eq!(y.as_slice().unwrap(), [3.0]);
}

#[test]
fn pointers_make_a_call_unsafe() {
    let (mut number, mut float, mut out) = (5i64, 2.5f32, Array1::zeros(3));
    let q = ptr::from_mut(&mut float).cast::<c_void>();
    let null = ptr::null_mut();
    let t = pointers::T { _0: null, _1: 0 };
    let call = everything().pointers(null, q, None, t, &mut out);
    // SAFETY: `q` leads to a float, and none of the others is read.
    unsafe { call.call() }.unwrap();
    assert_eq!(out.to_vec(), [0, 2, -1]);
    let call = everything().pointers(q, q, Some(q), t, &mut out);
    // SAFETY: as above; `s` leads to an integer.
    unsafe { call.s(ptr::from_mut(&mut number).cast()).call() }.unwrap();
    assert_eq!(out.to_vec(), [7, 2, 5]);
    // SAFETY: it is refused.
    let refused = unsafe { everything().pointers(q, null, None, t, &mut out).call() }.unwrap_err();
    let expected = "ValueError: Invalid ";
    assert!(refused.to_string().starts_with(expected), "{refused}");
}

#[test]
fn literals_are_passed_by_the_file() {
    let mut out = Array1::zeros(1);
    everything().literals(false, &mut out).call().unwrap();
    assert_eq!(out[0], 8);
    everything().literals(true, &mut out).i(true).j(true).k(false).call().unwrap();
    assert_eq!(out[0], 7);
}

#[test]
fn scratch_memory_comes_from_somewhere() {
    let mut y = Array1::zeros(3);
    everything().scratch(&arr1(&[1.0f32, 2.0, 3.0]), &mut y).call().unwrap();
    assert_eq!(y.to_vec(), [3.0, 2.0, 1.0]);
}

#[test]
fn a_function_may_say_that_it_failed() {
    everything().fail(0).call().unwrap();
    let failed = everything().fail(-3).call().unwrap_err();
    let expected = "Function `fail` failed when calling: `fail(status: int32)`, expected status 0, \
                    got -3";
    assert_eq!((failed.kind(), failed.message()), ("RuntimeError", expected));
}

#[test]
fn streams_are_handles_to_functions_on_the_cpu() {
    let mut out = Array1::zeros(1);
    let null = RawStream::null(0);
    everything().queued(&null, &mut out).call().unwrap();
    assert_eq!(out[0], 0);
    // SAFETY: nobody uses it.
    let stream = unsafe { RawStream::new(0, ptr::dangling_mut()) };
    everything().queued(&stream, &mut out).t(&stream).u(&stream).call().unwrap();
    assert_eq!(out[0], 7);
}

#[test]
fn tensors_may_have_no_dims() {
    let mut out = arr0(0);
    let y = ndarray::ArrayD::<f32>::zeros(vec![2, 3]);
    everything().count(&arr0(1.0f32), &y, &mut out).call().unwrap();
    assert_eq!(out[()], 6);
    let number = [1.0f32];
    let x = View::new(&number, &[]).unwrap();
    everything().count(x, View::<f32>::new(&[], &[0]).unwrap(), &mut out).call().unwrap();
    assert_eq!(out[()], 0);
}
