// SPDX-License-Identifier: Apache-2.0
//! The launches of a call once more, on a GPU, and what they leave there held against what the
//! interpreter has.
//!
//! Each tensor has memory of its own on the GPU, which holds before the first launch what it held
//! on the interpreter, also where nobody wrote it. Around it are bytes that no kernel may change.
//! The kernels are passed what the interpreter was passed, so that grids are the same too. What
//! they print is left out there: the interpreter has it.
//!
//! Not here: the checks of the call, which have accepted it, and its entry point.

use super::difference::TensorDifference;
use super::driver::{Buffer, DriverError, Gpu, GpuLaunch};
use super::launches::{Interpretable, RanLaunch};
use crate::source::{GpuSource, KernelSource, SourceError};
use kernpack_kernel_ir::interp::{Argument, Memories, MemoryId};
use kernpack_kernel_ir::op::{OpKind, Region};
use kernpack_machine::{Arch, ArchKind, Suffix, best_arch};
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::described::DeviceFacts;
use std::fmt::Debug;
use std::sync::Arc;

/// The maker of kernels' images, handed in by whoever has the compilers.
pub trait KernelImages: Debug + Sync {
    /// Whether there is an assembler, without which there is PTX alone.
    fn has_assembler(&self) -> bool;

    /// The kernels as the driver loads them.
    ///
    /// # Errors
    /// All that is wrong with the kernels, or that there is no assembler.
    fn image(&self, source: &KernelSource, arch: Arch) -> Result<Vec<u8>, Vec<SourceError>>;
}

/// The options of a comparison with a GPU.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The maker of the kernels' images.
    pub images: &'static dyn KernelImages,
    /// The architectures that kernels are compiled for, of which the GPU takes what it would take
    /// of a package; where there are none, its own architecture.
    pub archs: Vec<Arch>,
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

/// The bytes of a guard, between which tensors lie on a GPU. Their beginnings are multiples of
/// this, too, which no kernel can ask more than.
const GUARD: usize = 4096;
/// The contents of a guard.
const GUARD_BYTE: u8 = 0xa5;

/// A tensor on a GPU.
struct Mirror<'g> {
    memory: MemoryId,
    /// The tensor, and what is around it.
    buffer: Buffer<'g>,
    /// Where the tensor begins in that.
    start: usize,
    size: usize,
}

