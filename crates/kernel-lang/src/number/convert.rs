// SPDX-License-Identifier: Apache-2.0
//! Conversions that are written: `kp.float32(x)`, `x.to(kp.float16)`.

use super::Kind;
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_interval::Interval;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::{Const, Scalar, eval};
use kernpack_syntax::Span;

impl Elaborator<'_> {
    /// A number or truth value as another type. Without a rounding, a float becomes an integer
    /// towards zero, and everything else the nearest.
    pub fn cast(
        &mut self,
        value: &Elaborated,
        to: Scalar,
        rounding: Option<Rounding>,
        span: Span,
    ) -> Elaborated {
        let Some(kind) = self.emit.kind(value) else {
            if !value.is_poison() {
                let message = format!("expected a number, found {}", self.emit.describe(value));
                self.mistake("type", span, message, format!("pass `kp.{to}` a number or a bool"));
            }
            return Elaborated::Poison;
        };
        let to_int = to.is_int() && matches!(kind, Kind::Float) || {
            matches!(kind, Kind::Of(from) if from.is_float()) && to.is_int()
        };
        let rounding = match rounding {
            Some(rounding) => rounding,
            None if to_int => Rounding::Zero,
            None => Rounding::NearestEven,
        };
        self.each_lane(value, to, &mut |cx, one| cx.cast_one(&one, to, rounding, span))
    }

    fn cast_one(
        &mut self,
        value: &Elaborated,
        to: Scalar,
        rounding: Rounding,
        span: Span,
    ) -> Elaborated {
        let constant = match value {
            Elaborated::Int(int) if to.is_int() => {
                let all = to.integers();
                if !int.small().is_some_and(|int| all.contains(int)) {
                    let Interval { min, max, .. } = all;
                    let message = format!("{int} is no {to}, which goes from {min} to {max}");
                    return self.mistake("literal", span, message, "choose a wider type");
                }
                return Elaborated::Const(Const::from_bits(to, int.low_bits()));
            }
            Elaborated::Int(int) => match int.as_i64() {
                Some(int) => Const::int(Scalar::I64, int),
                None if to == Scalar::Bool => Const::bool(true),
                None if rounding == Rounding::NearestEven => int.to_float(to),
                None if to == Scalar::F64 => Const::float(to, int.to_float64(rounding)),
                None => Const::float(Scalar::F64, int.to_odd()),
            },
            Elaborated::Float(float) => Const::float(Scalar::F64, *float),
            Elaborated::Bool(truth) => Const::bool(*truth),
            Elaborated::Const(constant) => *constant,
            Elaborated::Typed(number) => {
                let mut cast =
                    |cx: &mut Self, side: &Elaborated| cx.cast_one(side, to, rounding, span);
                return Elaborated::Typed(match self.cast_literals(*number, to, &mut cast) {
                    Some(chosen) => chosen,
                    None => self.emit.convert(*number, to, rounding),
                });
            }
            _ => return Elaborated::Poison,
        };
        match constant.scalar() == to {
            true => Elaborated::of_const(constant),
            false => Elaborated::of_const(eval::convert(constant, to, rounding)),
        }
    }
}
