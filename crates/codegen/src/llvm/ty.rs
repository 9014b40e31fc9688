// SPDX-License-Identifier: Apache-2.0
//! The types of values.

use super::Emitter;
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
    /// A pointer into an address space.
    PtrTo(AddressSpace),
    /// That many 64-bit words, passed in consecutive registers.
    Words(u32),
    /// That many floats of a kind, passed in consecutive registers.
    Floats(FloatKind, u32),
    /// That many numbers side by side.
    Vector(Lane, u32),
}

/// The elements of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// A float.
    Float(FloatKind),
}

/// An address space, by LLVM's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressSpace(pub u16);

impl From<AddressSpace> for inkwell::AddressSpace {
    fn from(space: AddressSpace) -> inkwell::AddressSpace {
        space.0.into()
    }
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
            Ty::Half => cx.f16_type().into(),
            Ty::BFloat => cx.bf16_type().into(),
            Ty::Float => cx.f32_type().into(),
            Ty::Double => cx.f64_type().into(),
            Ty::Ptr => cx.ptr_type(inkwell::AddressSpace::default()).into(),
            Ty::PtrTo(space) => cx.ptr_type(space.into()).into(),
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
            Ty::Vector(lane, n) => match lane {
                Lane::I8 => cx.i8_type().vec_type(n).into(),
                Lane::I16 => cx.i16_type().vec_type(n).into(),
                Lane::I32 => cx.i32_type().vec_type(n).into(),
                Lane::I64 => cx.i64_type().vec_type(n).into(),
                Lane::Float(kind) => match kind {
                    FloatKind::Half => cx.f16_type().vec_type(n).into(),
                    FloatKind::BFloat => cx.bf16_type().vec_type(n).into(),
                    FloatKind::Float => cx.f32_type().vec_type(n).into(),
                    FloatKind::Double => cx.f64_type().vec_type(n).into(),
                },
            },
        }
    }
}
