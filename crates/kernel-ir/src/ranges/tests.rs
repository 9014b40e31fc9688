// SPDX-License-Identifier: Apache-2.0
//! Ranges of kernels made by hand, and of random arithmetic held against what it gives.

use super::*;
use crate::builder::Builder;
use crate::constant::Const;
use crate::eval;
use crate::generate::generate;
use crate::intrinsic;
use crate::kernel::{Facts, Param, Place, ValueData};
use crate::op::{Check, Jump, Rounding};
use expect_test::expect;

fn int64(min: i64, max: i64, divisor: i64) -> Param {
    let kind = ParamKind::Scalar(Scalar::I64, Facts { min, max, divisor });
    Param { name: "n".to_string(), kind }
}

fn geometry(builder: &mut Builder, name: &str) -> Value {
    builder.call(intrinsic::find(name).expect(name), vec![]).expect("an id is a value")
}

/// The range of a value, as `min..=max * divisor`.
fn expect_value(ranges: &Ranges, value: Value, expected: &str) {
    assert_eq!(shown(ranges.value(value)), expected);
}

fn shown(Interval { min, max, divisor }: Interval) -> String {
    format!("{min}..={max} * {divisor}")
}

#[test]
fn facts_geometry_and_arithmetic() {
    let mut b = Builder::new("k", vec![int64(0, 65536, 8), int64(-3, i64::MAX, 1)]);
    b.kernel_mut().block = [Some(256), None, Some(1)];
    let [x, y, z] = ["thread_idx.x", "thread_idx.y", "thread_idx.z"].map(|id| geometry(&mut b, id));
    let block = geometry(&mut b, "block_idx.x");
    let four = b.index(4);
    let lane = b.binary(Binary::Mul, x, four);
    let threads = b.index(256);
    let first = b.binary(Binary::Mul, block, threads);
    let all = b.binary(Binary::Add, first, x);
    let half = b.binary(Binary::FloorDiv, Value(0), four);
    let over = b.binary(Binary::Add, Value(1), four);
    let ranges = Ranges::of(&b.finish());
    expect_value(&ranges, Value(0), "0..=65536 * 8");
    expect_value(&ranges, x, "0..=255 * 1");
    expect_value(&ranges, y, "0..=1023 * 1");
    expect_value(&ranges, z, "0..=0 * 0");
    expect_value(&ranges, lane, "0..=1020 * 4");
    expect_value(&ranges, all, "0..=549755813631 * 1");
    expect_value(&ranges, half, "0..=16384 * 2");
    expect_value(&ranges, over, "-9223372036854775808..=9223372036854775807 * 1");
}

#[test]
fn loops_and_slots() {
    let mut b = Builder::new("k", vec![int64(0, 1000, 1)]);
    let (counter, sum) = (b.slot("i", Scalar::I64.into()), b.slot("sum", Scalar::I64.into()));
    let [zero, one, step] = [0, 1, 32].map(|number| b.index(number));
    b.set(counter, zero);
    b.set(sum, zero);
    let index = b.loop_index(Scalar::I64.into());
    b.open();
    let before = b.get(sum);
    let after = b.binary(Binary::Add, before, index);
    b.set(sum, after);
    let body = b.close();
    b.effect(OpKind::For { index, first: zero, end: Value(0), step, body });
    b.open();
    let now = b.get(counter);
    let condition = b.compare(Compare::Lt, now, Value(0));
    let test = b.close();
    b.open();
    let next = b.binary(Binary::Add, now, one);
    b.set(counter, next);
    let body = b.close();
    b.effect(OpKind::While { before: test, condition, body });
    let ranges = Ranges::of(&b.finish());
    expect_value(&ranges, index, "0..=999 * 32");
    assert_eq!(shown(ranges.slot(counter)), "0..=1000 * 1");
    // It may overflow.
    assert!(!Scalar::I32.holds(ranges.slot(sum)));
    expect_value(&ranges, next, "1..=1000 * 1");
}

#[test]
fn one_round_follows_a_chain_of_slots() {
    let mut b = Builder::new("k", vec![int64(0, 1000, 4)]);
    let (mut last, zero) = (Value(0), b.index(0));
    let slots: Vec<_> = (0..100).map(|_| b.slot("link", Scalar::I64.into())).collect();
    for slot in &slots {
        b.set(*slot, zero);
        b.set(*slot, last);
        last = b.get(*slot);
    }
    let kernel = b.finish();
    let mut analysis = Analysis::new(&kernel);
    assert_eq!(analysis.settle(), 1);
    assert_eq!(shown(analysis.finish().slot(slots[99])), "0..=1000 * 4");
}

