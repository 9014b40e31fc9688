// SPDX-License-Identifier: Apache-2.0
//! The GPU code of a package: its modules and kernels, numbered, and each kernel's parameters held
//! against what launches pass.

use crate::gpu_kernels::GpuKernels;
use crate::source;
use crate::source::assembler::AssemblerKind;
use crate::source::gpu::{GpuArtifact, GpuCompiler};
use crate::wanted::{Wanted, wanted};
use kernpack_machine::Arch;
use kernpack_package::file::Held;
use kernpack_package::image::Image;
use kernpack_package::package::{Function, Launch};
use kernpack_package::problem::of_function;
use kernpack_package::source::{CudaSource, GpuSource, SourceErrorKind};
use kernpack_package::target::struct_abi::{FieldType, Layout};
use kernpack_process::parallel;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;
use kernpack_validators::plan::{CScalar, LaunchArg};

/// The GPU code of a package.
#[derive(Debug, Default)]
pub struct GpuCode {
    /// A module for each source, in the order in which launches name them.
    pub modules: Vec<GpuModule>,
    /// The kernels that launches name.
    pub kernels: GpuKernels,
}

/// The code of a source: the same kernels for several devices.
#[derive(Debug)]
pub struct GpuModule {
    /// The source.
    pub source: GpuSource,
    /// The first function that has it.
    pub function: String,
    /// Its images.
    pub artifact: GpuArtifact,
}

/// The code of a CUDA C++ file, or of a file of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaCode {
    /// The compiler.
    pub compiler: GpuCompiler,
    /// Whether the package file says what it is to be compiled for.
    pub is_arch_written: bool,
    /// The architectures that there is code for.
    pub archs: Vec<Arch>,
    /// The assemblers that made machine code of it, each once.
    pub assemblers: Vec<AssemblerKind>,
    /// Whether PTX takes the place of machine code, for want of an assembler.
    pub is_unassembled: bool,
}

impl GpuModule {
    /// Its code, if it was compiled here.
    fn cuda(&self) -> Option<CudaCode> {
        let compiler = source::gpu::compiler(&self.source)?;
        let is_arch_written = self.source.is_arch_written()?;
        let (archs, assemblers) = (self.artifact.archs(), self.artifact.assemblers.clone());
        let is_unassembled = self.artifact.is_unassembled;
        Some(CudaCode { compiler, is_arch_written, archs, assemblers, is_unassembled })
    }

    fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        let of_kernels = self.artifact.warnings.iter().cloned();
        let placed = of_kernels.map(|warning| of_function(&self.function, warning));
        self.compilers_warning().into_iter().chain(placed)
    }

    fn compilers_warning(&self) -> Option<Diagnostic> {
        let GpuSource::Cuda(CudaSource { path, .. }, _) = &self.source else { return None };
        let message = format!("NVRTC warns of `{}`", path.display());
        let warning = Diagnostic::warning("compiler-warning", message);
        let log = &self.artifact.log;
        let warning = of_function(&self.function, warning.at(path.span).detail(log));
        (!log.is_empty()).then_some(warning)
    }
}

impl GpuCode {
    /// Builds every GPU source of a package once, with all the kernels that launches of it name. A
    /// source that cannot be built, and every kernel that is not there or takes something else than
    /// it is passed, is a problem.
    pub fn build(
        functions: &[(&Function, Option<&Plan>)],
        held: &Held,
        problems: &mut Diagnostics,
    ) -> GpuCode {
        let mut code = GpuCode::default();
        let wanted = wanted(functions, Launch::gpu_source);
        let built = parallel::map(&wanted, |wanted| {
            source::gpu::build(wanted.source, &wanted.kernels(), held)
        });
        for (wanted, built) in wanted.iter().zip(built) {
            match built {
                Ok(artifact) => code.add(wanted, artifact),
                Err(errors) => problems.extend(wanted.problems(errors)),
            }
        }
        for (function, plan) in functions {
            if let Some(plan) = plan {
                code.check_kernels(function, plan, problems);
            }
        }
        code
    }

