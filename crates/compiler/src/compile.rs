// SPDX-License-Identifier: Apache-2.0
//! From a package to its files, in the order in which it happens: plans, sources, code, one object, one shared object.

use crate::error::{CompileError, Problems, Warning};
use crate::export;
use crate::file::{Files, InputFile};
use crate::link::{self, SharedOptions};
use crate::package::{Package, WrittenLaunch, WrittenPackage};
use crate::package_object::PackageObject;
use crate::parts::Parts;
use crate::symbols::Needs;
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
    compile_parts(&Parts::build(package, &HashMap::new(), options.target, problems)?, files)
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
    let parts = Parts::build(package, given, options.target, Problems::default())?;
    compile_parts(&parts, Files::default())
}

fn compile_parts(parts: &Parts<'_>, read: Files) -> Result<Compiled, CompileError> {
    let Parts { package, target, .. } = *parts;
    let PackageObject { bytes, record } = PackageObject::of(parts)?;
    Ok(Compiled {
        object: bytes,
        header: export::header(package),
        stubs: export::stubs(package),
        inputs: parts.inputs(read),
        warnings: parts.warnings(),
        target,
        name: package.name.clone(),
        needs: Needs::of(&parts.host, &record.libraries, target),
        libraries: record.libraries,
    })
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
        let warnings = self.needs.check(&link::loader_needs(&bytes)?)?;
        Ok(SharedObject { bytes, warnings })
    }
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
    let parts = Parts::build(package, &HashMap::new(), options.target, problems)?;
    if parts.host.modules.is_empty() {
        return Ok(Checked { inputs: parts.inputs(files), warnings: parts.warnings() });
    }
    let compiled = compile_parts(&parts, files)?;
    let linked = compiled.shared_object()?;
    let warnings = compiled.warnings.into_iter().chain(linked.warnings).collect();
    Ok(Checked { inputs: compiled.inputs, warnings })
}
