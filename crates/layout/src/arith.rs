// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on integers of which some are not known.
//!
//! The algebra asks a context for every number that it makes. What is known is computed here, and
//! so is what follows from the facts: `x * 1`, `x % 8` where 8 divides `x`, `x / 64` where `x` is
//! below 64. For the rest, the context makes a value: it emits an operation into an IR, or writes
//! down an expression.
//!
//! Deliberately absent: any opinion on how values are represented. Whoever implements [`Arith`] has
//! that, and answers for the facts.

use crate::error::{Error, Result, text};
use crate::facts::Facts;
use crate::int::{Int, Value};
use std::convert::Infallible;

/// The operations that layouts take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, rounded down
    Div,
    /// `a / b`, rounded up
    CeilDiv,
    /// `a - (a / b) * b`, which has the sign of `b`
    Rem,
    /// The smaller of both.
    Min,
    /// The larger of both.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    Xor,
    /// `a * 2**b`
    Shl,
    /// `a / 2**b`, rounded down
    Shr,
}

impl Op {
    /// The name, as CuTe's functions have it.
    pub fn name(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Div => "floor_div",
            Op::CeilDiv => "ceil_div",
            Op::Rem => "mod",
            Op::Min => "min",
            Op::Max => "max",
            Op::And => "and",
            Op::Xor => "xor",
            Op::Shl => "shl",
            Op::Shr => "shr",
        }
    }

    /// The result, where it fits 64 bits and there is one.
    fn evaluate(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div => floor_div(a, b),
            Op::CeilDiv => Some(floor_div(a, b)? + i64::from(a % b != 0)),
            Op::Rem => match b {
                0 => None,
                // The one quotient that does not fit has the remainder 0.
                -1 => Some(0),
                _ => {
                    let rest = a.checked_rem(b)?;
                    let is_below = rest != 0 && (rest < 0) != (b < 0);
                    Some(if is_below { rest + b } else { rest })
                }
            },
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
            Op::And => Some(a & b),
            Op::Xor => Some(a ^ b),
            Op::Shl => a.checked_mul(if (0..63).contains(&b) { 1 << b } else { return None }),
            Op::Shr => a.checked_shr(u32::try_from(b).ok()?),
        }
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let is_below = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i64::from(is_below))
}

/// A context in which integers are computed.
///
/// Two methods are to be written, [`emit`](Arith::emit) and [`facts`](Arith::facts), and two may
/// be,
/// [`is_multiple`](Arith::is_multiple) and [`is_product`](Arith::is_product), by whoever knows
/// how its values were made. The others are what the algebra calls.
pub trait Arith {
    /// A number that is not known.
    type Value: Value;

