// SPDX-License-Identifier: Apache-2.0
//! Figures of calls that are timed in turn, as all benchmarks take samples.

#[allow(dead_code, reason = "not all of it is needed here")]
#[path = "../../src/series.rs"]
mod series;

use serde_json::{Value, json};
use series::{Medians, interleave};

const N_ROUNDS: usize = 301;

/// The figure that is printed: nanoseconds of a call, with the most that a typed one may cost of
/// one by hand.
pub fn figure(
    name: &str,
    ratio: f64,
    ours: impl FnMut() -> f64,
    by_hand: impl FnMut() -> f64,
) -> Value {
    let Medians { ours, reference, control } = interleave(N_ROUNDS, ours, by_hand);
    json!({
        "name": name, "unit": "ns", "ratio": ratio,
        "ours": ours, "reference": reference, "control": control,
    })
}

/// Nanoseconds of one of so many calls.
pub fn time(n_calls: i64, calls: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    calls();
    start.elapsed().as_secs_f64() * 1e9 / n_calls as f64
}
