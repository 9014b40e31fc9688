// SPDX-License-Identifier: Apache-2.0
//! Rounds of samples, and the figure that their medians are.

use serde_json::{Value, json};

const N_ROUNDS: usize = 301;

/// Takes samples in an order that rotates: nanoseconds of a call. The figure that is printed, with
/// the most that a typed call may cost of one by hand.
pub fn figure(
    name: &str,
    ratio: f64,
    mut ours: impl FnMut() -> f64,
    mut by_hand: impl FnMut() -> f64,
) -> Value {
    const OURS: usize = 1;
    let mut samples = [const { Vec::new() }; 3];
    for round in 0..N_ROUNDS {
        for turn in 0..3 {
            let side = (round + turn) % 3;
            samples[side].push(if side == OURS { ours() } else { by_hand() });
        }
    }
    let [reference, ours, control] = samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    });
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
