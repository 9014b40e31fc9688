// SPDX-License-Identifier: Apache-2.0
//! The launches of a call once more, on a GPU, and what they leave there held against what the
//! interpreter has.
//!
//! The kernels are passed what the interpreter was passed, so that grids are the same too. What
//! they print is left out there: the interpreter has it.
//!
//! Not here: the checks of the call, which have accepted it, and its entry point.

use super::difference::TensorDifference;
use super::driver::{DriverError, Gpu};
use super::gpu_call::{self, Code, Mirror, failed, submittable, told};
use super::launches::{Interpretable, RanLaunch};
use kernpack_kernel_ir::interp::{Memories, MemoryId};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics};

/// The options of a comparison with a GPU.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The maker of the kernels' code.
    pub code: Code,
    /// How many units in the last place floats may be apart. Where that is not said, they have the
    /// same bits, or may be any distance apart where the kernels' results are not exact.
    pub ulps: Option<u64>,
}

/// The outcome of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The name of the GPU.
    pub gpu: String,
    /// The architecture that the kernels were compiled for.
    pub arch: Arch,
    /// The tensors of the call, in the order of the interpreter's.
    pub tensors: Vec<TensorDifference>,
}

/// A call that the interpreter has made.
pub(super) struct Made<'c> {
    pub function: &'c Interpretable,
    pub ran: &'c [RanLaunch],
    /// The contents of the tensors before it.
    pub before: &'c [(MemoryId, Vec<u8>)],
    /// The contents now.
    pub memories: &'c Memories,
}

/// Makes the call again on a GPU.
///
/// # Errors
/// Where its kernels do not become code for the GPU, or the driver refuses them; where they write
/// around their tensors.
pub(super) fn compare(
    gpu: &Gpu,
    wanted: &Compare,
    made: &Made<'_>,
) -> Result<Comparison, Diagnostics> {
    let arch = gpu_call::arch(gpu, &wanted.code)?;
    let refused = |error: DriverError| Diagnostics::from(failed(gpu, "", &error));
    let mirrors = made.before.iter().map(|(id, bytes)| Mirror::of(gpu, *id, bytes));
    let mirrors = mirrors.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    for ran in made.ran {
        let (launch, images) = (ran.parts(), wanted.code.images);
        let ready = submittable(gpu, made.function, &launch, (images, arch), &mirrors, false)?;
        let done = ready.submit().and_then(|()| gpu.wait());
        done.map_err(|error| told(gpu, &launch, &error))?;
    }
    let (mut tensors, mut problems) = (Vec::new(), Diagnostics::default());
    for mirror in &mirrors {
        let memory = made.memories.get(mirror.memory);
        let (bytes, is_kept) = mirror.read().map_err(refused)?;
        if !is_kept {
            let message = format!("memory around `{}` was written on {}", memory.name, gpu.name);
            problems.push(Diagnostic::new("gpu-difference", message));
        }
        tensors.push(TensorDifference::of(memory, &bytes));
    }
    problems.into_result()?;
    Ok(Comparison { gpu: gpu.name.clone(), arch, tensors })
}

impl Comparison {
    /// The tensors that differ more than they may, of a call whose results are exact or not.
    pub fn problems(&self, wanted: &Compare, is_exact: bool) -> Vec<&TensorDifference> {
        // Distances of floats have no end where order and approximation make them.
        let allowed = wanted.ulps.or(if is_exact { None } else { Some(u64::MAX) });
        self.tensors.iter().filter(|tensor| !tensor.is_within(allowed)).collect()
    }
}

impl TensorDifference {
    /// The words for people, on the interpreter's side and the GPU's.
    pub fn words(&self) -> String {
        let shown = self.shown.iter().map(|one| {
            format!("{}: interpreter {}, GPU {}", one.element, one.interpreted, one.on_gpu)
        });
        let mut lines: Vec<String> = shown.collect();
        if let Some(most) = self.most_ulps {
            lines.push(format!("at most {most} ulp apart"));
        }
        lines.join("\n")
    }
}
