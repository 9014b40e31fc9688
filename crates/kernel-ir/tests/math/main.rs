// SPDX-License-Identifier: Apache-2.0
//! The functions of `math/`: that their errors are what their files and `docs/math.md` say, that
//! special values are C's, and that the interpreter gives the bits that the processor gives.
//!
//! Errors are measured with the processor's arithmetic: here of a sample, and of every float32
//! where `scripts/soak math` asks for it. Not here: GPUs.

#![expect(clippy::print_stdout, reason = "what is tried for long tells what it found")]

mod interpreted;
mod lanes;
mod machine;
mod ulp;

use expect_test::expect;
use kernpack_kernel_ir::math;
use lanes::Lanes;
use std::fmt::Write;
use ulp::Worst;

/// A function of one float, and the float64 that stands for the true value.
type Exact = fn(f64) -> f64;

const UNARY: &[(&str, Exact)] = &[
    ("exp", f64::exp),
    ("exp2", f64::exp2),
    ("log", f64::ln),
    ("log2", f64::log2),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tanh", f64::tanh),
    ("erf", libm::erf),
    ("rsqrt", |x| 1.0 / if x == 0.0 { x } else { x.sqrt() }),
];

/// How many arguments are computed with side by side: so few that all values of a function stay in
/// the processor's nearer caches.
const BLOCK: usize = 256;

const SPECIAL: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1.5,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    1.0 + f32::EPSILON,
    1.0 - f32::EPSILON / 2.0,
    127.0,
    128.0,
    -149.0,
    -150.0,
    8_388_607.0,
    8_388_606.5,
    -8_388_607.0,
    16_777_215.0,
    16_777_216.0,
    -16_777_215.0,
    524_288.0,
    524_288.06,
];

/// splitmix64: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }

    /// Two numbers of which the first to the power of the second is a float32, mostly.
    fn power(&mut self) -> (f32, f32) {
        let bits = self.bits();
        let base = match bits % 4 {
            0 => f32::from_bits((bits >> 33) as u32),
            1 => (0.5 + 1.5 * self.unit()) as f32,
            // Near to 1, and near to where the interval of the logarithm ends.
            2 => (1.0 + (self.unit() - 0.5) * 2f64.powf(-22.0 * self.unit())) as f32,
            _ => (2f64.sqrt() + 0.02 * (self.unit() - 0.5)) as f32,
        };
        let exponent = 278.0 * self.unit() - 150.0;
        (base, (exponent / f64::from(base).log2()) as f32)
    }
}

/// The results of a function, by the processor's arithmetic.
fn compute(name: &str, arguments: &[&[f32]]) -> Vec<f32> {
    let function = math::find(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    let words = |floats: &&[f32]| Lanes::Word(floats.iter().map(|x| x.to_bits()).collect());
    let results = lanes::run(function, arguments.iter().map(words).collect());
    results.words().iter().map(|bits| f32::from_bits(*bits)).collect()
}

/// The worst result of those for every `step`-th float32.
fn try_floats(name: &str, exact: Exact, first: u32, step: usize) -> Worst<f32> {
    let mut worst = Worst::default();
    let mut floats = (first..=u32::MAX).step_by(step).map(f32::from_bits);
    loop {
        let block: Vec<_> = floats.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            return worst;
        }
        let results = compute(name, &[&block]);
        for (x, result) in block.into_iter().zip(results) {
            worst.add(x, result, exact(f64::from(x)));
        }
    }
}

fn try_powers(pairs: impl Iterator<Item = (f32, f32)>) -> Worst<(f32, f32)> {
    let (x, y): (Vec<_>, Vec<_>) = pairs.unzip();
    let mut worst = Worst::default();
    for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
        let results = compute("pow", &[x, y]);
        for ((x, y), result) in x.iter().zip(y).zip(results) {
            worst.add((*x, *y), result, f64::from(*x).powf(f64::from(*y)));
        }
    }
    worst
}

fn every_pair() -> impl Iterator<Item = (f32, f32)> {
    SPECIAL.iter().flat_map(|x| SPECIAL.iter().map(|y| (*x, *y)))
}

/// The largest error in ulp that the function's file admits.
fn bound(name: &str) -> f64 {
    let path = format!("{}/src/math/{name}.kir", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("its file");
    let words: Vec<_> = text.split_whitespace().take_while(|word| *word != "function").collect();
    let before = words.iter().position(|word| word.starts_with("ulp")).expect("it says so");
    words[before - 1].parse().expect("a number of ulp")
}

fn assert_within_bound<A: std::fmt::Debug>(name: &str, worst: &Worst<A>) {
    let (error, at) = (worst.error, &worst.at);
    assert!(error <= bound(name), "`{name}` is off by {error:.5} ulp at {at:?}");
}

#[test]
fn errors_of_a_sample_are_within_bounds() {
    for (name, exact) in UNARY {
        assert_within_bound(name, &try_floats(name, *exact, 12_345, 40_009));
    }
    let mut random = Random(1);
    let pairs: Vec<_> = (0..100_000).map(|_| random.power()).collect();
    assert_within_bound("pow", &try_powers(pairs.into_iter()));
}

#[test]
fn the_page_has_the_bounds_of_the_files() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/math.md");
    let page = std::fs::read_to_string(path).expect("the page");
    for name in UNARY.iter().map(|row| row.0).chain(["pow"]) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}(")));
        let bound = format!("| {} |", bound(name));
        assert!(row.is_some_and(|row| row.contains(&bound)), "`{name}` within {bound}: {row:?}");
    }
}

