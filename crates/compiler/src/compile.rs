// SPDX-License-Identifier: Apache-2.0
//! From a package to its files, in the order in which it happens: plans, sources, code, one object,
//! one shared object.

use crate::error::CompileError;
use crate::gpu_code::CudaCode;
use crate::host_code::HostCode;
use crate::package_object::PackageObject;
use crate::parts::{Goal, Parts};
use crate::symbols;
use kernpack_codegen::link::{self, LinkError, SharedOptions};
use kernpack_machine::Arch;
use kernpack_package::export;
use kernpack_package::file::{Files, Held, InputFile, Looked};
use kernpack_package::package::{Function, Package, WrittenLaunch, WrittenPackage};
use kernpack_package::package_file::Reading;
use kernpack_package::settle::{Settled, settle};
use kernpack_package::source::{GpuSource, KernelSource};
use kernpack_package::target::Target;
use kernpack_process::fork::Inside;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};
use kernpack_validators::Plan;
use std::collections::HashMap;
use std::path::PathBuf;

/// The host and the compilers that a package is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Options<'h> {
    /// The host.
    pub target: &'static Target,
    /// Whether a shared object is made of it in the end: what that would be refused for is told
    /// then with all else that is wrong.
    pub is_shared: bool,
    /// Files in memory, which are seen before those on a disk: by their whole paths, the package's
    /// base included.
    pub held: &'h Held,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { target: Target::host(), is_shared: false, held: Held::nothing() }
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
    /// A file of functions for Rust.
    pub rust: String,
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
    /// Every place where a file was looked for in vain.
    pub missed: Vec<PathBuf>,
    /// Whether something else was read, of which nobody knows what it was.
    pub is_partial: bool,
    /// Whether the folder that the process works in decides what is found.
    pub is_local: bool,
    /// The code of its GPU sources, source by source of CUDA C++.
    pub cuda: Vec<CudaCode>,
    /// Warnings of the compilers of sources.
    pub warnings: Vec<Diagnostic>,
    target: &'static Target,
    name: String,
    libraries: Vec<String>,
    link: Vec<Placed<String>>,
    host: HostCode,
}

/// A shared object of a package.
#[derive(Clone, Debug)]
pub struct SharedObject {
    /// The file.
    pub bytes: Vec<u8>,
    /// Warnings of needs that the machine that loads it may not meet.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a package.
///
/// # Errors
/// Where the package does not fit together, or a source cannot be had: all that is wrong with it.
pub fn compile<L: Clone + Into<WrittenLaunch>>(
    package: &Package<L>,
    options: &Options<'_>,
) -> Result<Compiled, CompileError> {
    compile_written(&package.clone().written(), options)
}

fn compile_written(
    package: &WrittenPackage,
    options: &Options<'_>,
) -> Result<Compiled, CompileError> {
    let _span = tracing::info_span!("compile", package = package.name).entered();
    let _inside = Inside::enter();
    let (mut files, mut problems) = (Files::new(options.held), Diagnostics::default());
    let Settled { package, unsound } = settle(package, &[], &mut files, &mut problems);
    let aimed = (&unsound[..], Goal::Code);
    compile_parts(sound_parts(&package, &HashMap::new(), aimed, problems, options)?, files)
}

/// The parts of a package in which nothing is wrong: neither what is said already nor anything
/// else.
fn sound_parts<'p>(
    package: &'p Package,
    given: &HashMap<String, Plan>,
    aimed: (&[Function], Goal),
    mut problems: Diagnostics,
    options: &Options<'_>,
) -> Result<Parts<'p>, Diagnostics> {
    let Options { target, held, .. } = *options;
    let parts = Parts::build(package, given, target, held, aimed, &mut problems);
    if !problems.has_errors() {
        return Ok(Parts { before: problems.0, ..parts });
    }
    problems.extend(parts.warnings());
    if options.is_shared {
        problems.extend(symbols::check_alone(&parts.host, &package.link, options.target));
    }
    Err(problems)
}

/// Compiles a package of which some functions have been planned: for tests of plans that no
/// signature has. Each plan stands under its function's name, and verifies.
///
/// # Errors
/// As of [`compile`](compile()).
pub fn compile_plans(
    package: &Package,
    given: &HashMap<String, Plan>,
    options: &Options<'_>,
) -> Result<Compiled, CompileError> {
    let aimed = (&[][..], Goal::Code);
    let parts = sound_parts(package, given, aimed, Diagnostics::default(), options)?;
    compile_parts(parts, Files::default())
}

fn compile_parts(parts: Parts<'_>, before: Files<'_>) -> Result<Compiled, CompileError> {
    let Parts { package, target, .. } = parts;
    let PackageObject { bytes, record } =
        PackageObject::of(&parts).map_err(|error| error.and(parts.warnings()))?;
    let Looked { inputs, missed, is_partial, is_local } = parts.looked(before);
    Ok(Compiled {
        object: bytes,
        header: export::header(package),
        stubs: export::stubs(package),
        rust: export::rust(package),
        inputs,
        missed,
        is_partial,
        is_local,
        cuda: parts.gpu.cuda(),
        warnings: parts.warnings(),
        target,
        name: package.name.clone(),
        libraries: record.libraries,
        link: package.link.clone(),
        host: parts.host,
    })
}