    fn add(&mut self, wanted: &Wanted<'_, GpuSource>, artifact: GpuArtifact) {
        self.kernels.add(wanted.source.clone(), artifact.symbols.clone());
        let (source, function) = (wanted.source.clone(), wanted.function().to_string());
        self.modules.push(GpuModule { source, function, artifact });
    }

    /// The code of the sources that are compiled here, source by source.
    pub fn cuda(&self) -> Vec<CudaCode> {
        self.modules.iter().filter_map(GpuModule::cuda).collect()
    }

    /// Warnings of compilers, source by source.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.modules.iter().flat_map(GpuModule::warnings).collect()
    }

    /// Every kernel that a function launches exists, and takes what it is passed.
    fn check_kernels(&self, function: &Function, plan: &Plan, problems: &mut Diagnostics) {
        for planned in &plan.launches {
            let launch = &function.launches[planned.index];
            let Some(source) = launch.gpu_source() else { continue };
            for name in launch.symbols(plan, planned) {
                // A source that could not be built is a problem already.
                let Some((module, symbol)) = self.kernels.symbol(source, &name) else { continue };
                let passed = Passed { function, launch, args: &planned.args };
                match symbol {
                    Err(error) => {
                        let name = &function.signature.name;
                        problems.push(error.clone().diagnostic(name, [launch.kernel.span]));
                    }
                    Ok(symbol) => {
                        let images = &self.modules[module].artifact.images;
                        problems
                            .extend(images.iter().filter_map(|image| passed.unfit(image, symbol)));
                    }
                }
            }
        }
    }
}

/// The arguments of a launch.
struct Passed<'a> {
    function: &'a Function,
    launch: &'a Launch,
    args: &'a [LaunchArg],
}

impl Passed<'_> {
    /// The problem where the parameters of an image's kernel have not the sizes of the arguments.
    fn unfit(&self, image: &Image, kernel: &str) -> Option<Diagnostic> {
        let kernel = image.kernel(kernel)?;
        let takes: Vec<_> = kernel.params.iter().map(|param| param.size).collect();
        let mut passes: Vec<_> = self.args.iter().map(|arg| layout(arg).size).collect();
        // The record, which is the last, is not taken by a kernel that asserts nothing.
        let takes_none = takes.len() + 1 == passes.len();
        if takes_none && matches!(self.args.last(), Some(LaunchArg::AssertRecord)) {
            passes.pop();
        }
        if takes == passes {
            return None;
        }
        let (function, code) =
            (&self.function.signature.name, SourceErrorKind::KernelParams.code());
        let message = format!(
            "kernel `{}` of `{}` takes {}, but `{function}` passes {}",
            kernel.name,
            image.name,
            sizes(&takes.iter().map(u32::to_string).collect::<Vec<_>>()),
            sizes(&self.described(&passes)),
        );
        let problem = self.at_unfit_args(Diagnostic::new(code, message), &takes, &passes);
        Some(of_function(function, problem))
    }

    /// The sizes, each with the argument that has it.
    fn described(&self, sizes: &[u32]) -> Vec<String> {
        let written = self.launch.args.iter().map(|arg| format!("`{arg}`"));
        let written = written.chain(std::iter::repeat("hidden".to_string()));
        sizes.iter().zip(written).map(|(size, arg)| format!("{size} ({arg})")).collect()
    }

    /// Where the arguments stand that do not fit: all of them where they are too few or too many.
    fn at_unfit_args(&self, problem: Diagnostic, takes: &[u32], passes: &[u32]) -> Diagnostic {
        let mut problem = problem;
        let one_for_each = takes.len() == passes.len();
        for (arg, (takes, passes)) in self.launch.args.iter().zip(takes.iter().zip(passes)) {
            if one_for_each && takes != passes {
                let label = format!("`{arg}` has {passes} bytes, where the kernel takes {takes}");
                problem = problem.mark(arg.span, label);
            }
        }
        problem.at(self.launch.args_place())
    }
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
        LaunchArg::Result(_) | LaunchArg::Workspace(_) => FieldType::Scalar(CScalar::Pointer),
        LaunchArg::EnvStream | LaunchArg::AssertRecord => FieldType::Scalar(CScalar::Pointer),
        LaunchArg::TensorMap(_) => unreachable!("a tensor map is an argument of its own"),
    }
}
