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
    /// A pointer into an address space of a GPU.
    PtrTo(Space),
    /// That many 64-bit words, passed in consecutive registers.
    Words(u32),
    /// That many floats of a kind, passed in consecutive registers.
    Floats(FloatKind, u32),
    /// That many numbers side by side.
    Vector(Lane, u32),
}

/// What a vector is made of.
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

/// An address space of a GPU. A plain pointer may point into any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Memory that all blocks see, where tensors are.
    Global,
    /// Memory of a block.
    Shared,
}

impl Space {
    /// LLVM's number for it.
    pub(super) fn number(self) -> AddressSpace {
        AddressSpace::from(match self {
            Space::Global => 1,
            Space::Shared => 3,
        })
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
            Ty::Ptr => cx.ptr_type(AddressSpace::default()).into(),
            Ty::PtrTo(space) => cx.ptr_type(space.number()).into(),
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
