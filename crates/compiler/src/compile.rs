// SPDX-License-Identifier: Apache-2.0
//! From a package to its files, in the order in which it happens: plans, sources, code, one object, one shared object.

use crate::error::{CompileError, Problem, Problems};
use crate::export::{self, Imports, Record, RecordContext, note};
use crate::file::{Files, InputFile};
use crate::gpu_code::GpuCode;
use crate::host_code::{HostCode, HostModule};
use crate::link::{self, Input, SharedOptions};
use crate::lower::{self, Described, Entry};
use crate::package::{EntryPoint, Function, Package, Role, WrittenLaunch, WrittenPackage};
use crate::symbols::{self, Needs};
use crate::target::Target;
use crate::triton_launch;
use kernpack_validators::Plan;
use std::collections::HashMap;

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
    pub inputs: Vec<InputFile>,
    /// What the compilers of sources warned of.
    pub warnings: Vec<Warning>,
    target: &'static Target,
    name: String,
    libraries: Vec<String>,
    needs: Needs,
}

/// A shared object of a package.
#[derive(Clone, Debug)]
pub struct SharedObject {
    /// The file.
    pub bytes: Vec<u8>,
    /// What it needs of the machine that loads it, where that is not sure.
    pub warnings: Vec<Warning>,
}

/// What a compiler says of a source that it compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The source.
    pub source: String,
    /// The compiler's own words.
    pub text: String,
}

/// The plans of a package's functions, by their names.
type Plans = HashMap<String, Plan>;

/// Compiles a package.
///
/// # Errors
/// Where the package does not fit together, or a source cannot be had: all that is wrong with it.
pub fn compile<L: Clone + Into<WrittenLaunch>>(
    package: &Package<L>,
    options: &Options,
) -> Result<Compiled, CompileError> {
    compile_written(&package.clone().written(), options)
}

fn compile_written(package: &WrittenPackage, options: &Options) -> Result<Compiled, CompileError> {
    let _span = tracing::info_span!("compile", package = package.name).entered();
    let (mut files, mut problems) = (Files::default(), Problems::default());
    let package = &triton_launch::settle(package, &mut files, &mut problems);
    Parts::build(package, &Plans::new(), options, files, problems)?.compile()
}

/// Compiles a package of which some functions have been planned: for tests of plans that no signature
/// has. Each plan stands under its function's name, and verifies.
///
/// # Errors
/// As of [`compile`](compile()).
pub fn compile_plans(
    package: &Package,
    given: &HashMap<String, Plan>,
    options: &Options,
) -> Result<Compiled, CompileError> {
    Parts::build(package, given, options, Files::default(), Problems::default())?.compile()
}

/// What a check of a package has read, and what there is to be said.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
    /// What a build of the shared object would warn of.
    pub warnings: Vec<Warning>,
}

/// Finds out whether the shared object of a package can be built. Sources are compiled for that. Code
/// for entry points is made only where there is something to link it with: objects of host functions,
/// which may lack a symbol. Nothing else could be refused.
///
/// # Errors
/// As of [`compile`](compile()) and of [`Compiled::shared_object`].
pub fn check(package: &WrittenPackage, options: &Options) -> Result<Checked, CompileError> {
    let (mut files, mut problems) = (Files::default(), Problems::default());
    let package = &triton_launch::settle(package, &mut files, &mut problems);
    let parts = Parts::build(package, &Plans::new(), options, files, problems)?;
    if parts.host.modules.is_empty() {
        return Ok(Checked { warnings: parts.warnings(), inputs: parts.files.into_inputs() });
    }
    let compiled = parts.compile()?;
    let linked = compiled.shared_object()?;
    let warnings = compiled.warnings.into_iter().chain(linked.warnings).collect();
    Ok(Checked { inputs: compiled.inputs, warnings })
}

/// A package whose pieces fit together, before there is code for its entry points.
struct Parts<'p> {
    package: &'p Package,
    target: &'static Target,
    entry_points: Vec<EntryPoint>,
    plans: Plans,
    host: HostCode,
    gpu: GpuCode,
    files: Files,
}

impl<'p> Parts<'p> {
    /// Plans every function and builds every source; `given` are the plans that there are already.
    fn build(
        package: &'p Package,
        given: &Plans,
        options: &Options,
        mut files: Files,
        mut problems: Problems,
    ) -> Result<Parts<'p>, CompileError> {
        let target = options.target;
        let entry_points = package.entry_points();
        let plans = plan_functions(package, &entry_points, given, &mut problems);
        let functions = package.functions.iter();
        let planned: Vec<_> = functions
            .filter_map(|function| Some((function, plans.get(&function.signature.name)?)))
            .collect();
        let host = HostCode::build(&planned, target, &mut problems);
        let gpu = GpuCode::build(&planned, &mut problems);
        problems.into_result()?;
        files.extend(host.modules.iter().flat_map(|module| module.artifact.inputs.clone()));
        files.extend(gpu.modules.iter().flat_map(|(_, code)| code.inputs.clone()));
        Ok(Parts { package, target, entry_points, plans, host, gpu, files })
    }

    fn compile(self) -> Result<Compiled, CompileError> {
        let warnings = self.warnings();
        let Parts { package, target, entry_points, plans, host, gpu, files } = self;
        let mut record = record(package, target, &host, &gpu);
        let entries = entries(&entry_points, &plans, &record);
        let code = lower::lower(package, &entries, (&host, &gpu), target)?;
        let object = link_object(target, &code, &host, !gpu.kernels.is_empty(), &mut record)?;
        Ok(Compiled {
            object,
            header: export::header(package),
            stubs: export::stubs(package),
            inputs: files.into_inputs(),
            warnings,
            target,
            name: package.name.clone(),
            needs: Needs::of(&host, &record.libraries, target),
            libraries: record.libraries,
        })
    }

    /// What the compilers said, in the order of the sources.
    fn warnings(&self) -> Vec<Warning> {
        let host = self.host.modules.iter();
        let host = host.map(|HostModule { source, artifact, .. }| (source.name(), &artifact.log));
        let gpu = self.gpu.modules.iter().map(|(source, code)| (source.name(), &code.log));
        let said = host.chain(gpu).filter(|(_, log)| !log.is_empty());
        said.map(|(source, log)| Warning { source, text: log.clone() }).collect()
    }
}

