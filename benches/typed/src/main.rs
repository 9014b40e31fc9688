// SPDX-License-Identifier: Apache-2.0
//! Typed calls beside the same calls by hand; prints figures as JSON: typed-calls [--cuda]
//!
//! Without `--cuda`, calls on the CPU beside C (`cpu.rs`); with it, calls on a GPU beside Rust that
//! asks `cudarc`'s slices itself (`cuda.rs`). Both sides are timed in turn, round after round, and
//! the one by hand a second time, as a control (`rounds.rs`).

mod cpu;
mod cuda;
mod rounds;

use std::error::Error;

kernpack::include!(add_one);
kernpack::include!(rms_norm);

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let figures = match std::env::args().nth(1).as_deref() {
        None => cpu::measure(),
        Some("--cuda") => cuda::measure()?,
        Some(other) => return Err(format!("usage: typed-calls [--cuda], and not {other}").into()),
    };
    println!("{}", serde_json::Value::from(figures));
    Ok(())
}
