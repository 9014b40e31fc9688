// SPDX-License-Identifier: Apache-2.0
//! Writing one LLVM module, function by function.
#![expect(
    unsafe_code,
    reason = "address arithmetic, and attributes that inkwell has no safe call for"
)]

use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage as LlvmLinkage, Module};
use inkwell::types::{AnyTypeEnum, BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, InstructionValue, IntValue, PhiValue,
    PointerValue,
};
use inkwell::{AddressSpace, GlobalVisibility};
use kernpack_ffi_abi::Width;
use std::cell::RefCell;
use std::collections::HashMap;

/// Any value.
pub type V<'c> = BasicValueEnum<'c>;
/// A basic block.
pub type Block<'c> = BasicBlock<'c>;
/// A function.
pub type Function<'c> = FunctionValue<'c>;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// A truth.
    I1,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE 16 bits.
    Half,
    /// bfloat16.
    BFloat,
    /// IEEE 32 bits.
    Float,
    /// IEEE 64 bits.
    Double,
    /// A pointer.
    Ptr,
    /// That many 64-bit words, passed in consecutive registers.
    Words(u32),
    /// That many floats of a kind, passed in consecutive registers.
    Floats(FloatKind, u32),
}

/// The element of a homogeneous aggregate of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// IEEE 16 bits.
    Half,
    /// bfloat16.
    BFloat,
    /// IEEE 32 bits.
    Float,
    /// IEEE 64 bits.
    Double,
}

/// A module in the making.
pub struct Emitter<'c> {
    context: &'c Context,
    pub(super) module: Module<'c>,
    builder: Builder<'c>,
    intrinsics: RefCell<HashMap<&'static str, Function<'c>>>,
}

impl<'c> Emitter<'c> {
    /// An empty module.
    pub fn new(context: &'c Context, name: &str) -> Emitter<'c> {
        Emitter {
            context,
            module: context.create_module(name),
            builder: context.create_builder(),
            intrinsics: RefCell::default(),
        }
    }

    fn ty(&self, ty: Ty) -> BasicTypeEnum<'c> {
        let cx = self.context;
        match ty {
            Ty::I1 => cx.bool_type().into(),
            Ty::I8 => cx.i8_type().into(),
            Ty::I16 => cx.i16_type().into(),
            Ty::I32 => cx.i32_type().into(),
            Ty::I64 => cx.i64_type().into(),
            Ty::Half => cx.f16_type().into(),
            Ty::BFloat => cx.bf16_type().into(),
            Ty::Float => cx.f32_type().into(),
            Ty::Double => cx.f64_type().into(),
            Ty::Ptr => cx.ptr_type(AddressSpace::default()).into(),
            Ty::Words(n) => cx.i64_type().array_type(n).into(),
            Ty::Floats(kind, n) => {
                let element = match kind {
                    FloatKind::Half => cx.f16_type(),
                    FloatKind::BFloat => cx.bf16_type(),
                    FloatKind::Float => cx.f32_type(),
                    FloatKind::Double => cx.f64_type(),
                };
                element.array_type(n).into()
            }
        }
    }

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

    /// The address of a function.
    pub fn address(&self, function: Function<'c>) -> V<'c> {
        function.as_global_value().as_pointer_value().into()
    }

    fn add_function(&self, name: &str, params: &[Ty], result: Option<Ty>) -> Function<'c> {
        let params: Vec<BasicMetadataTypeEnum<'c>> =
            params.iter().map(|ty| self.ty(*ty).into()).collect();
        let ty = match result {
            Some(result) => self.ty(result).fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        };
        self.module.add_function(name, ty, Some(LlvmLinkage::External))
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

    /// The address of a constant that is defined elsewhere in the module, or will be.
    pub fn external(&self, name: &str) -> V<'c> {
        let global = self
            .module
            .get_global(name)
            .unwrap_or_else(|| self.module.add_global(self.context.i8_type(), None, name));
        global.set_linkage(LlvmLinkage::External);
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

    /// A private constant made of bytes.
    pub fn bytes(&self, name: &str, bytes: &[u8], align: u32) -> V<'c> {
        self.constant_bytes(name, bytes, align).as_pointer_value().into()
    }

