// SPDX-License-Identifier: Apache-2.0
//! Conversions of floats whose results stand side by side in a register, which one instruction
//! makes of two.
//!
//! LLVM's code generator finds them itself where they stand in one block. Here they are brought
//! there. Not here: an architecture that has no such instruction, for which LLVM takes them apart.

use super::thread_memory::instructions;
use super::{Emitter, FloatKind, Lane, Ty, V};
use inkwell::types::AnyType;
use inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};

/// A half that is put into a vector.
struct Inserted<'c> {
    /// The instruction that puts it there.
    insert: InstructionValue<'c>,
    /// The vector without it.
    vector: V<'c>,
    /// Its conversion.
    conversion: InstructionValue<'c>,
    /// The float32 that it is the nearest one to.
    single: V<'c>,
    place: u32,
}

impl<'c> Emitter<'c> {
    /// Has two halves be converted at once that stand in one register and nowhere else. Says
    /// whether there are any: then there is what nobody uses any more.
    pub(super) fn pair_conversions(&self) -> bool {
        let all: Vec<_> = self.module.get_functions().flat_map(instructions).collect();
        let mut is_any = false;
        for second in all.into_iter().filter_map(inserted) {
            let first = second.vector.as_instruction_value().and_then(inserted);
            let is_pair =
                |first: &Inserted<'_>| second.place % 2 == 1 && first.place + 1 == second.place;
            if let Some(first) = first.filter(is_pair) {
                self.convert_at_once(&first, &second);
                is_any = true;
            }
        }
        is_any
    }

    fn convert_at_once(&self, first: &Inserted<'c>, second: &Inserted<'c>) {
        self.builder.position_before(&second.insert);
        let single = Lane::Float(FloatKind::Float);
        let singles = self.vector(single, &[first.single, second.single]).into_vector_value();
        let halves = match second.conversion.get_type() == self.ty(Ty::Half).as_any_type_enum() {
            true => FloatKind::Half,
            false => FloatKind::BFloat,
        };
        let halves = self.ty(Ty::Vector(Lane::Float(halves), 2)).into_vector_type();
        let converted = self.builder.build_float_trunc(singles, halves, "");
        let converted = converted.expect("a block is being written").into();
        let one = self.insert_lane(first.vector, first.place, self.lane(converted, 0));
        let both = self.insert_lane(one, second.place, self.lane(converted, 1));
        let both = both.as_instruction_value().expect("a conversion is no constant");
        second.insert.replace_all_uses_with(&both);
    }
}

/// The half that an instruction puts into a vector, where it is converted for that alone.
fn inserted(insert: InstructionValue<'_>) -> Option<Inserted<'_>> {
    if insert.get_opcode() != InstructionOpcode::InsertElement {
        return None;
    }
    let operand = |number| insert.get_operand(number)?.value();
    let conversion = operand(1)?.as_instruction_value()?;
    let is_conversion = conversion.get_opcode() == InstructionOpcode::FPTrunc;
    let is_alone = conversion.get_first_use()?.get_next_use().is_none();
    let single = conversion.get_operand(0).filter(|_| is_conversion && is_alone)?.value()?;
    let is_single = single.get_type().into_float_type().get_bit_width() == 32;
    let place = operand(2)?.into_int_value().get_zero_extended_constant()?;
    let place = u32::try_from(place).ok().filter(|_| is_single)?;
    Some(Inserted { insert, vector: operand(0)?, conversion, single, place })
}
