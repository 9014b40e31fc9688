// SPDX-License-Identifier: Apache-2.0
//! The commands: one file and one line below for each.

mod bench;
mod build;
mod cache;
mod check;
mod emit;
mod explain;
mod inspect;
mod layout;
mod plan;
mod run;
mod targets;
mod tune;

use crate::{Failure, Report};
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build a package from its package file.
    Build(build::Build),
    /// Find out what is wrong with a package file and its sources, without writing anything.
    Check(check::Check),
    /// Run a function of kernels that are written here on the interpreter, which finds what is
    /// wrong.
    Run(run::Run),
    /// Measure how long the launches of a function take on a GPU.
    Bench(bench::Bench),
    /// Find the fastest configs of tuned functions on the GPU of this machine, and write them down.
    Tune(tune::Tune),
    /// Show what kernels that are written here become.
    Emit(emit::Emit),
    /// Show what is inside an object or a shared object, without loading it.
    Inspect(inspect::Inspect),
    /// Show the checks that a signature becomes, in order.
    Plan(plan::Plan),
    /// Explain an error of a call, of a build or of CUDA, by its name or by its message.
    Explain(explain::Explain),
    /// Draw a layout, or what an operation on layouts results in.
    Layout(layout::Layout),
    /// Look after the compile cache.
    Cache(cache::Cache),
    /// List what packages can be built for.
    Targets(targets::Targets),
}

impl Command {
    /// Runs the command. What only programs read need not be in the answer to a person.
    pub fn run(self, for_programs: bool) -> Result<Report, Failure> {
        match self {
            Command::Build(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Run(command) => command.run(for_programs),
            Command::Bench(command) => command.run(),
            Command::Tune(command) => command.run(),
            Command::Emit(command) => command.run(),
            Command::Inspect(command) => command.run(),
            Command::Plan(command) => command.run(),
            Command::Explain(command) => command.run(),
            Command::Layout(command) => command.run(),
            Command::Cache(command) => command.run(),
            Command::Targets(command) => command.run(),
        }
    }
}
