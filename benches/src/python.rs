// SPDX-License-Identifier: Apache-2.0
//! Accepted calls from Python with PyTorch tensors, against a function that takes anything and does
//! nothing.

use crate::figure::{Figure, Target};
use crate::series::Medians;
use crate::subject::Subject;
use crate::toolchain;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

const N_ROUNDS: usize = 201;
/// Calls in a sample.
const N_CALLS: usize = 200;

/// Both functions of the module at `module`.
///
/// # Errors
/// Where Python, PyTorch or tvm_ffi is missing.
pub fn measure(module: &Path) -> Result<Vec<Figure>> {
    Subject::ALL
        .iter()
        .map(|subject| {
            let target = match subject {
                Subject::AddOne => Target::Ratio(1.10),
                Subject::Blend => Target::Ratio(1.15),
            };
            let name = format!("accepted call from Python, {} (torch)", subject.title());
            Figure::measure(name, "ns", target, || medians(module, *subject))
        })
        .collect()
}

fn medians(module: &Path, subject: Subject) -> Result<Medians> {
    let mut python = Command::new(toolchain::python());
    python.arg(toolchain::folder().join("python_calls.py")).arg(module).arg(subject.name());
    let text = toolchain::output(python.args([N_ROUNDS, N_CALLS].map(|n| n.to_string())))?;
    let medians: serde_json::Value = serde_json::from_str(&text)?;
    let median = |side: &str| medians[side].as_f64().with_context(|| format!("no {side}: {text}"));
    Ok(Medians {
        ours: median("ours")?,
        reference: median("reference")?,
        control: median("control")?,
    })
}
