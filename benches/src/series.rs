// SPDX-License-Identifier: Apache-2.0
//! Measuring in rounds: each takes the reference, ours, and the reference again as control, in an
//! order that rotates, so that no side profits from what precedes it.

/// The fewest rounds that a figure is made of.
pub const MIN_ROUNDS: usize = 61;

/// Medians over the rounds, in the unit that the samples have.
#[derive(Clone, Copy, Debug)]
pub struct Medians {
    /// Of our samples.
    pub ours: f64,
    /// Of the reference's.
    pub reference: f64,
    /// Of the reference's second ones.
    pub control: f64,
}

impl Medians {
    /// The same in another unit.
    pub fn map(self, unit: impl Fn(f64) -> f64) -> Medians {
        let Medians { ours, reference, control } = self;
        Medians { ours: unit(ours), reference: unit(reference), control: unit(control) }
    }
}

/// Takes samples in turn.
pub fn interleave(
    n_rounds: usize,
    mut ours: impl FnMut() -> f64,
    mut reference: impl FnMut() -> f64,
) -> Medians {
    const OURS: usize = 1;
    let mut samples = [const { Vec::new() }; 3];
    for round in 0..n_rounds {
        for turn in 0..3 {
            let side = (round + turn) % 3;
            samples[side].push(if side == OURS { ours() } else { reference() });
        }
    }
    let [reference, ours, control] = samples.map(median);
    Medians { ours, reference, control }
}

/// The middle sample; the mean of the two in the middle where their number is even.
///
/// # Panics
/// Without samples.
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 {
        samples[middle]
    } else {
        (samples[middle - 1] + samples[middle]) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::{interleave, median};
    use std::cell::RefCell;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn every_side_is_first_as_often_as_the_others() {
        let order = RefCell::new(String::new());
        let sample = |letter| {
            order.borrow_mut().push(letter);
            1.0
        };
        interleave(3, || sample('o'), || sample('r'));
        assert_eq!(order.into_inner(), "rororrrro");
    }
}
