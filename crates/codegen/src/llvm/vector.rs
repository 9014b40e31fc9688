// SPDX-License-Identifier: Apache-2.0
//! Numbers side by side.

use super::{Emitter, Lane, Ty, V, int};
use inkwell::types::BasicTypeEnum;
use std::num::NonZero;

impl<'c> Emitter<'c> {
    /// A vector of these.
    pub fn vector(&self, lane: Lane, values: &[V<'c>]) -> V<'c> {
        let n_lanes = u32::try_from(values.len()).expect("a vector has few lanes");
        let nothing = self.ty(Ty::Vector(lane, n_lanes)).into_vector_type().get_undef();
        (0..)
            .zip(values)
            .fold(nothing.into(), |vector, (place, value)| self.insert_lane(vector, place, *value))
    }

    /// A lane of a vector.
    pub fn lane(&self, vector: V<'c>, place: u32) -> V<'c> {
        let place = self.context.i32_type().const_int(place.into(), false);
        let lane = self.builder.build_extract_element(vector.into_vector_value(), place, "");
        lane.expect("a block is being written")
    }

    /// A vector with another value in a lane.
    pub fn insert_lane(&self, vector: V<'c>, place: u32, value: V<'c>) -> V<'c> {
        let place = self.context.i32_type().const_int(place.into(), false);
        let vector = vector.into_vector_value();
        let result = self.builder.build_insert_element(vector, value, place, "");
        result.expect("a block is being written").into()
    }

    /// The lanes of a constant as one integer, where LLVM tells them and they have at most 64 bits.
    ///
    /// LLVM itself makes a number of their bits only after it has joined stores. Where floats are
    /// stored beside, it then writes a vector of floats and integers, which ptxas does not take.
    pub(super) fn lanes_as_number(&self, value: V<'c>) -> Option<V<'c>> {
        let V::VectorValue(vector) = value else { return None };
        let n_bits = match vector.get_type().get_element_type() {
            BasicTypeEnum::IntType(ty) => ty.get_bit_width(),
            BasicTypeEnum::FloatType(ty) => ty.get_bit_width(),
            _ => return None,
        };
        let n_lanes = vector.get_type().get_size();
        let integer = |n_bits| self.context.custom_width_int_type(NonZero::new(n_bits)?).ok();
        let (of_lane, whole) = (integer(n_bits)?, integer(n_bits * n_lanes)?);
        if vector.is_null() {
            return Some(whole.const_zero().into());
        }
        if whole.get_bit_width() > 64 || !vector.is_constant_data_vector() {
            return None;
        }
        let mut number = 0;
        for lane in (0..n_lanes).rev() {
            let lane = vector.get_element_as_constant(lane);
            let bits = self.builder.build_bit_cast(lane, of_lane, "").ok()?;
            number = number << n_bits | int(bits).get_zero_extended_constant()?;
        }
        Some(whole.const_int(number, false).into())
    }
}
