// SPDX-License-Identifier: Apache-2.0
//! The parts of a package, before there is code for its entry points: plans, and what sources became.

use crate::error::{Problems, Warning};
use crate::file::{Files, InputFile};
use crate::gpu_code::GpuCode;
use crate::host_code::HostCode;
use crate::package::{EntryPoint, Package};
use crate::plans::Plans;
use crate::target::Target;
use kernpack_validators::Plan;
use std::collections::HashMap;

/// A package whose parts fit together.
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
    /// Plans every function and builds every source; `given` are the plans that there are already, and `problems` what is wrong already.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn build(
        package: &'p Package,
        given: &HashMap<String, Plan>,
        target: &'static Target,
        mut problems: Problems,
    ) -> Result<Parts<'p>, Problems> {
        let entry_points = package.entry_points();
        let plans = Plans::of(package, &entry_points, given, &mut problems);
        let planned = plans.described(package);
        let host = HostCode::build(&planned, target, &mut problems);
        let gpu = GpuCode::build(&planned, &mut problems);
        problems.into_result()?;
        Ok(Parts { package, target, entry_points, plans, host, gpu })
    }

    /// Every file that was read for it, after those that were read before.
    pub fn inputs(&self, mut before: Files) -> Vec<InputFile> {
        let host = self.host.modules.iter().flat_map(|module| &module.artifact.inputs);
        let gpu = self.gpu.modules.iter().flat_map(|(_, code)| &code.inputs);
        before.extend(host.chain(gpu).cloned());
        before.into_inputs()
    }

    /// What the compilers said, in the order of the sources.
    pub fn warnings(&self) -> Vec<Warning> {
        let host = self.host.modules.iter();
        let host = host.map(|module| (module.source.name(), &module.artifact.log));
        let gpu = self.gpu.modules.iter().map(|(source, code)| (source.name(), &code.log));
        let said = host.chain(gpu).filter(|(_, log)| !log.is_empty());
        said.map(|(source, log)| Warning { source, text: log.clone() }).collect()
    }

    /// The objects, archives and images that the sources became, in order. They change with everything that they are made of, which for a
    /// C or CUDA C++ file is also headers, macros, options and the compiler.
    pub fn source_bytes(&self) -> Vec<&[u8]> {
        let files = self.host.modules.iter().flat_map(|module| &module.artifact.files);
        let images = self.gpu.modules.iter().flat_map(|(_, code)| &code.images);
        files.map(|file| &file.bytes[..]).chain(images.map(|image| &image.bytes[..])).collect()
    }
}
