// SPDX-License-Identifier: Apache-2.0
//! The arguments of a call, first as they are described, then as they lie in memory.

use crate::subject::Subject;
use bytemuck::Zeroable;
use kernpack_ffi_abi::layout::{Any, DLTensor, Object};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};

/// An argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A tensor.
    Tensor(Tensor),
    /// Anything else: its type index and payload.
    Plain(TypeIndex, i64),
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Whether it arrives as a `Tensor` object, or else as a bare `DLTensor*`.
    pub is_object: bool,
    /// Bytes from an address that is a multiple of 64 to `data`; `None` for NULL.
    pub data: Option<u64>,
    /// Its `byte_offset`.
    pub byte_offset: u64,
    /// Its device type.
    pub device: DeviceType,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<i64>,
    /// Its strides; `None` for NULL.
    pub strides: Option<Vec<i64>>,
}

impl Tensor {
    /// A `Tensor` object of compact float32, as Python passes them.
    pub fn compact(shape: &[i64]) -> Tensor {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim];
        }
        Tensor {
            is_object: true,
            data: Some(0),
            byte_offset: 0,
            device: DeviceType::CPU,
            dtype: DType::FLOAT32,
            shape: shape.to_vec(),
            strides: Some(strides),
        }
    }

    /// The same as C callers have it: a bare `DLTensor*` without strides.
    pub fn bare(self) -> Tensor {
        Tensor { is_object: false, strides: None, ..self }
    }
}

/// An integer.
pub fn int(value: i64) -> Arg {
    Arg::Plain(TypeIndex::INT, value)
}

/// A float.
pub fn float(value: f64) -> Arg {
    Arg::Plain(TypeIndex::FLOAT, value.to_bits() as i64)
}

impl Subject {
    /// The arguments of a call that is accepted.
    pub fn accepted(self) -> Vec<Arg> {
        let tensors = match self {
            Subject::AddOne => vec![Tensor::compact(&[64]); 2],
            Subject::Blend => vec![Tensor::compact(&[2, 3, 4, 8]); 5],
        };
        let tensors = tensors.into_iter().map(Arg::Tensor);
        match self {
            Subject::AddOne => tensors.collect(),
            Subject::Blend => {
                let ints = (0..9).map(|i| int(i - 4));
                tensors.chain(ints).chain((0..5).map(|i| float(f64::from(i) / 2.0))).collect()
            }
        }
    }
}

/// Memory that a tensor's data points to.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Data([u64; 64]);

/// A tensor in memory, where nothing of it moves.
struct Placed {
    view: Box<View>,
    data: Box<Data>,
    _shape: Box<[i64]>,
    _strides: Option<Box<[i64]>>,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct View {
    object: Object,
    tensor: DLTensor,
}

/// A call in memory.
pub struct Call {
    args: Vec<Any>,
    tensors: Vec<Placed>,
}

impl Call {
    /// Lays arguments out.
    pub fn new(args: &[Arg]) -> Call {
        let mut tensors = Vec::new();
        let args = args.iter().map(|arg| match arg {
            Arg::Plain(index, payload) => {
                Any { type_index: index.0, payload: *payload, ..Any::zeroed() }
            }
            Arg::Tensor(tensor) => {
                let placed = Placed::new(tensor);
                let any = placed.any(tensor.is_object);
                tensors.push(placed);
                any
            }
        });
        let args = args.collect();
        Call { args, tensors }
    }

    /// The arguments, as an entry point gets them.
    pub fn args(&self) -> &[Any] {
        &self.args
    }

    /// The memory of the last tensor's data, where kernels write.
    pub fn last_data(&self) -> Option<&[u64]> {
        self.tensors.last().map(|tensor| &tensor.data.0[..])
    }

    /// Sets that to zeros.
    pub fn clear_last_data(&mut self) {
        if let Some(tensor) = self.tensors.last_mut() {
            tensor.data.0.fill(0);
        }
    }
}

impl Placed {
    fn new(tensor: &Tensor) -> Placed {
        let data = Box::new(Data([0; 64]));
        let shape = tensor.shape.clone().into_boxed_slice();
        let strides = tensor.strides.clone().map(Vec::into_boxed_slice);
        let dl_tensor = DLTensor {
            data: tensor.data.map_or(0, |offset| (&raw const *data).addr() as u64 + offset),
            device_type: tensor.device.0,
            device_id: 0,
            ndim: tensor.shape.len() as i32,
            dtype: tensor.dtype.packed(),
            shape: shape.as_ptr().addr() as u64,
            strides: strides.as_ref().map_or(0, |strides| strides.as_ptr().addr() as u64),
            byte_offset: tensor.byte_offset,
        };
        let object = Object { type_index: TypeIndex::TENSOR.0, ref_count: 1, ..Object::zeroed() };
        let view = Box::new(View { object, tensor: dl_tensor });
        Placed { view, data, _shape: shape, _strides: strides }
    }

    fn any(&self, is_object: bool) -> Any {
        let (index, address) = match is_object {
            true => (TypeIndex::TENSOR, (&raw const *self.view).addr()),
            false => (TypeIndex::DL_TENSOR_PTR, (&raw const self.view.tensor).addr()),
        };
        Any { type_index: index.0, payload: address as i64, ..Any::zeroed() }
    }
}
