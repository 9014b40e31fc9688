// SPDX-License-Identifier: Apache-2.0
//! The arguments of a call as data: values of TVM-FFI become what plans check, and the bytes of
//! their tensors are copied, and put back.
//!
//! Not here: what is done with them.

#![expect(unsafe_code, reason = "values and tensors are C's, and lie in a caller's memory")]

use super::runs::each_run;
use super::{PassedMemory, PassedTensor};
use kernpack_ffi_abi::layout::{Any, BIG_INT_WORDS_OFFSET, DLTensor, TENSOR_VIEW_OFFSET, big_int};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex, slice, value};
use kernpack_validators::described::{Described, DescribedTensor};

/// Where tensors are that were copied to the host, by their numbers.
pub type Devices = [Option<(DeviceType, i32)>];

/// The device of a tensor that this process cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOnHost(pub DeviceType);

/// The arguments of a call.
///
/// # Errors
/// A tensor is in no memory that this process reads.
///
/// # Safety
/// Values are what their type indices say, and all that they lead to is there.
pub unsafe fn read(arguments: &[Any], devices: &Devices) -> Result<Vec<Described>, NotOnHost> {
    let mut reader = Reader { devices, n_tensors: 0 };
    arguments.iter().map(|argument| reader.value(argument)).collect()
}

struct Reader<'d> {
    devices: &'d Devices,
    n_tensors: usize,
}

impl Reader<'_> {
    fn value(&mut self, any: &Any) -> Result<Described, NotOnHost> {
        let (index, payload) = (TypeIndex(any.type_index), any.payload);
        Ok(match index {
            TypeIndex::NONE => Described::None,
            TypeIndex::BOOL => Described::Bool(payload != 0),
            TypeIndex::INT => Described::Int(payload.into()),
            TypeIndex::FLOAT => Described::Float(f64::from_bits(payload as u64)),
            TypeIndex::OPAQUE_PTR => Described::Pointer(payload as u64),
            TypeIndex::DATA_TYPE => Described::DType(DType::from_packed(payload as u32)),
            TypeIndex::RAW_STR | TypeIndex::SMALL_STR | TypeIndex::STR => {
                // SAFETY: the caller of `read` says so.
                let bytes = unsafe { value::bytes(any) };
                let text = String::from_utf8_lossy(bytes.unwrap_or_default());
                Described::Text(text.into_owned())
            }
            TypeIndex::DL_TENSOR_PTR => self.tensor(payload as u64)?,
            TypeIndex::TENSOR => self.tensor(payload as u64 + u64::from(TENSOR_VIEW_OFFSET))?,
            TypeIndex::SHAPE => Described::Shape(items(any).to_vec()),
            TypeIndex::ARRAY => Described::Tuple(self.sequence(any)?),
            TypeIndex::LIST => Described::List(self.sequence(any)?),
            TypeIndex::BIG_INT => big_int(payload as u64),
            TypeIndex::OPAQUE_PY_OBJECT => Described::Object,
            other => Described::Other(other),
        })
    }

    fn sequence(&mut self, any: &Any) -> Result<Vec<Described>, NotOnHost> {
        items(any).iter().map(|any| self.value(any)).collect()
    }

    fn tensor(&mut self, view: u64) -> Result<Described, NotOnHost> {
        // SAFETY: a tensor lies there for as long as the call.
        let view = unsafe { &*(view as *const DLTensor) };
        let number = self.n_tensors;
        self.n_tensors += 1;
        let device = DeviceType(view.device_type);
        if !device.is_host() {
            return Err(NotOnHost(device));
        }
        // SAFETY: it has as many extents as it says.
        let shape = unsafe { view.extents() }.to_vec();
        let strides = (view.strides != 0).then(|| elements(view.strides, shape.len()).to_vec());
        let data = match view.data {
            0 => 0,
            address => address + view.byte_offset,
        };
        Ok(Described::Tensor(DescribedTensor {
            dtype: DType::from_packed(view.dtype),
            shape,
            strides,
            device: self.devices.get(number).copied().flatten(),
            data: Some(data),
        }))
    }
}

/// The items of a Shape, an Array or a List.
fn items<T>(any: &Any) -> &[T] {
    // SAFETY: it is one of these, of such items.
    let (data, size) = unsafe { value::items(any) };
    elements(data, size)
}

fn elements<'a, T>(data: u64, size: usize) -> &'a [T] {
    // SAFETY: objects and tensors have as many as they say, for as long as the call.
    unsafe { slice(data as *const T, size) }
}

/// An integer of any size. One that has more than two words is like any other that is too large.
fn big_int(object: u64) -> Described {
    let n_words: &[i64] = elements(object + u64::from(big_int::SIZE.offset), 1);
    let words: &[i64] = elements(object + u64::from(BIG_INT_WORDS_OFFSET), 2);
    match n_words[0] {
        2 => Described::Int(i128::from(words[1]) << 64 | i128::from(words[0] as u64)),
        _ => Described::Int(i128::MAX),
    }
}

/// Copies the bytes that lie at an address.
///
/// # Safety
/// They are there, and nobody writes them.
pub unsafe fn copy(address: u64, bytes: &mut [u8]) {
    // SAFETY: the caller says so; a copy is no place that a tensor lies in.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), bytes.len()) };
}

/// Puts the elements of the tensors that a call has written back where they were copied from.
///
/// # Safety
/// They are there still, and the caller may write them.
pub unsafe fn put_back(tensors: &[PassedTensor], memories: &[PassedMemory]) {
    for tensor in tensors.iter().filter(|tensor| tensor.is_written) {
        let Some((number, first)) = tensor.place else { continue };
        let memory = &memories[number];
        each_run(tensor.dtype, &tensor.shape, &tensor.strides, &mut |run| {
            let at = first.wrapping_add_signed(run.start);
            let bytes = &memory.bytes[at as usize..][..(run.end - run.start) as usize];
            let to = (memory.address + at) as *mut u8;
            // SAFETY: as the caller says.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        });
    }
}
