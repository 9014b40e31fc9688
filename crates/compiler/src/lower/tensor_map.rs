// SPDX-License-Identifier: Apache-2.0
//! Lowers tensor maps: what a call decides of one is written to the stack, the rest is a constant, and the runtime has the driver encode both.

use super::launch::Call;
use crate::llvm::{Ty, V};
use crate::target::struct_abi::Layout;
use kernpack_validators::plan::TensorMap;

/// The most dims of a map.
const MAX_RANK: usize = 5;

/// What the runtime calls `Described`.
mod described {
    pub const ADDRESS: u32 = 0;
    pub const DIMS: u32 = 8;
    pub const STRIDES: u32 = 48;
    pub const DATA_TYPE: u32 = 80;
    pub const FIXED: u32 = 88;
    pub const BYTES: u32 = 96;
}

impl<'c> Call<'_, '_, 'c> {
    /// Encodes a tensor map; returns where it lies.
    pub fn encode(&mut self, map: &TensorMap) -> V<'c> {
        let e = self.e();
        let function = self.builder.function;
        let encoded = e.stack_aligned(function, Layout::TENSOR_MAP.size, Layout::TENSOR_MAP.align);
        let described = e.stack(function, described::BYTES);
        let (address, _) = self.scalar(&map.base);
        e.store_at(described, described::ADDRESS, address);
        let dims = map.dims.iter().zip((described::DIMS..).step_by(8));
        let strides = map.strides.iter().zip((described::STRIDES..).step_by(8));
        let data_type = [(&map.data_type, described::DATA_TYPE)];
        for (value, offset) in dims.chain(strides).chain(data_type) {
            let value = self.builder.value(*value);
            e.store_at(described, offset, value);
        }
        e.store_at(described, described::FIXED, e.bytes("", &fixed(map), 4));
        let device = e.truncate(self.index, Ty::I32);
        let error = self.error();
        let params = [Ty::I32, Ty::Ptr, Ty::Ptr, Ty::Ptr];
        let encode = e.declare("kernpack_rt_cuda_encode", &params, Some(Ty::I32));
        let n_strings = e.call(encode, &[device, encoded, described, error]);
        self.leave_with_error(n_strings.expect("a number"));
        encoded
    }
}

/// What the runtime calls `Fixed`: numbers of 32 bits, then the name.
fn fixed(map: &TensorMap) -> Vec<u8> {
    let choices = map.choices;
    let padded = |counts: &[u32]| {
        let rest = MAX_RANK - counts.len();
        counts.iter().copied().chain(std::iter::repeat_n(1, rest)).collect::<Vec<u32>>()
    };
    let mut numbers = padded(&map.box_dims);
    numbers.extend(padded(&map.steps));
    numbers.extend([
        map.dims.len() as u32,
        choices.interleave / 16,
        enumerator(choices.swizzle, 32),
        enumerator(choices.l2, 64),
        choices.nan.into(),
    ]);
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(map.tensor.bytes().chain([0]));
    bytes
}

/// The place of a size among `first`, twice that, and so on; 0 for none. `CUtensorMapSwizzle` and `CUtensorMapL2promotion` count so, and so
/// does `CUtensorMapInterleave` up to 32.
fn enumerator(bytes: u32, first: u32) -> u32 {
    match bytes {
        0 => 0,
        _ => 1 + (bytes / first).ilog2(),
    }
}