#[test]
fn conditions_count_where_they_hold() {
    let mut b = Builder::new("k", vec![int64(0, 100, 1), int64(i64::MIN, i64::MAX, 1)]);
    let (n, i) = (Value(0), Value(1));
    let zero = b.index(0);
    let four = b.index(4);
    let low = b.compare(Compare::Ge, i, zero);
    let high = b.compare(Compare::Lt, i, n);
    let both = b.binary(Binary::And, low, high);
    b.open();
    let inside = b.binary(Binary::Mul, i, four);
    let then = b.close();
    b.if_else(both, then, Region::default());
    let outside = b.binary(Binary::Mul, four, i);
    // What leaves where the index is not below leaves one that is.
    b.open();
    b.effect(OpKind::Jump(Jump::Return));
    let then = b.close();
    let beyond = b.compare(Compare::Ge, i, n);
    b.if_else(beyond, then, Region::default());
    let behind = b.binary(Binary::Max, i, zero);
    b.in_bounds(i, four, None);
    let five = b.index(5);
    let stated = b.binary(Binary::Mul, i, five);
    let ranges = Ranges::of(&b.finish());
    expect_value(&ranges, inside, "0..=396 * 4");
    assert!(!Scalar::I32.holds(ranges.value(outside)));
    expect_value(&ranges, behind, "0..=99 * 1");
    expect_value(&ranges, stated, "0..=15 * 5");
    assert_eq!(shown(ranges.operand(stated, 0)), "0..=3 * 1");
    assert!(!Scalar::I32.holds(ranges.value(i)));
}

/// The thread goes on where a check fails.
#[test]
fn nothing_follows_of_what_is_checked() {
    let mut b = Builder::new("k", vec![int64(i64::MIN, i64::MAX, 1)]);
    let four = b.index(4);
    b.in_bounds(Value(0), four, Some(Check { of: "x".to_string() }));
    let behind = b.binary(Binary::Mul, Value(0), four);
    assert!(!Scalar::I32.holds(Ranges::of(&b.finish()).value(behind)));
}