    /// The result of an operation of which at least one operand is not known, and whose result does
    /// not follow from the facts. It is called once for each result, which need not be used.
    fn emit(&mut self, op: Op, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Int<Self::Value>;

    /// The facts of a value. [`Facts::of`] has those of a result.
    fn facts(&self, value: &Self::Value) -> Facts;

    /// Whether `b`, of which the value is not known, divides `a`: beyond what the facts say.
    fn is_multiple(&self, a: &Int<Self::Value>, b: &Self::Value) -> bool {
        let _ = (a, b);
        false
    }

    /// Whether `product` is `a * b`: beyond what can be seen without knowing how it was made.
    fn is_product(
        &self,
        product: &Int<Self::Value>,
        a: &Int<Self::Value>,
        b: &Int<Self::Value>,
    ) -> bool {
        let _ = (product, a, b);
        false
    }

    /// The facts of an integer.
    fn facts_of(&self, int: &Int<Self::Value>) -> Facts {
        match int {
            Int::Known(number) => Facts::of_number(*number),
            Int::Dynamic(value) => self.facts(value),
        }
    }

    /// Whether `b` is known to divide `a`, exactly.
    fn divides(&self, b: &Int<Self::Value>, a: &Int<Self::Value>) -> bool {
        match b {
            Int::Known(number) => self.facts_of(a).is_multiple_of(*number),
            Int::Dynamic(_) if a.is(0) => true,
            Int::Dynamic(value) => a == b || self.is_multiple(a, value),
        }
    }

    /// Whether `a * b` is known to be `product`. Nothing is emitted to find out.
    fn is_product_of(
        &self,
        product: &Int<Self::Value>,
        a: &Int<Self::Value>,
        b: &Int<Self::Value>,
    ) -> bool {
        match (a, b) {
            (Int::Known(a), Int::Known(b)) => match (a.checked_mul(*b), product) {
                (Some(number), product) => product.is(number),
                (None, _) => false,
            },
            (Int::Known(1), other) | (other, Int::Known(1)) if other == product => true,
            (_, _) => self.is_product(product, a, b),
        }
    }

    /// `a + b`
    fn add(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        match (a, b) {
            (Int::Known(0), other) | (other, Int::Known(0)) => Ok(other.clone()),
            (_, _) => self.compute(Op::Add, a, b),
        }
    }

    /// `a - b`
    fn sub(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        match (a, b) {
            (_, Int::Known(0)) => Ok(a.clone()),
            (_, _) if a == b => Ok(Int::Known(0)),
            (_, _) => self.compute(Op::Sub, a, b),
        }
    }

    /// `a * b`
    fn mul(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        match (a, b) {
            (Int::Known(0), _) | (_, Int::Known(0)) => Ok(Int::Known(0)),
            (Int::Known(1), other) | (other, Int::Known(1)) => Ok(other.clone()),
            (_, _) => self.compute(Op::Mul, a, b),
        }
    }

    /// `a / b`, rounded down.
    fn div(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        match (a, b) {
            (_, Int::Known(0)) => Err(Error::DivisionByZero { op: Op::Div.name(), a: text(a) }),
            (_, Int::Known(1)) => Ok(a.clone()),
            (Int::Known(0), _) => Ok(Int::Known(0)),
            (_, _) if a == b => Ok(Int::Known(1)),
            (_, _) => self.compute(Op::Div, a, b),
        }
    }

    /// `a / b`, rounded up.
    fn ceil_div(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        match b {
            Int::Known(0) => Err(Error::DivisionByZero { op: Op::CeilDiv.name(), a: text(a) }),
            _ if self.divides(b, a) => self.div(a, b),
            Int::Known(_) | Int::Dynamic(_) => self.compute(Op::CeilDiv, a, b),
        }
    }

    /// The rest of `a / b`, rounded down.
    fn rem(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        let (of_a, of_b) = (self.facts_of(a), self.facts_of(b));
        match b {
            Int::Known(0) => Err(Error::DivisionByZero { op: Op::Rem.name(), a: text(a) }),
            _ if self.divides(b, a) => Ok(Int::Known(0)),
            _ if of_a.min >= 0 && of_a.max < of_b.min => Ok(a.clone()),
            Int::Known(_) | Int::Dynamic(_) => self.compute(Op::Rem, a, b),
        }
    }

    /// The smaller of both.
    fn min(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        let (of_a, of_b) = (self.facts_of(a), self.facts_of(b));
        match () {
            () if a == b || of_a.max <= of_b.min => Ok(a.clone()),
            () if of_b.max <= of_a.min => Ok(b.clone()),
            () => self.compute(Op::Min, a, b),
        }
    }

    /// The larger of both.
    fn max(&mut self, a: &Int<Self::Value>, b: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        let (of_a, of_b) = (self.facts_of(a), self.facts_of(b));
        match () {
            () if a == b || of_a.min >= of_b.max => Ok(a.clone()),
            () if of_b.min >= of_a.max => Ok(b.clone()),
            () => self.compute(Op::Max, a, b),
        }
    }

    /// The number without its sign.
    fn abs(&mut self, a: &Int<Self::Value>) -> Result<Int<Self::Value>> {
        if self.facts_of(a).min >= 0 {
            return Ok(a.clone());
        }
        let negated = self.sub(&Int::Known(0), a)?;
        self.max(a, &negated)
    }

    /// An operation on numbers that are known, or whose result follows from bounds; or else
    /// emitted.
    fn compute(
        &mut self,
        op: Op,
        a: &Int<Self::Value>,
        b: &Int<Self::Value>,
    ) -> Result<Int<Self::Value>> {
        if let (Int::Known(first), Int::Known(second)) = (a, b) {
            let result = op.evaluate(*first, *second);
            let overflow = || Error::Overflow { op: op.name(), a: text(a), b: text(b) };
            return result.map(Int::Known).ok_or_else(overflow);
        }
        match Facts::of(op, self.facts_of(a), self.facts_of(b)).known() {
            Some(number) => Ok(Int::Known(number)),
            None => Ok(self.emit(op, a, b)),
        }
    }
}

/// The context in which every number is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Static;

impl Arith for Static {
    type Value = Infallible;

    fn emit(&mut self, op: Op, a: &Int, b: &Int) -> Int {
        match (op, a, b) {
            (_, Int::Dynamic(value), _) | (_, _, Int::Dynamic(value)) => match *value {},
            // It is asked for nothing that is known; this is what it would be.
            (op, Int::Known(a), Int::Known(b)) => Int::Known(op.evaluate(*a, *b).unwrap_or(0)),
        }
    }

    fn facts(&self, value: &Infallible) -> Facts {
        match *value {}
    }
}
