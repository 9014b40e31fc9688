// SPDX-License-Identifier: Apache-2.0
//! Declaring, defining and calling functions, and what LLVM is told of them.

use super::{Emitter, Function, Ty, V};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{AnyTypeEnum, BasicMetadataTypeEnum, BasicType, FunctionType};
use inkwell::values::BasicValue;

/// One value that is passed to a C function.
pub struct Passed<'c> {
    /// The value.
    pub value: V<'c>,
    /// Its type.
    pub ty: Ty,
    /// The extension that LLVM must know beyond the type.
    pub extension: Extension,
}

/// The alignment of entry points, in bytes: what a call costs then does not depend on where the
/// linker puts them.
const CACHE_LINE: u32 = 64;

/// The extension of a parameter, which LLVM must know beyond its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extension {
    /// Nothing.
    None,
    /// The caller extends it to a register, with its sign or with zeros.
    Register(bool),
    /// It points to a struct of that many words, which is copied to the argument area.
    ByValue(u32),
}

impl<'c> Emitter<'c> {
    /// Declares or finds a function. `result` is `None` for void.
    pub fn declare(&self, name: &str, params: &[Ty], result: Option<Ty>) -> Function<'c> {
        self.module.get_function(name).unwrap_or_else(|| self.add_function(name, params, result))
    }

    /// Starts a function that others may call: the builder stands at its first block.
    pub fn define(&self, name: &str, params: &[Ty], result: Ty) -> Function<'c> {
        let function = self.add_function(name, params, Some(result));
        function.as_global_value().set_alignment(CACHE_LINE);
        self.begin(function);
        function
    }

    /// Starts a function that has been declared.
    pub fn begin(&self, function: Function<'c>) {
        for attribute in ["nounwind", "uwtable"] {
            self.add_attribute(function, attribute, u64::from(attribute == "uwtable"));
        }
        self.at(self.block(function, "entry"));
    }

    fn add_function(&self, name: &str, params: &[Ty], result: Option<Ty>) -> Function<'c> {
        let ty = self.function_type(params, result);
        self.module.add_function(name, ty, Some(Linkage::External))
    }

    fn function_type(&self, params: &[Ty], result: Option<Ty>) -> FunctionType<'c> {
        let params: Vec<_> = params.iter().map(|ty| self.ty(*ty).into()).collect();
        self.function_type_of(&params, result)
    }

    pub(super) fn function_type_of(
        &self,
        params: &[BasicMetadataTypeEnum<'c>],
        result: Option<Ty>,
    ) -> FunctionType<'c> {
        match result {
            Some(result) => self.ty(result).fn_type(params, false),
            None => self.context.void_type().fn_type(params, false),
        }
    }

    /// The address of a function.
    pub fn address(&self, function: Function<'c>) -> V<'c> {
        function.as_global_value().as_pointer_value().into()
    }

    /// The parameter of that number.
    pub fn param(&self, function: Function<'c>, number: u32) -> V<'c> {
        function.get_nth_param(number).expect("a function has its parameters")
    }

    /// Calls a function; `None` for void.
    pub fn call(&self, function: Function<'c>, args: &[V<'c>]) -> Option<V<'c>> {
        let args: Vec<_> = args.iter().map(|arg| (*arg).into()).collect();
        let call = self.builder.build_call(function, &args, "").expect("a block is being written");
        call.try_as_basic_value().basic()
    }

    /// Calls the C function of that symbol; `None` for void. Each call has a type of its own:
    /// nobody checks what C declares, and two calls may pass different things.
    pub fn call_c(&self, symbol: &str, passed: &[Passed<'c>], result: Option<Ty>) -> Option<V<'c>> {
        let types: Vec<_> = passed.iter().map(|passed| passed.ty).collect();
        let address = self.declare(symbol, &types, result).as_global_value().as_pointer_value();
        let args: Vec<_> = passed.iter().map(|passed| passed.value.into()).collect();
        let ty = self.function_type(&types, result);
        let call = self.builder.build_indirect_call(ty, address, &args, "");
        let call = call.expect("a block is being written");
        for (location, passed) in (0..).zip(passed) {
            for attribute in self.attributes_of(passed.extension) {
                call.add_attribute(AttributeLoc::Param(location), attribute);
            }
        }
        call.try_as_basic_value().basic()
    }

    fn attributes_of(&self, extension: Extension) -> Vec<Attribute> {
        let kind = Attribute::get_named_enum_kind_id;
        let plain = |name, value| self.context.create_enum_attribute(kind(name), value);
        match extension {
            Extension::None => vec![],
            Extension::Register(true) => vec![plain("signext", 0)],
            Extension::Register(false) => vec![plain("zeroext", 0)],
            Extension::ByValue(words) => {
                let ty = AnyTypeEnum::ArrayType(self.context.i64_type().array_type(words));
                let by_value = self.context.create_type_attribute(kind("byval"), ty);
                vec![by_value, plain("align", 8)]
            }
        }
    }

    /// Returns from the function.
    pub fn ret(&self, value: V<'c>) {
        self.builder
            .build_return(Some(&value as &dyn BasicValue<'c>))
            .expect("a block is being written");
    }

    /// Has a declared function be called at the address that the loader finds for it, with no stub
    /// between.
    pub fn bind_at_load(&self, function: Function<'c>) {
        self.add_attribute(function, "nonlazybind", 0);
    }

    fn add_attribute(&self, function: Function<'c>, name: &str, value: u64) {
        let kind = Attribute::get_named_enum_kind_id(name);
        let attribute = self.context.create_enum_attribute(kind, value);
        function.add_attribute(AttributeLoc::Function, attribute);
    }

    /// Marks a function as rarely called.
    pub fn mark_cold(&self, function: Function<'c>) {
        self.add_attribute(function, "cold", 0);
    }
}
