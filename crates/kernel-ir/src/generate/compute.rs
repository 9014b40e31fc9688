// SPDX-License-Identifier: Apache-2.0
//! Statements that compute.

use super::{Known, Maker, bits, number};
use crate::constant::Const;
use crate::intrinsic::{self, Accepts, Intrinsic, Level, Meaning};
use crate::op::{Binary, Compare, Operand, Rounding, Unary};
use crate::types::{Class, MOST_VECTOR_BYTES, Scalar, Type};
use crate::verify::is_defined;

impl Maker {
    /// A number, a bool or a vector.
    pub(super) fn any_type(&mut self) -> Type {
        match self.rng.below(10) {
            0 => Type::Scalar(Scalar::Bool),
            1..=3 => self.vector_type(),
            _ => Type::Scalar(number(&mut self.rng)),
        }
    }

    fn vector_type(&mut self) -> Type {
        let scalar = number(&mut self.rng);
        let most = MOST_VECTOR_BYTES / scalar.bytes();
        let lanes = [2, 4, 8, 16].into_iter().filter(|lanes| u32::from(*lanes) <= most);
        let lanes: Vec<u8> = lanes.collect();
        Type::Vector(scalar, self.rng.pick(&lanes))
    }

    /// Something of that type: mostly what was computed before, and the later the likelier.
    pub(super) fn operand(&mut self, ty: Type) -> Known {
        let fits = |known: &&Known| self.builder.ty(known.value) == ty;
        let known: Vec<_> = self.known.iter().filter(fits).copied().collect();
        if known.is_empty() || self.rng.percent(12) {
            return self.constant(ty);
        }
        let late = known.len() - known.len().div_ceil(2);
        let from = if self.rng.percent(50) { late } else { 0 };
        self.rng.pick(&known[from..])
    }

    /// Something of that type that is alike in a block.
    pub(super) fn uniform(&mut self, ty: Type) -> Known {
        let fits =
            |known: &&Known| self.builder.ty(known.value) == ty && known.level >= Level::Block;
        let known: Vec<_> = self.known.iter().filter(fits).copied().collect();
        if known.is_empty() { self.constant(ty) } else { self.rng.pick(&known) }
    }

    fn constant(&mut self, ty: Type) -> Known {
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        let constant = Const::from_bits(scalar, bits(&mut self.rng, scalar));
        let value = self.builder.constant(constant);
        Known { value: self.builder.splat(value, ty.lanes()), level: Level::Grid }
    }

    /// A condition that is alike in a block, or need not be.
    pub(super) fn condition(&mut self, is_uniform: bool) -> Known {
        let ty = Type::Scalar(number(&mut self.rng));
        let op = self.rng.pick(Compare::ALL);
        let (a, b) = match is_uniform {
            true => (self.uniform(ty), self.uniform(ty)),
            false => (self.operand(ty), self.operand(ty)),
        };
        let value = self.builder.compare(op, a.value, b.value);
        Known { value, level: a.level.min(b.level) }
    }

    pub(super) fn compute(&mut self) {
        match self.rng.below(16) {
            0..=5 => self.binary(),
            6 => self.unary(),
            7 | 8 => self.compare(),
            9 => self.select(),
            10 | 11 => self.convert(),
            12 => self.bitcast(),
            13 => self.lanes(),
            _ => self.row(),
        }
    }

    fn binary(&mut self) {
        let ty = self.any_type();
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        let ops: Vec<_> =
            Binary::ALL.iter().copied().filter(|op| is_defined(*op, scalar)).collect();
        let op = self.rng.pick(&ops);
        let (a, b) = (self.operand(ty), self.operand(ty));
        let value = self.builder.binary(op, a.value, b.value);
        self.remember(value, a.level.min(b.level));
    }

    fn unary(&mut self) {
        let ty = self.any_type();
        let op = match ty.scalar().map(Scalar::class) {
            Some(Class::Bool) => Unary::Not,
            Some(Class::Float) => self.rng.pick(&[Unary::Neg, Unary::Abs]),
            Some(Class::Signed | Class::Unsigned) | None => self.rng.pick(Unary::ALL),
        };
        let operand = self.operand(ty);
        let value = self.builder.unary(op, operand.value);
        self.remember(value, operand.level);
    }

    fn compare(&mut self) {
        let known = self.condition(false);
        self.known.push(known);
    }

    fn select(&mut self) {
        let ty = self.any_type();
        let condition = self.operand(Type::Scalar(Scalar::Bool));
        let (a, b) = (self.operand(ty), self.operand(ty));
        let value = self.builder.select(condition.value, a.value, b.value);
        self.remember(value, condition.level.min(a.level).min(b.level));
    }

