// SPDX-License-Identifier: Apache-2.0
//! Declaring, defining and calling functions, and what LLVM is told of them.

use super::{Emitter, Function, Ty, V};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{AnyTypeEnum, BasicMetadataTypeEnum, BasicType};
use inkwell::values::BasicValue;

impl<'c> Emitter<'c> {
    /// Declares or finds a function. `result` is `None` for void.
    pub fn declare(&self, name: &str, params: &[Ty], result: Option<Ty>) -> Function<'c> {
        self.module.get_function(name).unwrap_or_else(|| self.add_function(name, params, result))
    }

    /// Starts a function that others may call: the builder stands at its first block.
    pub fn define(&self, name: &str, params: &[Ty], result: Ty) -> Function<'c> {
        let function = self.add_function(name, params, Some(result));
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
        let params: Vec<BasicMetadataTypeEnum<'c>> =
            params.iter().map(|ty| self.ty(*ty).into()).collect();
        let ty = match result {
            Some(result) => self.ty(result).fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        };
        self.module.add_function(name, ty, Some(Linkage::External))
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
        for location in 0..function.count_params() {
            for attribute in function.attributes(AttributeLoc::Param(location)) {
                call.add_attribute(AttributeLoc::Param(location), attribute);
            }
        }
        call.try_as_basic_value().basic()
    }

    /// Returns from the function.
    pub fn ret(&self, value: V<'c>) {
        self.builder
            .build_return(Some(&value as &dyn BasicValue<'c>))
            .expect("a block is being written");
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

    /// Marks a parameter as extended to a register by its caller, with its sign or with zeros.
    pub fn mark_extended(&self, function: Function<'c>, param: u32, signed: bool) {
        let kind = Attribute::get_named_enum_kind_id(if signed { "signext" } else { "zeroext" });
        let attribute = self.context.create_enum_attribute(kind, 0);
        function.add_attribute(AttributeLoc::Param(param), attribute);
    }

    /// Marks a pointer parameter as a struct of `words` 64-bit words passed in memory, by value.
    pub fn mark_by_value(&self, function: Function<'c>, param: u32, words: u32) {
        let ty = AnyTypeEnum::ArrayType(self.context.i64_type().array_type(words));
        let kind = Attribute::get_named_enum_kind_id("byval");
        let by_value = self.context.create_type_attribute(kind, ty);
        function.add_attribute(AttributeLoc::Param(param), by_value);
        let kind = Attribute::get_named_enum_kind_id("align");
        function
            .add_attribute(AttributeLoc::Param(param), self.context.create_enum_attribute(kind, 8));
    }
}
