// SPDX-License-Identifier: Apache-2.0
//! The GPU code of a package: its modules and kernels, numbered, and each kernel's parameters held against what launches pass.

use crate::error::CompileError;
use crate::image::Kernel;
use crate::lower::{TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES};
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

/// A source that is to be built.
struct Wanted<'a> {
    source: &'a GpuSource,
    /// The first function that has it.
    function: &'a str,
    /// The kernels that launches name.
    kernels: Vec<String>,
}

impl GpuCode {
    /// Builds every GPU source of a package once, with all the kernels that launches of it name.
    ///
    /// # Errors
    /// Where one cannot be built, or lacks a kernel.
    pub fn build(functions: &[&Function], plans: &[Plan]) -> Result<GpuCode, CompileError> {
        let mut wanted: Vec<Wanted<'_>> = Vec::new();
        for (function, plan) in functions.iter().zip(plans) {
            for launch in &function.launches {
                let Source::Gpu(source) = &launch.source else { continue };
                let known = wanted.iter().position(|known| known.source == source);
                let known = known.unwrap_or_else(|| {
                    let function = &function.signature.name;
                    wanted.push(Wanted { source, function, kernels: vec![] });
                    wanted.len() - 1
                });
                let kernels = &mut wanted[known].kernels;
                for symbol in launch.symbols(&plan.combinations) {
                    if !kernels.contains(&symbol) {
                        kernels.push(symbol);
                    }
                }
            }
        }
        let mut code = GpuCode::default();
        for (number, Wanted { source, function, kernels }) in wanted.into_iter().enumerate() {
            let artifact = source.build(&kernels).map_err(|error| error.in_source_of(function))?;
            let symbols = artifact.symbols.iter().map(|(_, symbol)| (number, symbol.clone()));
            code.kernels.extend(symbols);
            code.modules.push((source.clone(), artifact));
        }
        for (function, plan) in functions.iter().zip(plans) {
            code.check_kernels(function, plan)?;
        }
        Ok(code)
    }

    /// The number of a kernel of a source, by the name that a launch has for it.
    pub fn kernel(&self, source: &GpuSource, name: &str) -> Option<usize> {
        let (module, symbol) = self.symbol(source, name)?;
        self.kernels.iter().position(|(of, known)| *of == module && known == symbol)
    }

    fn symbol(&self, source: &GpuSource, name: &str) -> Option<(usize, &str)> {
        let module = self.modules.iter().position(|(known, _)| known == source)?;
        let symbols = &self.modules[module].1.symbols;
        let (_, symbol) = symbols.iter().find(|(written, _)| written == name)?;
        Some((module, symbol))
    }

    /// Every kernel that a function launches exists, and takes what it is passed.
    fn check_kernels(&self, function: &Function, plan: &Plan) -> Result<(), CompileError> {
        for (index, launch) in function.launches.iter().enumerate() {
            let Source::Gpu(source) = &launch.source else { continue };
            let planned = plan.launches.iter().find(|planned| planned.index == index);
            let args = planned.map(|planned| &planned.args[..]).unwrap_or_default();
            for name in launch.symbols(&plan.combinations) {
                let (module, symbol) = self.symbol(source, &name).expect("every source is built");
                for image in &self.modules[module].1.images {
                    if let Some(kernel) = image.kernel(symbol)? {
                        check_params(kernel, args, &image.name, launch, function)?;
                    }
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
    let written = launch.spec.args.iter().map(|arg| format!("`{arg}`"));
    let written = written.chain(launch.spec.hidden.iter().map(|_| "hidden".to_string()));
    let passes = passes.iter().zip(written).map(|(size, arg)| format!("{size} ({arg})"));
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
fn layout(arg: &LaunchArg) -> Layout {
    if let LaunchArg::TensorMap(_) = arg {
        return Layout { scalars: vec![], size: TENSOR_MAP_BYTES, align: TENSOR_MAP_ALIGN };
    }
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
        LaunchArg::TensorMap(_) => unreachable!("a tensor map is an argument of its own"),
    }
}
