// SPDX-License-Identifier: Apache-2.0
//! Random plans, read by everything that reads plans. The program `plans` reads as many as it is
//! told.

use kernpack_tests::random_plan::readers::{Tally, read_plans};
use std::hash::{BuildHasher, RandomState};

/// How many calls are made of each plan.
const N_CALLS: usize = 24;

#[track_caller]
fn expect_no_failure(tally: &Tally) {
    eprintln!("{tally}");
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n\n"));
}

/// The seeds of this test are known to find what has been mended.
#[test]
fn whatever_reads_a_plan_reads_the_same() {
    let tally = read_plans(10, 96, N_CALLS);
    expect_no_failure(&tally);
    // So that neither is left out by and by.
    assert!(tally.n_accepted > 300 && tally.n_refused > 300 && tally.n_accepted_broken > 30);
    assert!(tally.n_lowered > 60);
}

#[test]
fn whatever_reads_a_plan_that_nobody_has_read_reads_the_same() {
    let seed = RandomState::new().hash_one(0);
    eprintln!("plans of the seeds from {seed}: repeat with `plans --seed {seed} --plans 64`");
    expect_no_failure(&read_plans(seed, 64, N_CALLS));
}