    fn convert(&mut self) {
        let from = self.any_type();
        let source = from.scalar().unwrap_or(Scalar::I64);
        let mut to = number(&mut self.rng);
        if from.lanes() > 1 && u32::from(from.lanes()) * to.bytes() > MOST_VECTOR_BYTES {
            to = source;
        }
        let rounds = source.is_float() || to.is_float();
        let rounding = if rounds { self.rng.pick(Rounding::ALL) } else { Rounding::NearestEven };
        let operand = self.operand(from);
        let value = self.builder.convert(operand.value, to, rounding);
        self.remember(value, operand.level);
    }

    fn bitcast(&mut self) {
        let from = match self.any_type() {
            Type::Vector(scalar, lanes) if !scalar.is_float() => Type::Vector(scalar, lanes),
            Type::Vector(..) | Type::Pointer(_) => Type::Scalar(Scalar::F32),
            Type::Scalar(Scalar::Bool) => Type::Scalar(Scalar::U16),
            scalar @ Type::Scalar(_) => scalar,
        };
        let mut to: Vec<Type> = Vec::new();
        for scalar in &Scalar::ALL[1..] {
            let lanes = from.bytes() / scalar.bytes();
            if lanes > 0 && lanes <= 16 {
                to.push(Type::of_lanes(*scalar, lanes as u8));
            }
        }
        let to = self.rng.pick(&to);
        let operand = self.operand(from);
        let operand = self.without_nan(operand);
        let value = self.builder.bitcast(operand.value, to);
        self.remember(value, operand.level);
    }

    /// The number, or 0 where it is a NaN.
    fn without_nan(&mut self, known: Known) -> Known {
        let Type::Scalar(scalar) = self.ty(known) else { return known };
        if !scalar.is_float() {
            return known;
        }
        let zero = self.builder.constant(Const::float(scalar, 0.0));
        let is_number = self.builder.compare(Compare::Eq, known.value, known.value);
        let value = self.builder.select(is_number, known.value, zero);
        Known { value, level: known.level }
    }

    fn lanes(&mut self) {
        let ty = self.vector_type();
        let scalar = Type::Scalar(ty.scalar().unwrap_or(Scalar::I64));
        match self.rng.below(4) {
            0 => {
                let lanes: Vec<_> = (0..ty.lanes()).map(|_| self.operand(scalar)).collect();
                let level = lanes.iter().map(|lane| lane.level).min();
                let values = lanes.iter().map(|lane| lane.value).collect();
                let value = self.builder.vector(values);
                self.remember(value, level.unwrap_or(Level::Thread));
            }
            1 => {
                let operand = self.operand(scalar);
                let value = self.builder.splat(operand.value, ty.lanes());
                self.remember(value, operand.level);
            }
            2 => {
                let vector = self.operand(ty);
                let lane = self.rng.below(u64::from(ty.lanes())) as u8;
                let value = self.builder.extract(vector.value, lane);
                self.remember(value, vector.level);
            }
            _ => {
                let (vector, operand) = (self.operand(ty), self.operand(scalar));
                let lane = self.rng.below(u64::from(ty.lanes())) as u8;
                let value = self.builder.insert(vector.value, lane, operand.value);
                self.remember(value, vector.level.min(operand.level));
            }
        }
    }

    /// A row that computes, alike to the last bit everywhere.
    fn row(&mut self) {
        let is_exact =
            |row: &&Intrinsic| row.computes() && !matches!(row.meaning, Meaning::Approximate(_));
        let rows: Vec<_> = intrinsic::all().filter(is_exact).collect();
        let row = self.rng.pick(&rows);
        let (mut operands, mut level, mut first) = (Vec::new(), Level::Grid, None);
        for accepts in row.takes {
            let Some(ty) = self.accepted(*accepts, first) else { return };
            let known = self.operand(ty);
            first = first.or(Some(ty));
            level = level.min(known.level);
            operands.push(Operand::Value(known.value));
        }
        self.call(row.name, operands, level);
    }

    /// A type that a row accepts, whose first operand has the type `first`.
    pub(super) fn accepted(&mut self, accepts: Accepts, first: Option<Type>) -> Option<Type> {
        if let Accepts::Like(_) = accepts {
            return first;
        }
        let fits = |scalar: &&Scalar| accepts.takes(Type::Scalar(**scalar), &[]);
        let types: Vec<_> = Scalar::ALL.iter().filter(fits).collect();
        (!types.is_empty()).then(|| Type::Scalar(*self.rng.pick(&types)))
    }
}