#[test]
fn each_comparison_bounds_both_of_its_numbers() {
    let params = [(0, 100), (0, 100), (20, 30)].map(|(min, max)| int64(min, max, 1));
    let mut b = Builder::new("k", params.into());
    let three = b.index(3);
    let mut seen = Vec::new();
    for op in Compare::ALL {
        for pair in [[Value(0), Value(1)], [Value(0), Value(2)]] {
            let mut region = |seen: &mut Vec<Value>| {
                b.open();
                seen.extend(pair.map(|value| b.binary(Binary::Mul, value, three)));
                b.close()
            };
            let (then, otherwise) = (region(&mut seen), region(&mut seen));
            let condition = b.compare(*op, pair[0], pair[1]);
            b.if_else(condition, then, otherwise);
        }
    }
    let ranges = Ranges::of(&b.finish());
    let bounds = |value: &Value| {
        let Interval { min, max, .. } = ranges.operand(*value, 0);
        format!("{min}..={max}")
    };
    let (seen, _) = seen.as_chunks::<4>();
    let shown = seen.iter().zip(Compare::ALL.iter().flat_map(|op| [op; 2])).map(|(values, op)| {
        let [a, b, c, d] = values.each_ref().map(bounds);
        format!("{}: {a}, {b}; else {c}, {d}\n", op.name())
    });
    expect![[r#"
        eq: 0..=100, 0..=100; else 0..=100, 0..=100
        eq: 20..=30, 20..=30; else 0..=100, 20..=30
        ne: 0..=100, 0..=100; else 0..=100, 0..=100
        ne: 0..=100, 20..=30; else 20..=30, 20..=30
        lt: 0..=99, 1..=100; else 0..=100, 0..=100
        lt: 0..=29, 20..=30; else 20..=100, 20..=30
        le: 0..=100, 0..=100; else 1..=100, 0..=99
        le: 0..=30, 20..=30; else 21..=100, 20..=30
        gt: 1..=100, 0..=99; else 0..=100, 0..=100
        gt: 21..=100, 20..=30; else 0..=30, 20..=30
        ge: 0..=100, 0..=100; else 0..=99, 1..=100
        ge: 20..=100, 20..=30; else 0..=29, 20..=30
    "#]]
    .assert_eq(&shown.collect::<String>());
}

#[test]
fn magnitudes_and_signs() {
    let bounds = [(2, 8), (-8, -2), (-8, 2), (-2, 8), (0, 8), (-8, 0)];
    let params = bounds.map(|(min, max)| int64(min, max, 2));
    let mut b = Builder::new("k", params.into());
    let made = [0, 1, 2, 3, 4, 5].map(|n| [Unary::Abs, Unary::Neg].map(|op| b.unary(op, Value(n))));
    let ranges = Ranges::of(&b.finish());
    let shown = made.map(|pair| pair.map(|value| shown(ranges.value(value))).join(", "));
    expect![[r#"
        2..=8 * 2, -8..=-2 * 2
        2..=8 * 2, 2..=8 * 2
        0..=8 * 2, -2..=8 * 2
        0..=8 * 2, -8..=2 * 2
        0..=8 * 2, -8..=0 * 2
        0..=8 * 2, 0..=8 * 2"#]]
    .assert_eq(&shown.join("\n"));
}

/// Numbers that repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn of<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.next() as usize % among.len()]
    }

    /// A number of a type, often a small one or one at its ends.
    fn number(&mut self, scalar: Scalar) -> Const {
        let all = scalar.integers();
        let near = self.of(&[0, 0, all.min, all.max, 1 << 31]);
        let bits = match self.next() % 3 {
            0 => near.wrapping_add(i128::from(self.next() % 9)).wrapping_sub(4) as u64,
            1 => self.next() % 1000,
            _ => self.next() << 33 ^ self.next(),
        };
        Const::from_bits(scalar, bits)
    }
}

/// Whatever ranges operands have, what an operation gives of numbers in them is in its own.
#[test]
fn no_operation_leaves_its_range() {
    let mut random = Random(7);
    let ints: Vec<_> = Scalar::ALL.iter().copied().filter(|scalar| scalar.is_int()).collect();
    for _ in 0..200_000 {
        let scalar = random.of(&ints);
        let op = random.of(Binary::ALL);
        if op == Binary::Div {
            continue;
        }
        let [a, b, c, d] = [(); 4].map(|()| random.number(scalar));
        let (of_a, of_b) = (of_const(a).hull(of_const(b)), { of_const(c).hull(of_const(d)) });
        let range = arithmetic::binary(op, of_a, of_b, scalar);
        for (left, right) in [(a, c), (b, c), (a, d), (b, d)] {
            expect_in(
                range,
                eval::binary(op, left, right),
                &format!("{left} {} {right}", op.name()),
            );
        }
        for op in Unary::ALL {
            let range = arithmetic::unary(*op, of_a, scalar);
            expect_in(range, eval::unary(*op, a), &format!("{} {a}", op.name()));
        }
        let to = random.of(&ints);
        let converted = eval::convert(a, to, Rounding::NearestEven);
        expect_in(of_a.wrapped(to.integers()), converted, &format!("{to} of {a}"));
    }
}

fn expect_in(range: Interval, value: Const, of: &str) {
    let exact = of_const(value);
    let is_in = exact.is_within(range) && exact.divisor.is_multiple_of(range.divisor.max(1));
    assert!(is_in, "{of} is {value}, not in {}", shown(range));
}

/// Adds to a kernel, behind what defines an integer, the statement that it is in its range, and
/// before what computes with two, that these are in theirs.
struct Stating<'r> {
    ranges: &'r Ranges,
    values: Vec<ValueData>,
    n_stated: usize,
}

impl Stating<'_> {
    fn region(&mut self, region: &mut Region) {
        for mut op in std::mem::take(&mut region.0) {
            if let (Some(result), OpKind::Expr(Expr::Binary(_, left, right))) =
                (op.result, &op.kind)
            {
                for (place, operand) in [*left, *right].into_iter().enumerate() {
                    self.state(region, operand, self.ranges.operand(result, place));
                }
            }
            op.kind.regions_mut().for_each(|inner| self.region(inner));
            if let OpKind::For { index, body, .. } = &mut op.kind {
                let mut first = Region::default();
                self.state(&mut first, *index, self.ranges.value(*index));
                body.0.splice(0..0, first.0);
            }
            let result = op.result;
            region.0.push(op);
            if let Some(result) = result {
                self.state(region, result, self.ranges.value(result));
            }
        }
    }

    fn state(&mut self, region: &mut Region, value: Value, range: Interval) {
        let Some(scalar) = integer(self.values[value.index()].ty) else { return };
        let extent = range.max - range.min + 1;
        if range == scalar.integers() || extent > scalar.integers().max {
            return;
        }
        self.n_stated += 1;
        let mut define = |kind: OpKind, constant| {
            self.values.push(ValueData { ty: scalar.into(), constant });
            let result = Value(self.values.len() as u32 - 1);
            region.0.push(Op { result: Some(result), kind, place: Place::NOWHERE });
            result
        };
        let [least, extent] = [range.min, extent].map(|number| {
            let number = Const::from_bits(scalar, number as u64);
            define(OpKind::Expr(Expr::Const(number)), Some(number))
        });
        let index = define(OpKind::Expr(Expr::Binary(Binary::Sub, value, least)), None);
        let kind = OpKind::InBounds { index, extent, check: None };
        region.0.push(Op { result: None, kind, place: Place::NOWHERE });
    }
}

/// Of random kernels, the interpreter holds every value against its range.
#[test]
fn no_kernel_leaves_its_ranges() {
    let mut n_stated = 0;
    for seed in 0..300 {
        let generated = generate(seed);
        let mut kernel = generated.kernel.clone();
        crate::expand(&mut kernel);
        let ranges = Ranges::of(&kernel);
        let values = std::mem::take(&mut kernel.values);
        let mut stating = Stating { ranges: &ranges, values, n_stated: 0 };
        let mut body = std::mem::take(&mut kernel.body);
        stating.region(&mut body);
        (kernel.values, kernel.body) = (stating.values, body);
        n_stated += stating.n_stated;
        crate::verify(&kernel).unwrap_or_else(|problems| panic!("{problems}"));
        generated.trial(kernel).clean();
    }
    assert!(n_stated > 10_000, "{n_stated}");
}
