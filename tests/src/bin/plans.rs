// SPDX-License-Identifier: Apache-2.0
//! Has random plans read by everything that reads plans: `plans --seed 1 --plans 1000 --calls 24`. Plan
//! by plan the seed is one more, so that a plan is read again by its own seed.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use kernpack_tests::random_plan::readers::read_plans;

/// How many failures are shown.
const SHOWN: usize = 5;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        let text = place.and_then(|place| arguments.get(place + 1));
        text.map_or(default, |text| text.parse().expect("an option has a number"))
    };
    let (seed, n_plans) = (number("--seed", 1), number("--plans", 1000));
    let n_calls = number("--calls", 24) as usize;
    println!("seeds {seed} to {}", seed.wrapping_add(n_plans - 1));
    let tally = read_plans(seed, n_plans, n_calls);
    tally.failures.iter().take(SHOWN).for_each(|failure| println!("{failure}\n"));
    println!(
        "{} calls accepted, {} refused, {} broken plans accepted, {} failures",
        tally.n_accepted,
        tally.n_refused,
        tally.n_accepted_broken,
        tally.failures.len()
    );
    std::process::exit(i32::from(!tally.failures.is_empty()));
}
