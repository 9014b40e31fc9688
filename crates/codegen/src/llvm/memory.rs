// SPDX-License-Identifier: Apache-2.0
//! Space on the stack, addresses, loads and stores.
#![expect(unsafe_code, reason = "inkwell has no safe call for address arithmetic")]

use super::{Emitter, Function, Ty, V, int, pointer};
use kernpack_ffi_abi::Width;

impl<'c> Emitter<'c> {
    /// Space on the stack of the current function, made at its start.
    pub fn stack(&self, function: Function<'c>, bytes: u32) -> V<'c> {
        self.stack_aligned(function, bytes, 8)
    }

    /// Space on the stack at a multiple of `align` bytes, a power of two.
    pub fn stack_aligned(&self, function: Function<'c>, bytes: u32, align: u32) -> V<'c> {
        let (here, place) = (self.here(), self.builder.get_current_debug_location());
        let entry = function.get_first_basic_block().expect("a function being written has a block");
        match entry.get_first_instruction() {
            Some(first) => self.builder.position_before(&first),
            None => self.at(entry),
        }
        let words = self.context.i64_type().array_type(bytes.div_ceil(8));
        let space = self.builder.build_alloca(words, "").expect("a block is being written");
        let instruction = space.as_instruction().expect("space on the stack is an instruction");
        instruction.set_alignment(align).expect("an alignment is a power of two");
        self.at(here);
        match place {
            Some(place) => self.builder.set_current_debug_location(place),
            None => self.builder.unset_current_debug_location(),
        }
        space.into()
    }

    /// The address `offset` bytes behind `base`.
    pub fn offset(&self, base: V<'c>, offset: V<'c>) -> V<'c> {
        let (i8_type, base) = (self.context.i8_type(), pointer(base));
        let offset = int(offset);
        // SAFETY: the instruction is not `inbounds`: it adds, whatever it is given.
        unsafe { self.builder.build_gep(i8_type, base, &[offset], "") }
            .expect("a block is being written")
            .into()
    }

    /// The address a constant number of bytes behind `base`.
    pub fn offset_by(&self, base: V<'c>, offset: u32) -> V<'c> {
        if offset == 0 { base } else { self.offset(base, self.int(Ty::I64, offset.into())) }
    }

    /// The value of that type at an address that is aligned as the type is.
    pub fn load(&self, ty: Ty, address: V<'c>) -> V<'c> {
        self.builder
            .build_load(self.ty(ty), pointer(address), "")
            .expect("a block is being written")
    }

    /// A field, as wide as it is.
    pub fn load_field(&self, base: V<'c>, offset: u32, width: Width) -> V<'c> {
        let ty = match width {
            Width::U8 => Ty::I8,
            Width::U16 => Ty::I16,
            Width::I32 | Width::U32 => Ty::I32,
            Width::I64 | Width::Ptr => Ty::I64,
        };
        self.load(ty, self.offset_by(base, offset))
    }

    /// Stores a value at an address.
    pub fn store(&self, address: V<'c>, value: V<'c>) {
        self.builder.build_store(pointer(address), value).expect("a block is being written");
    }

    /// Stores a value `offset` bytes behind an address.
    pub fn store_at(&self, base: V<'c>, offset: u32, value: V<'c>) {
        self.store(self.offset_by(base, offset), value);
    }
}
