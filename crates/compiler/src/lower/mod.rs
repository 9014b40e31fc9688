// SPDX-License-Identifier: Apache-2.0
//! From plans to code.
//!
//! Each function becomes `__tvm_ffi_<name>` in two parts: [`steps`] (arguments to values) and
//! [`launch`] (values to calls), both written to one [`function`]. Where a check fails, nothing is
//! known but that: checks leave to a few blocks they share, which have the runtime replay the
//! checks as a [`program`] and find one of the [`faults`]. So checks are compares and branches, and
//! nothing else: quick to run, and quick to compile. Where a function launches on a GPU, the parts
//! are functions of their own, the [`pieces`] that prepared calls are made of.

mod asserts;
mod batch;
mod condition;
mod device;
mod faults;
mod function;
mod getter;
mod gpu;
mod import;
mod launch;
mod launched;
mod member;
mod pieces;
mod program;
mod raise;
mod repeat;
mod steps;
mod struct_args;
mod tensor_map;
mod value;

use crate::gpu_code::GpuCode;
use crate::gpu_kernels::GpuKernels;
use crate::host_code::HostCode;
pub use faults::Faults;
use function::FunctionBuilder;
use kernpack_codegen::llvm::{CodegenError, Context, Effort, Emitter, Function, Ty, V};
use kernpack_ffi_abi::{DOC_PREFIX, FUNCTION_PREFIX, METADATA_PREFIX};
use kernpack_package::package::{Launch, Package, Role, Submit};
use kernpack_package::target::Target;
use kernpack_validators::Plan;
use kernpack_validators::plan::Launch as Launched;
use launch::Launching;
use launched::Numbers;
use program::n_steps;

/// A function ready to be lowered.
pub struct Entry<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its plan; that of the function whose calls it prepares.
    pub plan: &'p Plan,
    /// The role of its calls.
    pub role: &'p Role,
    /// Its launches, which the plan's refer to by number.
    pub launches: &'p [Launch],
    /// How those on a GPU are submitted.
    pub submit: Submit,
}

/// The parts that entry points are made of.
pub struct Program<'p> {
    /// The package.
    pub package: &'p Package,
    /// Its functions.
    pub entries: Vec<Entry<'p>>,
    /// The functions that run on the host.
    pub host: &'p HostCode,
    /// The kernels that run on a GPU.
    pub kernels: &'p GpuKernels,
    /// The host.
    pub target: &'p Target,
}

/// The description of a function.
pub struct Described<'p> {
    /// Its name.
    pub name: &'p str,
    /// The answer of its metadata symbol.
    pub metadata: String,
    /// The answer of its doc symbol.
    pub doc: Option<&'p str>,
}

