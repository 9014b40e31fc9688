// SPDX-License-Identifier: Apache-2.0
//! Has random plans read by everything that reads plans: `plans --minutes 10`, from a seed that is
//! drawn, or `plans --seed 7 --plans 100`. Plan by plan the seed is one more, so that what a seed
//! finds is repeated by `plans --seed SEED --plans 1`.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use clap::Parser;
use kernpack_tests::random_plan::readers::{Tally, read_plans};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How many failures are shown.
const SHOWN: usize = 5;
/// How many calls are made of each plan.
const N_CALLS: usize = 24;
/// How many plans are read between two looks at the clock.
const N_AT_ONCE: u64 = 64;

/// What the command line says.
#[derive(Parser)]
struct Options {
    /// The first seed; one is drawn.
    #[arg(long)]
    seed: Option<u64>,
    /// The most plans.
    #[arg(long, default_value_t = u64::MAX)]
    plans: u64,
    /// The most minutes.
    #[arg(long, default_value_t = 60 * 24)]
    minutes: u64,
}

fn main() {
    let Options { seed, plans, minutes } = Options::parse();
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    println!("plans of the seeds from {seed}");
    let (mut tally, mut n_read) = (Tally::default(), 0);
    while n_read < plans && Instant::now() < end && tally.failures.len() < SHOWN {
        let n_now = N_AT_ONCE.min(plans - n_read);
        tally.add(read_plans(seed.wrapping_add(n_read), n_now, N_CALLS));
        n_read += n_now;
    }
    tally.failures.iter().take(SHOWN).for_each(|failure| println!("{failure}\n"));
    println!("{n_read} plans: {tally}");
    std::process::exit(i32::from(!tally.failures.is_empty()));
}
