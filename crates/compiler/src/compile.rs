// SPDX-License-Identifier: Apache-2.0
//! From a package to its files, in the order in which it happens: plans, sources, code, one object, one shared object.

use crate::error::CompileError;
use crate::export::{self, Record, RecordContext, note};
use crate::gpu_code::GpuCode;
use crate::link::{self, Input, SharedOptions};
use crate::lower::{self, Described, Entry};
use crate::package::{EntryPoint, Function, Package, Role};
use crate::source::host::HostArtifact;
use crate::source::{HostSource, Source, triton};
use crate::symbols;
use crate::target::Target;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::{KernelArg, LaunchSpec, Plan};
use std::collections::HashMap;
use std::path::PathBuf;

/// What a package is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The host.
    pub target: &'static Target,
}

impl Default for Options {
    fn default() -> Options {
        Options { target: Target::host() }
    }
}

/// A compiled package.
#[derive(Debug)]
pub struct Compiled {
    /// A relocatable object that defines the entry points and nothing else for others to see.
    pub object: Vec<u8>,
    /// A C header.
    pub header: String,
    /// A Python stub file.
    pub stubs: String,
    /// Every file that was read.
    pub inputs: Vec<PathBuf>,
    /// What the compilers of sources warned of.
    pub warnings: Vec<Warning>,
    target: &'static Target,
    name: String,
    needed: Vec<String>,
}

/// What a compiler says of a source that it compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The source.
    pub source: String,
    /// The compiler's own words.
    pub text: String,
}

/// Compiles a package.
///
/// # Errors
/// Where the package does not fit together, or a source cannot be had.
pub fn compile(package: &Package, options: &Options) -> Result<Compiled, CompileError> {
    let _span = tracing::info_span!("compile", package = package.name).entered();
    let target = options.target;
    let package = &triton::settle(package)?;
    let entry_points = package.entry_points();
    // What prepares calls of a function has that function's plan.
    let is_planned = |entry_point: &&EntryPoint| !matches!(entry_point.role, Role::Prepare(_));
    let functions = entry_points.iter().filter(is_planned).map(|planned| &planned.function);
    let functions: Vec<_> = functions.collect();
    let plans = functions.iter().map(|function| plan(function)).collect::<Result<Vec<_>, _>>()?;
    let artifacts = build_host_sources(package, target)?;
    check_kernels(&functions, &plans, &artifacts)?;
    let gpu = GpuCode::build(&functions, &plans)?;
    let needs = symbols::needed_by_user(&artifacts)?;
    let images: Vec<_> =
        gpu.modules.iter().map(|(source, code)| (source, &code.images[..])).collect();
    let mut record = export::record(
        package,
        &RecordContext {
            target: target.name,
            sources: &sources_digest_input(&artifacts, &gpu),
            undefined: &needs,
            images: &images,
        },
    );
    let names = functions.iter().map(|function| &function.signature.name[..]);
    let plan_of: HashMap<_, _> = names.zip(&plans).collect();
    let entries: Vec<_> = entry_points
        .iter()
        .map(|entry_point| Entry {
            name: &entry_point.function.signature.name,
            plan: match &entry_point.role {
                Role::Prepare(name) => plan_of[&name[..]],
                Role::Call | Role::Preload => plan_of[&entry_point.function.signature.name[..]],
            },
            role: &entry_point.role,
            launches: &entry_point.function.launches,
            described: (entry_point.role == Role::Call).then(|| Described {
                metadata: export::function_metadata(&entry_point.function, &record),
                doc: entry_point.function.doc.as_deref(),
            }),
        })
        .collect();
    let code = lower::lower(package, &entries, &gpu, target)?;
    let object = link_object(target, &code, &artifacts, !gpu.kernels.is_empty(), &mut record)?;
    let inputs = artifacts.iter().flat_map(|artifact| artifact.inputs.clone());
    let inputs = inputs.chain(gpu.modules.iter().flat_map(|(_, code)| code.inputs.clone()));
    Ok(Compiled {
        object,
        header: export::header(package),
        stubs: export::stubs(package),
        inputs: inputs.collect(),
        warnings: warnings(&artifacts, &gpu),
        target,
        name: package.name.clone(),
        needed: symbols::libraries(&needs, &package.link, !gpu.kernels.is_empty()),
    })
}

impl Compiled {
    /// A shared object, for `tvm_ffi.load_module` and `dlopen`.
    ///
    /// # Errors
    /// Where the linker refuses the object.
    pub fn shared_object(&self) -> Result<Vec<u8>, CompileError> {
        let _span = tracing::debug_span!("link_shared").entered();
        let soname = Some(format!("{}.so", self.name));
        let options = SharedOptions { soname, needed: self.needed.clone() };
        Ok(link::link_shared(self.target.elf, &self.object, &options)?)
    }
}

/// The plan of one function.
///
/// # Errors
/// What does not fit together.
pub fn plan(function: &Function) -> Result<Plan, CompileError> {
    let _span = tracing::debug_span!("plan", function = function.signature.name).entered();
    let specs: Vec<LaunchSpec> =
        function.launches.iter().map(|launch| launch.spec.clone()).collect();
    let device = function.default_device();
    let plan = function.signature.plan_function(device, &function.workspaces, &specs);
    let plan = plan.and_then(|plan| {
        function.signature.check_written(&specs)?;
        no_host_maps(function)?;
        names_of_dtypes(function, &plan)?;
        Ok(plan)
    });
    plan.map_err(|diagnostics| CompileError::Function {
        function: function.signature.name.clone(),
        diagnostics,
    })
}

