// SPDX-License-Identifier: Apache-2.0
//! Parts that only kernels have: how they are defined, intrinsics by name, and arithmetic on
//! floats.

use super::{Emitter, Function, Ty, V};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::intrinsics::Intrinsic;
use inkwell::types::AnyType;

/// A parameter of a kernel, and what the code generator may rely on where it is a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelParam {
    /// The type.
    pub ty: Ty,
    /// The bytes to a multiple of which it points, a power of two.
    pub alignment_bytes: Option<u32>,
    /// Nothing that is reached through it is reached through another parameter too, if either
    /// writes it.
    pub is_alone: bool,
    /// Nothing is written through it. Where it is alone too, loads go through the cache for
    /// constants.
    pub is_read_only: bool,
    /// How many bytes it points to that are passed themselves, and that nobody writes.
    pub value_bytes: Option<u32>,
}

impl From<Ty> for KernelParam {
    /// A parameter of which no more is known.
    fn from(ty: Ty) -> KernelParam {
        KernelParam {
            ty,
            alignment_bytes: None,
            is_alone: false,
            is_read_only: false,
            value_bytes: None,
        }
    }
}

/// An operation on floats, rounded to nearest. No two are contracted into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOperation {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division.
    Div,
}

impl<'c> Emitter<'c> {
    /// Starts a kernel of a calling convention, by LLVM's number for it: the builder stands at its
    /// first block.
    pub fn define_kernel(
        &self,
        name: &str,
        params: &[KernelParam],
        convention: u32,
    ) -> Function<'c> {
        let types: Vec<_> = params.iter().map(|param| param.ty).collect();
        let kernel = self.declare(name, &types, None);
        kernel.set_call_conventions(convention);
        for (location, param) in (0..).zip(params) {
            for attribute in self.attributes_of_param(*param) {
                kernel.add_attribute(AttributeLoc::Param(location), attribute);
            }
        }
        kernel.add_attribute(AttributeLoc::Function, self.enum_attribute("nounwind", 0));
        self.at(self.block(kernel, "entry"));
        kernel
    }

    /// Tells the code generator something of a kernel, in its target's words.
    pub fn set_kernel_attribute(&self, kernel: Function<'c>, name: &str, value: &str) {
        let attribute = self.context.create_string_attribute(name, value);
        kernel.add_attribute(AttributeLoc::Function, attribute);
    }

    fn attributes_of_param(&self, param: KernelParam) -> Vec<Attribute> {
        let alignment = param.alignment_bytes.map(|bytes| ("align", u64::from(bytes)));
        let alone = param.is_alone.then_some(("noalias", 0));
        let read_only = param.is_read_only.then_some(("readonly", 0));
        let known = alignment.into_iter().chain(alone).chain(read_only);
        let known = known.map(|(name, value)| self.enum_attribute(name, value));
        let by_value = param.value_bytes.into_iter().flat_map(|bytes| {
            let ty = self.context.i8_type().array_type(bytes);
            let by_value = Attribute::get_named_enum_kind_id("byval");
            [
                self.context.create_type_attribute(by_value, ty.as_any_type_enum()),
                self.context.create_string_attribute("nvvm.grid_constant", ""),
            ]
        });
        known.chain(by_value).collect()
    }

    fn enum_attribute(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// Calls the intrinsic of that full name; `None` for void. `overloads` are the types that its
    /// variants differ by, in LLVM's order.
    ///
    /// That the architecture has it must be known before: the code generator ends the process where
    /// it has not.
    pub fn intrinsic(&self, name: &str, overloads: &[Ty], args: &[V<'c>]) -> Option<V<'c>> {
        let intrinsic = Intrinsic::find(name).expect("LLVM has this intrinsic");
        let overloads: Vec<_> = overloads.iter().map(|ty| self.ty(*ty)).collect();
        let declared = intrinsic.get_declaration(&self.module, &overloads);
        self.call(declared.expect("the intrinsic has that variant"), args)
    }

    /// Arithmetic on floats.
    pub fn float_arith(&self, operation: FloatOperation, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = (a.into_float_value(), b.into_float_value());
        let builder = &self.builder;
        let result = match operation {
            FloatOperation::Add => builder.build_float_add(a, b, ""),
            FloatOperation::Sub => builder.build_float_sub(a, b, ""),
            FloatOperation::Mul => builder.build_float_mul(a, b, ""),
            FloatOperation::Div => builder.build_float_div(a, b, ""),
        };
        result.expect("a block is being written").into()
    }

    /// Returns from a function without a result.
    pub fn ret_void(&self) {
        self.builder.build_return(None).expect("a block is being written");
    }
}