#[test]
fn special_values_are_those_of_c() {
    for (name, exact) in UNARY {
        let results = compute(name, &[SPECIAL]);
        let mut worst = Worst::default();
        for (x, result) in SPECIAL.iter().zip(results) {
            worst.add(*x, result, exact(f64::from(*x)));
        }
        assert_within_bound(name, &worst);
    }
    assert_within_bound("pow", &try_powers(every_pair()));
    let mut shown = String::new();
    let at = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for (name, _) in UNARY {
        writeln!(shown, "{name:5} {:?}", compute(name, &[&at])).expect("a string takes it");
    }
    expect![[r#"
        exp   [1.0, 1.0, 2.7182817, 0.36787945, inf, 0.0, NaN]
        exp2  [1.0, 1.0, 2.0, 0.5, inf, 0.0, NaN]
        log   [-inf, -inf, 0.0, NaN, inf, NaN, NaN]
        log2  [-inf, -inf, 0.0, NaN, inf, NaN, NaN]
        sin   [0.0, -0.0, 0.841471, -0.841471, NaN, NaN, NaN]
        cos   [1.0, 1.0, 0.5403023, 0.5403023, NaN, NaN, NaN]
        tanh  [0.0, -0.0, 0.7615942, -0.7615942, 1.0, -1.0, NaN]
        erf   [0.0, -0.0, 0.8427008, -0.8427008, 1.0, -1.0, NaN]
        rsqrt [inf, -inf, 1.0, NaN, 0.0, NaN, NaN]
    "#]]
    .assert_eq(&shown);
}

#[test]
fn powers_of_two_are_exact() {
    let exponents: Vec<_> = (-149..128).map(|exponent| exponent as f32).collect();
    let powers: Vec<_> = (-149..128).map(|exponent| 2f64.powi(exponent) as f32).collect();
    assert_eq!(compute("exp2", &[&exponents]), powers);
    assert_eq!(compute("log2", &[&powers]), exponents);
    assert_eq!(compute("pow", &[&vec![2.0; powers.len()], &exponents]), powers);
}

#[test]
fn the_interpreter_gives_the_processors_bits() {
    UNARY.iter().for_each(|row| expect_same(row.0, &[SPECIAL]));
    let (x, y): (Vec<_>, Vec<_>) = every_pair().unzip();
    expect_same("pow", &[&x, &y]);
    try_bits(2, 20_000);
}

/// Compares results for so many random arguments of each function.
fn try_bits(seed: u64, count: usize) {
    let mut random = Random(seed);
    for (name, _) in UNARY {
        let arguments = (0..count).map(|lane| match lane % 4 {
            0 => (20.0 * (random.unit() - 0.5)) as f32,
            _ => f32::from_bits(random.bits() as u32),
        });
        expect_same(name, &[&arguments.collect::<Vec<_>>()]);
    }
    let pairs = (0..count).map(|lane| match lane % 2 {
        0 => random.power(),
        _ => (f32::from_bits(random.bits() as u32), f32::from_bits(random.bits() as u32)),
    });
    let (x, y): (Vec<_>, Vec<_>) = pairs.unzip();
    expect_same("pow", &[&x, &y]);
}

fn expect_same(name: &str, arguments: &[&[f32]]) {
    let native = compute(name, arguments);
    let interpreted = interpreted::compute(name, arguments);
    for (lane, (native, interpreted)) in native.iter().zip(&interpreted).enumerate() {
        let is_same =
            native.to_bits() == interpreted.to_bits() || (native.is_nan() && interpreted.is_nan());
        let of: Vec<_> = arguments.iter().map(|arguments| arguments[lane]).collect();
        assert!(is_same, "`{name}` of {of:?}: {native:?} here, {interpreted:?} interpreted");
    }
}

#[test]
#[ignore = "takes minutes a function: `scripts/soak math`"]
fn errors_of_every_float_are_within_bounds() {
    for (name, exact) in UNARY {
        let worst = try_floats(name, *exact, 0, 1);
        show(name, &worst);
        assert_within_bound(name, &worst);
    }
}

#[test]
#[ignore = "takes as many minutes as it is given: `scripts/soak math`"]
fn errors_of_many_powers_are_within_bounds() {
    let minutes =
        std::env::var("KERNPACK_SOAK_MINUTES").map_or(1, |it| it.parse().expect("minutes"));
    let seed = fresh_seed();
    let (mut random, start) = (Random(seed), std::time::Instant::now());
    let mut worst = Worst::default();
    while start.elapsed().as_secs() < 60 * minutes {
        let block = try_powers((0..BLOCK).map(|_| random.power()));
        worst.count += block.count;
        worst.not_nearest += block.not_nearest;
        if block.error > worst.error {
            (worst.error, worst.at) = (block.error, block.at);
        }
    }
    show("pow", &worst);
    assert_within_bound("pow", &worst);
}

#[test]
#[ignore = "takes a minute: `scripts/soak math`"]
fn the_interpreter_gives_the_processors_bits_of_many() {
    try_bits(fresh_seed(), 1_000_000);
}

/// Another seed each time, which is told.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.expect("it is later than 1970").as_nanos() as u64;
    println!("seed {seed}");
    seed
}

fn show<A: std::fmt::Debug>(name: &str, worst: &Worst<A>) {
    let rate = 100.0 * worst.not_nearest as f64 / worst.count as f64;
    let Worst { error, at, count, .. } = worst;
    println!("{name}: {error:.5} ulp at {at:?}; {rate:.2} % of {count} are not the nearest");
}
