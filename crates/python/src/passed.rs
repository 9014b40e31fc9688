// SPDX-License-Identifier: Apache-2.0
//! The arguments of a call as data: values of TVM-FFI become what plans check, and the bytes of
//! their tensors are copied. Results become tensors of TVM-FFI.
//!
//! Not here: what is done with them.

#![expect(unsafe_code, reason = "values and tensors are C's, and lie in a caller's memory")]

use crate::ffi::{Error, Object, bytes};
use kernpack_ffi_abi::layout::{
    Any, BIG_INT_WORDS_OFFSET, DLTensor, OBJECT_HEADER_BYTES, SeqCell, ShapeCell,
    TENSOR_VIEW_OFFSET, big_int,
};
use kernpack_ffi_abi::{DType, DeviceType, ErrorKind, ManagedTensor, TypeIndex, slice};
use kernpack_package::interpret::PassedMemory;
use kernpack_validators::described::{Described, DescribedTensor};
use std::sync::Arc;

/// Where tensors are that were copied to the host, by their numbers.
pub type Devices = [Option<(DeviceType, i32)>];

/// The arguments of a call.
///
/// # Errors
/// A tensor is in no memory that this process reads.
pub fn read(arguments: &[Any], devices: &Devices) -> Result<Vec<Described>, Error> {
    let mut reader = Reader { devices, n_tensors: 0 };
    arguments.iter().map(|argument| reader.value(argument)).collect()
}

struct Reader<'d> {
    devices: &'d Devices,
    n_tensors: usize,
}

impl Reader<'_> {
    fn value(&mut self, any: &Any) -> Result<Described, Error> {
        let (index, payload) = (TypeIndex(any.type_index), any.payload);
        Ok(match index {
            TypeIndex::NONE => Described::None,
            TypeIndex::BOOL => Described::Bool(payload != 0),
            TypeIndex::INT => Described::Int(payload.into()),
            TypeIndex::FLOAT => Described::Float(f64::from_bits(payload as u64)),
            TypeIndex::OPAQUE_PTR => Described::Pointer(payload as u64),
            TypeIndex::DATA_TYPE => Described::DType(DType::from_packed(payload as u32)),
            TypeIndex::RAW_STR | TypeIndex::SMALL_STR | TypeIndex::STR => {
                let text = String::from_utf8_lossy(bytes(any).unwrap_or_default());
                Described::Text(text.into_owned())
            }
            TypeIndex::DL_TENSOR_PTR => self.tensor(payload as u64)?,
            TypeIndex::TENSOR => self.tensor(payload as u64 + u64::from(TENSOR_VIEW_OFFSET))?,
            TypeIndex::SHAPE => {
                let cell: ShapeCell = cell(payload as u64);
                Described::Shape(elements(cell.data, cell.size as usize).to_vec())
            }
            TypeIndex::ARRAY => Described::Tuple(self.sequence(payload as u64)?),
            TypeIndex::LIST => Described::List(self.sequence(payload as u64)?),
            TypeIndex::BIG_INT => big_int(payload as u64),
            TypeIndex::OPAQUE_PY_OBJECT => Described::Object,
            other => Described::Other(other),
        })
    }

    fn sequence(&mut self, object: u64) -> Result<Vec<Described>, Error> {
        let cell: SeqCell = cell(object);
        let all: &[Any] = elements(cell.data, usize::try_from(cell.size).unwrap_or(0));
        all.iter().map(|any| self.value(any)).collect()
    }

    fn tensor(&mut self, view: u64) -> Result<Described, Error> {
        // SAFETY: a tensor lies there for as long as the call.
        let view = unsafe { &*(view as *const DLTensor) };
        let number = self.n_tensors;
        self.n_tensors += 1;
        let device = DeviceType(view.device_type);
        if !device.is_host() {
            let message = format!(
                "the interpreter runs on the CPU, and a tensor is on {device}: pass it as an array \
                 of PyTorch or JAX, which are copied, or pass a copy of it on the CPU"
            );
            return Err(Error::new(ErrorKind::TypeError, message));
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

/// The cell behind the header of an object.
fn cell<T: Copy>(object: u64) -> T {
    let address = object + u64::from(OBJECT_HEADER_BYTES);
    // SAFETY: the callers know the object's type, and it lives as long as the call.
    unsafe { (address as *const T).read() }
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

/// A copy of so many bytes at an address of a tensor's.
pub fn copy(address: u64, count: usize) -> Vec<u8> {
    elements(address, count).to_vec()
}

/// Puts bytes back where they were copied from.
pub fn put_back(memory: &PassedMemory) {
    let (from, to) = (memory.bytes.as_ptr(), memory.address as *mut u8);
    // SAFETY: the caller passed tensors that it has written, which have these bytes.
    unsafe { std::ptr::copy_nonoverlapping(from, to, memory.bytes.len()) };
}

/// A tensor in bytes that others may share.
pub struct Given<'g> {
    /// The bytes.
    pub bytes: Arc<Vec<u8>>,
    /// Where in them its first element is.
    pub offset: u64,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: &'g [i64],
    /// Its strides; nothing: row-major.
    pub strides: Option<&'g [i64]>,
}

impl Given<'_> {
    /// Hands it to a function, with its number.
    ///
    /// # Errors
    /// Where that raises.
    pub fn give(&self, receiver: &Object, number: i64) -> Result<(), Error> {
        let view = DLTensor {
            data: self.bytes.as_ptr() as u64 + self.offset,
            device_type: DeviceType::CPU.0,
            device_id: 0,
            ndim: self.shape.len() as i32,
            dtype: self.dtype.packed(),
            shape: self.shape.as_ptr() as u64,
            strides: self.strides.map_or(0, |strides| strides.as_ptr() as u64),
            byte_offset: 0,
        };
        // SAFETY: the view has as many extents and strides as it says.
        let tensor = unsafe { ManagedTensor::over(&view, self.bytes.clone()) };
        receiver.give(number, tensor)
    }
}
