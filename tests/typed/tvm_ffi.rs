// SPDX-License-Identifier: Apache-2.0
//! Tensors and errors of the crate `tvm-ffi`: lent, handed over, and refused where they are shared.

#![expect(unsafe_code, reason = "who else has a tensor, only its owner knows")]

use crate::memory::n_lent_and_freed;
use crate::packages::{everything, table};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use dlpack_rs::safe::{TensorInfo, cpu_device, dtype_f32, pack_versioned};
use expect_test::{Expect, expect};
use kernpack::{DType, Error, Tensor, View, ViewMut};
use ndarray::{Array2, array};
use std::sync::Arc;
use tvm_ffi::tvm_ffi_sys::TVMFFITensorFromDLPackVersioned;
use tvm_ffi::tvm_ffi_sys::dlpack::DLTensor;
use tvm_ffi::{DLDevice, DLDeviceType, NDAllocator, ObjectArc, ObjectRefCore};

/// An allocator that counts what is freed.
#[derive(Clone, Default)]
struct Counted {
    n_freed: Arc<AtomicUsize>,
    shift_bytes: usize,
}

/// Enough for every tensor here, and aligned for all.
type Memory = [u64; 8];

// SAFETY: the memory is there until it is freed.
unsafe impl NDAllocator for Counted {
    const MIN_ALIGN: usize = 8;

    unsafe fn alloc_data(&mut self, _: &DLTensor) -> *mut c_void {
        let memory = Box::into_raw(Box::new([0u64; 8]));
        memory.cast::<u8>().wrapping_add(self.shift_bytes).cast()
    }

