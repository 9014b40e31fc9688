// SPDX-License-Identifier: Apache-2.0
//! The parts of a package, before there is code for its entry points: plans, and what sources
//! became.

use crate::file::{Files, Held, Looked};
use crate::gpu_code::GpuCode;
use crate::host_code::HostCode;
use crate::package::{EntryPoint, Function, Package};
use crate::plans::Plans;
use crate::target::Target;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;
use std::collections::HashMap;

/// A package whose parts fit together, unless there are problems.
#[derive(Debug)]
pub struct Parts<'p> {
    /// What the user described.
    pub package: &'p Package,
    /// What it is made for.
    pub target: &'static Target,
    /// What callers see of it.
    pub entry_points: Vec<EntryPoint>,
    /// What calls check and compute.
    pub plans: Plans,
    /// The functions that run on the host.
    pub host: HostCode,
    /// The kernels that run on a GPU.
    pub gpu: GpuCode,
}

impl<'p> Parts<'p> {
    /// Plans every function and builds every source; `given` are the plans that there are already.
    /// What is wrong with the functions of `unsound` is among the `problems` that were found
    /// already: of these, the sources are built and nothing else is done.
    pub fn build(
        package: &'p Package,
        given: &HashMap<String, Plan>,
        target: &'static Target,
        held: &Held,
        unsound: &[Function],
        problems: &mut Diagnostics,
    ) -> Parts<'p> {
        let entry_points = package.entry_points();
        let plans = Plans::of(package, &entry_points, given, problems);
        let mut functions = plans.described(package);
        functions.extend(unsound.iter().map(|function| (function, None)));
        let host = HostCode::build(&functions, target, held, problems);
        let gpu = GpuCode::build(&functions, held, problems);
        Parts { package, target, entry_points, plans, host, gpu }
    }

    /// What was read and missed for it, after what was before.
    pub fn looked(&self, mut before: Files<'_>) -> Looked {
        let host = self.host.modules.iter().map(|module| &module.artifact.looked);
        let gpu = self.gpu.modules.iter().map(|module| &module.artifact.looked);
        host.chain(gpu).for_each(|looked| before.extend(looked.clone()));
        before.into_looked()
    }

    /// What the compilers said, in the order of the sources.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        [self.host.warnings(), self.gpu.warnings()].concat()
    }

    /// The objects, archives and images that the sources became, in order. They change with
    /// everything that they are made of, which for a C or CUDA C++ file is also headers, macros,
    /// options and the compiler.
    pub fn source_bytes(&self) -> Vec<&[u8]> {
        let files = self.host.modules.iter().flat_map(|module| &module.artifact.files);
        let images = self.gpu.modules.iter().flat_map(|module| &module.artifact.images);
        files.map(|file| &file.bytes[..]).chain(images.map(|image| &image.bytes[..])).collect()
    }
}
