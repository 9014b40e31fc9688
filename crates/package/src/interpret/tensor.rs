// SPDX-License-Identifier: Apache-2.0
//! The tensors of an interpreted call.

use super::Fill;
use kernpack_kernel_ir::interp::{Memory, Mode};
use kernpack_kernel_ir::{Const, Scalar};

/// The role of a tensor in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is passed, and read.
    Read,
    /// It is passed, and may be written.
    Written,
    /// It is returned.
    Result,
    /// It is the call's own.
    Workspace,
}

impl Role {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Written => "mut",
            Role::Result => "result",
            Role::Workspace => "workspace",
        }
    }
}

/// A tensor of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpretedTensor {
    /// Its name in the signature.
    pub name: String,
    /// The type of its elements.
    pub element: Scalar,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
    /// Its role in the call.
    pub role: Role,
    /// Its contents, from its first element to its last in memory.
    pub bytes: Vec<u8>,
    /// The first element that nobody has written, of one that the call has made.
    pub first_unwritten: Option<String>,
}

impl InterpretedTensor {
    /// A compact row-major tensor.
    pub fn compact(name: &str, element: Scalar, shape: &[i64], role: Role) -> InterpretedTensor {
        let (name, shape) = (name.to_string(), shape.to_vec());
        let strides = row_major(&shape);
        let (bytes, first_unwritten) = (vec![], None);
        InterpretedTensor { name, element, shape, strides, role, bytes, first_unwritten }
    }

    /// How many elements lie from its first to its last in memory.
    pub(super) fn span(&self) -> usize {
        if self.shape.contains(&0) {
            return 0;
        }
        let modes = self.shape.iter().zip(&self.strides);
        let last = modes.map(|(extent, stride)| (extent - 1).saturating_mul(*stride));
        usize::try_from(last.fold(1_i64, i64::saturating_add)).unwrap_or(0)
    }

    /// How many elements it has, or lie between them: as many as there are numbers, where there are
    /// more.
    pub(super) fn n_elements(&self) -> u64 {
        let product = self.shape.iter().fold(1, |product: i64, one| product.saturating_mul(*one));
        (self.span() as u64).max(product.unsigned_abs())
    }

    /// Its memory, which holds these bytes.
    pub(super) fn given_memory(&self, bytes: Vec<u8>) -> Memory {
        let memory = Memory::new(self.name.clone(), self.element, bytes);
        memory.with_modes(self.modes())
    }

    /// Its memory: filled, or as an allocator leaves it.
    pub(super) fn memory(&self, fill: Option<(Fill, u64)>) -> Memory {
        let count = self.span();
        let memory = match fill {
            Some((fill, seed)) => {
                let bytes = fill.bytes(self.element, count, seed);
                Memory::new(self.name.clone(), self.element, bytes)
            }
            None => {
                let n_bytes = count * self.element.bytes() as usize;
                Memory::fresh(self.name.clone(), self.element, n_bytes)
            }
        };
        memory.with_modes(self.modes())
    }

    /// Its extents with their strides.
    pub(super) fn modes(&self) -> Vec<Mode> {
        let modes = self.shape.iter().zip(&self.strides);
        modes.map(|(extent, stride)| Mode { extent: *extent as u64, stride: *stride }).collect()
    }

    /// The tensor with what its memory holds, and holds no longer.
    pub(super) fn with(self, memory: &mut Memory) -> InterpretedTensor {
        InterpretedTensor { bytes: std::mem::take(&mut memory.bytes), ..self }
    }

    /// The tensor, knowing what of it was never written.
    pub(super) fn knowing(self, memory: &Memory) -> InterpretedTensor {
        let unwritten = memory.first_unwritten();
        let first_unwritten = unwritten.map(|byte| memory.element_at(byte as u64));
        InterpretedTensor { first_unwritten, ..self }
    }

    /// Its elements, the last mode being the fastest: as they print.
    pub fn elements(&self) -> impl Iterator<Item = Const> {
        let count: i64 = self.shape.iter().product();
        (0..count).map(|number| {
            let mut rest = number;
            let mut place = 0;
            for (extent, stride) in self.shape.iter().zip(&self.strides).rev() {
                place += rest % extent * stride;
                rest /= extent;
            }
            let size = self.element.bytes() as usize;
            let start = usize::try_from(place).unwrap_or_default() * size;
            let mut word = [0; 8];
            if let Some(bytes) = self.bytes.get(start..start + size) {
                word[..size].copy_from_slice(bytes);
            }
            Const::from_bits(self.element, u64::from_le_bytes(word))
        })
    }
}

/// The strides of a compact tensor whose last mode is the fastest.
pub(super) fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1_i64; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(shape[i]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_strides() {
        let tensor = InterpretedTensor::compact("x", Scalar::I16, &[2, 3], Role::Read);
        let tensor = InterpretedTensor { strides: vec![1, 4], ..tensor };
        let mut memory = tensor.memory(Some((Fill::Count, 0)));
        assert_eq!(memory.bytes.len(), 20);
        let elements = tensor.with(&mut memory);
        let shown: Vec<_> = elements.elements().map(|one| one.to_string()).collect();
        assert_eq!(shown, ["0", "4", "8", "1", "5", "9"]);
    }

    #[test]
    fn a_tensor_without_elements_has_no_memory() {
        let tensor = InterpretedTensor::compact("x", Scalar::F32, &[2, 0], Role::Result);
        assert_eq!(tensor.memory(None).bytes.len(), 0);
        assert_eq!(tensor.elements().count(), 0);
    }
}
