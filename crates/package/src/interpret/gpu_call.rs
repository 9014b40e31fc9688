// SPDX-License-Identifier: Apache-2.0
//! The launches of a call on a GPU: memory for its tensors, images of its kernels, and their
//! arguments.
//!
//! Each tensor has memory of its own there, which holds before the first launch what it held on the
//! host, also where nobody wrote it. Around it are bytes that no kernel may change. What kernels
//! print and assert is left out. Not here: what the launches are for.

use super::driver::{Buffer, DriverError, Gpu, GpuArgument, GpuLaunch, MapLayout, Submittable};
use super::launches::{Interpretable, LaunchParts};
use super::turn::is_early;
use crate::source::{KernelSource, SourceError};
use kernpack_kernel_ir::interp::{Argument, MappedTensor, MemoryId};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::op::{OpKind, Region};
use kernpack_machine::{Arch, ArchKind, Suffix, best_arch};
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::described::DeviceFacts;
use kernpack_validators::map_data_type;
use kernpack_validators::plan::LaunchArg;
use std::fmt::Debug;

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

/// The way in which kernels become code for a GPU.
#[derive(Clone, Debug)]
pub struct Code {
    /// The maker of the kernels' images.
    pub images: &'static dyn KernelImages,
    /// The architectures that kernels are compiled for, of which the GPU takes what it would take
    /// of a package; where there are none, its own architecture.
    pub archs: Vec<Arch>,
}

/// The bytes of a guard, between which tensors lie on a GPU. Their beginnings are multiples of
/// this, too, which no kernel can ask more than.
const GUARD: usize = 4096;
/// The contents of a guard.
const GUARD_BYTE: u8 = 0xa5;

/// A tensor on a GPU.
pub(super) struct Mirror<'g> {
    pub memory: MemoryId,
    /// The tensor, and what is around it.
    buffer: Buffer<'g>,
    /// Where the tensor begins in that.
    start: usize,
    size: usize,
}

