// SPDX-License-Identifier: Apache-2.0
//! Calls from Python with PyTorch tensors. Accepted ones are held against a function that takes
//! anything and does nothing; refused ones against the same calls of `reference.c`, which has
//! libtvm_ffi raise the same error, and walk the stack for it.

use crate::figure::{Figure, Target};
use crate::series::Medians;
use crate::subject::{Sides, Subject};
use crate::toolchain;
use anyhow::{Context, Result};
use std::process::Command;

const N_ROUNDS: usize = 201;
/// Calls in a sample.
const N_CALLS: usize = 200;

/// Calls that are refused, by the names that `python_calls.py` has for them.
const REFUSED: [&str; 2] = ["an extent that does not match", "no tensor"];

/// Accepted calls of both functions, and refused ones of the first.
///
/// # Errors
/// Where Python, PyTorch or tvm_ffi is missing.
pub fn measure(sides: &Sides) -> Result<Vec<Figure>> {
    let accepted = Subject::ALL.iter().map(|subject| {
        let target = match subject {
            Subject::AddOne => Target::Ratio(1.10),
            Subject::Blend => Target::Ratio(1.15),
        };
        let name = format!("accepted call from Python, {} (torch)", subject.title());
        Figure::measure(name, "ns", target, || medians(sides, subject.name()))
    });
    let refused = REFUSED.iter().map(|title| {
        let name = format!("refused call from Python, {title}");
        let microseconds = || Ok(medians(sides, title)?.map(|nanoseconds| nanoseconds / 1e3));
        Figure::measure(name, "us", Target::Ratio(0.25), microseconds)
    });
    accepted.chain(refused).collect()
}

fn medians(sides: &Sides, call: &str) -> Result<Medians> {
    let mut python = Command::new(toolchain::python());
    python.arg(toolchain::folder().join("python_calls.py"));
    python.args([&sides.ours.path, &sides.reference.path]).arg(call);
    let text = toolchain::output(python.args([N_ROUNDS, N_CALLS].map(|n| n.to_string())))?;
    let medians: serde_json::Value = serde_json::from_str(&text)?;
    let median = |side: &str| medians[side].as_f64().with_context(|| format!("no {side}: {text}"));
    Ok(Medians {
        ours: median("ours")?,
        reference: median("reference")?,
        control: median("control")?,
    })
}
