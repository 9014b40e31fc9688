// SPDX-License-Identifier: Apache-2.0
//! The module being written, and the values it is written with.

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use std::cell::RefCell;
use std::collections::HashMap;

/// Any value.
pub type V<'c> = BasicValueEnum<'c>;
/// A basic block.
pub type Block<'c> = BasicBlock<'c>;
/// A function.
pub type Function<'c> = FunctionValue<'c>;

/// A module in the making.
pub struct Emitter<'c> {
    pub(super) context: &'c Context,
    pub(super) module: Module<'c>,
    pub(super) builder: Builder<'c>,
    pub(super) intrinsics: RefCell<HashMap<&'static str, Function<'c>>>,
    /// The constants made of bytes, by these and their alignment.
    pub(super) constants: RefCell<HashMap<(Vec<u8>, u32), V<'c>>>,
}

impl<'c> Emitter<'c> {
    /// An empty module.
    pub fn new(context: &'c Context, name: &str) -> Emitter<'c> {
        Emitter {
            context,
            module: context.create_module(name),
            builder: context.create_builder(),
            intrinsics: RefCell::default(),
            constants: RefCell::default(),
        }
    }
}

/// An integer as inkwell has it.
pub(super) fn int(value: V<'_>) -> IntValue<'_> {
    value.into_int_value()
}

/// A pointer as inkwell has it.
pub(super) fn pointer(value: V<'_>) -> PointerValue<'_> {
    value.into_pointer_value()
}
