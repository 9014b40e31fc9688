// SPDX-License-Identifier: Apache-2.0
//! The arguments of a call in real memory, laid out as the ABI has them, so that an interpreter and
//! compiled code can read the same bytes.
//!
//! Everything a call may read lies in the blocks of one arena, whose addresses never change. As a
//! [`Memory`] it is checked: what is in no block cannot be read. The data of a tensor is only an
//! address; there is nothing behind it, and nothing may look.

use crate::value::{Arrival, Carrier, Tensor, Value};
use bytemuck::{bytes_of, cast_slice, cast_slice_mut};
use kernpack_ffi_abi::layout::{Any, ByteArray, DLTensor, Object, SeqCell, ShapeCell};
use kernpack_ffi_abi::{Memory, TypeIndex, Width};
use kernpack_validators::plan::DeviceFact;

/// The arguments of one call.
pub struct Arguments {
    /// Owned, and never written again once their address is known.
    blocks: Vec<Box<[u64]>>,
    address: u64,
    count: i32,
    /// Where what is known of the device lies.
    facts: Option<u64>,
}

impl Arguments {
    /// Lays out the values. A tensor arrives as it says, or else as `arrival`.
    pub fn new(values: &[Value], arrival: Arrival) -> Arguments {
        let count = values.len().try_into().expect("a call has few arguments");
        let mut arguments = Arguments { blocks: Vec::new(), address: 0, count, facts: None };
        arguments.address = arguments.values(values, arrival);
        arguments
    }

    /// What is known of the device of the call.
    pub fn on_device(mut self, facts: [i64; DeviceFact::ALL.len()]) -> Arguments {
        let address = self.block(cast_slice(&facts));
        Arguments { facts: Some(address), ..self }
    }

    /// Arguments that are laid out already: the array of `TVMFFIAny`, of which there are `count`,
    /// what they lead to, and what is known of the device.
    pub fn of_blocks(
        args: Box<[u64]>,
        count: usize,
        mut blocks: Vec<Box<[u64]>>,
        facts: Box<[u64]>,
    ) -> Arguments {
        let count = count.try_into().expect("a call has few arguments");
        let (address, facts_at) = (Arguments::address_of(&args), Arguments::address_of(&facts));
        blocks.extend([args, facts]);
        Arguments { blocks, address, count, facts: Some(facts_at) }
    }

    /// Where a block lies, and will when it is among others.
    pub fn address_of(block: &[u64]) -> u64 {
        block.as_ptr().expose_provenance() as u64
    }

    /// Where the array of `TVMFFIAny` starts.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many there are.
    pub fn count(&self) -> i32 {
        self.count
    }

    /// A block with these bytes, padded to whole words. Nothing has no address.
    fn block(&mut self, bytes: &[u8]) -> u64 {
        let words = words_of(bytes);
        let address = if bytes.is_empty() { 0 } else { Arguments::address_of(&words) };
        self.blocks.push(words);
        address
    }

    fn values(&mut self, values: &[Value], arrival: Arrival) -> u64 {
        let anys: Vec<Any> = values.iter().map(|value| self.any(value, arrival)).collect();
        self.block(cast_slice(&anys))
    }

    fn any(&mut self, value: &Value, arrival: Arrival) -> Any {
        let (index, payload) = match value {
            Value::None => (TypeIndex::NONE, 0),
            Value::Int(value) => (TypeIndex::INT, *value as u64),
            Value::Bool(value) => (TypeIndex::BOOL, *value as u64),
            Value::Float(value) => (TypeIndex::FLOAT, value.to_bits()),
            Value::Ptr(address) => (TypeIndex::OPAQUE_PTR, *address),
            Value::BigInt(words) => (TypeIndex::BIG_INT, self.big_int(words)),
            Value::Other(index) => (TypeIndex(*index), self.other(TypeIndex(*index))),
            Value::Inline(index, payload) => (TypeIndex(*index), *payload),
            Value::Shape(elements) => (TypeIndex::SHAPE, self.shape(elements)),
            Value::Array(elements) => {
                (TypeIndex::ARRAY, self.sequence(TypeIndex::ARRAY, elements, arrival))
            }
            Value::List(elements) => {
                (TypeIndex::LIST, self.sequence(TypeIndex::LIST, elements, arrival))
            }
            Value::Str(carrier, bytes) => return self.string(*carrier, bytes),
            Value::Tensor(tensor) => return self.tensor(tensor, arrival),
        };
        Any { type_index: index.0, padding: 0, payload: payload as i64 }
    }

    /// An object: the header, then `cell`.
    fn object(&mut self, index: TypeIndex, cell: &[u8]) -> u64 {
        self.block(&object(index, cell))
    }

    /// Something that no check looks into: an object without a cell, or below the objects a payload
    /// of zeros.
    fn other(&mut self, index: TypeIndex) -> u64 {
        if index < TypeIndex::OBJECT { 0 } else { self.object(index, &[]) }
    }

    fn big_int(&mut self, words: &[i64]) -> u64 {
        let cell = [&[words.len() as i64], words].concat();
        self.object(TypeIndex::BIG_INT, cast_slice(&cell))
    }

