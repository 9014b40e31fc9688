// SPDX-License-Identifier: Apache-2.0
//! Figures that other programs measure. Each prints a list of them as JSON: `name`, `unit`, the
//! medians `ours`, `reference` and `control`, and what it is held to, `ratio` or `most`. Those in
//! Python need the package's libraries as the wheel has them, which `KERNPACK_NATIVE` names.

use crate::figure::{Figure, Target};
use crate::series::Medians;
use crate::toolchain;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::ffi::OsStr;
use std::process::Command;

/// A figure as a program prints it.
#[derive(Deserialize)]
struct Printed {
    name: String,
    unit: String,
    ours: f64,
    reference: f64,
    control: f64,
    ratio: Option<f64>,
    most: Option<f64>,
}

/// Calls, builds and the cache of the Python package.
///
/// # Errors
/// Where it cannot be run.
pub fn package() -> Result<Vec<Figure>> {
    figures("python_package.py", [std::env::current_exe()?])
}

/// Jit functions, as far as they go without a GPU.
///
/// # Errors
/// Where it cannot be run.
pub fn jit() -> Result<Vec<Figure>> {
    figures("python_jit.py", [] as [&str; 0])
}

/// Operators of PyTorch.
///
/// # Errors
/// Where PyTorch is missing.
pub fn torch() -> Result<Vec<Figure>> {
    figures("torch_ops.py", [] as [&str; 0])
}

/// Calls in programs of JAX.
///
/// # Errors
/// Where JAX or its bridge is missing.
pub fn jax() -> Result<Vec<Figure>> {
    figures("jax_calls.py", [] as [&str; 0])
}

fn figures(program: &str, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Vec<Figure>> {
    let mut python = Command::new(toolchain::python());
    python.arg(toolchain::folder().join(program)).args(args);
    python.env("PYTHONPATH", toolchain::folder().join("../python"));
    printed(&mut python)
}

/// The figures that a program prints.
///
/// # Errors
/// Where it cannot be run.
pub fn printed(program: &mut Command) -> Result<Vec<Figure>> {
    let text = toolchain::output(program)?;
    let printed: Vec<Printed> =
        serde_json::from_str(&text).with_context(|| format!("{program:?} printed {text}"))?;
    printed.into_iter().map(Printed::figure).collect()
}

impl Printed {
    fn figure(self) -> Result<Figure> {
        let Printed { name, unit, ours, reference, control, ratio, most } = self;
        let target = match (ratio, most) {
            (Some(limit), None) => Target::Ratio(limit),
            (None, Some(limit)) => Target::Most(limit),
            _ => anyhow::bail!("`{name}` is held to a ratio or to an amount"),
        };
        let medians = Medians { ours, reference, control };
        Ok(Figure { name, unit: unit.leak(), medians, target })
    }
}
