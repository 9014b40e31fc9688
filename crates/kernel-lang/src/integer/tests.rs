// SPDX-License-Identifier: Apache-2.0
//! Integers of any size, held against those of 128 bits and against numbers that Python gives.

use super::*;

fn int(text: &str) -> Integer {
    match text.strip_prefix('-') {
        Some(text) => -&Integer::parse(text).expect("digits"),
        None => Integer::parse(text).expect("digits"),
    }
}

#[test]
fn operations_are_those_of_128_bits() {
    let near = [-9_i128, -8, -7, -2, -1, 0, 1, 2, 3, 7, 8, 1 << 40, (1 << 62) - 1, -(1 << 62)];
    for a in near {
        for b in near {
            let (x, y) = (Integer::from(a), Integer::from(b));
            let small = |result: Option<Integer>| result.and_then(|result| result.small());
            assert_eq!(small(x.add(&y)), a.checked_add(b));
            assert_eq!(small(x.sub(&y)), a.checked_sub(b));
            assert_eq!(small(x.mul(&y)), a.checked_mul(b));
            let floor = |a: i128, b: i128| a / b - i128::from(a % b != 0 && (a < 0) != (b < 0));
            assert_eq!(small(x.floor_div(&y)), (b != 0).then(|| floor(a, b)));
            assert_eq!(small(x.ceil_div(&y)), (b != 0).then(|| -floor(-a, b)));
            assert_eq!(small(x.floor_mod(&y)), (b != 0).then(|| a - floor(a, b) * b));
            assert_eq!(x.and(&y).small(), Some(a & b));
            assert_eq!(x.or(&y).small(), Some(a | b));
            assert_eq!(x.xor(&y).small(), Some(a ^ b));
            assert_eq!(x.cmp(&y), a.cmp(&b));
            if let Ok(count @ 0..=60) = u32::try_from(b) {
                assert_eq!(small(x.shl(&y)), a.checked_mul(1 << count));
                assert_eq!(small(x.shr(&y)), Some(a >> count));
                assert_eq!(small(x.pow(&y)), a.checked_pow(count), "{a} ** {b}");
            }
        }
        let x = Integer::from(a);
        assert_eq!(((-&x).small(), (!&x).small()), (Some(-a), Some(!a)));
        assert_eq!(x.low_bits(), a as u64);
    }
}

#[test]
fn large_numbers_are_pythons() {
    let ten = Integer::from(10);
    let large = ten.pow(&Integer::from(40)).expect("it is small enough");
    assert_eq!(large.to_string(), format!("1{}", "0".repeat(40)));
    assert_eq!(large.floor_mod(&Integer::from(7)), Some(Integer::from(4)));
    let digits = "123456789012345678901234567890123456789012345678901234567890";
    assert_eq!(int(digits).floor_mod(&int("-1000000007")), Some(int("-952897125")));
    let hex = int("0xFFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF");
    assert_eq!(hex.shr(&Integer::from(130)), Some(Integer::from(16383)));
    assert_eq!(hex.low_bits(), u64::MAX);
    let negative = -&large;
    assert_eq!(negative.low_bits(), 0_u64.wrapping_sub(large.low_bits()));
    assert_eq!(int(&"9".repeat(90)).to_string(), format!("{0}...{0} (90 digits)", "9".repeat(20)));
}

#[test]
fn what_is_too_large_is_refused_before_it_is_computed() {
    let nine = Integer::from(9);
    let power = nine.pow(&nine).expect("387420489");
    assert_eq!(nine.pow(&power), None);
    let one = Integer::from(1);
    assert_eq!(one.shl(&power), None);
    assert_eq!(nine.shl(&Integer::from(-1)), None);
    assert_eq!(one.pow(&power), Some(Integer::from(1)));
    assert_eq!(Integer::from(-1).pow(&power), Some(Integer::from(-1)));
    assert_eq!(Integer::from(0).shl(&power), Some(Integer::from(0)));
    assert_eq!(Integer::from(-5).shr(&power), Some(Integer::from(-1)));
    let largest = one.shl(&Integer::from(MOST_BITS - 1)).expect("as many bits as there may be");
    assert_eq!(largest.add(&largest), None);
    assert_eq!(largest.mul(&Integer::from(2)), None);
    assert!(Integer::parse(&"9".repeat(20_000)).is_none());
    assert!(Integer::parse(&"9".repeat(MOST_DIGITS + 1)).is_none());
}

#[test]
fn floats_are_the_nearest() {
    let near_half = int("16777217");
    assert_eq!(near_half.to_float(Scalar::F32), Const::float(Scalar::F32, 16777216.0));
    // Rounded to a float64 first, it would be halfway between two float32.
    let tie = int("1237940113072356569737330689");
    let text: f32 = tie.to_string().parse().expect("a float");
    assert_eq!(tie.to_float(Scalar::F32), Const::float(Scalar::F32, f64::from(text)));
    for exponent in [60_u32, 90, 126, 127, 200, 1023] {
        for low in [-3_i128, -1, 0, 1, 2] {
            let two = Integer::from(2).pow(&Integer::from(exponent)).expect("small enough");
            let number = two.add(&Integer::from((1_i128 << (exponent.min(100) - 24)) + low));
            let number = number.expect("small enough");
            let digits = number.0.to_string();
            let wide: f64 = digits.parse().expect("a float");
            assert_eq!(number.to_float(Scalar::F64), Const::float(Scalar::F64, wide), "{digits}");
            let narrow: f32 = digits.parse().expect("a float");
            let narrow = Const::float(Scalar::F32, f64::from(narrow));
            assert_eq!(number.to_float(Scalar::F32), narrow, "{digits}");
        }
    }
    let between = int("9007199254740993");
    let rounded = |int: &Integer, rounding| int.to_float64(rounding);
    assert_eq!(rounded(&between, Rounding::Zero), 9007199254740992.0);
    assert_eq!(rounded(&between, Rounding::Up), 9007199254740994.0);
    assert_eq!(rounded(&-&between, Rounding::Up), -9007199254740992.0);
    assert_eq!(rounded(&-&between, Rounding::Down), -9007199254740994.0);
    let huge = Integer::from(10).pow(&Integer::from(400)).expect("small enough");
    assert_eq!(huge.nearest(), None);
    assert_eq!(rounded(&huge, Rounding::Zero), f64::MAX);
    assert_eq!(rounded(&huge, Rounding::Up), f64::INFINITY);
    assert_eq!((-&huge).to_float(Scalar::F64), Const::float(Scalar::F64, f64::NEG_INFINITY));
    assert_eq!(huge.to_float(Scalar::F16), Const::float(Scalar::F16, f64::INFINITY));
}

#[test]
fn comparisons_with_floats_are_exact() {
    let large = int("100000000000000001");
    assert_eq!(large.compare_float(1e17), Some(Ordering::Greater));
    assert_eq!(int("100000000000000000").compare_float(1e17), Some(Ordering::Equal));
    assert_eq!(Integer::from(-2).compare_float(-1.5), Some(Ordering::Less));
    assert_eq!(Integer::from(-1).compare_float(-1.5), Some(Ordering::Greater));
    assert_eq!(large.compare_float(f64::INFINITY), Some(Ordering::Less));
    assert_eq!(large.compare_float(f64::NEG_INFINITY), Some(Ordering::Greater));
    assert_eq!(large.compare_float(f64::NAN), None);
}
