// SPDX-License-Identifier: Apache-2.0
//! Bits of integers.

use super::{Accepts, Intrinsic, Meaning, pure};
use crate::constant::Const;

const fn row(name: &'static str, doc: &'static str, meaning: fn(&[Const]) -> Const) -> Intrinsic {
    pure(name, doc, &[Accepts::Int], Meaning::Pure(meaning))
}

fn of(operands: &[Const], function: impl Fn(u64, u32) -> u64) -> Const {
    let scalar = operands[0].scalar();
    Const::from_bits(scalar, function(operands[0].bits(), scalar.bits()))
}

pub(super) const ROWS: &[Intrinsic] = &[
    row("popcount", "How many bits are 1.", |x| of(x, |bits, _| u64::from(bits.count_ones()))),
    row("clz", "How many bits above the highest 1 are 0: all where there is no 1.", |x| {
        of(x, |bits, width| u64::from(bits.leading_zeros() - (64 - width)))
    }),
    row("ctz", "How many bits below the lowest 1 are 0: all where there is no 1.", |x| {
        of(x, |bits, width| u64::from(bits.trailing_zeros().min(width)))
    }),
    row("reverse_bits", "The bits in the opposite order.", |x| {
        of(x, |bits, width| bits.reverse_bits() >> (64 - width))
    }),
];
