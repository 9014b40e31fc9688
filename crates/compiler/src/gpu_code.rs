// SPDX-License-Identifier: Apache-2.0
//! The GPU code of a package: its modules and kernels, numbered, and each kernel's parameters held against what launches pass.

use crate::error::CompileError;
use crate::image::Kernel;
use crate::package::{Function, Launch};
use crate::source::Source;
use crate::source::gpu::{GpuArtifact, GpuSource};
use crate::target::struct_abi::{FieldType, Layout};
use kernpack_validators::Plan;
use kernpack_validators::plan::{CScalar, LaunchArg};

/// The GPU code of a package.
#[derive(Debug, Default)]
pub struct GpuCode {
    /// A module for each source: the same kernels for several devices.
    pub modules: Vec<(GpuSource, GpuArtifact)>,
    /// The kernels that launches name, each with its module's number.
    pub kernels: Vec<(usize, String)>,
}

impl GpuCode {
    /// The number of a kernel of a source.
    pub fn kernel(&self, source: &GpuSource, symbol: &str) -> Option<usize> {
        let module = self.modules.iter().position(|(known, _)| known == source)?;
        self.kernels.iter().position(|(of, name)| *of == module && name == symbol)
    }

    /// Numbers the kernels that the launches of a function name, after checking that they exist and take what they are passed.
    ///
    /// # Errors
    /// The first that does not.
    pub fn add_kernels(&mut self, function: &Function, plan: &Plan) -> Result<(), CompileError> {
        for (index, launch) in function.launches.iter().enumerate() {
            let Source::Gpu(source) = &launch.source else { continue };
            let module = self.modules.iter().position(|(known, _)| known == source);
            let module = module.expect("every source has been built");
            let planned = plan.launches.iter().find(|planned| planned.index == index);
            let args = planned.map(|planned| &planned.args[..]).unwrap_or_default();
            for symbol in launch.symbols(&plan.combinations) {
                for image in &self.modules[module].1.images {
                    if let Some(kernel) = image.kernel(&symbol)? {
                        check_params(kernel, args, &image.name, launch, function)?;
                    }
                }
                if !self.kernels.contains(&(module, symbol.clone())) {
                    self.kernels.push((module, symbol));
                }
            }
        }
        Ok(())
    }
}

/// The kernel's parameters have the sizes of the arguments.
fn check_params(
    kernel: &Kernel,
    args: &[LaunchArg],
    file: &str,
    launch: &Launch,
    function: &Function,
) -> Result<(), CompileError> {
    let takes: Vec<_> = kernel.params.iter().map(|param| param.size).collect();
    let passes: Vec<_> = args.iter().map(|arg| layout(arg).size).collect();
    if takes == passes {
        return Ok(());
    }
    let written: Vec<_> = launch.spec.args.iter().map(ToString::to_string).collect();
    let passes = passes.iter().zip(&written).map(|(size, arg)| format!("{size} (`{arg}`)"));
    Err(CompileError::KernelParams {
        kernel: kernel.name.clone(),
        file: file.to_string(),
        function: function.signature.name.clone(),
        takes: sizes(&takes.iter().map(u32::to_string).collect::<Vec<_>>()),
        passes: sizes(&passes.collect::<Vec<_>>()),
    })
}

fn sizes(sizes: &[String]) -> String {
    match sizes {
        [] => "no parameters".to_string(),
        sizes => format!("{} parameters, of {} bytes", sizes.len(), sizes.join(", ")),
    }
}

/// How an argument lies in memory.
pub fn layout(arg: &LaunchArg) -> Layout {
    match field_type(arg) {
        FieldType::Struct(fields) => Layout::of(&fields),
        scalar => Layout::of(&[scalar]),
    }
}

fn field_type(arg: &LaunchArg) -> FieldType {
    match arg {
        LaunchArg::Struct(fields) => FieldType::Struct(fields.iter().map(field_type).collect()),
        LaunchArg::Value(_, c_type) => FieldType::Scalar(*c_type),
        LaunchArg::Result(_) | LaunchArg::Workspace(_) | LaunchArg::EnvStream => {
            FieldType::Scalar(CScalar::Pointer)
        }
    }
}
