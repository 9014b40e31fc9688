// SPDX-License-Identifier: Apache-2.0
//! The types of values.

use super::Emitter;
use inkwell::AddressSpace;
use inkwell::types::BasicTypeEnum;

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

impl<'c> Emitter<'c> {
    pub(super) fn ty(&self, ty: Ty) -> BasicTypeEnum<'c> {
        let cx = self.context;
        match ty {
            Ty::I1 => cx.bool_type().into(),
            Ty::I8 => cx.i8_type().into(),
            Ty::I16 => cx.i16_type().into(),
            Ty::I32 => cx.i32_type().into(),
            Ty::I64 => cx.i64_type().into(),
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
}
