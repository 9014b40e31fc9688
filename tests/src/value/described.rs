// SPDX-License-Identifier: Apache-2.0
//! Values as calls that are only described have them, where a description can say them.

use super::{Tensor, Value};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_validators::described::{Described, DescribedTensor};

/// The value, described; nothing where that would leave out what checks ask of it.
pub fn described(value: &Value) -> Option<Described> {
    Some(match value {
        Value::None => Described::None,
        Value::Int(int) => Described::Int((*int).into()),
        Value::Bool(truth @ (0 | 1)) => Described::Bool(*truth == 1),
        Value::Float(float) => Described::Float(*float),
        Value::Ptr(address) => Described::Pointer(*address),
        Value::BigInt(words) => match words[..] {
            // One that 64 bits would hold arrives as an Int where it is described.
            [low, high] if high != low >> 63 => {
                Described::Int(i128::from(high) << 64 | i128::from(low as u64))
            }
            _ => return None,
        },
        Value::Inline(index, payload) if TypeIndex(*index) == TypeIndex::DATA_TYPE => {
            Described::DType(DType::from_packed(*payload as u32))
        }
        Value::Shape(elements) => Described::Shape(elements.clone()),
        Value::Array(elements) => {
            Described::Tuple(elements.iter().map(described).collect::<Option<_>>()?)
        }
        Value::Str(_, bytes) => Described::Text(String::from_utf8(bytes.clone()).ok()?),
        Value::Tensor(tensor) => Described::Tensor(described_tensor(tensor)),
        Value::Bool(_) | Value::Other(_) | Value::Inline(..) | Value::List(_) => return None,
    })
}

fn described_tensor(tensor: &Tensor) -> DescribedTensor {
    let (device_type, index) = tensor.device;
    DescribedTensor {
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        strides: tensor.strides.clone(),
        device: Some((DeviceType(device_type), index)),
        data: None,
    }
}