    unsafe fn free_data(&mut self, tensor: &DLTensor) {
        let memory = tensor.data.cast::<u8>().wrapping_sub(self.shift_bytes).cast::<Memory>();
        // SAFETY: it was made by `alloc_data`, and is freed once.
        drop(unsafe { Box::from_raw(memory) });
        self.n_freed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Counted {
    fn n_freed(&self) -> usize {
        self.n_freed.load(Ordering::SeqCst)
    }

    /// A tensor of floats of these extents: zeros.
    fn tensor(&self, shape: &[i64]) -> tvm_ffi::Tensor {
        let dtype = tvm_ffi::DLDataType { code: 2, bits: 32, lanes: 1 };
        let device = DLDevice::new(DLDeviceType::kDLCPU, 0);
        tvm_ffi::Tensor::from_nd_alloc(self.clone(), shape, dtype, device)
    }
}

/// The reference as a tensor of ours. In these tests nobody else has the memory of one.
fn taken(tensor: tvm_ffi::Tensor) -> kernpack::Result<Tensor<f32>> {
    // SAFETY: nobody else has it, and floats have no bits that are none.
    unsafe { Tensor::from_tvm_ffi(tensor) }
}

#[track_caller]
fn expect_refusal<T>(outcome: kernpack::Result<T>, expected: &Expect) {
    expected.assert_eq(&outcome.err().expect("it is refused").to_string());
}

fn numbers() -> tvm_ffi::Tensor {
    tvm_ffi::Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap()
}

#[test]
fn their_tensors_are_lent_to_be_read() {
    let x = numbers();
    let other = x.clone();
    let sums = table().sums(View::from_tvm_ffi(&x).unwrap()).call().unwrap();
    assert_eq!(sums.rows.as_slice().unwrap(), [3.0, 7.0]);
    assert_eq!(other.data_as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    expect_refusal(
        View::<f64>::from_tvm_ffi(&x),
        &expect!["TypeError: expected a tensor of float64, got float32"],
    );
}

#[test]
fn their_tensors_are_written_on_the_word_of_their_owner() {
    let (x, mut y) = (array![[1.0f32, 2.0], [3.0, 4.0]], Counted::default().tensor(&[2, 2]));
    // SAFETY: nobody else has it.
    let view = unsafe { ViewMut::from_tvm_ffi(&mut y) }.unwrap();
    everything().strided(&x, view).call().unwrap();
    assert_eq!(y.data_as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    // SAFETY: nobody else has it.
    let refused = unsafe { ViewMut::<i32>::from_tvm_ffi(&mut y) };
    expect_refusal(refused, &expect!["TypeError: expected a tensor of int32, got float32"]);
}

#[test]
fn ours_becomes_theirs_and_is_freed_once() {
    let mut made: Option<tvm_ffi::Tensor> = None;
    let make = || made = Some(table().add(&array![1.0f32, 2.0]).call().unwrap().into());
    assert_eq!(n_lent_and_freed(make), (1, 0));
    let tensor = made.unwrap();
    assert_eq!(tensor.data_as_slice::<f32>().unwrap(), [1.0, 2.0]);
    let other = tensor.clone();
    assert_eq!(n_lent_and_freed(|| drop(tensor)), (0, 0));
    assert_eq!((other.shape(), other.data_as_slice::<f32>().unwrap()), (&[2][..], &[1.0, 2.0][..]));
    assert_eq!(n_lent_and_freed(|| drop(other)), (0, 1));
}

#[test]
fn theirs_becomes_ours_and_is_freed_once() {
    let memory = Counted::default();
    let tensor = memory.tensor(&[2, 2]);
    let address = tensor.data_ptr() as u64;
    let mut tensor = taken(tensor).unwrap();
    assert_eq!((tensor.address(), tensor.shape()), (address, &[2i64, 2][..]));
    tensor.as_mut_slice().unwrap().fill(5.0);
    // And back again.
    let theirs = tvm_ffi::Tensor::from(tensor);
    assert_eq!(theirs.data_as_slice::<f32>().unwrap(), [5.0; 4]);
    let again = taken(theirs).unwrap();
    assert_eq!(memory.n_freed(), 0);
    std::thread::spawn(|| drop(again)).join().unwrap();
    assert_eq!(memory.n_freed(), 1);
}

#[test]
fn a_shared_reference_is_refused() {
    let memory = Counted::default();
    let tensor = memory.tensor(&[2]);
    let others = [tensor.clone(), tensor.clone()];
    expect_refusal(
        taken(tensor),
        &expect!["ValueError: expected the only reference to a tensor, got one of 3"],
    );
    let [one, other] = others;
    drop(one);
    // What is refused is dropped, so that this is the only one now.
    assert_eq!(memory.n_freed(), 0);
    drop(taken(other).unwrap());
    assert_eq!(memory.n_freed(), 1);
}

#[test]
fn a_weak_reference_is_one_too() {
    let tensor = Counted::default().tensor(&[2]);
    // SAFETY: the pointer is used while the tensor is there.
    let object = unsafe { ObjectArc::as_raw(tvm_ffi::Tensor::data(&tensor)) };
    // SAFETY: an object begins with its counts: the strong references, above them the weak ones.
    let counts = unsafe { &*object.cast::<AtomicU64>() };
    counts.fetch_add(1 << 32, Ordering::SeqCst);
    let other = tensor.clone();
    expect_refusal(
        taken(tensor),
        &expect!["ValueError: expected the only reference to a tensor, got one of 3"],
    );
    counts.fetch_sub(1 << 32, Ordering::SeqCst);
    assert!(taken(other).is_ok());
}

#[test]
fn tensors_that_cannot_be_ours_are_refused_and_freed() {
    let memory = Counted::default();
    // SAFETY: nobody else has it.
    let refused = unsafe { Tensor::<i32>::from_tvm_ffi(memory.tensor(&[2])) };
    expect_refusal(refused, &expect!["TypeError: expected a tensor of int32, got float32"]);
    assert_eq!(memory.n_freed(), 1);
    let shifted = Counted { shift_bytes: 2, ..memory.clone() };
    let refused = taken(shifted.tensor(&[2])).unwrap_err().to_string();
    let expected = "ValueError: expected elements aligned to 4 bytes, got the address 0x";
    assert!(refused.starts_with(expected), "{refused}");
    assert_eq!(memory.n_freed(), 2);
    // Of no elements, none is unaligned.
    assert!(taken(shifted.tensor(&[0, 3])).unwrap().is_empty());
    assert_eq!(memory.n_freed(), 3);
    expect_refusal(
        taken(turned()),
        &expect![
            "ValueError: expected a compact row-major tensor, got the strides [1, 2] for the shape [2, 2]"
        ],
    );
}

/// A tensor that is the transpose of another.
fn turned() -> tvm_ffi::Tensor {
    let mut data = vec![1.0f32, 2.0, 3.0, 4.0];
    let address = data.as_mut_ptr().cast();
    let info = TensorInfo::strided(address, cpu_device(), dtype_f32(), vec![2, 2], vec![1, 2]);
    let mut object = ptr::null_mut();
    let packed = pack_versioned(data, info, 0).cast();
    // SAFETY: it was just made, and there is a place for the tensor.
    let code = unsafe { TVMFFITensorFromDLPackVersioned(packed, 0, 0, &mut object) };
    assert_eq!(code, 0);
    // SAFETY: it is a tensor, whose reference is ours.
    let object = unsafe { ObjectArc::from_raw(object.cast_const().cast()) };
    // SAFETY: as above.
    unsafe { tvm_ffi::Tensor::from_data(object) }
}

#[test]
fn their_tensors_are_lent_in_any_layout() {
    let (x, mut y) = (turned(), Array2::zeros((2, 2)));
    everything().strided(View::from_tvm_ffi(&x).unwrap(), &mut y).call().unwrap();
    assert_eq!(y, array![[1.0f32, 3.0], [2.0, 4.0]]);
}

#[test]
fn tensors_without_dims_or_elements_go_both_ways() {
    let one = everything().filled(0, DType::FLOAT32).call::<f32>().unwrap();
    let theirs = tvm_ffi::Tensor::from(one.c);
    assert_eq!((theirs.ndim(), theirs.numel()), (0, 1));
    // SAFETY: nobody else has it.
    let ours: Tensor<i64> = unsafe { Tensor::from_tvm_ffi(theirs) }.unwrap();
    assert_eq!((ours.shape(), ours.as_slice().unwrap()), (&[][..], &[32i64][..]));
    let theirs = tvm_ffi::Tensor::from(one.a);
    assert_eq!((theirs.shape(), theirs.numel()), (&[0][..], 0));
    assert_eq!(taken(theirs).unwrap().as_slice().unwrap(), [0.0; 0]);
}

#[test]
fn errors_keep_their_kinds_and_messages() {
    let other = Error::Other { kind: "PermissionError".into(), message: "ü\0 and more".into() };
    let errors = [
        Error::Type("a dtype".into()),
        Error::Value("an extent".into()),
        Error::Runtime(String::new()),
        other,
    ];
    for error in errors {
        let theirs = tvm_ffi::Error::from(error.clone());
        assert_eq!((theirs.kind().as_str(), theirs.message()), (error.kind(), error.message()));
        assert_eq!(theirs.backtrace(), "");
        assert_eq!(Error::from(theirs), error);
    }
    let theirs = tvm_ffi::Error::new(tvm_ffi::INDEX_ERROR, "beyond", "somewhere");
    let expected = Error::Other { kind: "IndexError".into(), message: "beyond".into() };
    assert_eq!(Error::from(theirs), expected);
}

fn total(x: &tvm_ffi::Tensor) -> tvm_ffi::Result<tvm_ffi::Tensor> {
    Ok(table().sums(View::from_tvm_ffi(x)?).call()?.rows.into())
}

#[test]
fn refusals_of_calls_are_their_errors() {
    assert_eq!(total(&numbers()).unwrap().data_as_slice::<f32>().unwrap(), [3.0, 7.0]);
    let refused = total(&Counted::default().tensor(&[2])).err().unwrap();
    assert_eq!(refused.kind(), tvm_ffi::VALUE_ERROR);
    assert!(refused.message().ends_with("expected ndim=2, got 1"));
}
