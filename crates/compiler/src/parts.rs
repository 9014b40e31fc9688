// SPDX-License-Identifier: Apache-2.0
//! The parts of a package, before there is code for its entry points: plans, and what sources
//! became.

use crate::gpu_code::GpuCode;
use crate::gpu_kernels::GpuKernels;
use crate::host_code::HostCode;
use crate::lower::{Entry, Program};
use kernpack_codegen::llvm::CodegenError;
use kernpack_package::file::{Files, Held, Looked};
use kernpack_package::package::{EntryPoint, Function, Package};
use kernpack_package::plans::Plans;
use kernpack_package::target::Target;
use kernpack_process::parallel;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;
use std::collections::HashMap;

/// A package whose parts fit together, unless there are problems.
#[derive(Debug)]
pub struct Parts<'p> {
    /// The package that the user described.
    pub package: &'p Package,
    /// The host that it is made for.
    pub target: &'static Target,
    /// The entry points that callers see.
    pub entry_points: Vec<EntryPoint>,
    /// The plans of its calls.
    pub plans: Plans,
    /// The functions that run on the host.
    pub host: HostCode,
    /// The kernels that run on a GPU.
    pub gpu: GpuCode,
    /// The object code of the entry points, where it was made while the GPU code was.
    pub entry_code: Option<Result<Vec<u8>, CodegenError>>,
    /// Notes and warnings from before: of kernels that were elaborated.
    pub before: Vec<Diagnostic>,
}

/// The use of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A package.
    Code,
    /// To know what is wrong with them, and then perhaps a package.
    Check,
}

impl<'p> Parts<'p> {
    /// Plans every function and builds every source; `given` are the plans that there are already.
    /// The functions of `unsound` have problems among the `problems` that were found
    /// already: of these, the sources are built and nothing else is done.
    ///
    /// Where code is wanted of kernels that are written here, and nothing is wrong yet, the entry
    /// points' code is made meanwhile: it takes about as long, and needs nothing of the kernels'.
    pub fn build(
        package: &'p Package,
        given: &HashMap<String, Plan>,
        target: &'static Target,
        held: &Held,
        (unsound, goal): (&[Function], Goal),
        problems: &mut Diagnostics,
    ) -> Parts<'p> {
        let entry_points = package.entry_points();
        let plans = Plans::of(package, &entry_points, given, problems);
        let mut functions = plans.described(package);
        functions.extend(unsound.iter().map(|function| (function, None)));
        let host = HostCode::build(&functions, target, held, problems);
        let is_sound = goal == Goal::Code && unsound.is_empty() && !problems.has_errors();
        let known = is_sound.then(|| GpuKernels::written(&functions)).flatten();
        let (gpu, entry_code) = match known {
            None => (GpuCode::build(&functions, held, problems), None),
            Some(kernels) => {
                let entries = entries(package, &entry_points, &plans);
                let program = Program { package, entries, host: &host, kernels: &kernels, target };
                let build = || GpuCode::build(&functions, held, problems);
                let (gpu, code) = parallel::join(build, || program.lower_entry_points());
                (gpu, Some(code))
            }
        };
        let before = vec![];
        Parts { package, target, entry_points, plans, host, gpu, entry_code, before }
    }

    /// The program that entry points are made of.
    pub fn program(&self) -> Program<'_> {
        let &Parts { package, ref entry_points, ref plans, ref host, ref gpu, target, .. } = self;
        let entries = entries(package, entry_points, plans);
        Program { package, entries, host, kernels: &gpu.kernels, target }
    }

    /// The files that were read and missed for it, after those before.
    pub fn looked(&self, mut before: Files<'_>) -> Looked {
        let host = self.host.modules.iter().map(|module| &module.artifact.looked);
        let gpu = self.gpu.modules.iter().map(|module| &module.artifact.looked);
        host.chain(gpu).for_each(|looked| before.extend(looked.clone()));
        before.into_looked()
    }

    /// Notes and warnings: those from before, then those of the compilers, in the order of the
    /// sources.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        [self.before.clone(), self.host.warnings(), self.gpu.warnings()].concat()
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

/// The entry points with what they are lowered from.
fn entries<'p>(
    package: &Package,
    entry_points: &'p [EntryPoint],
    plans: &'p Plans,
) -> Vec<Entry<'p>> {
    let entries = entry_points.iter().map(|entry_point| {
        let EntryPoint { function, role } = entry_point;
        Entry {
            name: &function.signature.name,
            plan: plans.of_entry_point(entry_point),
            role,
            launches: &function.launches,
            submit: package.submit_of(function),
        }
    });
    entries.collect()
}
