// SPDX-License-Identifier: Apache-2.0
//! Accepted calls from C, against the same checks by hand.

use crate::call::{Arg, Call};
use crate::figure::{Figure, Target};
use crate::series::interleave;
use crate::subject::{Sides, Subject};
use anyhow::Result;

/// Many short rounds: most of them pass between two interruptions by the system.
const N_ROUNDS: usize = 301;
/// Calls in a sample.
const N_CALLS: u32 = 2_000;

/// The most that a call may cost of the reference's.
const TARGET: Target = Target::Ratio(1.10);

/// Both functions, with tensors as Python passes them and as C does.
///
/// # Errors
/// Where an entry point is missing.
pub fn measure(sides: &Sides) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for subject in Subject::ALL {
        let (objects, title) = (subject.accepted(), subject.title());
        let bare: Vec<_> = objects.iter().cloned().map(bare).collect();
        for (args, arrival) in [(objects, "Tensor objects"), (bare, "DLTensor*, no strides")] {
            let call = Call::new(&args);
            let ours = sides.ours.entry_point(subject.name())?;
            let reference = sides.reference.entry_point(subject.name())?;
            figures.push(Figure::measure(
                format!("accepted call from C, {title} ({arrival})"),
                "ns",
                TARGET,
                || {
                    let ours = || ours.time_accepted(&call, N_CALLS);
                    let reference = || reference.time_accepted(&call, N_CALLS);
                    anyhow::Ok(interleave(N_ROUNDS, ours, reference))
                },
            )?);
        }
    }
    Ok(figures)
}

fn bare(arg: Arg) -> Arg {
    match arg {
        Arg::Tensor(tensor) => Arg::Tensor(tensor.bare()),
        plain @ Arg::Plain(..) => plain,
    }
}
