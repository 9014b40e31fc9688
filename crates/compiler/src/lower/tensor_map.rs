// SPDX-License-Identifier: Apache-2.0
//! Lowers tensor maps: what a call decides of one is written to the stack, the rest is a constant,
//! and the runtime has the driver encode both.

use super::import::call_runtime;
use super::launch::Call;
use kernpack_codegen::llvm::{Ty, V};
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_package::target::struct_abi::Layout;
use kernpack_runtime::interface::functions::CUDA_ENCODE;
use kernpack_runtime::interface::layout::{INTERLEAVE_32, tensor_map_constants, tensor_map_values};
use kernpack_validators::MapChoices;
use kernpack_validators::plan::TensorMap;

impl<'c> Call<'_, '_, 'c> {
    /// Encodes a tensor map; returns where it lies.
    pub fn encode(&mut self, map: &TensorMap) -> V<'c> {
        let e = self.e();
        let function = self.builder.function;
        let encoded = e.stack_aligned(function, Layout::TENSOR_MAP.size, Layout::TENSOR_MAP.align);
        let values = e.stack(function, tensor_map_values::BYTES);
        let (address, _) = self.scalar(&map.base);
        e.store_at(values, tensor_map_values::ADDRESS, address);
        let dims = map.dims.iter().zip((tensor_map_values::DIMS..).step_by(8));
        let strides = map.strides.iter().zip((tensor_map_values::STRIDES..).step_by(8));
        let data_type = [(&map.data_type, tensor_map_values::DATA_TYPE)];
        for (value, offset) in dims.chain(strides).chain(data_type) {
            let value = self.builder.value(*value);
            e.store_at(values, offset, value);
        }
        e.store_at(values, tensor_map_values::CONSTANTS, e.bytes("", &constants(map), 4));
        let device = e.truncate(self.index, Ty::I32);
        let error = self.error();
        let n_strings = call_runtime(e, CUDA_ENCODE, &[device, encoded, values, error]);
        self.leave_with_error(n_strings);
        encoded
    }
}

/// The constants of every call, and the tensor's name behind them.
fn constants(map: &TensorMap) -> Vec<u8> {
    let mut bytes = vec![0; tensor_map_constants::BYTES as usize];
    let mut put = |offset: u32, numbers: &[u32]| {
        for (place, number) in bytes[offset as usize..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
    };
    // What no dim needs is a box of one element.
    put(tensor_map_constants::BOX_DIMS, &[1; MOST_RANK]);
    put(tensor_map_constants::STEPS, &[1; MOST_RANK]);
    put(tensor_map_constants::BOX_DIMS, &map.box_dims);
    put(tensor_map_constants::STEPS, &map.steps);
    put(tensor_map_constants::RANK, &[map.dims.len() as u32]);
    let [interleave, swizzle, promotion, fill] = map.choices.enumerators();
    put(tensor_map_constants::INTERLEAVE, &[interleave]);
    put(tensor_map_constants::SWIZZLE, &[swizzle]);
    put(tensor_map_constants::PROMOTION, &[promotion]);
    put(tensor_map_constants::FILL, &[fill]);
    bytes.truncate(tensor_map_constants::NAME as usize);
    bytes.extend(map.tensor.bytes().chain([0]));
    bytes
}

const _: () = {
    let interleaved = MapChoices { interleave: 32, swizzle: 0, l2: 0, nan: false };
    assert!(interleaved.enumerators()[0] == INTERLEAVE_32);
};
