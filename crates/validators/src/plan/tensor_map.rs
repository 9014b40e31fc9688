// SPDX-License-Identifier: Apache-2.0
//! A tensor map among a kernel's arguments, in terms of the plan's values: what the driver encodes
//! when the launch runs. Everything here is in the driver's order, the innermost dim first.

use super::{LaunchArg, Value};
use crate::tensor_map::MapChoices;

/// A tensor map.
#[derive(Clone, Debug)]
pub struct TensorMap {
    /// The tensor's name, for messages.
    pub tensor: String,
    /// The address of its first element: a value, a result or a workspace.
    pub base: LaunchArg,
    /// The `CUtensorMapDataType`.
    pub data_type: Value,
    /// The extents, each checked to be 1 to 2^32.
    pub dims: Vec<Value>,
    /// The strides of all dims but the innermost, in bytes, checked to be what the driver takes.
    pub strides: Vec<Value>,
    /// The elements of a box along each dim.
    pub box_dims: Vec<u32>,
    /// How far apart they are along each dim.
    pub steps: Vec<u32>,
    /// The choices of the map beyond that.
    pub choices: MapChoices,
}

impl TensorMap {
    /// Calls `f` with every value of the plan that the map uses.
    pub fn for_each_value(&self, f: &mut dyn FnMut(Value)) {
        self.base.for_each_value(f);
        f(self.data_type);
        self.dims.iter().chain(&self.strides).for_each(|value| f(*value));
    }
}
