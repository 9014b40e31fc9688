// SPDX-License-Identifier: Apache-2.0
//! The GPU code of a package: its modules and kernels, numbered, and each kernel's parameters held against what launches pass.

use crate::error::{Problem, Problems};
use crate::image::{Image, Kernel};
use crate::package::{Function, Launch};
use crate::parallel;
use crate::source::gpu::{GpuArtifact, KernelSymbol};
use crate::source::{GpuSource, SourceError, SourceErrorKind};
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
    /// The first function that has it, and the launch's place there.
    of: (&'a str, usize),
    /// The kernels that launches name.
    kernels: Vec<String>,
}

impl GpuCode {
    /// Builds every GPU source of a package once, with all the kernels that launches of it name. What cannot be built, and every kernel that is
    /// not there or takes something else than it is passed, is a problem.
    pub fn build(functions: &[(&Function, &Plan)], problems: &mut Problems) -> GpuCode {
        let mut code = GpuCode::default();
        let wanted = wanted(functions);
        let built = parallel::map(&wanted, |wanted| wanted.source.build(&wanted.kernels));
        for (Wanted { source, of: (function, index), .. }, built) in wanted.iter().zip(built) {
            match built {
                Ok(artifact) => {
                    let number = code.modules.len();
                    for symbol in
                        artifact.symbols.iter().filter_map(|(_, symbol)| symbol.as_ref().ok())
                    {
                        let kernel = (number, symbol.clone());
                        if !code.kernels.contains(&kernel) {
                            code.kernels.push(kernel);
                        }
                    }
                    code.modules.push(((*source).clone(), artifact));
                }
                Err(errors) => {
                    let of_launch = |error| Problem::of_launch(function, *index, error);
                    problems.0.extend(errors.into_iter().map(of_launch));
                }
            }
        }
        for (function, plan) in functions {
            code.check_kernels(function, plan, problems);
        }
        code
    }

    /// The number of a kernel of a source, by the name that a launch has for it.
    pub fn kernel(&self, source: &GpuSource, name: &str) -> Option<usize> {
        let (module, symbol) = self.symbol(source, name)?;
        let symbol = symbol.as_ref().ok()?;
        self.kernels.iter().position(|(of, known)| *of == module && known == symbol)
    }

    /// The number of a source's module, and the symbol of a kernel in it.
    fn symbol(&self, source: &GpuSource, name: &str) -> Option<(usize, &KernelSymbol)> {
        let module = self.modules.iter().position(|(known, _)| known == source)?;
        let symbols = &self.modules[module].1.symbols;
        let (_, symbol) = symbols.iter().find(|(written, _)| written == name)?;
        Some((module, symbol))
    }

    /// Every kernel that a function launches exists, and takes what it is passed.
    fn check_kernels(&self, function: &Function, plan: &Plan, problems: &mut Problems) {
        for planned in &plan.launches {
            let (index, args) = (planned.index, &planned.args);
            let launch = &function.launches[index];
            let Some(source) = launch.gpu_source() else { continue };
            for name in launch.symbols(plan, planned) {
                // A source that could not be built is a problem already.
                let Some((module, symbol)) = self.symbol(source, &name) else { continue };
                let images = self.modules[module].1.images.iter().zip(source.paths());
                let unfit = |(image, path): (&Image, _), symbol| {
                    let kernel = image.kernel(symbol)?;
                    let message = unfit_params(kernel, args, image, launch, function)?;
                    Some(SourceError::new(SourceErrorKind::KernelParams, path, message))
                };
                let errors: Vec<_> = match symbol {
                    Err(error) => vec![error.clone()],
                    Ok(symbol) => images.filter_map(|image| unfit(image, symbol)).collect(),
                };
                let name = &function.signature.name;
                let of_launch = |error| Problem::of_launch(name, index, error);
                problems.0.extend(errors.into_iter().map(of_launch));
            }
        }
    }
}

/// Every GPU source, with the kernels that launches of it name.
fn wanted<'p>(functions: &[(&'p Function, &Plan)]) -> Vec<Wanted<'p>> {
    let mut wanted: Vec<Wanted<'p>> = Vec::new();
    for (function, plan) in functions {
        for planned in &plan.launches {
            let (index, launch) = (planned.index, &function.launches[planned.index]);
            let Some(source) = launch.gpu_source() else { continue };
            let known = wanted.iter().position(|known| known.source == source);
            let known = known.unwrap_or_else(|| {
                let of = (&function.signature.name[..], index);
                wanted.push(Wanted { source, of, kernels: vec![] });
                wanted.len() - 1
            });
            let kernels = &mut wanted[known].kernels;
            for symbol in launch.symbols(plan, planned) {
                if !kernels.contains(&symbol) {
                    kernels.push(symbol);
                }
            }
        }
    }
    wanted
}

/// What is wrong where the kernel's parameters have not the sizes of the arguments.
fn unfit_params(
    kernel: &Kernel,
    args: &[LaunchArg],
    image: &Image,
    launch: &Launch,
    function: &Function,
) -> Option<String> {
    let takes: Vec<_> = kernel.params.iter().map(|param| param.size).collect();
    let passes: Vec<_> = args.iter().map(|arg| layout(arg).size).collect();
    if takes == passes {
        return None;
    }
    let written = launch.args.iter().map(|arg| format!("`{arg}`"));
    let written = written.chain(std::iter::repeat("hidden".to_string()));
    let passes = passes.iter().zip(written).map(|(size, arg)| format!("{size} ({arg})"));
    let takes = sizes(&takes.iter().map(u32::to_string).collect::<Vec<_>>());
    Some(format!(
        "kernel `{}` of `{}` takes {takes}, but `{}` passes {}",
        kernel.name,
        image.name,
        function.signature.name,
        sizes(&passes.collect::<Vec<_>>())
    ))
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
        return Layout::TENSOR_MAP;
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
