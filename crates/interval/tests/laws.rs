// SPDX-License-Identifier: Apache-2.0
//! Every operation on intervals against the numbers in them: all of those between some small
//! bounds, and random ones of up to 64 bits.

use kernpack_interval::{Interval, greatest_common_divisor, power_of_two_in};

/// An operation on two numbers, which may have no result, and the one on intervals.
struct Operation {
    name: &'static str,
    of_numbers: fn(i128, i128) -> Option<i128>,
    of_intervals: fn(Interval, Interval) -> Option<Interval>,
    /// Whether the bounds are always those of the results, as far as no divisor is known.
    is_tight: bool,
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(quotient - i128::from(a % b != 0 && (a < 0) != (b < 0)))
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "+",
        of_numbers: |a, b| Some(a + b),
        of_intervals: |a, b| Some(a + b),
        is_tight: true,
    },
    Operation {
        name: "-",
        of_numbers: |a, b| Some(a - b),
        of_intervals: |a, b| Some(a - b),
        is_tight: true,
    },
    Operation {
        name: "*",
        of_numbers: i128::checked_mul,
        of_intervals: |a, b| Some(a * b),
        is_tight: true,
    },
    Operation {
        name: "min",
        of_numbers: |a, b| Some(a.min(b)),
        of_intervals: |a, b| Some(a.smaller(b)),
        is_tight: true,
    },
    Operation {
        name: "max",
        of_numbers: |a, b| Some(a.max(b)),
        of_intervals: |a, b| Some(a.larger(b)),
        is_tight: true,
    },
    Operation {
        name: "//",
        of_numbers: floor_div,
        of_intervals: Interval::floor_div,
        is_tight: true,
    },
    Operation {
        name: "ceil_div",
        of_numbers: |a, b| Some(-floor_div(-a, b)?),
        of_intervals: Interval::ceil_div,
        is_tight: true,
    },
    Operation {
        name: "%",
        of_numbers: |a, b| Some(a - floor_div(a, b)? * b),
        of_intervals: Interval::floor_mod,
        is_tight: false,
    },
    Operation {
        name: "&",
        of_numbers: |a, b| Some(a & b),
        of_intervals: |a, b| Some(a & b),
        is_tight: false,
    },
    Operation {
        name: "|",
        of_numbers: |a, b| Some(a | b),
        of_intervals: |a, b| Some(a | b),
        is_tight: false,
    },
    Operation {
        name: "^",
        of_numbers: |a, b| Some(a ^ b),
        of_intervals: |a, b| Some(a ^ b),
        is_tight: false,
    },
    Operation {
        name: "hull",
        of_numbers: |a, _| Some(a),
        of_intervals: |a, b| Some(a.hull(b)),
        is_tight: false,
    },
    Operation {
        name: "hull of the other",
        of_numbers: |_, b| Some(b),
        of_intervals: |a, b| Some(a.hull(b)),
        is_tight: false,
    },
    Operation {
        name: "widened",
        of_numbers: |_, b| Some(b),
        of_intervals: |a, b| Some(a.widened(b, Interval::ANY)),
        is_tight: false,
    },
    Operation {
        name: "meet",
        of_numbers: |a, b| (a == b).then_some(a),
        of_intervals: Interval::meet,
        is_tight: false,
    },
];

/// Every interval between small bounds of which there is a number.
fn small() -> Vec<Interval> {
    const MOST: i128 = 5;
    let mut all = Vec::new();
    for min in -MOST..=MOST {
        for max in min..=MOST {
            all.extend([1, 2, 3, 4].map(|divisor| Interval::new(min, max).with_divisor(divisor)));
        }
    }
    all.retain(|one| numbers(*one).next().is_some());
    all
}

fn numbers(of: Interval) -> impl Iterator<Item = i128> + Clone {
    (of.min..=of.max).filter(move |number| of.contains(*number))
}

fn expect_in(result: Option<Interval>, number: i128, what: impl FnOnce() -> String) {
    assert!(result.is_some_and(|all| all.contains(number)), "{}: {number}, {result:?}", what());
}

#[test]
fn small_intervals_have_every_result() {
    let small = small();
    for operation in OPERATIONS {
        for (a, b) in small.iter().flat_map(|a| small.iter().map(move |b| (*a, *b))) {
            let result = (operation.of_intervals)(a, b);
            let (mut least, mut most) = (i128::MAX, i128::MIN);
            for (x, y) in numbers(a).flat_map(|x| numbers(b).map(move |y| (x, y))) {
                let Some(number) = (operation.of_numbers)(x, y) else { continue };
                expect_in(result, number, || format!("{x} {} {y}", operation.name));
                (least, most) = (least.min(number), most.max(number));
            }
            if operation.is_tight && (a.divisor, b.divisor) == (1, 1) && least <= most {
                let bounds = result.map(|all| (all.min, all.max));
                assert_eq!(bounds, Some((least, most)), "{a:?} {} {b:?}", operation.name);
            }
        }
    }
}

