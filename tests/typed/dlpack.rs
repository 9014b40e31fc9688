// SPDX-License-Identifier: Apache-2.0
//! Tensors of `dlpack-rs`: its structs as views, managed tensors both ways, and how often a deleter
//! is called.

#![expect(unsafe_code, reason = "managed tensors are pointers")]

use crate::memory::n_lent_and_freed;
use crate::packages::{everything, table};
use core::ffi::c_void;
use core::ptr;
use dlpack_rs::ffi::{DLDataType, DLDevice, DLManagedTensorVersioned, DLTensor};
use dlpack_rs::safe::{TensorInfo, cpu_device, cuda_device, dtype_f32, pack, pack_versioned};
use expect_test::{Expect, expect};
use kernpack::dtype::int4;
use kernpack::{DlpackTensor, Element, Tensor, View, ViewMut};
use ndarray::{Array2, array};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const READ_ONLY: u64 = 1;
const PADDED: u64 = 4;

/// Memory that counts how often it is freed.
struct Counted<T> {
    _data: Vec<T>,
    n_freed: Arc<AtomicUsize>,
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.n_freed.fetch_add(1, Ordering::SeqCst);
    }
}

/// Managed tensors that somebody else makes, and how often they are freed.
#[derive(Default)]
struct Producer {
    n_freed: Arc<AtomicUsize>,
}

impl Producer {
    fn n_freed(&self) -> usize {
        self.n_freed.load(Ordering::SeqCst)
    }

    fn counted<T>(&self, mut data: Vec<T>) -> (Counted<T>, *mut c_void) {
        let address = data.as_mut_ptr().cast();
        (Counted { _data: data, n_freed: Arc::clone(&self.n_freed) }, address)
    }

