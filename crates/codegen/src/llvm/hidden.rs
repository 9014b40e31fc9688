// SPDX-License-Identifier: Apache-2.0
//! Constants that NVIDIA's assembler must not see, because it makes a mistake of them.
//!
//! It makes values of a small array of a thread. There it takes -1 and 1.0, the two truths of its
//! comparisons, for one number: an element that is one of them by a constant stays it where the
//! other one is stored by a constant too, at an index that only the run tells. ptxas and nvJitLink
//! of CUDA 13.0 to 13.3 do so, and drivers that assemble with them; those of 13.4 do not.
//!
//! So where both are stored in arrays of a kernel, each -1 is combined with a zero first. The zero
//! lies in memory for constants, which a host may write, so that nobody knows it before the run.
//! Not here: arrays that LLVM makes values of.

use super::thread_memory::{instructions, kept_in};
use super::{AddressSpace, Emitter, Function, Lane, Ty, V};
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};

/// Where constants of a kernel lie.
const CONSTANTS: AddressSpace = AddressSpace(4);
/// The most elements of 32 bits that are stored at once.
const MOST_LANES: u32 = 4;

/// A number that is taken for the other.
#[derive(Clone, Copy)]
enum Confused {
    /// All bits set.
    MinusOne,
    /// The bits of the float 1.0.
    One,
}

impl<'c> Emitter<'c> {
    /// Hides constants that are stored in arrays of threads, where they would be confused.
    pub(super) fn hide_confused(&self) {
        for function in self.module.get_functions().filter(|one| !kept_in(*one).is_empty()) {
            let stored: Vec<_> = instructions(function).filter_map(stored_in_thread).collect();
            let that_have = |confused| stored.iter().filter(move |one| self.stores(one, confused));
            if that_have(Confused::One).next().is_some() {
                let hidden: Vec<_> = that_have(Confused::MinusOne).collect();
                hidden.into_iter().for_each(|(store, value)| self.hide(function, *store, *value));
            }
        }
    }

    fn stores(&self, (store, value): &(InstructionValue<'c>, V<'c>), confused: Confused) -> bool {
        self.builder.position_before(store);
        self.may_have(*value, confused)
    }

    /// Whether an element of a value may be that by a constant.
    fn may_have(&self, value: V<'c>, confused: Confused) -> bool {
        if let Some(instruction) = value.as_instruction_value() {
            let is_made = instruction.get_opcode() == InstructionOpcode::InsertElement;
            let mut operands = instruction.get_operands().flatten().filter_map(|it| it.value());
            return is_made && operands.any(|operand| self.may_have(operand, confused));
        }
        match value {
            V::IntValue(int) if int.get_type().get_bit_width() == 32 && int.is_const() => {
                let bits = u64::from(match confused {
                    Confused::MinusOne => u32::MAX,
                    Confused::One => 1f32.to_bits(),
                });
                let known = int.get_zero_extended_constant();
                !int.is_undef() && known.is_none_or(|known| known == bits)
            }
            V::FloatValue(float) if float.get_type().get_bit_width() == 32 && float.is_const() => {
                // A constant, unless LLVM does not know it yet.
                let bits = self.bitcast(value, Ty::I32);
                let is_known = bits.as_instruction_value().is_none();
                !float.is_undef() && (!is_known || self.may_have(bits, confused))
            }
            V::VectorValue(vector) if vector.is_constant_data_vector() => {
                let mut lanes = 0..vector.get_type().get_size();
                lanes.any(|lane| self.may_have(vector.get_element_as_constant(lane), confused))
            }
            // Where LLVM does not tell its lanes.
            V::VectorValue(vector) => {
                let lane = vector.get_type().get_element_type();
                let is_word = match lane {
                    BasicTypeEnum::IntType(int) => int.get_bit_width() == 32,
                    BasicTypeEnum::FloatType(float) => float.get_bit_width() == 32,
                    _ => false,
                };
                is_word && vector.is_const() && !vector.is_undef() && !vector.is_null()
            }
            _ => false,
        }
    }

    /// Has the same bits stored so that nobody knows them.
    fn hide(&self, function: Function<'c>, store: InstructionValue<'c>, value: V<'c>) {
        self.builder.position_before(&store);
        let zeros = self.unknown_zeros(function);
        let hidden = match value {
            V::VectorValue(vector) => {
                let lanes = Ty::Vector(Lane::I32, vector.get_type().get_size());
                let zeros = self.load(lanes, zeros).into_vector_value();
                let bits = self.bitcast(value, lanes).into_vector_value();
                let hidden = self.builder.build_xor(bits, zeros, "");
                hidden.expect("a block is being written").into()
            }
            _ => self.arith(
                super::Operation::Xor,
                self.bitcast(value, Ty::I32),
                self.load(Ty::I32, zeros),
            ),
        };
        let hidden = self.builder.build_bit_cast(hidden, value.get_type(), "");
        store.set_operand(0, hidden.expect("a block is being written"));
    }

    /// Zeros of which nobody knows that they are.
    fn unknown_zeros(&self, function: Function<'c>) -> V<'c> {
        let name = format!("{}$zeros", function.get_name().to_string_lossy());
        let make = || {
            let zeros = self.context.i32_type().array_type(MOST_LANES);
            let global = self.module.add_global(zeros, Some(CONSTANTS.into()), &name);
            global.set_linkage(Linkage::Internal);
            global.set_initializer(&zeros.const_zero());
            global.set_constant(true);
            global.set_externally_initialized(true);
            global.set_alignment(4 * MOST_LANES);
            global
        };
        self.module.get_global(&name).unwrap_or_else(make).as_pointer_value().into()
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
