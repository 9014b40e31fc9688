// SPDX-License-Identifier: Apache-2.0
//! Memory of a thread and of its block, and accesses of an alignment that is known.

use super::{AddressSpace, Emitter, Function, Manner, Ty, V, pointer};
use inkwell::module::Linkage;
use inkwell::types::BasicType;
use inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};

impl<'c> Emitter<'c> {
    /// An array of each thread, which becomes values where every index is known. Made where the
    /// builder stands, which is the start of the function.
    pub fn thread_array(&self, element: Ty, count: u32, align: u32, name: &str) -> V<'c> {
        let array = self.ty(element).array_type(count);
        let space = self.builder.build_alloca(array, name).expect("a block is being written");
        let instruction = space.as_instruction().expect("space on the stack is an instruction");
        instruction.set_alignment(align).expect("an alignment is a power of two");
        space.into()
    }

    /// A variable of each thread. Made as an array is.
    pub fn thread_variable(&self, ty: Ty, name: &str) -> V<'c> {
        self.builder.build_alloca(self.ty(ty), name).expect("a block is being written").into()
    }

    /// The arrays of threads that have not become values: of each function, by its name, theirs.
    pub(super) fn thread_arrays(&self) -> Vec<(String, Vec<String>)> {
        let named = |function: Function<'c>| {
            let name = function.get_name().to_string_lossy().into_owned();
            (name, kept_in(function))
        };
        self.module.get_functions().map(named).filter(|(_, arrays)| !arrays.is_empty()).collect()
    }

    /// An array of that many bytes that the threads of a block share.
    pub fn block_array(&self, space: AddressSpace, name: &str, bytes: u32, align: u32) -> V<'c> {
        let array = self.context.i8_type().array_type(bytes);
        let global = self.module.add_global(array, Some(space.into()), name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&array.get_undef());
        global.set_alignment(align);
        global.as_pointer_value().into()
    }

    /// The array of the threads of a block that a launch brings.
    pub fn launched_array(&self, space: AddressSpace, name: &str, align: u32) -> V<'c> {
        let array = self.context.i8_type().array_type(0);
        let global = self.module.add_global(array, Some(space.into()), name);
        global.set_linkage(Linkage::External);
        global.set_alignment(align);
        global.as_pointer_value().into()
    }

    /// The value of that type at an address that is a multiple of `align` bytes.
    pub fn load_aligned(&self, ty: Ty, address: V<'c>, align: u32, how: Manner) -> V<'c> {
        let value = self.load(ty, address);
        let load = value.as_instruction_value().expect("a load is an instruction");
        load.set_alignment(align).expect("an alignment is a power of two");
        self.qualify(load, how);
        value
    }

    /// Stores a value at an address that is a multiple of `align` bytes.
    pub fn store_aligned(&self, address: V<'c>, value: V<'c>, align: u32, how: Manner) {
        let store = self.builder.build_store(pointer(address), value);
        let store = store.expect("a block is being written");
        store.set_alignment(align).expect("an alignment is a power of two");
        self.qualify(store, how);
    }

    /// The module as LLVM's text.
    pub fn text(&self) -> String {
        self.module.print_to_string().to_string_lossy().into_owned()
    }
}

/// The instructions of a function, block by block.
pub(super) fn instructions(function: Function<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

/// The names of the arrays of a function that have not become values.
pub(super) fn kept_in(function: Function<'_>) -> Vec<String> {
    let kept = instructions(function).filter(|one| {
        one.get_opcode() == InstructionOpcode::Alloca
            && one.get_allocated_type().is_ok_and(|of| of.is_array_type())
    });
    let names = kept.filter_map(|one| Some(one.get_name()?.to_string_lossy().into_owned()));
    names.filter(|name| !name.is_empty()).collect()
}
