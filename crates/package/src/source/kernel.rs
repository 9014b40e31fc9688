// SPDX-License-Identifier: Apache-2.0
//! Source `kernel`: kernels of a file in the kernel language, as data. Not here: the language,
//! which kernels a launch needs, and what compiles them.

use super::error::{SourceError, SourceErrorKind};
use super::gpu::{Described, KernelSymbol};
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Kernel;
use kernpack_syntax::Placed;
use std::path::PathBuf;
use std::sync::Arc;

/// Kernels of a file.
#[derive(Clone, Debug)]
pub struct KernelSource {
    /// The file.
    pub path: Placed<PathBuf>,
    /// The kernels, which all launches of the file share. They know each by its name, which is its
    /// symbol.
    pub instances: Arc<[Arc<Kernel>]>,
    /// Whether the image tells debuggers and profilers which line each instruction comes from.
    pub line_info: bool,
    /// Whether they check their indices as they run.
    pub checked: bool,
}

/// By content: the same file gives the same kernels only for the same launches.
impl PartialEq for KernelSource {
    fn eq(&self, other: &KernelSource) -> bool {
        let is_same =
            |(one, other): (&Arc<Kernel>, &Arc<Kernel>)| Arc::ptr_eq(one, other) || one == other;
        self.path == other.path
            && (self.line_info, self.checked) == (other.line_info, other.checked)
            && self.instances.len() == other.instances.len()
            && self.instances.iter().zip(other.instances.iter()).all(is_same)
    }
}

impl KernelSource {
    /// The symbols of the kernels that launches name.
    pub fn symbols(&self, kernels: &[String]) -> Vec<(String, KernelSymbol)> {
        kernels.iter().map(|name| (name.clone(), self.symbol(name))).collect()
    }

    fn symbol(&self, name: &str) -> KernelSymbol {
        let is_there = self.instances.iter().any(|kernel| kernel.name == name);
        is_there.then(|| name.to_string()).ok_or_else(|| {
            let message = format!("`{}` has no kernel `{name}`", self.path.display());
            SourceError::new(SourceErrorKind::MissingKernel, self.path.span, message)
                .of_kernels([name.to_string()])
        })
    }
}

impl Described for KernelSource {
    fn word(&self) -> &'static str {
        "kernel"
    }

    fn name(&self) -> Placed<String> {
        Placed::new(self.path.display().to_string(), self.path.span)
    }

    fn dtype_name(&self, dtype: DType, _: &str) -> Option<String> {
        Some(dtype.to_string())
    }
}
