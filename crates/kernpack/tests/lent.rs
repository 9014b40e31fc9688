// SPDX-License-Identifier: Apache-2.0
//! Lent tensors, read and written by address as a function of C does it: elements of slices and of
//! arrays in every layout, and the objects of a call. Nothing here calls C, so that Miri runs it,
//! which knows what each address may be used for.

#![cfg(feature = "ndarray")]
#![expect(unsafe_code, reason = "a function of C reads by address")]

use kernpack::call::{self, Any};
use kernpack::{Cpu, DLTensor, Lend, LendMut, View, ViewMut};
use kernpack_ffi_abi::slice;
use ndarray::{Array, Array2, ArrayView2, Ix3, ShapeBuilder, arr0, array, s};
use std::mem::offset_of;

/// The addresses of a tensor's elements, row by row.
fn addresses(tensor: &DLTensor) -> Vec<u64> {
    // SAFETY: a tensor has as many extents as it says.
    let extents = unsafe { tensor.extents() };
    let strides: Vec<i64> = match tensor.strides {
        0 => (0..extents.len()).map(|dim| extents[dim + 1..].iter().product()).collect(),
        // SAFETY: and as many strides.
        strides => unsafe { slice(strides as *const i64, extents.len()) }.to_vec(),
    };
    let mut offsets = vec![0];
    for (extent, stride) in extents.iter().zip(strides) {
        let along = |offset| (0..*extent).map(move |i| offset + i * stride);
        offsets = offsets.into_iter().flat_map(along).collect();
    }
    let start = tensor.data + tensor.byte_offset;
    let size = size_of::<f32>() as i64;
    offsets.into_iter().map(|offset| start.wrapping_add_signed(offset * size)).collect()
}

fn elements(tensor: &DLTensor) -> Vec<f32> {
    let each = addresses(tensor).into_iter();
    // SAFETY: the elements are there, and nobody writes them.
    each.map(|address| unsafe { *(address as *const f32) }).collect()
}

/// Has a function of C read a tensor.
fn read(lender: &impl Lend<Element = f32>) -> Vec<f32> {
    elements(&lender.lend(&Cpu).unwrap().0)
}

/// Has a function of C add one to each element, in turn.
fn add_one(lender: &mut impl LendMut<Element = f32>) {
    let (tensor, _guard) = lender.lend_mut(&Cpu).unwrap();
    for address in addresses(&tensor) {
        // SAFETY: the element is there, and nobody else has it.
        unsafe { *(address as *mut f32) += 1.0 };
    }
}

#[test]
fn slices() {
    let mut data = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(read(&View::new(&data, &[2, 3]).unwrap()), data);
    assert_eq!(read(&View::new(&[] as &[f32], &[0, 3]).unwrap()), [0.0; 0]);
    let mut view = ViewMut::new(&mut data, &[6]).unwrap();
    add_one(&mut view);
    add_one(&mut view.again());
    assert_eq!(read(&view), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(data[5], 8.0);
}

#[test]
fn arrays_in_every_layout() {
    let numbers = || (0..24).map(|i| i as f32);
    let x = Array::from_iter(numbers()).into_shape_with_order((2, 3, 4)).unwrap();
    assert_eq!(read(&x), numbers().collect::<Vec<_>>());
    let by_columns = Array::<f32, Ix3>::from_shape_fn((2, 3, 4).f(), |at| x[at]);
    assert_eq!(read(&by_columns), read(&x));
    let part = x.slice(s![.., 1..;-1, ..;2]);
    assert_eq!(read(&part), part.iter().copied().collect::<Vec<_>>());
    let row = array![1.0f32, 2.0];
    let repeated: ArrayView2<'_, f32> = row.broadcast((2, 2)).unwrap();
    assert_eq!(read(&repeated), [1.0, 2.0, 1.0, 2.0]);
    assert_eq!(read(&arr0(7.0f32)), [7.0]);
    assert_eq!(read(&Array2::<f32>::zeros((3, 0))), [0.0; 0]);
}

#[test]
fn what_is_written_is_in_the_array() {
    let mut x = Array2::<f32>::zeros((3, 4));
    add_one(&mut x);
    add_one(&mut x.slice_mut(s![..;-1, 1..3]));
    add_one(&mut x.view_mut().reversed_axes());
    assert_eq!(x, array![[2.0, 3.0, 3.0, 2.0], [2.0, 3.0, 3.0, 2.0], [2.0, 3.0, 3.0, 2.0]]);
    // Two halves of one array, at the same time.
    let (mut left, mut right) = x.view_mut().split_at(ndarray::Axis(1), 2);
    let (one, other) = (left.lend_mut(&Cpu).unwrap().0, right.lend_mut(&Cpu).unwrap().0);
    for (from, to) in addresses(&one).into_iter().zip(addresses(&other)) {
        // SAFETY: it is an element of the left half.
        let value = unsafe { *(from as *const f32) };
        // SAFETY: it is one of the right half, which nobody else has.
        unsafe { *(to as *mut f32) = value };
    }
    assert_eq!(x.row(2), array![2.0, 3.0, 2.0, 3.0]);
}

/// The cell of an object on the stack, behind its head, as a function of C finds it.
fn cell(object: Any) -> (u64, u64) {
    const HEAD_BYTES: u64 = 24;
    assert_eq!(offset_of!(Any, payload), 8);
    let at = object.payload as u64 + HEAD_BYTES;
    // SAFETY: the object is there, and begins its cell with an address and a number.
    unsafe { *(at as *const (u64, u64)) }
}

#[test]
fn objects_of_a_call() {
    let shape = call::shape(&[2, 3, 4]);
    let (data, size) = cell(shape.any());
    // SAFETY: there are so many integers.
    assert_eq!(unsafe { slice(data as *const i64, size as usize) }, [2, 3, 4]);
    let text = call::text("a text");
    let (data, size) = cell(text.any());
    // SAFETY: there are so many bytes.
    assert_eq!(unsafe { slice(data as *const u8, size as usize) }, b"a text");
    let items = [call::int(7i64), shape.any()];
    let values = call::values(&items);
    let (data, size) = cell(values.any());
    // SAFETY: there are so many values.
    let found = unsafe { slice(data as *const Any, size as usize) };
    assert_eq!((found[0].payload, found[1].payload), (7, shape.any().payload));
    let large = call::big_int(u64::MAX);
    assert_eq!(cell(call::uint(u64::MAX, &large)), (2, u64::MAX));
}