impl Compiled {
    /// A shared object, for `tvm_ffi.load_module` and `dlopen`.
    ///
    /// # Errors
    /// Where the linker refuses the object, or a source needs a symbol that no process will have.
    pub fn shared_object(&self) -> Result<SharedObject, CompileError> {
        let _span = tracing::debug_span!("link_shared").entered();
        let _inside = Inside::enter();
        let soname = Some(format!("{}.so", self.name));
        let needed = self.libraries.clone();
        let options = SharedOptions { soname, needed, ..SharedOptions::default() };
        let bytes = link::link_shared(self.target.elf, &self.object, &options)
            .map_err(|error| self.unlinked(error))?;
        let symbols = link::loader_needs(&bytes)?;
        let told = symbols::check_loading(&self.host, &self.link, self.target, &symbols);
        if told.has_errors() {
            return Err(told.into());
        }
        Ok(SharedObject { bytes, warnings: told.0 })
    }

    /// The refusal of the linker, at the sources that it refuses alone too.
    fn unlinked(&self, error: LinkError) -> CompileError {
        let refused = self.host.modules.iter().filter_map(|module| {
            module.link_alone(self.target).err().and_then(|error| module.unlinked(&error))
        });
        match Diagnostics(refused.collect()).into_result() {
            Err(problems) => problems.into(),
            Ok(()) => error.into(),
        }
    }
}

/// The outcome of checking a package: files that were read, and diagnostics.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
    /// Every place where a file was looked for in vain.
    pub missed: Vec<PathBuf>,
    /// Warnings that a build of the shared object would give.
    pub warnings: Vec<Diagnostic>,
}

/// Kernels of a file, and what they are compiled for.
pub type KernelCode = (KernelSource, Vec<Placed<Arch>>);

/// The kernels of a package that are written here, file by file.
///
/// # Errors
/// The problems of the files.
pub fn kernel_sources(
    package: &WrittenPackage,
    held: &Held,
) -> Result<Vec<KernelCode>, Diagnostics> {
    let (mut files, mut problems) = (Files::new(held), Diagnostics::default());
    let Settled { package, .. } = settle(package, &[], &mut files, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    let mut sources: Vec<KernelCode> = Vec::new();
    for launch in package.functions.iter().flat_map(|function| &function.launches) {
        if let Some(GpuSource::Kernel(source, archs)) = launch.gpu_source() {
            let is_known = sources.iter().any(|(own, of)| own == source && of == archs);
            if !is_known {
                sources.push((source.clone(), archs.clone()));
            }
        }
    }
    Ok(sources)
}

/// Finds out whether the shared object of a package can be built. Sources are compiled for that.
/// Code for entry points is made only where there is something to link it with: objects of host
/// functions, which may lack a symbol. Nothing else could be refused.
///
/// # Errors
/// As of [`compile`](compile()) and of [`Compiled::shared_object`].
pub fn check(package: &WrittenPackage, options: &Options<'_>) -> Result<Checked, CompileError> {
    check_functions(package, &[], &Options { is_shared: true, ..*options })
}

/// All that is wrong with a package whose text has problems: these, and what a check finds in what
/// could be read.
pub fn check_rest(reading: Reading, options: &Options<'_>) -> Diagnostics {
    let Reading { package, unsound, is_link_known, mut problems } = reading;
    let is_shared = options.is_shared && is_link_known;
    match check_functions(&package, &unsound, &Options { is_shared, ..*options }) {
        Ok(checked) => problems.extend(checked.warnings),
        Err(CompileError::Problems(found)) => problems.extend(found),
        // What is not the text's is told once that is mended.
        Err(CompileError::Link(_) | CompileError::Codegen(_)) => {}
    }
    problems.sort();
    problems
}

/// A check of these functions, and of the sources of those that are not sound.
fn check_functions(
    package: &WrittenPackage,
    unsound: &[Function<WrittenLaunch>],
    options: &Options<'_>,
) -> Result<Checked, CompileError> {
    let (mut files, mut problems) = (Files::new(options.held), Diagnostics::default());
    let Settled { package, unsound } = settle(package, unsound, &mut files, &mut problems);
    let aimed = (&unsound[..], Goal::Check);
    let parts = sound_parts(&package, &HashMap::new(), aimed, problems, options)?;
    if parts.host.modules.is_empty() || !options.is_shared {
        let Looked { inputs, missed, .. } = parts.looked(files);
        return Ok(Checked { inputs, missed, warnings: parts.warnings() });
    }
    let mut compiled = compile_parts(parts, files)?;
    let warnings = std::mem::take(&mut compiled.warnings);
    match compiled.shared_object() {
        Ok(linked) => {
            let warnings = warnings.into_iter().chain(linked.warnings).collect();
            Ok(Checked { inputs: compiled.inputs, missed: compiled.missed, warnings })
        }
        Err(error) => Err(error.and(warnings)),
    }
}
