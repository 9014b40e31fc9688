// SPDX-License-Identifier: Apache-2.0
//! How values are kept: types, narrow integers, vectors.

use super::{Lowering, Target};
use crate::llvm::{FloatKind, Lane, Ty, V};
use kernpack_interval::Interval;
use kernpack_kernel_ir::constant::Const;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::types::{Scalar, Type};

/// LLVM's type of a scalar.
pub(in crate::kernel) const fn scalar_ty(scalar: Scalar) -> Ty {
    types(scalar).0
}

/// A lane of a vector. Truth values are none: they take a byte.
pub(super) const fn lane(scalar: Scalar) -> Lane {
    types(scalar).1
}

/// LLVM's type of a scalar, alone and in a vector.
const fn types(scalar: Scalar) -> (Ty, Lane) {
    match scalar {
        Scalar::Bool => (Ty::I1, Lane::I8),
        Scalar::I8 | Scalar::U8 => (Ty::I8, Lane::I8),
        Scalar::I16 | Scalar::U16 => (Ty::I16, Lane::I16),
        Scalar::I32 | Scalar::U32 => (Ty::I32, Lane::I32),
        Scalar::I64 | Scalar::U64 => (Ty::I64, Lane::I64),
        Scalar::F16 => (Ty::Half, Lane::Float(FloatKind::Half)),
        Scalar::BF16 => (Ty::BFloat, Lane::Float(FloatKind::BFloat)),
        Scalar::F32 => (Ty::Float, Lane::Float(FloatKind::Float)),
        Scalar::F64 => (Ty::Double, Lane::Float(FloatKind::Double)),
    }
}

/// The integer type of as many bits.
pub(in crate::kernel) const fn bits_ty(scalar: Scalar) -> Ty {
    match scalar.bits() {
        8 => Ty::I8,
        16 => Ty::I16,
        32 => Ty::I32,
        _ => Ty::I64,
    }
}