    fn pack(&self, flags: u64, change: impl FnOnce(&mut TensorInfo)) -> DlpackTensor {
        let (memory, address) = self.counted(vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut info = TensorInfo::contiguous(address, cpu_device(), dtype_f32(), vec![2, 3]);
        change(&mut info);
        let packed = pack_versioned(memory, info, flags);
        // SAFETY: it was just made.
        unsafe { DlpackTensor::from_versioned(packed) }.unwrap()
    }

    /// A tensor of 2 rows of 3 floats, from 0 to 5.
    fn tensor(&self) -> DlpackTensor {
        self.pack(0, |_| {})
    }
}

/// A managed tensor taken as one of floats. In these tests nobody else has the memory.
fn taken(tensor: DlpackTensor) -> kernpack::Result<Tensor<f32>> {
    // SAFETY: nobody else has it, and floats have no bits that are none.
    unsafe { tensor.into_tensor() }
}

#[track_caller]
fn expect_refusal(flags: u64, change: impl FnOnce(&mut TensorInfo), expected: &Expect) {
    let producer = Producer::default();
    let refused = taken(producer.pack(flags, change)).unwrap_err();
    expected.assert_eq(&refused.to_string());
    assert_eq!(producer.n_freed(), 1, "a tensor that is refused is freed");
}

fn dtype(code: u8, bits: u8, lanes: u16) -> DLDataType {
    DLDataType { code, bits, lanes }
}

#[test]
fn a_managed_tensor_becomes_one_of_ours_and_is_freed_once() {
    let producer = Producer::default();
    let mut tensor = taken(producer.tensor()).unwrap();
    assert_eq!((tensor.shape(), tensor.len()), (&[2i64, 3][..], 6));
    tensor.as_mut_slice().unwrap()[0] = 9.0;
    let sums = table().sums(&tensor).call().unwrap();
    assert_eq!(sums.rows.as_slice().unwrap(), [12.0, 12.0]);
    assert_eq!(producer.n_freed(), 0);
    std::thread::spawn(|| drop(tensor)).join().unwrap();
    assert_eq!(producer.n_freed(), 1);
}

#[test]
fn one_of_before_dlpack_1_becomes_one_of_ours_too() {
    let producer = Producer::default();
    for expected in [Ok(2), Err("TypeError: expected a tensor of float64, got float32")] {
        let before = producer.n_freed();
        let (memory, address) = producer.counted(vec![1.0f32, 2.0]);
        let info = TensorInfo::contiguous(address, cpu_device(), dtype_f32(), vec![2]);
        // SAFETY: it was just made.
        let tensor = unsafe { DlpackTensor::from_legacy(pack(memory, info)) }.unwrap();
        assert!(!tensor.is_read_only());
        match expected {
            Ok(len) => assert_eq!(taken(tensor).unwrap().as_slice().unwrap().len(), len),
            Err(message) => {
                // SAFETY: nobody else has it.
                let refused = unsafe { tensor.into_tensor::<f64>() }.unwrap_err();
                assert_eq!(refused.to_string(), message);
            }
        }
        assert_eq!(producer.n_freed(), before + 1);
    }
}

#[test]
fn a_managed_tensor_that_nobody_takes_is_freed() {
    let producer = Producer::default();
    drop(producer.tensor());
    assert_eq!(producer.n_freed(), 1);
    // Without a deleter there is nothing to do.
    let mut data = [1.0f32];
    let info = TensorInfo::contiguous(ptr::null_mut(), cpu_device(), dtype_f32(), vec![1]);
    let packed = pack_versioned((), info, 0);
    // SAFETY: it was just made, and is freed by its deleter below.
    let made = unsafe { &mut *packed };
    let deleter = made.deleter.take();
    made.dl_tensor.data = data.as_mut_ptr().cast();
    // SAFETY: its memory is there until the end of this function.
    let tensor = unsafe { DlpackTensor::from_versioned(packed) }.unwrap();
    assert_eq!(taken(tensor).unwrap().as_slice().unwrap(), [1.0]);
    // SAFETY: nobody uses it any more.
    unsafe { deleter.unwrap()(packed) };
}

#[test]
fn ours_becomes_a_managed_tensor_and_comes_back() {
    let x = array![[1.0f32, 2.0], [3.0, 4.0]];
    let mut made = None;
    let make = || made = Some(table().sums(&x).call().unwrap().columns.into_dlpack());
    // The other result is freed.
    assert_eq!(n_lent_and_freed(make), (2, 1));
    let packed = made.unwrap();
    // SAFETY: it is there until it is deleted.
    let managed: &DLManagedTensorVersioned = unsafe { &*packed };
    assert_eq!((managed.version.major, managed.flags), (1, 0));
    let DLTensor { dtype, device, ndim, shape, strides, .. } = managed.dl_tensor;
    assert_eq!((dtype.code, dtype.bits, dtype.lanes), (2, 32, 1));
    assert_eq!((device.device_type, device.device_id, ndim), (1, 0, 1));
    // SAFETY: there is one.
    assert_eq!(unsafe { *shape }, 2);
    // SAFETY: and one of these.
    assert_eq!(unsafe { *strides }, 1);
    // SAFETY: it is ours to give away.
    let again = unsafe { DlpackTensor::from_versioned(packed) }.unwrap();
    let mut tensor = None;
    assert_eq!(n_lent_and_freed(|| tensor = Some(taken(again).unwrap())), (0, 0));
    assert_eq!(tensor.as_ref().unwrap().as_slice().unwrap(), [4.0, 6.0]);
    let packed = tensor.unwrap().into_dlpack();
    // SAFETY: as above.
    let delete = || drop(unsafe { DlpackTensor::from_versioned(packed) });
    assert_eq!(n_lent_and_freed(delete), (0, 1));
}

/// A managed tensor of floats, read by a call and made ours; and managed again.
fn there_and_back(packed: *mut DLManagedTensorVersioned) -> kernpack::Result<()> {
    let table = table();
    // SAFETY: the tensor is given away, and describes memory that is there.
    let tensor = unsafe { DlpackTensor::from_versioned(packed) }?;
    let sums = table.sums(tensor.view()?).call()?;
    // SAFETY: nobody else has its memory.
    let owned: Tensor<f32> = unsafe { tensor.into_tensor() }?;
    let packed = owned.into_dlpack();
    assert_eq!(sums.rows.as_slice()?, [3.0]);
    // SAFETY: as above.
    drop(unsafe { DlpackTensor::from_versioned(packed) }?);
    Ok(())
}

#[test]
fn a_tensor_of_others_goes_there_and_back() {
    let producer = Producer::default();
    let (memory, address) = producer.counted(vec![1.0f32, 2.0]);
    let info = TensorInfo::contiguous(address, cpu_device(), dtype_f32(), vec![1, 2]);
    there_and_back(pack_versioned(memory, info, 0)).unwrap();
    assert_eq!(producer.n_freed(), 1);
}

#[test]
fn another_dtype_is_refused() {
    expect_refusal(
        0,
        |info| info.dtype = dtype(2, 64, 1),
        &expect!["TypeError: expected a tensor of float32, got float64"],
    );
    expect_refusal(
        0,
        |info| info.dtype = dtype(2, 32, 4),
        &expect!["TypeError: expected a tensor of float32, got float32x4"],
    );
    expect_refusal(
        0,
        |info| info.dtype = dtype(6, 8, 1),
        &expect!["TypeError: expected a tensor of float32, got bool"],
    );
    expect_refusal(
        0,
        |info| info.dtype = dtype(200, 32, 1),
        &expect!["TypeError: expected a tensor of float32, got dtype(code=200, bits=32)"],
    );
    let producer = Producer::default();
    let refused = producer.pack(0, |info| info.dtype = dtype(1, 8, 1)).view::<bool>().unwrap_err();
    assert_eq!(refused.to_string(), "TypeError: expected a tensor of bool, got uint8");
}

#[test]
fn bools_are_bytes() {
    let (memory, address) = Producer::default().counted(vec![true, false]);
    let info = TensorInfo::contiguous(address, cpu_device(), dtype(6, 8, 1), vec![2]);
    // SAFETY: it was just made.
    let tensor = unsafe { DlpackTensor::from_versioned(pack_versioned(memory, info, 0)) };
    // SAFETY: nobody else has it, and each byte is 0 or 1.
    let tensor: Tensor<bool> = unsafe { tensor.unwrap().into_tensor() }.unwrap();
    assert_eq!(tensor.as_slice().unwrap(), [true, false]);
}

#[test]
fn tensors_that_are_not_compact_are_refused() {
    expect_refusal(
        0,
        |info| info.strides = Some(vec![1, 2]),
        &expect![
            "ValueError: expected a compact row-major tensor, got the strides [1, 2] for the shape [2, 3]"
        ],
    );
    expect_refusal(
        0,
        |info| info.strides = Some(vec![0, 1]),
        &expect![
            "ValueError: expected a compact row-major tensor, got the strides [0, 1] for the shape [2, 3]"
        ],
    );
    expect_refusal(
        0,
        |info| info.shape = vec![-2, 3],
        &expect!["ValueError: no tensor of float32 can have the shape [-2, 3]"],
    );
    expect_refusal(
        0,
        |info| info.shape = vec![1 << 40, 1 << 40],
        &expect![
            "ValueError: no tensor of float32 can have the shape [1099511627776, 1099511627776]"
        ],
    );
}

#[test]
fn tensors_that_lie_nowhere_are_refused() {
    expect_refusal(
        0,
        |info| info.data = ptr::null_mut(),
        &expect!["ValueError: the tensor has elements, but its data is NULL"],
    );
    let unaligned = |info: &mut TensorInfo| {
        (info.data, info.byte_offset) = (ptr::without_provenance_mut(0x1000), 2);
    };
    expect_refusal(
        0,
        unaligned,
        &expect!["ValueError: expected elements aligned to 4 bytes, got the address 0x1002"],
    );
    expect_refusal(
        0,
        |info| info.device = DLDevice { device_type: 99, device_id: 0 },
        &expect!["ValueError: expected a tensor on a known device, got device type 99"],
    );
}

#[test]
fn a_read_only_tensor_is_lent_to_be_read_alone() {
    expect_refusal(
        READ_ONLY,
        |_| {},
        &expect![
            "ValueError: expected a tensor to write, got one that is read-only: its `view` is there to be read"
        ],
    );
    let producer = Producer::default();
    let mut tensor = producer.pack(READ_ONLY, |_| {});
    assert!(tensor.is_read_only());
    // SAFETY: nobody else has it.
    let refused = unsafe { tensor.view_mut::<f32>() }.unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
    let sums = table().sums(tensor.view().unwrap()).call().unwrap();
    assert_eq!((sums.rows.as_slice().unwrap(), producer.n_freed()), (&[3.0f32, 12.0][..], 0));
    drop(tensor);
    assert_eq!(producer.n_freed(), 1);
}

#[test]
fn managed_tensors_of_no_known_form_are_refused() {
    // SAFETY: there is none.
    let refused = unsafe { DlpackTensor::from_versioned(ptr::null_mut()) }.unwrap_err();
    assert_eq!(refused.to_string(), "ValueError: the managed tensor is NULL");
    // SAFETY: there is none.
    let refused = unsafe { DlpackTensor::from_legacy(ptr::null_mut()) }.unwrap_err();
    assert_eq!(refused.to_string(), "ValueError: the managed tensor is NULL");
    let producer = Producer::default();
    let (memory, address) = producer.counted(vec![1.0f32]);
    let info = TensorInfo::contiguous(address, cpu_device(), dtype_f32(), vec![1]);
    let packed = pack_versioned(memory, info, 0);
    // SAFETY: it was just made.
    unsafe { (*packed).version.major = 2 };
    // SAFETY: as above.
    let refused = unsafe { DlpackTensor::from_versioned(packed) }.unwrap_err();
    let expected = "ValueError: expected a managed tensor of DLPack 1, got one of 2.0";
    assert_eq!((&*refused.to_string(), producer.n_freed()), (expected, 1));
}

#[test]
fn elements_below_a_byte_are_packed() {
    let producer = Producer::default();
    let nibbles = |info: &mut TensorInfo| (info.dtype, info.shape) = (dtype(0, 4, 1), vec![3]);
    let expected = "ValueError: expected elements of int4 packed in bytes, got a byte for each";
    let padded = producer.pack(PADDED, nibbles);
    assert_eq!(padded.view::<int4>().unwrap_err().to_string(), expected);
    // SAFETY: nobody else has it.
    let refused = unsafe { padded.into_tensor::<int4>() }.unwrap_err();
    assert_eq!(refused.to_string(), expected);
    // SAFETY: nobody else has it.
    let packed = unsafe { producer.pack(0, nibbles).into_tensor::<int4>() }.unwrap();
    assert_eq!(packed.len(), 3);
    // Elements of whole bytes have nothing to be padded.
    assert!(taken(producer.pack(PADDED, |_| {})).is_ok());
}

#[test]
fn compact_tensors_are_taken_however_they_say_it() {
    let producer = Producer::default();
    let taken = |change: &dyn Fn(&mut TensorInfo)| taken(producer.pack(0, change)).unwrap();
    let one = taken(&|info| (info.shape, info.byte_offset) = (vec![], 8));
    assert_eq!((one.shape(), one.as_slice().unwrap()), (&[][..], &[2.0f32][..]));
    let rest = taken(&|info| (info.shape, info.byte_offset) = (vec![2], 16));
    assert_eq!(rest.as_slice().unwrap(), [4.0, 5.0]);
    let row = taken(&|info| (info.shape, info.strides) = (vec![1, 2, 1], Some(vec![77, 1, -3])));
    assert_eq!(row.as_slice().unwrap(), [0.0, 1.0]);
    let empty = |info: &mut TensorInfo| {
        (info.data, info.shape) = (ptr::null_mut(), vec![3, 0]);
        info.strides = Some(vec![5, 7]);
    };
    let mut empty = taken(&empty);
    assert_eq!((empty.shape(), empty.is_empty()), (&[3i64, 0][..], true));
    assert_eq!(empty.as_slice().unwrap(), [0.0; 0]);
    assert_eq!(empty.as_mut_slice().unwrap(), [0.0; 0]);
    let sums = table().sums(&empty).call().unwrap();
    assert_eq!(sums.rows.as_slice().unwrap(), [0.0; 3]);
    drop((one, rest, row, empty));
    assert_eq!(producer.n_freed(), 4);
}

#[test]
fn a_tensor_on_a_gpu_stays_there() {
    let producer = Producer::default();
    let on_gpu = |info: &mut TensorInfo| info.device = cuda_device(1);
    let tensor = taken(producer.pack(0, on_gpu)).unwrap();
    let refused = tensor.as_slice().unwrap_err().to_string();
    assert_eq!(refused, "ValueError: the elements are on cuda:1, which the CPU cannot read");
    let refused = table().sums(&tensor).call().unwrap_err().to_string();
    assert!(refused.contains("expected device_type=cpu, got cuda"), "{refused}");
    let refused = table().sums(producer.pack(0, on_gpu).view().unwrap()).call().unwrap_err();
    assert!(refused.to_string().contains("expected device_type=cpu, got cuda"), "{refused}");
}

#[test]
fn structs_are_lent_in_any_layout() {
    let x = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let (mut shape, mut strides) = ([3i64, 2], [1i64, 3]);
    let turned = DLTensor {
        data: x.as_ptr().cast_mut().cast(),
        device: cpu_device(),
        ndim: 2,
        dtype: dtype_f32(),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let mut y = Array2::zeros((3, 2));
    // SAFETY: all of it is there, and nobody writes it.
    let view = unsafe { View::from_dlpack(&turned) }.unwrap();
    everything().strided(view, &mut y).call().unwrap();
    assert_eq!(y, array![[0.0f32, 3.0], [1.0, 4.0], [2.0, 5.0]]);
    let mut out = [0.0f32; 6];
    let written = DLTensor { data: out.as_mut_ptr().cast(), ..turned };
    // SAFETY: all of it is there, and nobody else has it.
    let view = unsafe { ViewMut::from_dlpack(&written) }.unwrap();
    everything().strided(&y, view).call().unwrap();
    assert_eq!(out, x);
    // SAFETY: as above.
    let refused = unsafe { View::<f64>::from_dlpack(&turned) }.unwrap_err();
    assert_eq!(refused.to_string(), "TypeError: expected a tensor of float64, got float32");
}

#[test]
fn views_become_structs() {
    let x = [true, false, true];
    let shape = [3];
    let tensor = View::new(&x, &shape).unwrap().to_dlpack();
    assert_eq!((tensor.data.cast_const().cast(), tensor.ndim), (x.as_ptr(), 1));
    assert_eq!((tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes), (6, 8, 1));
    assert_eq!(tensor.shape.cast_const(), shape.as_ptr());
    assert!(tensor.strides.is_null() && tensor.byte_offset == 0);
    let mut y = [0.0f64; 3];
    let expected = y.as_ptr();
    let tensor = ViewMut::new(&mut y, &shape).unwrap().to_dlpack();
    assert_eq!(tensor.data.cast_const().cast(), expected);
    assert_eq!(u32::from(tensor.dtype.bits), f64::DTYPE.element_bits());
}

#[test]
fn a_managed_tensor_is_written_where_it_lies() {
    let producer = Producer::default();
    let mut tensor = producer.tensor();
    let ones = Array2::<f32>::ones((2, 3));
    // SAFETY: nobody else has it.
    let view = unsafe { tensor.view_mut() }.unwrap();
    everything().strided(&ones, view).call().unwrap();
    assert_eq!(taken(tensor).unwrap().as_slice().unwrap(), [1.0; 6]);
}