impl Compiled {
    /// A shared object, for `tvm_ffi.load_module` and `dlopen`.
    ///
    /// # Errors
    /// Where the linker refuses the object, or a source needs a symbol that no process will have.
    pub fn shared_object(&self) -> Result<SharedObject, CompileError> {
        let _span = tracing::debug_span!("link_shared").entered();
        let soname = Some(format!("{}.so", self.name));
        let options = SharedOptions { soname, needed: self.libraries.clone() };
        let bytes = link::link_shared(self.target.elf, &self.object, &options)?;
        let said = self.needs.check(&link::loader_needs(&bytes)?)?;
        let warnings = said.into_iter().map(|(source, text)| Warning { source, text });
        Ok(SharedObject { bytes, warnings: warnings.collect() })
    }
}

/// Plans every function that has no problem yet. What only prepares calls of another function has that function's plan.
fn plan_functions(
    package: &Package,
    entry_points: &[EntryPoint],
    given: &Plans,
    problems: &mut Problems,
) -> Plans {
    let described = package.functions.iter().map(Function::variants);
    let preload = entry_points.iter().filter(|entry_point| entry_point.role == Role::Preload);
    let mut plans = Plans::new();
    for variants in described.chain(preload.map(|preload| vec![preload.function.clone()])) {
        let name = &variants[0].signature.name;
        let planned = match problems.concern(name) {
            true => continue,
            false => variants.iter().try_for_each(|function| {
                let name = &function.signature.name;
                let plan = given.get(name).cloned().map_or_else(|| function.plan(), Ok)?;
                plans.insert(name.clone(), plan);
                Ok(())
            }),
        };
        if let Err(diagnostics) = planned {
            problems.push(Problem::of_function(name, diagnostics));
        }
    }
    plans
}

/// What the package is, as far as it is known before there is code.
fn record(package: &Package, target: &Target, host: &HostCode, gpu: &GpuCode) -> Record {
    let images: Vec<_> =
        gpu.modules.iter().map(|(source, code)| (source, &code.images[..])).collect();
    let undefined = symbols::needed_by_user(host);
    let on_gpu = !gpu.kernels.is_empty();
    let context = RecordContext {
        target: target.name,
        sources: &sources_digest_input(host, gpu),
        libraries: &symbols::libraries(&undefined, &package.link, on_gpu, target),
        undefined: &undefined,
        images: &images,
    };
    export::record(package, &context)
}

/// The entry points with what they are lowered from.
fn entries<'p>(
    entry_points: &'p [EntryPoint],
    plans: &'p Plans,
    record: &Record,
) -> Vec<Entry<'p>> {
    let entry = |EntryPoint { function, role }: &'p EntryPoint| {
        let name = &function.signature.name;
        let plan = match role {
            Role::Prepare(of) => &plans[of],
            Role::Call | Role::Preload => &plans[name],
        };
        let described = (*role == Role::Call).then(|| Described {
            metadata: export::function_metadata(function, record),
            doc: function.doc.as_deref(),
        });
        Entry { name, plan, role, launches: &function.launches, described }
    };
    entry_points.iter().map(entry).collect()
}

/// What the digest of the sources is made of: the objects, archives and images, in order. They change with everything that they are made
/// of, which for a C or CUDA C++ file is also headers, macros, options and the compiler.
fn sources_digest_input<'a>(host: &'a HostCode, gpu: &'a GpuCode) -> Vec<&'a [u8]> {
    let files = host.modules.iter().flat_map(|module| &module.artifact.files);
    let host = files.map(|file| &file.bytes[..]);
    let gpu = gpu.modules.iter().flat_map(|(_, code)| code.images.iter().map(|it| &it.bytes[..]));
    host.chain(gpu).collect()
}

/// The generated code, the runtime, the users' objects and the record as one object, in which only entry points can be seen. The record
/// learns what the others need.
fn link_object(
    target: &Target,
    code: &[u8],
    host: &HostCode,
    on_gpu: bool,
    record: &mut Record,
) -> Result<Vec<u8>, CompileError> {
    let _span = tracing::debug_span!("merge").entered();
    let names: Vec<_> = host.modules.iter().map(|module| module.source.name()).collect();
    let mut inputs = vec![
        Input { name: "generated code", bytes: code },
        Input { name: "kernpack runtime", bytes: kernpack_runtime::object(target.runtime) },
    ];
    if on_gpu {
        let bytes = kernpack_runtime::cuda_object(target.runtime);
        inputs.push(Input { name: "kernpack runtime for CUDA", bytes });
    }
    let modules = host.modules.iter().zip(&names);
    inputs.extend(modules.map(|(module, name)| Input { name, bytes: &module.object }));
    symbols::check_reserved(host, &inputs)?;
    record.imports = Imports::of(&link::needs(&inputs)?);
    let note = link::note(target.elf, note::SECTION, &note::encode(record), note::ALIGN)?;
    inputs.push(Input { name: "record", bytes: &note });
    let merged = link::merge(target.elf, &inputs)?;
    let object = link::localise(&merged, &symbols::is_entry_point, &host.own_names())?;
    symbols::check_undefined(&object, &inputs, &record.undefined)?;
    Ok(object)
}
