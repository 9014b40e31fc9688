// SPDX-License-Identifier: Apache-2.0
//! Random plans, read by everything that reads plans. The program `plans` reads more of them, from
//! other seeds.

use kernpack_tests::random_plan::readers::read_plans;

/// Where the seeds of this test start.
const SEED: u64 = 10;
const N_PLANS: u64 = 96;
const N_CALLS: usize = 24;

#[test]
fn whatever_reads_a_plan_reads_the_same() {
    println!("seeds from {SEED}, {N_PLANS} plans");
    let tally = read_plans(SEED, N_PLANS, N_CALLS);
    println!(
        "{} accepted, {} refused, {} broken plans accepted",
        tally.n_accepted, tally.n_refused, tally.n_accepted_broken
    );
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n\n"));
    // So that neither is left out by and by.
    assert!(tally.n_accepted > 100 && tally.n_refused > 100 && tally.n_accepted_broken > 10);
}
