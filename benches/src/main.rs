// SPDX-License-Identifier: Apache-2.0
//! Runs the benchmarks and prints one table.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use anyhow::Result;
use clap::{Parser, ValueEnum};
use kernpack_benches::figure::{Figure, Verdict};
use kernpack_benches::subject::Sides;
use kernpack_benches::{
    accepted, builds, gpu, kernels, programs, python, refused, report, toolchain, typed,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Costs of calls and builds, each figure next to what it is held against.
#[derive(Parser)]
#[command(name = "kernpack-benches")]
struct Options {
    /// Put the figures into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
    /// Fail where a target is missed, or the machine is too noisy to tell.
    #[arg(long)]
    check: bool,
    /// Build a package around this object some times, and print how long each took, in
    /// milliseconds.
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["write", "check", "groups"])]
    build: Option<PathBuf>,
    /// Measure these only.
    #[arg(value_enum)]
    groups: Vec<Group>,
}

/// Figures that are measured together.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Kernels that kernpack compiles itself, and the interpreter that runs them. First, as a
    /// process that has built much already has its allocator grown, and NVIDIA's assembler gains
    /// most by that: whoever builds a package has a process that just started.
    Kernels,
    /// Accepted calls from C.
    Accepted,
    /// Calls from Python.
    Python,
    /// Refused calls from C.
    Refused,
    /// Typed calls from Rust, and packages in build scripts.
    Typed,
    /// Builds.
    Builds,
    /// Packages with GPU kernels, where no GPU is needed.
    Gpu,
    /// The Python package.
    Package,
    /// Jit functions, as far as they go without a GPU.
    Jit,
    /// Operators of PyTorch.
    Torch,
    /// Calls in programs of JAX.
    Jax,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if let Some(object) = &options.build {
        println!("{:?}", builds::around(object)?);
        return Ok(ExitCode::SUCCESS);
    }
    let figures = measure(&options)?;
    print!("{}", report::table(&figures));
    if options.write {
        report::write(&figures, "make bench")?;
    }
    let met = figures.iter().all(|figure| figure.verdict() == Verdict::Met);
    Ok(if options.check && !met { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn measure(options: &Options) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let sides = Sides::build(folder.path(), &toolchain::folder().join("kernels.c"))?;
    let mut figures = Vec::new();
    for group in Group::value_variants() {
        if options.groups.is_empty() || options.groups.contains(group) {
            figures.extend(match group {
                Group::Accepted => accepted::measure(&sides)?,
                Group::Python => python::measure(&sides)?,
                Group::Refused => refused::measure(&sides)?,
                Group::Typed => typed::measure()?,
                Group::Builds => builds::measure(&sides.kernels)?,
                Group::Gpu => gpu::measure(folder.path())?,
                Group::Kernels => kernels::measure()?,
                Group::Package => programs::package()?,
                Group::Jit => programs::jit()?,
                Group::Torch => programs::torch()?,
                Group::Jax => programs::jax()?,
            });
        }
    }
    Ok(figures)
}
