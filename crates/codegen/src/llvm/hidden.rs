// SPDX-License-Identifier: Apache-2.0
//! Constants that NVIDIA's assembler must not see, because it makes a mistake of them.
//!
//! It makes values of a small array of a thread. There it takes -1 and 1.0, the two truths of its
//! comparisons, for one number: an element that is one of them by a constant stays it where the
//! other one is stored by a constant too, at an index that only the run tells. ptxas and nvJitLink
//! of CUDA 13.0 to 13.3 do so, and a driver of the 580 series; those of 13.4 do not.
//!
//! So where both are stored in arrays of a kernel, each -1 is combined with a zero first. The zero
//! lies in memory for constants, which a host may write, so that nobody knows it before the run.
//! Not here: arrays that LLVM makes values of.

use super::thread_memory::{instructions, kept_in};
use super::{AddressSpace, Emitter, Function, Lane, Operation, Ty, V, int};
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};

/// Where constants of a kernel lie.
const CONSTANTS: AddressSpace = AddressSpace(4);
/// The most elements of 32 bits that are stored at once.
const MOST_LANES: u32 = 4;

/// The bits of -1, and of a NaN.
const MINUS_ONE: u32 = u32::MAX;
/// The bits of the float 1.0.
const ONE: u32 = 1f32.to_bits();

impl<'c> Emitter<'c> {
    /// Hides each -1 that is stored in an array of a thread, in functions that store 1.0 there too.
    pub(super) fn hide_confused(&self) {
        for function in self.module.get_functions().filter(|one| !kept_in(*one).is_empty()) {
            let stored: Vec<_> = instructions(function).filter_map(stored_in_thread).collect();
            let [minus_ones, ones] = [MINUS_ONE, ONE].map(|bits| {
                let have = stored.iter().filter(|(store, value)| {
                    self.builder.position_before(store);
                    self.may_have(*value, bits)
                });
                have.collect::<Vec<_>>()
            });
            if minus_ones.is_empty() || ones.is_empty() {
                continue;
            }
            let zeros = self.unknown_zeros(function);
            minus_ones.into_iter().for_each(|(store, value)| self.hide(*store, *value, zeros));
        }
    }

    /// Whether an element of a value may have these bits by a constant.
    fn may_have(&self, value: V<'c>, bits: u32) -> bool {
        if let Some(instruction) = value.as_instruction_value() {
            let is_made = instruction.get_opcode() == InstructionOpcode::InsertElement;
            let mut operands = instruction.get_operands().flatten().filter_map(|it| it.value());
            return is_made && operands.any(|operand| self.may_have(operand, bits));
        }
        match value {
            V::VectorValue(vector) if vector.is_constant_data_vector() => {
                let mut lanes = 0..vector.get_type().get_size();
                lanes.any(|lane| self.may_have(vector.get_element_as_constant(lane), bits))
            }
            // Where LLVM does not tell its lanes.
            V::VectorValue(vector) => {
                let is_known = !vector.is_const() || vector.is_undef() || vector.is_null();
                !is_known && has_32_bits(vector.get_type().get_element_type())
            }
            _ if value.is_const() && has_32_bits(value.get_type()) => {
                // An instruction, where LLVM has made no number of the constant yet.
                let made = int(self.bitcast(value, Ty::I32));
                let known = made.get_zero_extended_constant();
                !made.is_undef() && known.is_none_or(|known| known == u64::from(bits))
            }
            _ => false,
        }
    }

    /// Has the same bits stored so that nobody knows them.
    fn hide(&self, store: InstructionValue<'c>, value: V<'c>, zeros: V<'c>) {
        self.builder.position_before(&store);
        let hidden = match value {
            V::VectorValue(vector) => {
                let lanes = Ty::Vector(Lane::I32, vector.get_type().get_size());
                let zeros = self.load(lanes, zeros).into_vector_value();
                let bits = self.bitcast(value, lanes).into_vector_value();
                let hidden = self.builder.build_xor(bits, zeros, "");
                hidden.expect("a block is being written").into()
            }
            _ => {
                let zero = self.load(Ty::I32, zeros);
                self.arith(Operation::Xor, self.bitcast(value, Ty::I32), zero)
            }
        };
        let hidden = self.builder.build_bit_cast(hidden, value.get_type(), "");
        store.set_operand(0, hidden.expect("a block is being written"));
    }

    /// Zeros of which nobody knows that they are.
    fn unknown_zeros(&self, function: Function<'c>) -> V<'c> {
        let name = format!("{}$zeros", function.get_name().to_string_lossy());
        let zeros = self.context.i32_type().array_type(MOST_LANES);
        let global = self.module.add_global(zeros, Some(CONSTANTS.into()), &name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&zeros.const_zero());
        global.set_constant(true);
        global.set_externally_initialized(true);
        global.set_alignment(4 * MOST_LANES);
        global.as_pointer_value().into()
    }
}

/// Whether it is a number of that many bits.
fn has_32_bits(ty: BasicTypeEnum<'_>) -> bool {
    match ty {
        BasicTypeEnum::IntType(ty) => ty.get_bit_width() == 32,
        BasicTypeEnum::FloatType(ty) => ty.get_bit_width() == 32,
        _ => false,
    }
}

/// A store into memory of the thread, and what it stores.
fn stored_in_thread(one: InstructionValue<'_>) -> Option<(InstructionValue<'_>, V<'_>)> {
    if one.get_opcode() != InstructionOpcode::Store {
        return None;
    }
    let value = one.get_operand(0)?.value()?;
    let address = one.get_operand(1)?.value()?.into_pointer_value();
    let space = address.get_type().get_address_space();
    (space == inkwell::AddressSpace::default()).then_some((one, value))
}