impl<'g> Mirror<'g> {
    fn of(gpu: &'g Gpu, memory: MemoryId, content: &[u8]) -> Result<Mirror<'g>, DriverError> {
        let size = content.len();
        let mut bytes = vec![GUARD_BYTE; size + 3 * GUARD];
        let buffer = gpu.buffer(bytes.len())?;
        let first = buffer.address + GUARD as u64;
        let start = (first.next_multiple_of(GUARD as u64) - buffer.address) as usize;
        bytes[start..start + size].copy_from_slice(content);
        buffer.fill(&bytes)?;
        Ok(Mirror { memory, buffer, start, size })
    }

    fn address(&self) -> u64 {
        self.buffer.address + self.start as u64
    }
}

/// The attributes that a GPU shows to launches.
pub(super) fn facts(gpu: &Gpu) -> DeviceFacts {
    let (major, minor) = gpu.capability;
    [gpu.sm_count, gpu.smem_optin, i64::from(10 * major + minor)]
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
    let has_map = |ran: &&RanLaunch| {
        ran.arguments.iter().any(|argument| matches!(argument, Argument::Map(_)))
    };
    if let Some(ran) = made.ran.iter().find(has_map) {
        let message =
            format!("`{}` takes the map of a tensor, and is not compared", ran.kernel.name);
        return Err(Diagnostic::new("gpu-failed", message).into());
    }
    let arch = arch(gpu, wanted)?;
    let refused = |error: DriverError| Diagnostics::from(failed(gpu, "", &error));
    let mirrors = made.before.iter().map(|(id, bytes)| Mirror::of(gpu, *id, bytes));
    let mirrors = mirrors.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    for ran in made.ran {
        let image = image(made.function, ran, (wanted.images, arch))?;
        let what = format!("`{}`: ", ran.kernel.name);
        launch(gpu, ran, &image, &mirrors)
            .map_err(|error| Diagnostics::from(failed(gpu, &what, &error)))?;
    }
    let (mut tensors, mut problems) = (Vec::new(), Diagnostics::default());
    for mirror in &mirrors {
        let bytes = mirror.buffer.bytes().map_err(refused)?;
        let (memory, end) = (made.memories.get(mirror.memory), mirror.start + mirror.size);
        if !is_around_kept(&bytes, mirror.start, end) {
            let message = format!("memory around `{}` was written on {}", memory.name, gpu.name);
            problems.push(Diagnostic::new("gpu-difference", message));
        }
        tensors.push(TensorDifference::of(memory, &bytes[mirror.start..end]));
    }
    problems.into_result()?;
    Ok(Comparison { gpu: gpu.name.clone(), arch, tensors })
}

/// Whether nothing was written outside of a tensor.
fn is_around_kept(bytes: &[u8], start: usize, end: usize) -> bool {
    bytes[..start].iter().chain(&bytes[end..]).all(|byte| *byte == GUARD_BYTE)
}

fn failed(gpu: &Gpu, what: &str, error: &DriverError) -> Diagnostic {
    Diagnostic::new("gpu-failed", format!("{what}on {}, {error}", gpu.name))
}

/// The architecture that kernels are compiled for: without an assembler, PTX.
fn arch(gpu: &Gpu, wanted: &Compare) -> Result<Arch, Diagnostic> {
    let (major, minor) = gpu.capability;
    let kind = if wanted.images.has_assembler() { ArchKind::Sm } else { ArchKind::Compute };
    let own = Arch { kind, number: 10 * major + minor, suffix: Suffix::None };
    if wanted.archs.is_empty() {
        return Ok(own);
    }
    let codes = wanted.archs.iter().map(|arch| (arch.code(), *arch));
    best_arch(codes, gpu.capability).ok_or_else(|| {
        let archs: Vec<_> = wanted.archs.iter().map(Arch::to_string).collect();
        let message = format!("{} runs no code for {}", gpu.name, archs.join(", "));
        let problem = Diagnostic::new("gpu-failed", message);
        problem.help(format!("ask for `{own}`, or leave `--arch` out"))
    })
}

/// The kernel of a launch as an image.
fn image(
    function: &Interpretable,
    ran: &RanLaunch,
    (images, arch): (&dyn KernelImages, Arch),
) -> Result<Vec<u8>, Diagnostics> {
    let launch = &function.function.launches[ran.index];
    let Some(GpuSource::Kernel(source, _)) = launch.gpu_source() else {
        unreachable!("the interpreter has run it");
    };
    let mut kernel = ran.kernel.clone();
    leave_words_out(&mut kernel.body);
    let source = KernelSource { instances: [Arc::new(kernel)].into(), ..source.clone() };
    images.image(&source, arch).map_err(|errors| {
        Diagnostics(errors.into_iter().map(|error| error.diagnostic("", [])).collect())
    })
}

/// Leaves out what only talks to people.
fn leave_words_out(region: &mut Region) {
    region.0.retain(|op| !matches!(op.kind, OpKind::Print(..) | OpKind::Assert(_)));
    let ops = region.0.iter_mut();
    ops.for_each(|op| op.kind.regions_mut().for_each(leave_words_out));
}

fn launch(
    gpu: &Gpu,
    ran: &RanLaunch,
    image: &[u8],
    mirrors: &[Mirror<'_>],
) -> Result<(), DriverError> {
    let arguments = ran.arguments.iter().map(|argument| match argument {
        Argument::Scalar(number) => number.bits(),
        Argument::Map(_) => unreachable!("maps are not compared"),
        // What is at no tensor is not given: its address is NULL.
        Argument::Tensor { memory, offset } => mirrors
            .iter()
            .find(|mirror| mirror.memory == *memory)
            .map_or(0, |mirror| mirror.address() + offset),
    });
    let arguments: Vec<u64> = arguments.collect();
    let three = |numbers: [i64; 3]| numbers.map(|number| number as u32);
    gpu.load(image)?.run(&GpuLaunch {
        symbol: &ran.kernel.name,
        grid: three(ran.layout.grid),
        block: three(ran.layout.block),
        cluster: ran.layout.cluster.map(three),
        shared_bytes: ran.layout.shared as u32,
        cooperative: ran.layout.cooperative,
        arguments: &arguments,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_around_a_tensor_counts() {
        let written_at = |place: usize| {
            let mut bytes = [GUARD_BYTE; 8];
            bytes[place] = 0;
            is_around_kept(&bytes, 2, 5)
        };
        let kept: Vec<usize> = (0..8).filter(|place| written_at(*place)).collect();
        assert_eq!(kept, [2, 3, 4]);
    }
}
