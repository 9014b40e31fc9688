// SPDX-License-Identifier: Apache-2.0
//! Numbers side by side.

use super::{Emitter, Lane, Ty, V};

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
}
