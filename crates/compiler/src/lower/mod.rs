// SPDX-License-Identifier: Apache-2.0
//! From plans to code.
//!
//! Each function becomes `__tvm_ffi_<name>` in two pieces, one file each: [`check`] (arguments to values) and [`launch`] (values to calls). Where a check
//! fails, nothing is known but that: checks leave to a few blocks they share, which have the runtime replay the checks as a [`program`] and find one of the [`faults`].
//! So checks are compares and branches, and nothing else: quick to run, and quick to compile.

mod check;
mod faults;
mod getter;
mod gpu;
mod launch;
mod member;
mod program;
mod struct_args;
mod tensor_map;
mod value;

use crate::gpu_code::GpuCode;
use crate::llvm::{Context, Emitter, Ty};
use crate::package::{Launch, Package};
use crate::target::Target;
use check::Check;
pub use faults::Faults;
use kernpack_ffi_abi::{DOC_PREFIX, FUNCTION_PREFIX, METADATA_PREFIX};
use kernpack_validators::Plan;
pub use tensor_map::{ALIGN as TENSOR_MAP_ALIGN, BYTES as TENSOR_MAP_BYTES};

/// A function ready to be lowered.
pub struct Entry<'p> {
    /// Its plan.
    pub plan: &'p Plan,
    /// Its launches, which the plan's refer to by number.
    pub launches: &'p [Launch],
    /// What its metadata symbol returns.
    pub metadata: String,
    /// What its doc symbol returns.
    pub doc: Option<String>,
}

/// The object code of a package: entry points and metadata.
///
/// # Errors
/// Where LLVM refuses the code.
pub fn lower(
    package: &Package,
    entries: &[Entry<'_>],
    gpu: &GpuCode,
    target: &Target,
) -> Result<Vec<u8>, crate::llvm::CodegenError> {
    let span = tracing::debug_span!("lower").entered();
    let context = Context::create();
    let emitter = Emitter::new(&context, &package.name);
    let mut faults = Faults::new();
    for entry in entries {
        lower_entry(&emitter, entry, &mut faults, gpu, target);
        let name = &entry.plan.name;
        getter::lower(&emitter, &format!("{METADATA_PREFIX}{name}"), &entry.metadata);
        if let Some(doc) = &entry.doc {
            getter::lower(&emitter, &format!("{DOC_PREFIX}{name}"), doc);
        }
    }
    faults.define(&emitter);
    if !gpu.kernels.is_empty() {
        gpu::define(&emitter, &package.name, gpu);
    }
    span.exit();
    let _span = tracing::debug_span!("codegen").entered();
    crate::llvm::write_object(&emitter, target)
}

fn lower_entry(
    e: &Emitter<'_>,
    entry: &Entry<'_>,
    faults: &mut Faults,
    gpu: &GpuCode,
    target: &Target,
) {
    let name = format!("{FUNCTION_PREFIX}{}", entry.plan.name);
    let params = [Ty::Ptr, Ty::Ptr, Ty::I32, Ty::Ptr];
    let function = e.define(&name, &params, Ty::I32);
    let (args, n_args) = (e.param(function, 1), e.param(function, 2));
    let mut check = Check::new(e, entry.plan, function, args, n_args);
    check.plan();
    launch::lower(&mut check, faults, entry.launches, gpu, e.param(function, 3), target);
    check.finish(faults);
}
