// SPDX-License-Identifier: Apache-2.0
//! Comparisons, of integers and of floats. The latter go by the bits of float64s: plans compare
//! integers.

use super::{NamedKind, Planner};
use crate::plan::{Arith, Compare, Value, nearest};
use crate::rule::{Comparison, FloatSide, Rule};

/// A side of a comparison, ready to be compared.
#[derive(Clone, Copy)]
struct Key {
    /// An integer that is greater where the float is; equal for both zeros, meaningless for nan.
    order: Value,
    is_nan: Value,
}

impl Planner<'_> {
    /// Whether integers compare so.
    pub fn compare(&mut self, a: Value, comparison: Comparison, b: Value) -> Value {
        let (op, first, second) = match comparison {
            Comparison::Eq => (Compare::Eq, a, b),
            Comparison::Ne => (Compare::Ne, a, b),
            Comparison::Lt => (Compare::Lt, a, b),
            Comparison::Le => (Compare::Le, a, b),
            Comparison::Gt => (Compare::Lt, b, a),
            Comparison::Ge => (Compare::Le, b, a),
        };
        self.b.compare(op, first, second)
    }

    /// The rule as a comparison of floats, where it is one.
    pub fn as_floats(&self, rule: &Rule) -> Option<(FloatSide, Comparison, FloatSide)> {
        let is_float = |kind: NamedKind| kind == NamedKind::Float;
        rule.as_floats(&|name| self.named(name).is_some_and(|named| is_float(named.kind)))
    }

    /// Whether the sides compare so. A parameter has the value of the float of its dtype that is
    /// nearest to what arrived, and so has a constant that it is compared with.
    pub fn compare_floats(
        &mut self,
        a: &FloatSide,
        comparison: Comparison,
        b: &FloatSide,
    ) -> Value {
        let (a, b) = (self.float_key(a, b), self.float_key(b, a));
        let holds = self.compare(a.order, comparison, b.order);
        let has_nan = self.b.or(a.is_nan, b.is_nan);
        if comparison == Comparison::Ne {
            return self.b.or(has_nan, holds);
        }
        let has_none = self.b.not(has_nan);
        self.b.and(has_none, holds)
    }

    fn float_key(&mut self, side: &FloatSide, other: &FloatSide) -> Key {
        let dtype = |side: &FloatSide| self.bindings.scalars.get(side.name()?).copied();
        match (side, dtype(side).or_else(|| dtype(other))) {
            (FloatSide::Value(value), dtype) => {
                let value = dtype.map_or(*value, |dtype| nearest(*value, dtype));
                // Adding 0 makes the one zero of the other.
                let order = order(0.0 + value);
                Key { order: self.b.int(order), is_nan: self.b.bool(false) }
            }
            (FloatSide::Name(name), dtype) => {
                let name = name.as_symbol().expect("a float parameter goes by its name");
                let bits = self.names[name].value;
                let bits = dtype.map_or(bits, |dtype| self.b.rounded(bits, dtype));
                self.key_of_bits(bits)
            }
        }
    }

    fn key_of_bits(&mut self, bits: Value) -> Key {
        let (zero, least, most) = (self.b.int(0), self.b.int(i64::MIN), self.b.int(i64::MAX));
        let is_negative = self.b.compare(Compare::Lt, bits, zero);
        let mirrored = self.b.arith(Arith::Sub, least, bits);
        let order = self.b.select(is_negative, mirrored, bits);
        let magnitude = self.b.arith(Arith::BitAnd, bits, most);
        let infinity = self.b.int(f64::INFINITY.to_bits() as i64);
        Key { order, is_nan: self.b.compare(Compare::Lt, infinity, magnitude) }
    }
}

/// The integer of a constant: that of [`Planner::key_of_bits`].
fn order(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}