    /// The like in a section of its own: a large one, that others may look for.
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
        global.set_linkage(LlvmLinkage::Private);
        global.set_unnamed_addr(true);
        global.set_alignment(align);
        global
    }

    /// A private constant made of words.
    pub fn words(&self, name: &str, words: &[Word<'c>]) -> V<'c> {
        let global = self.constant_words(name, words);
        global.set_linkage(LlvmLinkage::Private);
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

    /// A new block at the end of a function.
    pub fn block(&self, function: Function<'c>, name: &str) -> Block<'c> {
        self.context.append_basic_block(function, name)
    }

    /// Goes on writing at the end of `block`.
    pub fn at(&self, block: Block<'c>) {
        self.builder.position_at_end(block);
    }

    /// The block being written.
    pub fn here(&self) -> Block<'c> {
        self.builder.get_insert_block().expect("a block is being written")
    }

    /// Space on the stack of the current function, made at its start.
    pub fn stack(&self, function: Function<'c>, bytes: u32) -> V<'c> {
        self.stack_aligned(function, bytes, 8)
    }

    /// The like at a multiple of `align` bytes, a power of two.
    pub fn stack_aligned(&self, function: Function<'c>, bytes: u32, align: u32) -> V<'c> {
        let here = self.here();
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
        space.into()
    }

    /// An integer constant.
    pub fn int(&self, ty: Ty, value: i64) -> V<'c> {
        self.ty(ty).into_int_type().const_int(value as u64, true).into()
    }

    /// A truth constant.
    pub fn truth(&self, value: bool) -> V<'c> {
        self.context.bool_type().const_int(value.into(), false).into()
    }

    /// The NULL pointer.
    pub fn null(&self) -> V<'c> {
        self.context.ptr_type(AddressSpace::default()).const_null().into()
    }

    /// The parameter of that number.
    pub fn param(&self, function: Function<'c>, number: u32) -> V<'c> {
        function.get_nth_param(number).expect("a function has its parameters")
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

    /// The like for a constant.
    pub fn offset_by(&self, base: V<'c>, offset: u32) -> V<'c> {
        if offset == 0 { base } else { self.offset(base, self.int(Ty::I64, offset.into())) }
    }

    /// The value of that type at an address, which need not be aligned to more than 4 bytes less than it.
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

    /// A field's value, extended to 64 bits.
    pub fn extend(&self, width: Width, value: V<'c>) -> V<'c> {
        match width {
            Width::U8 | Width::U16 | Width::U32 => self.zero_extend(value),
            Width::I32 => self.sign_extend(value),
            Width::I64 | Width::Ptr => value,
        }
    }

    /// Stores a value at an address.
    pub fn store(&self, address: V<'c>, value: V<'c>) {
        self.builder.build_store(pointer(address), value).expect("a block is being written");
    }

    /// Stores a value `offset` bytes behind an address.
    pub fn store_at(&self, base: V<'c>, offset: u32, value: V<'c>) {
        self.store(self.offset_by(base, offset), value);
    }

    /// Extends to 64 bits with zeros.
    pub fn zero_extend(&self, value: V<'c>) -> V<'c> {
        let wide = self.context.i64_type();
        self.builder
            .build_int_z_extend(int(value), wide, "")
            .expect("a block is being written")
            .into()
    }

    /// Extends to 64 bits with the sign.
    pub fn sign_extend(&self, value: V<'c>) -> V<'c> {
        let wide = self.context.i64_type();
        self.builder
            .build_int_s_extend(int(value), wide, "")
            .expect("a block is being written")
            .into()
    }

    /// The low bits of an integer.
    pub fn truncate(&self, value: V<'c>, ty: Ty) -> V<'c> {
        let narrow = self.ty(ty).into_int_type();
        self.builder
            .build_int_truncate(int(value), narrow, "")
            .expect("a block is being written")
            .into()
    }

    /// An integer as a pointer.
    pub fn to_pointer(&self, value: V<'c>) -> V<'c> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        self.builder.build_int_to_ptr(int(value), ptr, "").expect("a block is being written").into()
    }

    /// A pointer as an integer.
    pub fn to_int(&self, value: V<'c>) -> V<'c> {
        let wide = self.context.i64_type();
        self.builder
            .build_ptr_to_int(pointer(value), wide, "")
            .expect("a block is being written")
            .into()
    }

    /// The same bits as another type of that size.
    pub fn bitcast(&self, value: V<'c>, ty: Ty) -> V<'c> {
        self.builder.build_bit_cast(value, self.ty(ty), "").expect("a block is being written")
    }

    /// The float64 nearest to an integer.
    pub fn int_to_double(&self, value: V<'c>) -> V<'c> {
        let double = self.context.f64_type();
        self.builder
            .build_signed_int_to_float(int(value), double, "")
            .expect("a block is being written")
            .into()
    }

    /// The float32 nearest to a float64.
    pub fn double_to_float(&self, value: V<'c>) -> V<'c> {
        let float = self.context.f32_type();
        let value = value.into_float_value();
        self.builder.build_float_trunc(value, float, "").expect("a block is being written").into()
    }

    /// A float32 as a float64.
    pub fn float_to_double(&self, value: V<'c>) -> V<'c> {
        let double = self.context.f64_type();
        let value = value.into_float_value();
        self.builder.build_float_ext(value, double, "").expect("a block is being written").into()
    }

    /// A comparison.
    pub fn compare(&self, predicate: IntPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        self.builder
            .build_int_compare(predicate, int(a), int(b), "")
            .expect("a block is being written")
            .into()
    }

    /// `a` where `cond` holds, else `b`.
    pub fn select(&self, cond: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        self.builder.build_select(int(cond), a, b, "").expect("a block is being written")
    }

    /// The opposite of a truth.
    pub fn not(&self, value: V<'c>) -> V<'c> {
        self.builder.build_not(int(value), "").expect("a block is being written").into()
    }

    /// Goes to another block.
    pub fn jump(&self, block: Block<'c>) {
        self.builder.build_unconditional_branch(block).expect("a block is being written");
    }

    /// Goes to one of two blocks, of which `likely`, if any, is the usual one.
    pub fn branch(&self, cond: V<'c>, yes: Block<'c>, no: Block<'c>, likely: Option<bool>) {
        let branch = self.builder.build_conditional_branch(int(cond), yes, no);
        let branch = branch.expect("a block is being written");
        if let Some(likely) = likely {
            self.weigh(branch, likely);
        }
    }

    /// The like for a condition of several operands, which the code generator is not to take apart into a branch for each.
    pub fn branch_whole(&self, cond: V<'c>, yes: Block<'c>, no: Block<'c>) {
        let branch = self.builder.build_conditional_branch(int(cond), yes, no);
        let (unpredictable, none) = (self.context.get_kind_id("unpredictable"), []);
        branch
            .expect("a block is being written")
            .set_metadata(self.context.metadata_node(&none), unpredictable)
            .expect("a branch takes metadata");
    }

    fn weigh(&self, branch: InstructionValue<'c>, likely: bool) {
        let weight =
            |usual: bool| self.context.i32_type().const_int(if usual { 2000 } else { 1 }, false);
        let name = self.context.metadata_string("branch_weights");
        let weights = [name.into(), weight(likely).into(), weight(!likely).into()];
        let kind = self.context.get_kind_id("prof");
        branch
            .set_metadata(self.context.metadata_node(&weights), kind)
            .expect("a branch takes metadata");
    }

    /// Goes to the block of the value, or to another.
    pub fn switch(&self, value: V<'c>, other: Block<'c>, cases: &[(i64, Block<'c>)]) {
        let ty = self.context.i64_type();
        let cases: Vec<_> = cases
            .iter()
            .map(|(value, block)| (ty.const_int(*value as u64, true), *block))
            .collect();
        self.builder.build_switch(int(value), other, &cases).expect("a block is being written");
    }

    /// A value that depends on the block it comes from.
    pub fn phi(&self, ty: Ty, incoming: &[(V<'c>, Block<'c>)]) -> V<'c> {
        let phi = self.builder.build_phi(self.ty(ty), "").expect("a block is being written");
        add_incoming(&phi, incoming);
        phi.as_basic_value()
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

    /// Result and overflow of an addition, subtraction or multiplication: `sadd`, `ssub`, `smul`.
    pub fn with_overflow(&self, operation: &'static str, a: V<'c>, b: V<'c>) -> (V<'c>, V<'c>) {
        let declared = self.intrinsics.borrow().get(operation).copied();
        let function = declared.unwrap_or_else(|| {
            let name = format!("llvm.{operation}.with.overflow");
            let intrinsic = Intrinsic::find(&name).expect("LLVM has this intrinsic");
            let function = intrinsic
                .get_declaration(&self.module, &[self.context.i64_type().into()])
                .expect("the intrinsic takes 64-bit integers");
            self.intrinsics.borrow_mut().insert(operation, function);
            function
        });
        let pair =
            self.call(function, &[a, b]).expect("the intrinsic has a result").into_struct_value();
        let part = |i| self.builder.build_extract_value(pair, i, "").expect("a pair has two parts");
        (part(0), part(1))
    }

    /// 64-bit integer arithmetic.
    pub fn arith(&self, operation: Operation, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = (int(a), int(b));
        let builder = &self.builder;
        let result = match operation {
            Operation::Add => builder.build_int_add(a, b, ""),
            Operation::Sub => builder.build_int_sub(a, b, ""),
            Operation::Mul => builder.build_int_mul(a, b, ""),
            Operation::Div => builder.build_int_signed_div(a, b, ""),
            Operation::Rem => builder.build_int_signed_rem(a, b, ""),
            Operation::And => builder.build_and(a, b, ""),
            Operation::Or => builder.build_or(a, b, ""),
            Operation::ShiftRight => builder.build_right_shift(a, b, true, ""),
        };
        result.expect("a block is being written").into()
    }
}

/// Eight bytes of a constant.
#[derive(Clone, Copy, Debug)]
pub enum Word<'c> {
    /// A number.
    Int(i64),
    /// An address.
    Pointer(V<'c>),
}

/// An operation on integers.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Wrapping multiplication.
    Mul,
    /// Division towards zero.
    Div,
    /// Its remainder.
    Rem,
    /// Bitwise and; of truths too.
    And,
    /// Bitwise or; of truths too.
    Or,
    /// Right shift that keeps the sign.
    ShiftRight,
}

fn int(value: V<'_>) -> IntValue<'_> {
    value.into_int_value()
}

fn pointer(value: V<'_>) -> PointerValue<'_> {
    value.into_pointer_value()
}

fn add_incoming<'c>(phi: &PhiValue<'c>, incoming: &[(V<'c>, Block<'c>)]) {
    for (value, block) in incoming {
        phi.add_incoming(&[(value, *block)]);
    }
}
