// SPDX-License-Identifier: Apache-2.0
//! What kernels are given: numbers that a rule makes, so that they are written down as a rule and
//! made again where they are needed. `tests/gpu/replay_kernels.py` has the same rules in Python.
//!
//! A rule gives as many elements as are asked for, and the first ones of more are those of fewer.

use crate::random_plan::Rng;
use kernpack_kernel_ir::types::Class;
use kernpack_kernel_ir::{Const, Scalar};
use serde_json::{Value as Json, json};

/// A rule that makes elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Each of these bits so many times in a row, all of them again and again.
    Listed {
        /// The bits of the numbers.
        bits: Vec<u64>,
        /// How many times.
        each: usize,
    },
    /// Drawn from a seed.
    Drawn {
        /// The seed.
        seed: u64,
        /// Which numbers.
        kind: Drawn,
    },
}

/// Which numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Small ones, and any now and then.
    Small,
    /// Of floats as many near 1 as anywhere, by their exponents; of others any.
    Wide,
}

impl Drawn {
    const fn name(self) -> &'static str {
        match self {
            Drawn::Small => "small",
            Drawn::Wide => "wide",
        }
    }

    /// The number that two draws make.
    fn number(self, scalar: Scalar, choice: u64, bits: u64) -> Const {
        match (self, scalar.class()) {
            (_, Class::Bool) => Const::from_bits(scalar, bits),
            (Drawn::Small, _) if choice.is_multiple_of(4) => Const::from_bits(scalar, bits),
            (Drawn::Small, Class::Float) => {
                Const::float(scalar, ((bits % 257) as f64 - 128.0) / 16.0)
            }
            (Drawn::Small, Class::Signed | Class::Unsigned) => {
                Const::int(scalar, (bits % 33) as i64 - 16)
            }
            (Drawn::Wide, Class::Float) if choice % 2 == 1 => near_one(scalar, choice, bits),
            (Drawn::Wide, _) => Const::from_bits(scalar, bits),
        }
    }
}

/// How many powers of two a number near 1 is away from it at most, where its type has as many.
const MOST_POWERS: u64 = 24;

fn near_one(scalar: Scalar, choice: u64, bits: u64) -> Const {
    let format = scalar.float_format();
    let (mantissa_bits, bias) = (format.mantissa_bits, format.bias());
    let most = MOST_POWERS.min(bias - 1);
    let exponent = bias - most + (choice >> 1) % (2 * most);
    let sign = bits >> 63 << (scalar.bits() - 1);
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    Const::from_bits(scalar, sign | exponent << mantissa_bits | mantissa)
}

impl Input {
    /// So many elements, as they lie in memory.
    pub fn bytes(&self, scalar: Scalar, count: usize) -> Vec<u8> {
        let n_bytes = scalar.bytes() as usize;
        let mut bytes = Vec::with_capacity(count * n_bytes);
        let mut add = |bits: u64| bytes.extend_from_slice(&bits.to_le_bytes()[..n_bytes]);
        match self {
            Input::Listed { bits, each } => {
                (0..count).for_each(|i| add(bits[i / each % bits.len()]));
            }
            Input::Drawn { seed, kind } => {
                let mut rng = Rng::new(*seed);
                for _ in 0..count {
                    let (choice, bits) = (rng.bits(), rng.bits());
                    add(kind.number(scalar, choice, bits).bits());
                }
            }
        }
        bytes
    }

    /// The rule, as the manifest has it.
    pub fn json(&self, scalar: Scalar) -> Json {
        match self {
            Input::Listed { bits, each } => {
                let digits = scalar.bytes() as usize * 2;
                let hex: String = bits.iter().map(|bits| format!("{bits:0digits$x}")).collect();
                json!({"listed": hex, "each": each})
            }
            Input::Drawn { seed, kind } => json!({"drawn": kind.name(), "seed": seed}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn expect_input(input: &Input, scalar: Scalar, expected: &Expect) {
        let bytes = input.bytes(scalar, 8);
        let numbers = bytes.chunks(scalar.bytes() as usize).map(|chunk| {
            let mut bits = [0; 8];
            bits[..chunk.len()].copy_from_slice(chunk);
            Const::from_bits(scalar, u64::from_le_bytes(bits)).to_string()
        });
        expected.assert_eq(&numbers.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn rules_give_these() {
        let listed = Input::Listed { bits: vec![1, 2, 0xff], each: 2 };
        expect_input(&listed, Scalar::I8, &expect!["1 1 2 2 -1 -1 1 1"]);
        let small = Input::Drawn { seed: 1, kind: Drawn::Small };
        expect_input(
            &small,
            Scalar::I64,
            &expect!["3 13 7 -13 -3800091893662914666 0 -8668512467949215094 3081251696030599739"],
        );
        expect_input(
            &small,
            Scalar::BF16,
            &expect![
                "6.375 7.125 0.0625 3.75 1.4167099448608936e24 -7.5 -3.74049749507499e-18 3063808.0"
            ],
        );
        let wide = Input::Drawn { seed: 1, kind: Drawn::Wide };
        expect_input(
            &wide,
            Scalar::F16,
            &expect![
                "-0.0010747909545898438 -10.0859375 -6.5 -0.08526611328125 1942.0 -0.00012195110321044922 -0.0127716064453125 12.4609375"
            ],
        );
        expect_input(&wide, Scalar::U8, &expect!["103 11 128 117 150 254 138 59"]);
    }

    #[test]
    fn fewer_elements_are_the_first_of_more() {
        let input = Input::Drawn { seed: 7, kind: Drawn::Small };
        let more = input.bytes(Scalar::F32, 100);
        assert_eq!(input.bytes(Scalar::F32, 10), more[..40]);
    }
}
