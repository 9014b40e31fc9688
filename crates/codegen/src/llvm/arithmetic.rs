// SPDX-License-Identifier: Apache-2.0
//! Values from values: extension, conversion, comparison, arithmetic.

use super::{Emitter, Ty, V, int, pointer};
use inkwell::intrinsics::Intrinsic;
use inkwell::{AddressSpace, IntPredicate};
use kernpack_ffi_abi::Width;

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
    /// Division of integers without a sign.
    DivUnsigned,
    /// Its remainder.
    RemUnsigned,
    /// Bitwise and; of truths too.
    And,
    /// Bitwise or; of truths too.
    Or,
    /// Bitwise exclusive or; of truths too.
    Xor,
    /// Left shift, by less than the width.
    ShiftLeft,
    /// Right shift that keeps the sign, by less than the width.
    ShiftRight,
    /// Right shift that brings zeros, by less than the width.
    ShiftRightZeros,
}

impl<'c> Emitter<'c> {
    /// A field's value, extended to 64 bits.
    pub fn extend(&self, width: Width, value: V<'c>) -> V<'c> {
        match width {
            Width::U8 | Width::U16 | Width::U32 => self.zero_extend(value),
            Width::I32 => self.sign_extend(value),
            Width::I64 | Width::Ptr => value,
        }
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
        let number = if let Ty::Vector(..) = ty { None } else { self.lanes_as_number(value) };
        let value = number.unwrap_or(value);
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

    /// Arithmetic on integers of one width.
    pub fn arith(&self, operation: Operation, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = (int(a), int(b));
        let builder = &self.builder;
        let result = match operation {
            Operation::Add => builder.build_int_add(a, b, ""),
            Operation::Sub => builder.build_int_sub(a, b, ""),
            Operation::Mul => builder.build_int_mul(a, b, ""),
            Operation::Div => builder.build_int_signed_div(a, b, ""),
            Operation::Rem => builder.build_int_signed_rem(a, b, ""),
            Operation::DivUnsigned => builder.build_int_unsigned_div(a, b, ""),
            Operation::RemUnsigned => builder.build_int_unsigned_rem(a, b, ""),
            Operation::And => builder.build_and(a, b, ""),
            Operation::Or => builder.build_or(a, b, ""),
            Operation::Xor => builder.build_xor(a, b, ""),
            Operation::ShiftLeft => builder.build_left_shift(a, b, ""),
            Operation::ShiftRight => builder.build_right_shift(a, b, true, ""),
            Operation::ShiftRightZeros => builder.build_right_shift(a, b, false, ""),
        };
        result.expect("a block is being written").into()
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
}
