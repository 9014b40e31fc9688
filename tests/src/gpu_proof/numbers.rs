// SPDX-License-Identifier: Apache-2.0
//! The numbers that operations are tried with: those at which something changes, and some without a
//! meaning.

use super::input::{Drawn, Input};
use crate::random_plan::Rng;
use kernpack_kernel_ir::types::Class;
use kernpack_kernel_ir::{Const, Scalar};

/// How many have no meaning.
const N_ANY: usize = 12;
/// How many have none where each number is taken once.
const N_MORE: usize = 2000;
/// How many are taken by threes.
const N_FEW: usize = 20;

/// Numbers of a type, as bits. The first ones matter most.
pub fn numbers(scalar: Scalar) -> Vec<u64> {
    let mut bits = match scalar.class() {
        Class::Bool => return vec![0, 1],
        Class::Signed | Class::Unsigned => ints(scalar),
        Class::Float => floats(scalar),
    };
    let mut rng = Rng::new(u64::from(scalar.bits()));
    bits.extend((0..N_ANY).map(|_| rng.bits() & scalar.mask()));
    bits
}

fn ints(scalar: Scalar) -> Vec<u64> {
    let width = i64::from(scalar.bits());
    let (sign, half) = (1_i64 << (width - 1), 1 << (width / 2));
    let alternating = 0x5555_5555_5555_5555;
    let numbers = [
        0,
        1,
        -1,
        2,
        sign,
        sign.wrapping_sub(1),
        3,
        7,
        -2,
        -7,
        10,
        width - 1,
        width,
        width + 1,
        sign + 1,
        sign.wrapping_sub(2),
        half,
        half - 1,
        -half,
        alternating,
        !alternating,
        -3,
    ];
    numbers.map(|number| number as u64 & scalar.mask()).to_vec()
}

fn floats(scalar: Scalar) -> Vec<u64> {
    let format = scalar.float_format();
    let (mantissa_bits, bias) = (format.mantissa_bits, format.bias());
    let (sign, one) = (format.sign(), bias << mantissa_bits);
    let least_normal = 1 << mantissa_bits;
    let infinity = format.infinity();
    let of = |number: f64| Const::float(scalar, number).bits();
    let magnitudes = [
        0,
        one,
        infinity,
        of(f64::NAN),
        1,
        infinity - 1,
        of(1.5),
        least_normal,
        least_normal - 1,
        of(0.1),
        one + 1,
        one - 1,
        of(0.5),
        of(2.0),
        of(2.5),
        of(3.0),
        of(7.0),
        of(1.0 / 3.0),
        of(f64::from(mantissa_bits).exp2() + 1.0),
        infinity + 1,
    ];
    magnitudes.into_iter().flat_map(|bits| [bits, bits | sign]).collect()
}

/// Where floats leave the range of an integer type or get between two of its numbers.
fn borders(scalar: Scalar) -> Vec<u64> {
    if !scalar.is_float() {
        return vec![];
    }
    let powers = [7, 8, 15, 16, 24, 31, 32, 53, 63, 64].map(|power| f64::from(power).exp2());
    let near = powers.iter().flat_map(|power| [power - 1.0, power - 0.5, *power, power + 0.5]);
    let bits = near.map(|number| Const::float(scalar, number).bits());
    let sign = 1 << (scalar.bits() - 1);
    let beside = bits.flat_map(|bits| [bits.saturating_sub(1), bits, bits + 1]);
    beside.flat_map(|bits| [bits, bits | sign]).map(|bits| bits & scalar.mask()).collect()
}

/// What lies halfway between two numbers of some type of floats, and on either side of that.
fn ties(scalar: Scalar) -> Vec<u64> {
    let floats = Scalar::ALL.iter().filter(|to| to.is_float());
    let halfway = floats.flat_map(|to| match scalar.class() {
        Class::Bool => vec![],
        Class::Signed | Class::Unsigned => int_ties(scalar, *to),
        Class::Float => float_ties(scalar, *to),
    });
    let beside = halfway.flat_map(|bits| [bits.wrapping_sub(1), bits, bits.wrapping_add(1)]);
    let negative = |bits: u64| match scalar.is_float() {
        true => bits ^ 1 << (scalar.bits() - 1),
        false => bits.wrapping_neg(),
    };
    beside.flat_map(|bits| [bits, negative(bits)]).map(|bits| bits & scalar.mask()).collect()
}