/// Whether integers of that type within that range are kept in 32 bits.
pub(super) fn is_narrow(ty: Type, range: Interval) -> bool {
    matches!(ty, Type::Scalar(Scalar::I64 | Scalar::U64)) && Scalar::I32.holds(range)
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    /// The type of a value that is not narrow.
    pub(in crate::kernel) fn ty(ty: Type) -> Ty {
        match ty {
            Type::Scalar(scalar) => scalar_ty(scalar),
            Type::Vector(scalar, lanes) => Ty::Vector(lane(scalar), lanes.into()),
            Type::Pointer(space) => T::pointer_ty(space),
        }
    }

    /// Whether a value is kept in 32 bits that has 64.
    pub(super) fn is_narrow(&self, value: Value) -> bool {
        is_narrow(self.kernel.ty(value), self.ranges.value(value))
    }

    /// A value as it is kept.
    pub(in crate::kernel) fn kept(&self, value: Value) -> V<'c> {
        self.values[value.index()].unwrap_or_else(|| unreachable!("{value} is defined before"))
    }

    /// A value in all its bits.
    pub(in crate::kernel) fn full(&self, value: Value) -> V<'c> {
        match self.is_narrow(value) {
            true => self.extended(self.kept(value), Ty::I64, self.ranges.value(value)),
            false => self.kept(value),
        }
    }

    /// An integer of that range in as many bits as another type has.
    pub(super) fn extended(&self, value: V<'c>, ty: Ty, range: Interval) -> V<'c> {
        match range.min >= 0 && ty == Ty::I64 {
            true => self.emitter.widen(value, ty),
            false => self.emitter.resize(value, ty, true),
        }
    }

    /// A number as one of another integer type of at most as many bits, which it is known to be or
    /// of which only those bits count.
    pub(in crate::kernel) fn cut(&self, value: Value, to: Scalar) -> V<'c> {
        match self.is_narrow(value) {
            true => self.extended(self.kept(value), scalar_ty(to), self.ranges.value(value)),
            false if self.kernel.ty(value) == Type::Scalar(to) => self.kept(value),
            false => self.emitter.resize(self.kept(value), scalar_ty(to), to.is_signed()),
        }
    }

    /// Makes it the value of a result, as it is.
    pub(in crate::kernel) fn set_value(&mut self, result: Value, value: V<'c>) {
        self.values[result.index()] = Some(value);
    }

    /// Makes a number that was computed as that type the value of a result, in the bits in which
    /// that is kept.
    pub(in crate::kernel) fn set_number(&mut self, result: Value, value: V<'c>, computed: Scalar) {
        let is_wide = matches!(self.kernel.ty(result), Type::Scalar(Scalar::I64 | Scalar::U64));
        let kept = match (is_wide, self.is_narrow(result)) {
            (true, true) if scalar_ty(computed) == Ty::I64 => {
                self.emitter.narrow(value, self.ranges.value(result).min < 0)
            }
            (true, true) => self.emitter.resize(value, Ty::I32, computed.is_signed()),
            (true, false) => self.emitter.resize(value, Ty::I64, computed.is_signed()),
            (false, _) => value,
        };
        self.set_value(result, kept);
    }

    /// The type that a value is kept as.
    pub(super) fn kept_ty(&self, of: Type, range: Interval) -> Ty {
        if is_narrow(of, range) { Ty::I32 } else { Self::ty(of) }
    }

    /// The scalars that a value is made of, each in all its bits.
    pub(super) fn lanes(&self, value: Value) -> Vec<V<'c>> {
        if let Some(lanes) = self.lanes.get(&value) {
            return lanes.clone();
        }
        match self.kernel.ty(value) {
            Type::Vector(_, lanes) => {
                let vector = self.kept(value);
                (0..lanes.into()).map(|place| self.emitter.lane(vector, place)).collect()
            }
            Type::Scalar(_) | Type::Pointer(_) => vec![self.full(value)],
        }
    }

    /// Makes a vector of these the value of a result.
    pub(super) fn set_lanes(&mut self, result: Value, values: &[V<'c>]) {
        match self.kernel.ty(result) {
            Type::Vector(scalar, _) => {
                let vector = self.vector_of(scalar, values);
                self.lanes.insert(result, values.to_vec());
                self.set_value(result, vector);
            }
            Type::Scalar(scalar) => self.set_number(result, values[0], scalar),
            Type::Pointer(_) => self.set_value(result, values[0]),
        }
    }

    /// A vector of these numbers of one type.
    pub(in crate::kernel) fn vector_of(&self, scalar: Scalar, lanes: &[V<'c>]) -> V<'c> {
        self.emitter.vector(lane(scalar), lanes)
    }

    pub(super) fn lower_const(&mut self, result: Value, constant: Const) {
        let scalar = constant.scalar();
        let value = self.emitter.bits(scalar_ty(scalar), constant.bits());
        self.set_number(result, value, scalar);
    }

    pub(super) fn lower_vector(&mut self, result: Value, lanes: &[Value]) {
        let lanes: Vec<_> = lanes.iter().map(|lane| self.full(*lane)).collect();
        self.set_lanes(result, &lanes);
    }

    pub(super) fn lower_splat(&mut self, result: Value, value: Value) {
        let lanes = vec![self.full(value); self.kernel.ty(result).lanes().into()];
        self.set_lanes(result, &lanes);
    }

    pub(super) fn lower_extract(&mut self, result: Value, vector: Value, lane: u8) {
        let value = self.emitter.lane(self.kept(vector), lane.into());
        if !self.lanes.contains_key(&vector) {
            self.taken.insert(result, (vector, lane));
        }
        self.set_lanes(result, &[value]);
    }

    pub(super) fn lower_insert(&mut self, result: Value, vector: Value, lane: u8, value: Value) {
        let (vector, value) = (self.kept(vector), self.full(value));
        let inserted = self.emitter.insert_lane(vector, lane.into(), value);
        self.set_value(result, inserted);
    }

    pub(super) fn lower_select(&mut self, result: Value, condition: Value, of: [Value; 2]) {
        let condition = self.kept(condition);
        let [then, otherwise] = match (self.is_narrow(result), self.kernel.ty(result)) {
            (true, _) => of.map(|value| self.cut(value, Scalar::I32)),
            (false, Type::Scalar(Scalar::I64 | Scalar::U64)) => of.map(|value| self.full(value)),
            (false, _) => of.map(|value| self.kept(value)),
        };
        self.set_value(result, self.emitter.select(condition, then, otherwise));
    }

    pub(super) fn lower_bitcast(&mut self, result: Value, value: Value) {
        let to = self.kernel.ty(result);
        let bits = self.emitter.bitcast(self.full(value), Self::ty(to));
        match to {
            Type::Scalar(scalar) => self.set_number(result, bits, scalar),
            Type::Vector(..) | Type::Pointer(_) => self.set_value(result, bits),
        }
    }
}
