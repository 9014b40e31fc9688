// SPDX-License-Identifier: Apache-2.0
//! Constants: numbers, bytes, and words, which may be addresses.
#![expect(unsafe_code, reason = "inkwell has no safe call to delete a global")]

use super::{Emitter, Ty, V};
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, GlobalValue};
use inkwell::{AddressSpace, GlobalVisibility};

/// Eight bytes of a constant.
#[derive(Clone, Copy, Debug)]
pub enum Word<'c> {
    /// A number.
    Int(i64),
    /// An address.
    Pointer(V<'c>),
}

impl<'c> Emitter<'c> {
    /// An integer constant.
    pub fn int(&self, ty: Ty, value: i64) -> V<'c> {
        self.ty(ty).into_int_type().const_int(value as u64, true).into()
    }

    /// A constant of which no bit is set.
    pub fn zero(&self, ty: Ty) -> V<'c> {
        self.ty(ty).const_zero()
    }

    /// A truth constant.
    pub fn truth(&self, value: bool) -> V<'c> {
        self.context.bool_type().const_int(value.into(), false).into()
    }

    /// The NULL pointer.
    pub fn null(&self) -> V<'c> {
        self.context.ptr_type(AddressSpace::default()).const_null().into()
    }

    /// A private constant made of bytes. The same bytes are one constant, which has the first name.
    pub fn bytes(&self, name: &str, bytes: &[u8], align: u32) -> V<'c> {
        let make = || self.constant_bytes(name, bytes, align).as_pointer_value().into();
        *self.constants.borrow_mut().entry((bytes.to_vec(), align)).or_insert_with(make)
    }

    /// A private constant made of bytes in a section of its own: a large one, that others may look
    /// for.
    pub fn section_bytes(&self, section: &str, bytes: &[u8], align: u32) -> V<'c> {
        let global = self.constant_bytes("", bytes, align);
        global.set_section(Some(section));
        global.as_pointer_value().into()
    }

    fn constant_bytes(&self, name: &str, bytes: &[u8], align: u32) -> GlobalValue<'c> {
        let value = self.context.const_string(bytes, false);
        let global = self.module.add_global(value.get_type(), None, name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Private);
        global.set_unnamed_addr(true);
        global.set_alignment(align);
        global
    }

    /// A private constant made of words.
    pub fn words(&self, name: &str, words: &[Word<'c>]) -> V<'c> {
        let global = self.constant_words(name, words);
        global.set_linkage(Linkage::Private);
        global.as_pointer_value().into()
    }

    /// A constant made of words that the runtime refers to.
    pub fn export_words(&self, name: &str, words: &[Word<'c>]) {
        self.constant_words(name, words).set_visibility(GlobalVisibility::Hidden);
    }

    fn constant_words(&self, name: &str, words: &[Word<'c>]) -> GlobalValue<'c> {
        let words: Vec<BasicValueEnum<'c>> = words
            .iter()
            .map(|word| match word {
                Word::Int(int) => self.int(Ty::I64, *int),
                Word::Pointer(pointer) => *pointer,
            })
            .collect();
        let value = self.context.const_struct(&words, false);
        let global = self.module.add_global(value.get_type(), None, name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_alignment(8);
        global
    }

    /// The address of a constant that is defined elsewhere in the module, or will be.
    pub fn external(&self, name: &str) -> V<'c> {
        let global = self
            .module
            .get_global(name)
            .unwrap_or_else(|| self.module.add_global(self.context.i8_type(), None, name));
        global.set_linkage(Linkage::External);
        global.set_visibility(GlobalVisibility::Hidden);
        global.as_pointer_value().into()
    }

    /// Defines the constant that [`external`](Emitter::external) stands for.
    pub fn define_bytes(&self, name: &str, bytes: &[u8], align: u32) {
        let defined = self.bytes("", bytes, align).into_pointer_value();
        if let Some(global) = self.module.get_global(name) {
            global.as_pointer_value().replace_all_uses_with(defined);
            // SAFETY: nothing uses the global any more.
            unsafe { global.delete() };
        }
    }
}
