// SPDX-License-Identifier: Apache-2.0
//! From plans to code.
//!
//! Each function becomes `__tvm_ffi_<name>` in two parts: [`steps`] (arguments to values) and
//! [`launch`] (values to calls), both written to one [`function`]. Where a check fails, nothing is
//! known but that: checks leave to a few blocks they share, which have the runtime replay the
//! checks as a [`program`] and find one of the [`faults`]. So checks are compares and branches, and
//! nothing else: quick to run, and quick to compile. Where a function launches on a GPU, the parts
//! are functions of their own, the [`pieces`] that prepared calls are made of.

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
use crate::host_code::HostCode;
use crate::llvm::{Context, Effort, Emitter, Function, Ty, V};
use crate::package::{Launch, Package, Role, Submit};
use crate::target::Target;
pub use faults::Faults;
use function::FunctionBuilder;
use kernpack_ffi_abi::{DOC_PREFIX, FUNCTION_PREFIX, METADATA_PREFIX};
use kernpack_validators::Plan;
use launch::Launching;
use launched::Numbers;
use program::n_steps;

/// A function ready to be lowered.
pub struct Entry<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its plan; that of the function whose calls it prepares.
    pub plan: &'p Plan,
    /// What a call of it does.
    pub role: &'p Role,
    /// Its launches, which the plan's refer to by number.
    pub launches: &'p [Launch],
    /// How those on a GPU are submitted.
    pub submit: Submit,
    /// What is told of it; nothing of what comes with other functions.
    pub described: Option<Described<'p>>,
}

/// What is told of a function.
pub struct Described<'p> {
    /// What its metadata symbol returns.
    pub metadata: String,
    /// What its doc symbol returns.
    pub doc: Option<&'p str>,
}

/// The object code of a package: entry points and metadata.
///
/// # Errors
/// Where LLVM refuses the code.
pub fn lower(
    package: &Package,
    entries: &[Entry<'_>],
    (host, gpu): (&HostCode, &GpuCode),
    target: &Target,
) -> Result<Vec<u8>, crate::llvm::CodegenError> {
    let span = tracing::debug_span!("lower").entered();
    let context = Context::create();
    let emitter = Emitter::new(&context, &package.name);
    let mut faults = Faults::new();
    let numbers = Numbers::of(entries);
    for entry in entries {
        let &Entry { launches, submit, .. } = entry;
        let number = numbers.of_function(&entry.plan.name);
        let with = Launching { launches, host, gpu, target, number: number.unwrap_or(0), submit };
        match entry.role {
            Role::Call if number.is_some() => pieces::lower(&emitter, entry, &mut faults, with),
            Role::Call => lower_whole(&emitter, entry.plan, &mut faults, with),
            Role::Prepare(_) => pieces::lower_prepare(&emitter, entry),
            Role::Launched(of) => {
                let number = numbers.of_function(of).expect("it launches on a GPU");
                launched::lower(&emitter, entry.plan, &mut faults, number);
            }
            Role::Preload => gpu::lower_preload(&emitter, entry.plan, &mut faults),
        }
        let Some(Described { metadata, doc }) = &entry.described else { continue };
        let name = entry.name;
        getter::lower(&emitter, &format!("{METADATA_PREFIX}{name}"), metadata);
        if let Some(doc) = doc {
            getter::lower(&emitter, &format!("{DOC_PREFIX}{name}"), doc);
        }
    }
    faults.define(&emitter);
    if !gpu.kernels.is_empty() {
        gpu::define(&emitter, &package.name, gpu, numbers.n_functions());
    }
    span.exit();
    let _span = tracing::debug_span!("codegen").entered();
    crate::llvm::write_object(&emitter, target, effort(entries, gpu))
}

/// How many steps a plan has that is small. That of a function of two tensors is; with 19
/// arguments, quick code was seen to cost a call 100 ns.
const FEW_STEPS: usize = 32;

/// How many steps a plan has that is large, as that of a function of a hundred tensors is. Careful
/// code takes time that grows faster than the plan, for values that are used far from where they
/// are made. Quick code costs such a call some hundred nanoseconds.
const MANY_STEPS: u32 = 1024;

/// Where every call launches and has few checks, code that is made quickly costs a call some
/// nanoseconds of a launch's microseconds, and making it takes a third of the time.
fn effort(entries: &[Entry<'_>], gpu: &GpuCode) -> Effort {
    let is_small = |entry: &Entry<'_>| entry.plan.steps.len() <= FEW_STEPS;
    let is_large =
        |entry: &Entry<'_>| entry.plan.steps.iter().map(n_steps).sum::<u32>() > MANY_STEPS;
    let launches_with_few = !gpu.kernels.is_empty() && entries.iter().all(is_small);
    match launches_with_few || entries.iter().any(is_large) {
        true => Effort::Quick,
        false => Effort::Careful,
    }
}

/// Lowers a function whose launches are calls: in one piece.
fn lower_whole(e: &Emitter<'_>, plan: &Plan, faults: &mut Faults, with: Launching<'_>) {
    let function = Packed::define(e, &format!("{FUNCTION_PREFIX}{}", plan.name));
    let (args, n_args, result) = Packed::params(e, function);
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args);
    builder.plan();
    launch::lower(&mut builder, faults, with, e.null(), result);
    builder.finish(faults);
}

/// The C type of packed functions: `int (void* handle, const TVMFFIAny* args, int32_t num_args,
/// TVMFFIAny* result)`.
struct Packed;

impl Packed {
    /// Starts a packed function.
    fn define<'c>(e: &Emitter<'c>, symbol: &str) -> Function<'c> {
        e.define(symbol, &[Ty::Ptr, Ty::Ptr, Ty::I32, Ty::Ptr], Ty::I32)
    }

    /// Its arguments, their number, and where the result goes.
    fn params<'c>(e: &Emitter<'c>, function: Function<'c>) -> (V<'c>, V<'c>, V<'c>) {
        (e.param(function, 1), e.param(function, 2), e.param(function, 3))
    }
}