impl<'g> Mirror<'g> {
    /// One that holds this.
    ///
    /// # Errors
    /// Where the GPU has no memory, or the driver refuses to copy.
    pub fn of(gpu: &'g Gpu, memory: MemoryId, content: &[u8]) -> Result<Mirror<'g>, DriverError> {
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

    /// The contents, and whether nothing was written around them.
    ///
    /// # Errors
    /// Where the driver refuses to copy.
    pub fn read(&self) -> Result<(Vec<u8>, bool), DriverError> {
        let mut bytes = self.buffer.bytes()?;
        let end = self.start + self.size;
        let is_kept = is_around_kept(&bytes, self.start, end);
        bytes.truncate(end);
        Ok((bytes.split_off(self.start), is_kept))
    }
}

/// The attributes that a GPU shows to launches.
pub(super) fn facts(gpu: &Gpu) -> DeviceFacts {
    let (major, minor) = gpu.capability;
    [gpu.sm_count, gpu.smem_optin, i64::from(10 * major + minor)]
}

/// The architecture that kernels are compiled for: without an assembler, PTX.
pub(super) fn arch(gpu: &Gpu, code: &Code) -> Result<Arch, Diagnostic> {
    let (major, minor) = gpu.capability;
    let kind = if code.images.has_assembler() { ArchKind::Sm } else { ArchKind::Compute };
    let own = Arch { kind, number: 10 * major + minor, suffix: Suffix::None };
    if code.archs.is_empty() {
        return Ok(own);
    }
    let codes = code.archs.iter().map(|arch| (arch.code(), *arch));
    best_arch(codes, gpu.capability).ok_or_else(|| {
        let archs: Vec<_> = code.archs.iter().map(Arch::to_string).collect();
        let message = format!("{} runs no code for {}", gpu.name, archs.join(", "));
        let problem = Diagnostic::new("gpu-failed", message);
        problem.help(format!("ask for `{own}`, or leave `--arch` out"))
    })
}

/// The kernel of a launch as an image.
fn image(
    function: &Interpretable,
    launch: &LaunchParts<'_>,
    (images, arch): (&dyn KernelImages, Arch),
) -> Result<Vec<u8>, Diagnostics> {
    let mut kernel = launch.kernel.clone();
    leave_words_out(&mut kernel.body);
    let (source, _) = function.source_of(launch, kernel);
    images.image(&source, arch).map_err(SourceError::diagnostics)
}

/// Leaves out what only talks to people.
fn leave_words_out(region: &mut Region) {
    region.0.retain(|op| !matches!(op.kind, OpKind::Print(..) | OpKind::Assert(_)));
    let ops = region.0.iter_mut();
    ops.for_each(|op| op.kind.regions_mut().for_each(leave_words_out));
}

/// A launch, ready to be submitted. It may begin early where its geometry says so and that is
/// wanted.
///
/// # Errors
/// Where its kernel does not become code for the GPU, or the driver refuses it.
pub(super) fn submittable<'g>(
    gpu: &'g Gpu,
    function: &Interpretable,
    launch: &LaunchParts<'_>,
    (images, arch): (&dyn KernelImages, Arch),
    mirrors: &[Mirror<'_>],
    may_be_early: bool,
) -> Result<Submittable<'g>, Diagnostics> {
    let image = image(function, launch, (images, arch))?;
    let early = may_be_early && is_early(&function.function.launches[launch.index]);
    let ready = || {
        let arguments = arguments(gpu, function, launch, mirrors)?;
        let three = |numbers: [i64; 3]| numbers.map(|number| number as u32);
        gpu.load(&image)?.ready(GpuLaunch {
            symbol: &launch.kernel.name,
            grid: three(launch.layout.grid),
            block: three(launch.layout.block),
            cluster: launch.layout.cluster.map(three),
            shared_bytes: launch.layout.shared as u32,
            cooperative: launch.layout.cooperative,
            early,
            arguments,
        })
    };
    ready().map_err(|error| told(gpu, launch, &error))
}

/// The problem of a launch that the driver has refused.
pub(super) fn told(gpu: &Gpu, launch: &LaunchParts<'_>, error: &DriverError) -> Diagnostics {
    failed(gpu, &format!("`{}`: ", launch.kernel.name), error).into()
}

/// The arguments of a launch, as the kernel takes them there.
fn arguments(
    gpu: &Gpu,
    function: &Interpretable,
    launch: &LaunchParts<'_>,
    mirrors: &[Mirror<'_>],
) -> Result<Vec<GpuArgument>, DriverError> {
    // What is at no tensor is not given: its address is NULL.
    let address = |memory: MemoryId, offset: u64| {
        let mirror = mirrors.iter().find(|mirror| mirror.memory == memory);
        mirror.map_or(0, |mirror| mirror.address() + offset)
    };
    let planned = function.args(launch.index);
    let params = launch.kernel.params.iter().zip(planned).zip(launch.arguments);
    let arguments = params.map(|((param, planned), argument)| match (argument, planned) {
        (Argument::Scalar(number), _) => Ok(GpuArgument::Word(number.bits())),
        (Argument::Tensor { memory, offset }, _) => {
            Ok(GpuArgument::Word(address(*memory, *offset)))
        }
        (Argument::Map(mapped), LaunchArg::TensorMap(map)) => {
            let MappedTensor { memory, offset, extents, strides } = mapped;
            let ParamKind::Map(taken) = &param.kind else { unreachable!("it takes a map") };
            let data_type = map_data_type(taken.element.dtype()).unwrap_or_default();
            let rank = map.dims.len();
            let layout = MapLayout {
                data_type: data_type as u32,
                address: address(*memory, *offset),
                extents: &extents[..rank],
                strides: &strides[..rank - 1],
                box_dims: &map.box_dims,
                steps: &map.steps,
                choices: map.choices.enumerators(),
            };
            gpu.encode(&layout).map(GpuArgument::Map)
        }
        (Argument::Map(_), _) => unreachable!("a map is planned as one"),
    });
    arguments.collect()
}

/// Whether nothing was written outside of a tensor.
fn is_around_kept(bytes: &[u8], start: usize, end: usize) -> bool {
    bytes[..start].iter().chain(&bytes[end..]).all(|byte| *byte == GUARD_BYTE)
}

/// The problem of a call that the driver has refused.
pub(super) fn failed(gpu: &Gpu, what: &str, error: &DriverError) -> Diagnostic {
    Diagnostic::new("gpu-failed", format!("{what}on {}, {error}", gpu.name))
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