fn int_ties(scalar: Scalar, to: Scalar) -> Vec<u64> {
    let mantissa_bits = to.float_format().mantissa_bits;
    let (first, last) = (mantissa_bits + 1, scalar.bits() - 1);
    let powers = [first, first + 1, (first + last) / 2, last.saturating_sub(1), last];
    let powers = powers.into_iter().filter(|power| (first..=last).contains(power));
    powers
        .flat_map(|power| {
            let half = 1_u64 << (power - first);
            [1, 3].map(|halves| (1 << power) + halves * half)
        })
        .collect()
}

fn float_ties(scalar: Scalar, to: Scalar) -> Vec<u64> {
    let format = to.float_format();
    let (mantissa_bits, bias) = (format.mantissa_bits as i32, format.bias() as i32);
    let of = |number: f64| Const::float(scalar, number).bits();
    // Of the usual kind, around the least with all bits, and among those with fewer.
    let exponents = [0, 7, 1 - bias, -bias, 1 - bias - mantissa_bits / 2];
    let near = exponents.into_iter().flat_map(|exponent| {
        let half = f64::from(exponent.max(1 - bias) - mantissa_bits - 1).exp2();
        [1.0, 3.0].map(|halves| f64::from(exponent).exp2() + halves * half)
    });
    let least = f64::from(-bias - mantissa_bits).exp2();
    // Where the largest number ends and infinity begins.
    let largest = f64::from(bias).exp2() * (2.0 - f64::from(-mantissa_bits - 1).exp2());
    near.chain([least, 3.0 * least, largest]).map(of).collect()
}

/// Many numbers, each once, and how many they are.
pub fn one_by_one(scalar: Scalar) -> (Input, usize) {
    let mut bits = numbers(scalar);
    if scalar != Scalar::Bool {
        bits.extend(borders(scalar).into_iter().chain(ties(scalar)));
        let more = Input::Drawn { seed: 1, kind: Drawn::Wide }.bytes(scalar, N_MORE);
        bits.extend(more.chunks(scalar.bytes() as usize).map(number_of));
    }
    let count = bits.len();
    (Input::Listed { bits, each: 1 }, count)
}

/// The bits that lie in memory.
pub fn number_of(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// Every tuple of numbers of these types, and how many there are. Of three operands and more, each
/// has the few that matter most.
pub fn tuples(scalars: &[Scalar]) -> (Vec<Input>, usize) {
    let most = if scalars.len() > 2 { N_FEW } else { usize::MAX };
    let mut each = 1;
    let mut inputs = Vec::new();
    for scalar in scalars.iter().rev() {
        let mut bits = numbers(*scalar);
        bits.truncate(most);
        let n_numbers = bits.len();
        inputs.push(Input::Listed { bits, each });
        each *= n_numbers;
    }
    inputs.reverse();
    (inputs, each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_all_there_are() {
        let (inputs, count) = tuples(&[Scalar::I8, Scalar::Bool]);
        let [a, b] = [(0, Scalar::I8), (1, Scalar::Bool)]
            .map(|(place, scalar)| inputs[place].bytes(scalar, count));
        let mut pairs: Vec<_> = a.iter().zip(&b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut different = numbers(Scalar::I8);
        different.sort_unstable();
        different.dedup();
        assert_eq!(pairs.len(), different.len() * 2);
    }

    #[test]
    fn halves_are_among_them() {
        let has = |number: Const| match one_by_one(number.scalar()).0 {
            Input::Listed { bits, .. } => bits.contains(&number.bits()),
            Input::Drawn { .. } => false,
        };
        let float = |scalar, power: i32, number| Const::float(scalar, number + 0.5_f64.powi(power));
        // Between 1 and the next float16, the largest and infinity, 0 and the least one.
        assert!(has(float(Scalar::F32, 11, 1.0)) && has(Const::float(Scalar::F32, 65520.0)));
        assert!(has(float(Scalar::F32, 25, 0.0)) && has(float(Scalar::F64, 150, 0.0)));
        assert!(has(Const::int(Scalar::I32, (1 << 24) + 1)));
        assert!(has(Const::int(Scalar::U64, (1 << 54) + 2)));
        assert!(has(Const::int(Scalar::I64, -(1 << 24) - 1)));
    }

    #[test]
    fn numbers_are_of_their_type() {
        for scalar in Scalar::ALL {
            let (input, count) = one_by_one(*scalar);
            let Input::Listed { bits, .. } = input else { unreachable!("they are listed") };
            assert!(bits.iter().all(|bits| bits & !scalar.mask() == 0), "{scalar}");
            assert_eq!(bits.len(), count);
        }
    }
}
