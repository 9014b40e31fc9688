// SPDX-License-Identifier: Apache-2.0
//! Holds what kernels are compiled for against the numbers of random calls: `facts --minutes 10`,
//! from a seed that is drawn, or `facts --seed 7 --signatures 100`. Signature by signature the seed
//! is one more, so that what a seed finds is repeated by `facts --seed SEED --signatures 1`.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use clap::Parser;
use kernpack_tests::random_call::{Tally, hold_calls};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How many failures are shown.
const SHOWN: usize = 5;
/// How many calls are made of each signature.
const N_CALLS: usize = 64;
/// How many signatures are drawn between two looks at the clock.
const N_AT_ONCE: u64 = 64;

/// What the command line says.
#[derive(Parser)]
struct Options {
    /// The first seed; one is drawn.
    #[arg(long)]
    seed: Option<u64>,
    /// The most signatures.
    #[arg(long, default_value_t = u64::MAX)]
    signatures: u64,
    /// The most minutes.
    #[arg(long, default_value_t = 60 * 24)]
    minutes: u64,
}

fn main() {
    let Options { seed, signatures, minutes } = Options::parse();
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    println!("signatures of the seeds from {seed}");
    let (mut tally, mut n_drawn) = (Tally::default(), 0);
    while n_drawn < signatures && Instant::now() < end && tally.failures.len() < SHOWN {
        let n_now = N_AT_ONCE.min(signatures - n_drawn);
        tally.add(hold_calls(seed.wrapping_add(n_drawn), n_now, N_CALLS));
        n_drawn += n_now;
    }
    tally.failures.iter().take(SHOWN).for_each(|failure| println!("{failure}\n"));
    println!("{tally}");
    std::process::exit(i32::from(!tally.failures.is_empty()));
}
