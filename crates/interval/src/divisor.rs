// SPDX-License-Identifier: Apache-2.0
//! What divides numbers. Everything divides 0, and 0 divides nothing else.

/// The largest number that divides both; of 0 and a number, the number.
pub const fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least number that both divide, or the larger one where that has more bits than there are.
pub(crate) fn least_common_multiple(a: u128, b: u128) -> u128 {
    match (a, b) {
        (0, _) | (_, 0) => 0,
        (a, b) => (a / greatest_common_divisor(a, b)).checked_mul(b).unwrap_or(a.max(b)),
    }
}

/// The largest power of two that divides a number, up to what every type of 64 bits has values for.
pub const fn power_of_two_in(divisor: u128) -> u128 {
    match divisor.trailing_zeros() {
        zeros @ 0..63 => 1 << zeros,
        _ if divisor == 0 => 1,
        _ => 1 << 63,
    }
}

/// The least multiple of a number that is not less.
pub(crate) fn up_to(bound: i128, divisor: i128) -> i128 {
    let more = (divisor - bound.rem_euclid(divisor)) % divisor;
    bound.saturating_add(more)
}

/// The largest multiple of a number that is not more.
pub(crate) fn down_to(bound: i128, divisor: i128) -> i128 {
    bound.saturating_sub(bound.rem_euclid(divisor))
}
