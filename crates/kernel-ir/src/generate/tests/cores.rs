// SPDX-License-Identifier: Apache-2.0
//! Random kernels do the same on any number of cores, to the last bit and finding.

use super::super::{Generated, generate};
use super::{SEEDS, run_with};
use crate::expand::expand;
use crate::interp::{Options, Outcome};
use crate::kernel::Kernel;

/// Holds that a launch comes to the same on one core, two and three. Says on how many it was run.
pub(super) fn expect_same_on_cores(
    generated: &Generated,
    kernel: &Kernel,
    options: &Options,
) -> usize {
    let run = |n_cores| {
        let options = Options { n_cores, least_warps: 0, ..options.clone() };
        let (outcome, left) = run_with(generated, kernel, &options);
        let Outcome { n_cores, findings, printed, is_exact, is_complete, thread_ops, .. } = outcome;
        (n_cores, (findings, printed, is_exact, is_complete, thread_ops, left))
    };
    let (n_cores, alone) = run(1);
    // A launch that is refused runs on none.
    assert!(n_cores <= 1, "{n_cores}");
    let mut most = 1;
    for wanted in [2, 3] {
        let (n_cores, together) = run(wanted);
        assert!(together == alone, "on {wanted} cores: {kernel}{together:?}\nalone: {alone:?}");
        most = n_cores.max(most);
    }
    most
}

#[test]
fn what_is_right_is_the_same_on_any_number_of_cores() {
    let mut n_apart = 0;
    for seed in 0..SEEDS / 2 {
        let generated = generate(seed);
        let mut kernel = generated.kernel.clone();
        expand(&mut kernel);
        let n_cores = expect_same_on_cores(&generated, &kernel, &Options::default());
        n_apart += usize::from(n_cores > 1);
    }
    // Of the others most are of one block.
    assert!(n_apart > 30, "{n_apart} were run on several cores");
}