#[test]
fn small_intervals_have_every_result_of_one_number() {
    for a in small() {
        for x in numbers(a) {
            expect_in(Some(-a), -x, || format!("-{x}"));
            expect_in(Some(a.abs()), x.abs(), || format!("abs({x})"));
            expect_in(Some(a.shifted_right_by_any()), x >> 1, || format!("{x} >> 1"));
            expect_in(Some(a.shifted_right_by_any()), x >> 70, || format!("{x} >> 70"));
            for count in 0..4 {
                expect_in(Some(a.shifted_left(count)), x << count, || format!("{x} << {count}"));
                expect_in(Some(a.shifted_right(count)), x >> count, || format!("{x} >> {count}"));
            }
            let two = Interval::of_bits(2, true);
            expect_in(Some(a.wrapped(two)), (x + 2).rem_euclid(4) - 2, || format!("{x} wrapped"));
            if two.contains(x) {
                expect_in(Some(a.clamped(two)), x, || format!("{x} clamped"));
            }
            assert_eq!(a.positive().is_some_and(|all| all.contains(x)), x > 0);
        }
    }
}

#[test]
fn a_meeting_has_multiples_as_its_bounds() {
    let small = small();
    for (a, b) in small.iter().flat_map(|a| small.iter().map(move |b| (*a, *b))) {
        let both: Vec<_> = numbers(a).filter(|number| b.contains(*number)).collect();
        let bounds = a.meet(b).map(|all| (all.min, all.max));
        let expected = both.first().copied().zip(both.last().copied());
        assert_eq!(bounds, expected, "{a:?} and {b:?}");
    }
}

/// Numbers that look random, each time the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of up to 64 bits, often with few of them, or near the ends of a type.
    fn number(&mut self) -> i128 {
        let places = self.next() % 64;
        let small = i128::from(self.next() >> places);
        match self.next() % 6 {
            0 => i128::from(i64::MAX) - small.min(9),
            1 => i128::from(i64::MIN) + small.min(9),
            2 => i128::from(u64::MAX) - small.min(9),
            3 => -(small >> 1),
            _ => small,
        }
    }

    /// A number, and an interval that it is in.
    fn pair(&mut self) -> (i128, Interval) {
        let number = self.number();
        let (below, above) = (self.number(), self.number());
        let divisor = match (number.unsigned_abs(), self.next() % 3) {
            (0, _) | (_, 0) => 1,
            (number, 1) => greatest_common_divisor(number, u128::from(self.next() % 4096)),
            (number, _) => power_of_two_in(number),
        };
        let bounds = Interval::new(number.min(below), number.max(above));
        (number, bounds.with_divisor(divisor))
    }
}

#[test]
fn large_intervals_have_every_result() {
    let mut random = Numbers(7);
    for _ in 0..200_000 {
        let ((x, a), (y, b)) = (random.pair(), random.pair());
        for operation in OPERATIONS {
            let Some(number) = (operation.of_numbers)(x, y) else { continue };
            // The product of two unsigned numbers may have more bits than bounds do.
            let result = (operation.of_intervals)(a, b);
            expect_in(result, number, || format!("{x} {} {y} of {a:?}, {b:?}", operation.name));
        }
        let wrapped = |bits: u32| i128::from(x as i64) << (128 - bits) >> (128 - bits);
        for bits in [8, 16, 32, 64] {
            let all = Interval::of_bits(bits, true);
            expect_in(Some(a.wrapped(all)), wrapped(bits), || format!("{a:?} in {bits} bits"));
        }
        expect_in(Some(a.wrapped(Interval::of_bits(64, false))), i128::from(x as u64), || {
            format!("{a:?} without a sign")
        });
    }
}

#[test]
fn types_have_their_bounds() {
    assert_eq!(Interval::of_bits(8, true), Interval::new(-128, 127));
    assert_eq!(Interval::of_bits(1, false), Interval::new(0, 1));
    assert_eq!(Interval::I64, Interval::new(i64::MIN.into(), i64::MAX.into()));
    assert_eq!(Interval::of_bits(64, false), Interval::new(0, u64::MAX.into()));
    assert_eq!([0, 1, 24, 1 << 70].map(power_of_two_in), [1, 1, 8, 1 << 63]);
}
