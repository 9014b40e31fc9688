// SPDX-License-Identifier: Apache-2.0
//! Operations on numbers against exact arithmetic.

mod exact;
mod floats;
mod ints;

use super::*;

/// Any bits, the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Marsaglia, "Xorshift RNGs".
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn of(op: Binary, scalar: Scalar, a: u64, b: u64) -> u64 {
    binary(op, Const::from_bits(scalar, a), Const::from_bits(scalar, b)).bits()
}

#[test]
fn bits_beyond_a_type_do_not_count() {
    let mut random = Random(3);
    for scalar in Scalar::ALL {
        let bits: Vec<u64> = (0..64).map(|_| random.next()).collect();
        let other: Vec<u64> = (0..64).map(|_| random.next()).collect();
        let masked =
            |bits: &[u64]| bits.iter().map(|bits| bits & scalar.mask()).collect::<Vec<_>>();
        let (mut given, mut expected) = ([0; 64], [0; 64]);
        for op in Binary::ALL.iter().filter(|op| is_defined(**op, *scalar)) {
            binary_lanes(*op, *scalar, &bits, &other, &mut given);
            binary_lanes(*op, *scalar, &masked(&bits), &masked(&other), &mut expected);
            assert_eq!(given, expected, "{} of {scalar}", op.name());
            assert_eq!(given.to_vec(), masked(&given));
        }
        for op in Compare::ALL {
            compare_lanes(*op, *scalar, &bits, &other, &mut given);
            compare_lanes(*op, *scalar, &masked(&bits), &masked(&other), &mut expected);
            assert_eq!(given, expected, "{} of {scalar}", op.name());
        }
        for (to, how) in
            Scalar::ALL.iter().flat_map(|to| Rounding::ALL.iter().map(move |how| (to, how)))
        {
            convert_lanes(*scalar, *to, *how, &bits, &mut given);
            convert_lanes(*scalar, *to, *how, &masked(&bits), &mut expected);
            assert_eq!(given, expected, "{scalar} to {to}");
            assert!(given.iter().all(|bits| bits & !to.mask() == 0), "{scalar} to {to}");
        }
    }
}

/// Whether an operation is one of that type's.
fn is_defined(op: Binary, scalar: Scalar) -> bool {
    match op {
        Binary::And | Binary::Or | Binary::Xor => !scalar.is_float(),
        Binary::Div => scalar.is_float(),
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max => {
            scalar != Scalar::Bool
        }
        Binary::FloorDiv | Binary::FloorMod | Binary::MulHigh | Binary::Shl | Binary::Shr => {
            scalar.is_int()
        }
    }
}

#[test]
fn truth_values_are_bits() {
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(of(Binary::And, Scalar::Bool, a, b), u64::from(a == 1 && b == 1));
        assert_eq!(of(Binary::Or, Scalar::Bool, a, b), u64::from(a == 1 || b == 1));
        assert_eq!(of(Binary::Xor, Scalar::Bool, a, b), u64::from(a != b));
        let [a, b] = [a, b].map(|bits| Const::from_bits(Scalar::Bool, bits));
        assert_eq!(compare(Compare::Lt, a, b), a.bits() < b.bits());
        assert_eq!(unary(Unary::Not, a).bits(), 1 - a.bits());
        for to in Scalar::ALL {
            let one = Const::int(*to, a.bits() as i64);
            assert_eq!(convert(a, *to, Rounding::Down), one);
            assert_eq!(convert(one, Scalar::Bool, Rounding::Up), a);
        }
    }
    let nan = Const::float(Scalar::F32, f64::NAN);
    assert_eq!(convert(nan, Scalar::Bool, Rounding::Zero), Const::bool(true));
    let zero = Const::float(Scalar::F32, -0.0);
    assert_eq!(convert(zero, Scalar::Bool, Rounding::Zero), Const::bool(false));
}
