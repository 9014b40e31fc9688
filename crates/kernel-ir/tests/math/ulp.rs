// SPDX-License-Identifier: Apache-2.0
//! How far a float32 is from the true value, which a float64 stands for: it is rounded some 2^29
//! times finer, so that an error is known to far more digits than are printed.
//!
//! An ulp is the distance of neighbouring float32 at the true value: 2^(e - 23) from 2^e on, and
//! 2^-149 where the result is subnormal. Infinity stands where the next float would be.

/// The error in ulp: infinite where a result is wrong in kind, as a NaN or a sign.
pub fn error(got: f32, exact: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let beyond = 2f64.powi(128);
    let magnitude = if got.is_infinite() { beyond } else { f64::from(got).abs() };
    let exact = exact.abs();
    if exact >= beyond && got.is_infinite() {
        return 0.0;
    }
    let is_kind_wrong = exact.is_infinite() || (exact == 0.0 && magnitude != 0.0);
    if is_kind_wrong { f64::INFINITY } else { (magnitude - exact).abs() / size(exact) }
}

/// An ulp at a magnitude.
fn size(exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52) as i64 - 1023).clamp(-126, 127);
    f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}

/// The largest error so far, and where.
#[derive(Clone, Copy, Default)]
pub struct Worst<A> {
    pub error: f64,
    pub at: A,
    /// How many results were not the nearest float32.
    pub not_nearest: u64,
    pub count: u64,
}

impl<A: Copy> Worst<A> {
    pub fn add(&mut self, at: A, got: f32, exact: f64) {
        let error = error(got, exact);
        self.count += 1;
        self.not_nearest += u64::from(error > 0.5);
        if error > self.error {
            (self.error, self.at) = (error, at);
        }
    }
}

#[test]
fn an_ulp_is_what_it_is() {
    let tiny = f32::from_bits(1);
    let cases = [
        (1.0, 1.0, 0.0),
        (1.0 + f32::EPSILON, 1.0, 1.0),
        (2.0, 2.0 - 2f64.powi(-24), 0.5),
        (tiny, 2f64.powi(-150), 0.5),
        (0.0, 2f64.powi(-150), 0.5),
        (f32::INFINITY, 2f64.powi(128) - 2f64.powi(103), 0.5),
        (f32::INFINITY, 1e300, 0.0),
        (f32::MAX, 2f64.powi(128), 1.0),
        (f32::MAX, f64::INFINITY, f64::INFINITY),
        (tiny, 0.0, f64::INFINITY),
        (-0.0, 0.0, f64::INFINITY),
        (f32::NAN, f64::NAN, 0.0),
        (f32::NAN, 1.0, f64::INFINITY),
    ];
    for (got, exact, expected) in cases {
        assert_eq!(error(got, exact), expected, "{got} for {exact}");
    }
}