/// No host function is passed a tensor map, however its launch is laid out.
fn no_host_maps(function: &Function) -> Result<(), Diagnostics> {
    let on_host = function.launches.iter().filter(|launch| !launch.source.is_gpu());
    let is_map = |arg: &&KernelArg| matches!(arg, KernelArg::TensorMap(_));
    match on_host.flat_map(|launch| &launch.spec.args).find(is_map) {
        None => Ok(()),
        Some(map) => {
            let message = format!("`{map}` is for kernels on a GPU");
            Err(Diagnostic::new("tensor-map", message).help("pass the tensor itself").into())
        }
    }
}

/// Every dtype that stands in the name of a kernel has a name there.
fn names_of_dtypes(function: &Function, plan: &Plan) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    for launch in &function.launches {
        for (var, dtype) in launch.unnamed_dtypes(&plan.combinations) {
            let message = format!(
                "`{{{var}}}` in the kernel's name `{}` has no meaning for {dtype}: CUDA C++ has no type that holds an element of it",
                launch.kernel
            );
            let help = format!(
                "leave {dtype} out of what `{var}` may be, or write a launch for each dtype, with `when = \"{var} in {{{dtype}}}\"` and its kernel's name in full"
            );
            diagnostics.push(Diagnostic::new("dtype-name", message).help(help));
        }
    }
    diagnostics.into_result()
}

/// Builds each distinct source of host functions once.
fn build_host_sources(
    package: &Package,
    target: &Target,
) -> Result<Vec<HostArtifact>, CompileError> {
    let mut seen: Vec<&HostSource> = Vec::new();
    let mut artifacts = Vec::new();
    for function in &package.functions {
        for launch in &function.launches {
            let Source::Host(source) = &launch.source else { continue };
            if !seen.contains(&source) {
                seen.push(source);
                let built = source.build(target);
                let name = &function.signature.name;
                artifacts.push(built.map_err(|error| error.in_source_of(name))?);
            }
        }
    }
    Ok(artifacts)
}

/// Every launch's kernel is defined by its source.
fn check_kernels(
    functions: &[&Function],
    plans: &[Plan],
    artifacts: &[HostArtifact],
) -> Result<(), CompileError> {
    for (function, plan) in functions.iter().zip(plans) {
        for launch in &function.launches {
            let Source::Host(source) = &launch.source else { continue };
            let of_source = || artifacts.iter().filter(|artifact| artifact.path == source.path);
            let has =
                |kernel: &String| of_source().any(|artifact| artifact.functions.contains(kernel));
            let symbols = launch.symbols(&plan.combinations);
            if let Some(kernel) = symbols.into_iter().find(|kernel| !has(kernel)) {
                let names = of_source().next().map(|artifact| artifact.functions.join(", "));
                let names = names.filter(|names| !names.is_empty());
                return Err(CompileError::MissingKernel {
                    path: source.path.clone(),
                    kernel,
                    function: function.signature.name.clone(),
                    has: names.unwrap_or_else(|| "none".to_string()),
                });
            }
        }
    }
    Ok(())
}

/// What the compilers said, in the order of the sources.
fn warnings(artifacts: &[HostArtifact], gpu: &GpuCode) -> Vec<Warning> {
    let host = artifacts.iter().map(|artifact| (artifact.name(), &artifact.log));
    let gpu = gpu.modules.iter().map(|(source, code)| (source.name(), &code.log));
    let said = host.chain(gpu).filter(|(_, log)| !log.is_empty());
    said.map(|(source, log)| Warning { source, text: log.clone() }).collect()
}

/// What the digest of the sources is made of: the objects, archives and images, in order. They change with everything that they are made
/// of, which for a C or CUDA C++ file is also headers, macros, options and the compiler.
fn sources_digest_input<'a>(artifacts: &'a [HostArtifact], gpu: &'a GpuCode) -> Vec<&'a [u8]> {
    let host = artifacts.iter().map(|artifact| &artifact.bytes[..]);
    let gpu = gpu.modules.iter().flat_map(|(_, code)| code.images.iter().map(|it| &it.bytes[..]));
    host.chain(gpu).collect()
}

/// The generated code, the runtime, the users' objects and the record as one object, in which only entry points can be seen. The record
/// learns what the others need.
fn link_object(
    target: &Target,
    code: &[u8],
    artifacts: &[HostArtifact],
    on_gpu: bool,
    record: &mut Record,
) -> Result<Vec<u8>, CompileError> {
    let _span = tracing::debug_span!("merge").entered();
    let names: Vec<_> = artifacts.iter().map(HostArtifact::name).collect();
    let mut inputs = vec![
        Input { name: "generated code", bytes: code },
        Input { name: "kernpack runtime", bytes: kernpack_runtime::object(target.runtime) },
    ];
    if on_gpu {
        let bytes = kernpack_runtime::cuda_object(target.runtime);
        inputs.push(Input { name: "kernpack runtime for CUDA", bytes });
    }
    inputs.extend(artifacts.iter().zip(&names).map(|(artifact, name)| artifact.input(name)));
    record.imports = symbols::imports(&link::needs(&inputs)?);
    let note = link::note(target.elf, note::SECTION, &note::encode(record), note::ALIGN)?;
    inputs.push(Input { name: "record", bytes: &note });
    let merged = link::merge(target.elf, &inputs)?;
    let object = link::localise(&merged, &symbols::is_entry_point)?;
    symbols::check_undefined(&object, &inputs, &record.undefined)?;
    Ok(object)
}