impl Program<'_> {
    /// The object code of the package: entry points, and what is told of them.
    ///
    /// # Errors
    /// Where LLVM refuses the code.
    pub fn lower(
        &self,
        described: &[Described<'_>],
        gpu: &GpuCode,
    ) -> Result<Vec<u8>, CodegenError> {
        let span = tracing::debug_span!("lower").entered();
        let context = Context::create();
        let emitter = Emitter::new(&context, &self.package.name);
        self.write_entry_points(&emitter);
        self.write_description(&emitter, described, gpu);
        span.exit();
        self.write_object(&emitter, self.effort())
    }

    /// The object code of the entry points. It needs nothing of GPU code, which takes long to make,
    /// but the numbers of kernels.
    ///
    /// # Errors
    /// Where LLVM refuses the code.
    pub fn lower_entry_points(&self) -> Result<Vec<u8>, CodegenError> {
        let span = tracing::debug_span!("lower").entered();
        let context = Context::create();
        let emitter = Emitter::new(&context, &self.package.name);
        self.write_entry_points(&emitter);
        span.exit();
        self.write_object(&emitter, self.effort())
    }

    /// The object code of what is told of the entry points, with the GPU code.
    ///
    /// # Errors
    /// Where LLVM refuses the code.
    pub fn lower_description(
        &self,
        described: &[Described<'_>],
        gpu: &GpuCode,
    ) -> Result<Vec<u8>, CodegenError> {
        let context = Context::create();
        let emitter = Emitter::new(&context, &self.package.name);
        self.write_description(&emitter, described, gpu);
        self.write_object(&emitter, Effort::Quick)
    }

    fn write_entry_points(&self, emitter: &Emitter<'_>) {
        let &Program { host, kernels, target, .. } = self;
        let mut faults = Faults::new();
        let numbers = Numbers::of(&self.entries);
        for entry in &self.entries {
            let &Entry { launches, submit, .. } = entry;
            let number = numbers.of_function(&entry.plan.name);
            let numbered = number.unwrap_or(0);
            let with = Launching { launches, host, kernels, target, number: numbered, submit };
            match entry.role {
                Role::Call if number.is_some() => pieces::lower(emitter, entry, &mut faults, with),
                Role::Call => lower_whole(emitter, entry.plan, &mut faults, with),
                Role::Prepare(_) => pieces::lower_prepare(emitter, entry),
                Role::Launched(of) => {
                    let number = numbers.of_function(of).expect("it launches on a GPU");
                    launched::lower(emitter, entry.plan, &mut faults, number);
                }
                Role::Preload => {
                    gpu::lower_preload(emitter, entry.plan, &mut faults, self.asserts());
                }
                Role::Synchronize => asserts::lower_synchronize(emitter, entry.plan, &mut faults),
            }
        }
        faults.define(emitter);
    }

    /// Whether kernels assert something as they run.
    fn asserts(&self) -> bool {
        self.entries.iter().any(|entry| entry.plan.launches.iter().any(Launched::asserts))
    }

    fn write_description(&self, emitter: &Emitter<'_>, described: &[Described<'_>], gpu: &GpuCode) {
        for Described { name, metadata, doc } in described {
            getter::lower(emitter, &format!("{METADATA_PREFIX}{name}"), metadata);
            if let Some(doc) = doc {
                getter::lower(emitter, &format!("{DOC_PREFIX}{name}"), doc);
            }
        }
        if !self.kernels.is_empty() {
            let n_functions = Numbers::of(&self.entries).n_functions();
            gpu::define(emitter, &self.package.name, gpu, n_functions);
        }
    }

    fn write_object(&self, emitter: &Emitter<'_>, effort: Effort) -> Result<Vec<u8>, CodegenError> {
        let _span = tracing::debug_span!("codegen").entered();
        kernpack_codegen::llvm::write_object(emitter, self.target, effort)
    }

    /// Where every call launches and has few checks, code that is made quickly costs a call some
    /// nanoseconds of a launch's microseconds, and making it takes a third of the time.
    fn effort(&self) -> Effort {
        let is_small = |entry: &Entry<'_>| entry.plan.steps.len() <= FEW_STEPS;
        let is_large =
            |entry: &Entry<'_>| entry.plan.steps.iter().map(n_steps).sum::<u32>() > MANY_STEPS;
        let launches_with_few = !self.kernels.is_empty() && self.entries.iter().all(is_small);
        match launches_with_few || self.entries.iter().any(is_large) {
            true => Effort::Quick,
            false => Effort::Careful,
        }
    }
}

/// How many steps a plan has that is small. That of a function of two tensors is; with 19
/// arguments, quick code was seen to cost a call 100 ns.
const FEW_STEPS: usize = 32;

/// How many steps a plan has that is large, as that of a function of a hundred tensors is. Careful
/// code takes time that grows faster than the plan, for values that are used far from where they
/// are made. Quick code costs such a call some hundred nanoseconds.
const MANY_STEPS: u32 = 1024;

/// Lowers a function whose launches are calls: in one piece.
fn lower_whole(e: &Emitter<'_>, plan: &Plan, faults: &mut Faults, with: Launching<'_>) {
    let function = SafeCall::define(e, &format!("{FUNCTION_PREFIX}{}", plan.name));
    let (args, n_args, result) = SafeCall::params(e, function);
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args);
    builder.plan();
    launch::lower(&mut builder, faults, with, e.null(), result);
    builder.finish(faults);
}

/// The C type of entry points: `int (void* handle, const TVMFFIAny* args, int32_t num_args,
/// TVMFFIAny* result)`.
struct SafeCall;

impl SafeCall {
    /// Starts an entry point.
    fn define<'c>(e: &Emitter<'c>, symbol: &str) -> Function<'c> {
        e.define(symbol, &[Ty::Ptr, Ty::Ptr, Ty::I32, Ty::Ptr], Ty::I32)
    }

    /// Its arguments, their number, and where the result goes.
    fn params<'c>(e: &Emitter<'c>, function: Function<'c>) -> (V<'c>, V<'c>, V<'c>) {
        (e.param(function, 1), e.param(function, 2), e.param(function, 3))
    }
}
