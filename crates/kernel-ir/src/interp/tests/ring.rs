// SPDX-License-Identifier: Apache-2.0
//! Rings of tiles that threads hand on to others: what all of them are held to, whatever keeps
//! their threads in order.

use super::Trial;
use expect_test::Expect;

/// Holds that a ring sums up tiles, each in reverse, and that nothing is found, in so many orders.
pub(super) fn expect_sums(ring: impl Fn() -> Trial, turns: i64, n_orders: u64) {
    for seed in 0..n_orders {
        let mut trial = ring().seed(seed);
        trial.clean();
        let sum = |lane: i32| (0..turns as i32).map(|turn| turn * 32 + 31 - lane).sum::<i32>();
        assert_eq!(trial.ints_at(1), (0..32).map(sum).collect::<Vec<_>>());
    }
}

/// Holds a ring to its first finding in the plain order; with any seed there is one.
pub(super) fn expect_first(ring: impl Fn() -> Trial, expected: &Expect) {
    let mut plain = ring();
    let outcome = plain.run();
    let told = plain.told(&outcome.findings[..1]);
    let first = told.lines().next().unwrap_or_default().split(", in thread").next();
    expected.assert_eq(first.unwrap_or_default());
    for seed in 1..20 {
        assert!(!ring().seed(seed).run().findings.is_empty(), "{seed}");
    }
}
