// SPDX-License-Identifier: Apache-2.0
//! What kernels are compiled for, held against the numbers of random calls. The program `facts`
//! makes as many as it is told.

use kernpack_tests::random_call::{Tally, hold_calls};
use std::hash::{BuildHasher, RandomState};

/// How many calls are made of each signature, of which a seed draws two.
const N_CALLS: usize = 64;

#[track_caller]
fn expect_no_failure(tally: &Tally) {
    eprintln!("{tally}");
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n\n"));
}

/// The seeds of this test are known to find what has been mended.
#[test]
fn what_is_believed_of_a_launch_is_so_in_every_call() {
    let tally = hold_calls(1, 1200, N_CALLS);
    expect_no_failure(&tally);
    // So that neither is left out by and by.
    assert!(tally.n_accepted > 30_000 && tally.n_claims > 800_000);
}

#[test]
fn what_is_believed_is_so_of_signatures_that_nobody_has_read() {
    let seed = RandomState::new().hash_one(0);
    eprintln!("calls of the seeds from {seed}: repeat with `facts --seed {seed} --signatures 350`");
    expect_no_failure(&hold_calls(seed, 350, N_CALLS));
}
