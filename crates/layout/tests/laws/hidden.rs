// SPDX-License-Identifier: Apache-2.0
//! A context in which numbers are hidden: the operations get to know true facts of them, as strong
//! as chance will have it, and the tests the numbers.
//!
//! Every result is held against the facts that follow from those of its operands.

use crate::generate::Random;
use kernpack_layout::{
    Arith, Facts, Int, Layout, LayoutOf, Mode, Op, Shape, ShapeOf, Static, Stride, Tiler,
};
use std::fmt::{self, Display, Formatter};

/// A number that operations do not see.
#[derive(Clone, Debug)]
pub struct Secret {
    number: i64,
    facts: Facts,
}

/// Two secrets are known to be equal where they are.
impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        self.number == other.number
    }
}

impl Display for Secret {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "?[{} {:?}]", self.number, self.facts)
    }
}

/// Makes secrets.
pub struct Hidden {
    random: Random,
    hides: bool,
}

impl Hidden {
    /// A context that hides some numbers, or none.
    pub fn new(seed: u64, hides: bool) -> Hidden {
        Hidden { random: Random(seed ^ 0x5eed), hides }
    }

    fn secret(&mut self, number: i64, is_extent: bool) -> Int<Secret> {
        if !self.hides || !self.random.sixteenths(6) {
            return Int::Known(number);
        }
        let divisors: Vec<_> = (1..=number.max(1)).filter(|n| number % n == 0).collect();
        let divisor = *divisors.last().expect("1 divides it");
        let divisor = if self.random.sixteenths(9) { divisor } else { self.random.pick(&divisors) };
        let slack = self.random.pick(&[0, 1, 5, i64::MAX]);
        let least = if is_extent && self.random.sixteenths(8) { 1 } else { 0 };
        let min = if self.random.sixteenths(8) { number } else { least.min(number) };
        let facts = Facts { divisor, min, max: number.saturating_add(slack) };
        match facts.min == facts.max {
            true => Int::Known(number),
            false => Int::Dynamic(Secret { number, facts }),
        }
    }

    pub fn hide(&mut self, layout: &Layout) -> LayoutOf<Hidden> {
        layout.map(&mut |mode| {
            let number = |int: &Int| int.known().expect("it is known");
            let extent = self.secret(number(&mode.extent), true);
            let scale = self.secret(number(&mode.stride.scale), false);
            Mode { extent, stride: Stride { scale, basis: mode.stride.basis.clone() } }
        })
    }

    pub fn hide_int(&mut self, number: i64) -> Int<Secret> {
        self.secret(number, false)
    }

    pub fn hide_shape(&mut self, shape: &Shape) -> ShapeOf<Hidden> {
        shape.map(&mut |extent| self.secret(extent.known().expect("it is known"), true))
    }

    pub fn hide_tiler(&mut self, tiler: &Tiler) -> Tiler<Secret> {
        match tiler {
            Tiler::Keep => Tiler::Keep,
            Tiler::Layout(layout) => Tiler::Layout(self.hide(layout)),
            Tiler::Modes(modes) => {
                Tiler::Modes(modes.iter().map(|mode| self.hide_tiler(mode)).collect())
            }
        }
    }

    pub fn reveal_int(&self, int: &Int<Secret>) -> i64 {
        match int {
            Int::Known(number) => *number,
            Int::Dynamic(secret) => secret.number,
        }
    }

    pub fn reveal(&self, layout: &LayoutOf<Hidden>) -> Layout {
        let known = layout.convert(&mut |secret| Some(Int::Known(secret.number)));
        known.expect("every secret has its number")
    }

    pub fn reveal_shape(&self, shape: &ShapeOf<Hidden>) -> Shape {
        shape.map(&mut |int| Int::Known(self.reveal_int(int)))
    }
}

impl Arith for Hidden {
    type Value = Secret;

    fn emit(&mut self, op: Op, a: &Int<Secret>, b: &Int<Secret>) -> Int<Secret> {
        assert!(a.known().is_none() || b.known().is_none(), "{op:?} of {a} and {b}");
        let facts = Facts::of(op, self.facts_of(a), self.facts_of(b));
        let [first, second] = [a, b].map(|int| Int::Known(self.reveal_int(int)));
        let number = Static.compute(op, &first, &second).expect("operands are small");
        let number = number.known().expect("both are known");
        let holds = facts.min <= number && number <= facts.max;
        let divides = number.checked_rem(facts.divisor).is_none_or(|rest| rest == 0);
        assert!(holds && divides, "{op:?} of {a} and {b} is {number}, and not as {facts:?}");
        Int::Dynamic(Secret { number, facts })
    }

    fn facts(&self, secret: &Secret) -> Facts {
        secret.facts
    }

    fn is_multiple(&self, a: &Int<Secret>, b: &Secret) -> bool {
        let number = self.reveal_int(a);
        // Sometimes it is not known.
        b.number != 0 && number % b.number == 0 && (number ^ b.number) & 3 != 1
    }

    fn is_product(&self, product: &Int<Secret>, a: &Int<Secret>, b: &Int<Secret>) -> bool {
        let [product, a, b] = [product, a, b].map(|int| self.reveal_int(int));
        product == a * b && (a ^ b) & 3 != 1
    }
}
