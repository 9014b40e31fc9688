// SPDX-License-Identifier: Apache-2.0
//! A memory of described arguments, laid out as the ABI has them. Its addresses are made up: one
//! run of bytes holds whatever a check may read, and tensors have data at addresses behind which
//! there is nothing.

use super::{Described, DescribedTensor};
use bytemuck::{bytes_of, cast_slice};
use kernpack_ffi_abi::layout::{Any, ByteArray, DLTensor, Object, SeqCell, ShapeCell};
use kernpack_ffi_abi::{DeviceType, Memory, TypeIndex, Width};

/// Where the bytes begin. NULL is far from it.
const START: u64 = 1 << 20;

/// The alignment of every address in it.
const ALIGNMENT: usize = 16;

/// The room that each tensor has for its data, and what the address of that is a multiple of: more
/// bytes than a process has, so that no two tensors meet.
const DATA_ROOM: u64 = 1 << 48;

/// The memory of a call.
pub(super) struct Arena {
    bytes: Vec<u8>,
    /// Where tensors are that say nothing of it.
    device: DeviceType,
    /// Where what is known of a GPU lies.
    facts: Option<u64>,
    n_tensors: u64,
}

impl Arena {
    /// A memory with nothing in it.
    pub(super) fn new(device: DeviceType) -> Arena {
        Arena { bytes: vec![], device, facts: None, n_tensors: 0 }
    }

    /// Has every GPU be like this.
    pub(super) fn know(&mut self, facts: &[i64]) {
        self.facts = Some(self.put(cast_slice(facts)));
    }

    /// The address of an array of `TVMFFIAny` with these values.
    pub(super) fn values(&mut self, values: &[Described]) -> u64 {
        let anys: Vec<Any> = values.iter().map(|value| self.any(value)).collect();
        self.put(cast_slice(&anys))
    }

    /// The address of these bytes, which are put behind all others.
    fn put(&mut self, bytes: &[u8]) -> u64 {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        START + offset as u64
    }

    /// The address of an object: a header, and `cell` behind it.
    fn object(&mut self, index: TypeIndex, cell: &[u8]) -> u64 {
        let header = Object { ref_count: 1 << 32 | 1, type_index: index.0, ..Object::default() };
        self.put(&[bytes_of(&header), cell].concat())
    }

    fn any(&mut self, value: &Described) -> Any {
        let (index, payload) = match value {
            Described::None => (TypeIndex::NONE, 0),
            Described::Bool(truth) => (TypeIndex::BOOL, u64::from(*truth)),
            Described::Int(int) => self.int(*int),
            Described::Float(float) => (TypeIndex::FLOAT, float.to_bits()),
            Described::Text(text) => (TypeIndex::STR, self.text(text)),
            Described::DType(dtype) => (TypeIndex::DATA_TYPE, dtype.packed().into()),
            Described::Pointer(address) => (TypeIndex::OPAQUE_PTR, *address),
            Described::Shape(elements) => (TypeIndex::SHAPE, self.shape(elements)),
            Described::Tuple(elements) => {
                (TypeIndex::ARRAY, self.sequence(TypeIndex::ARRAY, elements))
            }
            Described::List(elements) => {
                (TypeIndex::LIST, self.sequence(TypeIndex::LIST, elements))
            }
            Described::Tensor(tensor) => (TypeIndex::TENSOR, self.tensor(tensor)),
            Described::Object => {
                let index = TypeIndex::OPAQUE_PY_OBJECT;
                (index, self.object(index, &[]))
            }
            Described::Other(index) if *index < TypeIndex::OBJECT => (*index, 0),
            Described::Other(index) => (*index, self.object(*index, &[])),
        };
        Any { type_index: index.0, padding: 0, payload: payload as i64 }
    }

    /// An Int, or a BigInt where 64 bits with a sign are too few.
    fn int(&mut self, int: i128) -> (TypeIndex, u64) {
        match i64::try_from(int) {
            Ok(int) => (TypeIndex::INT, int as u64),
            Err(_) => {
                let words = [2, int as i64, (int >> 64) as i64];
                (TypeIndex::BIG_INT, self.object(TypeIndex::BIG_INT, cast_slice(&words)))
            }
        }
    }

    fn text(&mut self, text: &str) -> u64 {
        let cell = ByteArray { data: self.put(text.as_bytes()), size: text.len() as u64 };
        self.object(TypeIndex::STR, bytes_of(&cell))
    }

    fn shape(&mut self, elements: &[i64]) -> u64 {
        let cell = ShapeCell { data: self.put(cast_slice(elements)), size: elements.len() as u64 };
        self.object(TypeIndex::SHAPE, bytes_of(&cell))
    }

    fn sequence(&mut self, index: TypeIndex, elements: &[Described]) -> u64 {
        let (data, size) = (self.values(elements), elements.len() as i64);
        let cell = SeqCell { data, size, capacity: size, data_deleter: 0 };
        self.object(index, bytes_of(&cell))
    }

    fn tensor(&mut self, tensor: &DescribedTensor) -> u64 {
        self.n_tensors += 1;
        let (device_type, device_id) = tensor.device.unwrap_or((self.device, 0));
        let strides = tensor.strides.as_ref();
        let view = DLTensor {
            data: tensor.data.unwrap_or_else(|| self.n_tensors.wrapping_mul(DATA_ROOM)),
            device_type: device_type.0,
            device_id,
            ndim: tensor.shape.len() as i32,
            dtype: tensor.dtype.packed(),
            shape: self.put(cast_slice(&tensor.shape)),
            strides: strides.map_or(0, |strides| self.put(cast_slice(strides))),
            byte_offset: 0,
        };
        self.object(TypeIndex::TENSOR, bytes_of(&view))
    }
}

/// The tensor whose data is at an address, by its number among those of a call, from the first to
/// the last; and how far into it the address is, in bytes.
pub(super) fn tensor_at(address: u64) -> Option<(usize, u64)> {
    let number = (address / DATA_ROOM).checked_sub(1)?;
    Some((usize::try_from(number).ok()?, address % DATA_ROOM))
}

/// The address of that, as [`tensor_at`] takes it.
pub(super) fn data_at(number: usize, offset: u64) -> u64 {
    (number as u64 + 1).wrapping_mul(DATA_ROOM).wrapping_add(offset)
}

impl Memory for Arena {
    fn load(&self, address: u64, width: Width) -> Option<i64> {
        let offset = usize::try_from(address.checked_sub(START)?).ok()?;
        let bytes = self.bytes.get(offset..)?.get(..width.bytes())?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let value = i64::from_le_bytes(word);
        Some(if width == Width::I32 { i64::from(value as i32) } else { value })
    }

    fn device(&self, _number: Option<i64>) -> Option<u64> {
        self.facts
    }
}
