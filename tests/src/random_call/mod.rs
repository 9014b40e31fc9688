// SPDX-License-Identifier: Apache-2.0
//! Random signatures with rules, launches and calls, and what is believed of each launch held
//! against the numbers of each call that the checks accept and that runs it.
//!
//! A [`signature`](Drawn) is drawn as text, with the rules and conditions of `rule`, the function
//! of `packed`, what is no integer of `other`, and the arguments of `call`. The entry point is the
//! plan's interpreter: it says whether a call is accepted, what every name is, and which launches
//! run. What kernels are compiled for is taken from the launches as `kernel-lang` makes them, and
//! `claim` asks the numbers whether it is so. Calls at the edges are drawn often: absent Optionals,
//! dims of extent 1 and 0, strides that no step takes, numbers that overflow, misaligned addresses,
//! tensors that overlap.

mod call;
mod claim;
mod other;
mod packed;
mod rule;
mod signature;
mod subject;

pub use signature::{Drawn, Vocabulary};

use crate::memory::Arguments;
use crate::random_plan::Rng;
use crate::value::Arrival;
use call::Call;
use kernpack_validators::plan::{Outcome, interpret};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use subject::Subject;

/// What has been found.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many signatures had a plan and launches.
    pub n_signatures: usize,
    /// How many had none: a drawn text may say what can never be.
    pub n_refused_signatures: usize,
    /// How many calls were accepted.
    pub n_accepted: usize,
    /// How many calls were refused.
    pub n_refused: usize,
    /// How many launches of accepted calls were looked at.
    pub n_launches: usize,
    /// How many claims were held against numbers.
    pub n_claims: usize,
    /// What did not hold, each with its seed.
    pub failures: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { n_signatures, n_refused_signatures, n_accepted, n_refused, .. } = self;
        write!(f, "{n_signatures} signatures ({n_refused_signatures} without a plan), ")?;
        write!(f, "{n_accepted} calls accepted, {n_refused} refused, ")?;
        write!(f, "{} launches, {} claims held, ", self.n_launches, self.n_claims)?;
        write!(f, "{} failures", self.failures.len())
    }
}

impl Tally {
    /// Adds what else has been found.
    pub fn add(&mut self, other: Tally) {
        self.n_signatures += other.n_signatures;
        self.n_refused_signatures += other.n_refused_signatures;
        self.n_accepted += other.n_accepted;
        self.n_refused += other.n_refused;
        self.n_launches += other.n_launches;
        self.n_claims += other.n_claims;
        self.failures.extend(other.failures);
    }

    /// What one seed draws of a vocabulary: a signature, and calls of it.
    fn seed(&mut self, seed: u64, vocabulary: Vocabulary, n_calls: usize) {
        let mut rng = Rng::new(seed);
        let drawn = Drawn::new(&mut rng, vocabulary);
        let subjects = Subject::all_of(&drawn);
        if subjects.is_empty() {
            return self.n_refused_signatures += 1;
        }
        self.n_signatures += 1;
        let mut told = BTreeSet::new();
        for number in 0..n_calls {
            let subject = &subjects[number % subjects.len()];
            let call = Call::new(&mut rng, &drawn, subject.is_twin);
            for failure in self.call(subject, &call) {
                // One belief that is wrong is so for most calls.
                if told.insert(failure.kind.clone()) {
                    self.failures.push(format!(
                        "{failure}\n  seed {seed}, {vocabulary:?}, call {number}: {call:?}\n{subject}"
                    ));
                }
            }
        }
    }

    fn call(&mut self, subject: &Subject, call: &Call) -> Vec<claim::Failure> {
        let memory = Arguments::new(&call.values, Arrival::Tensor);
        match interpret(&subject.plan, &memory, memory.address(), memory.count()) {
            Outcome::Accepted(accepted) => {
                self.n_accepted += 1;
                let held = claim::hold(subject, call, &accepted);
                self.n_launches += held.n_launches;
                self.n_claims += held.n_claims;
                held.failures
            }
            Outcome::Refused(_) => {
                self.n_refused += 1;
                vec![]
            }
            Outcome::NoDevice | Outcome::Unreadable(_) => {
                unreachable!("the arguments are whole, and no device is asked about")
            }
        }
    }
}

/// Draws a signature of each vocabulary from each of `n_seeds` seeds, from `first_seed` on, and
/// makes `n_calls` of each signature: on as many threads as there are cores, which share the seeds.
pub fn hold_calls(first_seed: u64, n_seeds: u64, n_calls: usize) -> Tally {
    let n_threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let hold = |thread: u64| {
        let mut tally = Tally::default();
        for number in (thread..n_seeds).step_by(n_threads as usize) {
            let seed = first_seed.wrapping_add(number);
            for vocabulary in [Vocabulary::Small, Vocabulary::Whole] {
                tally.add(hold_seed(seed, vocabulary, n_calls));
            }
        }
        tally
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|at| scope.spawn(move || hold(at))).collect();
        threads.into_iter().fold(Tally::default(), |mut tally, thread| {
            tally.add(thread.join().expect("what a seed panics with is caught"));
            tally
        })
    })
}

fn hold_seed(seed: u64, vocabulary: Vocabulary, n_calls: usize) -> Tally {
    let own = catch_unwind(AssertUnwindSafe(|| {
        let mut own = Tally::default();
        own.seed(seed, vocabulary, n_calls);
        own
    }));
    own.unwrap_or_else(|_| Tally {
        failures: vec![format!("a panic of the seed {seed}")],
        ..Tally::default()
    })
}