    fn shape(&mut self, elements: &[i64]) -> u64 {
        let cell =
            ShapeCell { data: self.block(cast_slice(elements)), size: elements.len() as u64 };
        self.object(TypeIndex::SHAPE, bytes_of(&cell))
    }

    fn sequence(&mut self, index: TypeIndex, elements: &[Value], arrival: Arrival) -> u64 {
        let (data, size) = (self.values(elements, arrival), elements.len() as i64);
        self.object(index, bytes_of(&SeqCell { data, size, capacity: size, data_deleter: 0 }))
    }

    fn string(&mut self, carrier: Carrier, bytes: &[u8]) -> Any {
        let (any, blocks) = string(carrier, bytes);
        self.blocks.extend(blocks);
        any
    }

    fn tensor(&mut self, tensor: &Tensor, arrival: Arrival) -> Any {
        let view = DLTensor {
            data: tensor.data,
            device_type: tensor.device.0,
            device_id: tensor.device.1,
            ndim: tensor.shape.len() as i32,
            dtype: tensor.dtype.packed(),
            shape: self.block(cast_slice(&tensor.shape)),
            strides: tensor.strides.as_ref().map_or(0, |strides| self.block(cast_slice(strides))),
            byte_offset: tensor.byte_offset,
        };
        let (index, payload) = match tensor.arrival.unwrap_or(arrival) {
            Arrival::DLTensor => (TypeIndex::DL_TENSOR_PTR, self.block(bytes_of(&view))),
            Arrival::Tensor => (TypeIndex::TENSOR, self.object(TypeIndex::TENSOR, bytes_of(&view))),
        };
        Any { type_index: index.0, padding: 0, payload: payload as i64 }
    }

    /// The bytes from `address` to the end of its block.
    fn bytes_at(&self, address: u64) -> Option<&[u8]> {
        self.blocks.iter().find_map(|block| {
            let bytes: &[u8] = cast_slice(block);
            let offset = address.checked_sub(bytes.as_ptr().addr() as u64)?;
            bytes.get(usize::try_from(offset).ok()?..)
        })
    }
}

/// Bytes, padded to whole words.
fn words_of(bytes: &[u8]) -> Box<[u64]> {
    let mut words = vec![0u64; bytes.len().div_ceil(8)].into_boxed_slice();
    cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

/// An object: the header, then `cell`.
fn object(index: TypeIndex, cell: &[u8]) -> Vec<u8> {
    let header = Object { ref_count: 1 << 32 | 1, type_index: index.0, ..Object::default() };
    [bytes_of(&header), cell].concat()
}

/// A string, and the blocks that it leads to.
pub fn string(carrier: Carrier, bytes: &[u8]) -> (Any, Vec<Box<[u64]>>) {
    let any = |index: TypeIndex, size: usize, payload: u64| Any {
        type_index: index.0,
        padding: size as u32,
        payload: payload as i64,
    };
    match carrier {
        Carrier::Any if bytes.len() < size_of::<i64>() => {
            let mut payload = [0; 8];
            payload[..bytes.len()].copy_from_slice(bytes);
            (any(TypeIndex::SMALL_STR, bytes.len(), u64::from_le_bytes(payload)), vec![])
        }
        Carrier::Any | Carrier::Object => {
            let data = words_of(bytes);
            let address = if bytes.is_empty() { 0 } else { Arguments::address_of(&data) };
            let cell = ByteArray { data: address, size: bytes.len() as u64 };
            let object = words_of(&object(TypeIndex::STR, bytes_of(&cell)));
            (any(TypeIndex::STR, 0, Arguments::address_of(&object)), vec![data, object])
        }
        Carrier::CString => {
            let data = words_of(&[bytes, &[0]].concat());
            (any(TypeIndex::RAW_STR, 0, Arguments::address_of(&data)), vec![data])
        }
    }
}

impl Memory for Arguments {
    fn load(&self, address: u64, width: Width) -> Option<i64> {
        let bytes = self.bytes_at(address)?.get(..width.bytes())?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let value = i64::from_le_bytes(word);
        Some(if width == Width::I32 { value as i32 as i64 } else { value })
    }

    fn device(&self, _number: Option<i64>) -> Option<u64> {
        self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_ffi_abi::layout::{any, dl_tensor};

    #[test]
    fn nothing_can_be_read_outside_the_blocks() {
        let tensor = Value::Tensor(Tensor { shape: vec![-2], ..Tensor::default() });
        let arguments = Arguments::new(&[Value::None, tensor], Arrival::Tensor);
        let second = arguments.address() + 16;
        let load = |at: u64, field: kernpack_ffi_abi::Field| {
            arguments.load(at + u64::from(field.offset), field.width)
        };
        assert_eq!(load(second, any::TYPE_INDEX), Some(70));
        assert_eq!(load(second + 16, any::TYPE_INDEX), None);
        let view = load(second, any::PAYLOAD).unwrap() as u64 + 24;
        assert_eq!(load(view, dl_tensor::NDIM), Some(1));
        let shape = load(view, dl_tensor::SHAPE).unwrap() as u64;
        assert_eq!(arguments.load(shape, Width::I64), Some(-2));
        assert_eq!(arguments.load(shape + 4, Width::I64), None);
        assert_eq!(arguments.load(0, Width::U8), None);
    }
}
