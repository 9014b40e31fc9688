// SPDX-License-Identifier: Apache-2.0
//! Kernels as PTX, and as machine code.

use kernpack_compiler::source::kernel;
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::{ParamKind, Value};
use kernpack_kernel_ir::shared::SharedLayout;
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::source::{KernelSource, SourceError};
use kernpack_syntax::Placed;
use std::path::PathBuf;
use std::sync::Arc;

/// What `sm_90` is for machine code, and `compute_90` for PTX.
///
/// # Panics
/// Where it is no architecture.
pub fn arch(name: &str) -> Arch {
    name.parse().unwrap_or_else(|_| panic!("`{name}` is no architecture"))
}

/// Kernels of different names as one image: machine code, or PTX for an architecture that is PTX.
///
/// # Errors
/// Where the compiler or the assembler refuses them.
pub fn image(kernels: &[&Kernel], arch: Arch) -> Result<Vec<u8>, String> {
    let source = KernelSource {
        path: Placed::from(PathBuf::from("recorded.py")),
        instances: kernels.iter().map(|kernel| Arc::new((*kernel).clone())).collect(),
        line_info: false,
        checked: false,
    };
    let made = match arch.kind {
        ArchKind::Compute => kernel::ptx_text(&source, arch).map(String::into_bytes),
        ArchKind::Sm => kernel::cubin(&source, arch),
    };
    made.map_err(|errors| {
        let told = |error: &SourceError| match &error.diagnostic {
            Some(diagnostic) => diagnostic.message.clone(),
            None => format!("{}\n{}", error.message, error.detail.as_deref().unwrap_or_default()),
        };
        errors.iter().map(told).collect::<Vec<_>>().join("\n")
    })
}

/// The bytes of shared memory that a launch of a kernel brings, where its numbers are these.
pub fn launched_bytes(kernel: &Kernel, number: impl Fn(Value) -> i64) -> u64 {
    match SharedLayout::of(kernel) {
        SharedLayout::Static => 0,
        SharedLayout::Dynamic(layout) => layout.total.eval(number),
    }
}

/// Whether a parameter's memory may be other behind a launch than before it.
pub fn is_written(kind: &ParamKind) -> bool {
    match kind {
        ParamKind::Scalar(..) => false,
        ParamKind::Pointer(pointer) => pointer.is_written,
        ParamKind::Map(map) => map.is_written,
    }
}
