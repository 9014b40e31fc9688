// SPDX-License-Identifier: Apache-2.0
//! From kernels to images: all that is wrong first, then each architecture by itself, several
//! kernels and architectures at once.

use super::warning::remarks;
use crate::source::assembler::{
    AssembleError, AssembleOptions, Assembled, AssemblerKind, Assemblers, MissingAssembler, Report,
};
use crate::source::gpu::GpuArtifact;
use kernpack_codegen::kernel::nvptx::{Lowered, NEWEST_PTX, VPRINTF, check_needs, ptx};
use kernpack_kernel_ir::{Builder, Kernel, expand, leave_out_models, verify};
use kernpack_machine::{Arch, ArchKind, best_arch};
use kernpack_package::image::{Image, ImageKind};
use kernpack_package::source::KernelSource;
use kernpack_package::source::{SourceError, SourceErrorKind};
use kernpack_process::parallel;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Severity};
use std::borrow::Cow;
use std::collections::HashSet;

/// The code for one architecture.
pub(super) struct Code {
    pub arch: Arch,
    pub image: Image,
    pub lowered: Lowered,
    /// The assembler's report about machine code.
    pub report: Option<Report>,
    /// The assembler of machine code.
    pub assembler: Option<AssemblerKind>,
    /// Why it is PTX, where machine code was wanted.
    pub missing: Option<MissingAssembler>,
}

impl Code {
    /// The code that was wanted, and not PTX in its place.
    ///
    /// # Errors
    /// Where there is none for want of an assembler.
    pub(super) fn or_missing(self, source: &KernelSource) -> Result<Code, SourceError> {
        match &self.missing {
            None => Ok(self),
            Some(missing) => {
                Err(SourceError::new(SourceErrorKind::Assembler, source.path.span, missing))
            }
        }
    }
}

pub(super) fn build(
    source: &KernelSource,
    archs: &[Placed<Arch>],
    kernels: &[String],
    assemblers: &Assemblers,
) -> Result<GpuArtifact, Vec<SourceError>> {
    let prepared = prepare(source, archs).map_err(|problems| {
        let of_kernel = |problem| SourceError::kernel(source.path.span, problem);
        problems.into_iter().map(of_kernel).collect::<Vec<_>>()
    })?;
    let prepared: Vec<_> = prepared.iter().collect();
    // PTX comes last, whatever the order: a device takes it where there is no machine code.
    let is_machine_code = |arch: &Placed<Arch>| arch.kind == ArchKind::Sm;
    let (machine, text): (Vec<_>, Vec<_>) = archs.iter().copied().partition(is_machine_code);
    let archs = [machine, text].concat();
    let codes = parallel::map(&archs, |arch| code(source, *arch, &prepared, assemblers));
    let (mut codes_made, mut errors) = (Vec::new(), Vec::new());
    for made in codes {
        match made {
            Ok(code) => codes_made.push(code),
            // Where there is no assembler, there is none for any architecture.
            Err(error) if errors.contains(&error) => {}
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (warnings, errors): (Vec<_>, Vec<_>) = remarks(source, &prepared, &codes_made)
        .into_iter()
        .partition(|remark| remark.severity < Severity::Error);
    if !errors.is_empty() {
        let of_kernel = |error| SourceError::kernel(source.path.span, error);
        return Err(errors.into_iter().map(of_kernel).collect());
    }
    let is_unassembled = codes_made.iter().any(|code| code.missing.is_some());
    let mut assemblers: Vec<_> = codes_made.iter().filter_map(|code| code.assembler).collect();
    assemblers.sort();
    assemblers.dedup();
    let (images, symbols) = (images(codes_made), source.symbols(kernels));
    let other = GpuArtifact::default();
    Ok(GpuArtifact { images, symbols, warnings, assemblers, is_unassembled, ..other })
}

/// The images, each architecture's once: PTX that takes the place of machine code may be what was
/// asked for besides, and comes last as all PTX does.
fn images(codes: Vec<Code>) -> Vec<Image> {
    let (machine, text): (Vec<_>, Vec<_>) =
        codes.into_iter().partition(|code| code.image.kind != ImageKind::Ptx);
    let mut images: Vec<Image> = Vec::new();
    for Code { image, .. } in machine.into_iter().chain(text) {
        if !images.iter().any(|known| known.archs() == image.archs()) {
            images.push(image);
        }
    }
    images
}

/// The kernels as they are lowered.
///
/// # Errors
/// All that is wrong with them.
pub(super) fn prepare(
    source: &KernelSource,
    archs: &[Placed<Arch>],
) -> Result<Vec<Kernel>, Diagnostics> {
    let checked = parallel::map(&source.instances, |instance| checked(source, instance, archs));
    let (mut problems, mut names) = (Diagnostics::default(), HashSet::from([VPRINTF]));
    let mut prepared = Vec::with_capacity(source.instances.len());
    for (instance, checked) in source.instances.iter().zip(checked) {
        match checked {
            _ if !names.insert(&instance.name) => {
                let message = format!("two kernels are called `{}`", instance.name);
                problems.push(Diagnostic::new(SourceErrorKind::Kernel.code(), message));
            }
            Ok(kernel) => prepared.push(kernel),
            // Instances of one kernel have mistakes in common.
            Err(found) => problems.extend_new(found),
        }
    }
    problems.into_result().map(|()| prepared)
}

/// A kernel as it is lowered, which the architectures have all it needs for.
fn checked(
    source: &KernelSource,
    instance: &Kernel,
    archs: &[Placed<Arch>],
) -> Result<Kernel, Diagnostics> {
    let mut kernel = instance.clone();
    expand(&mut kernel);
    verify(&kernel)?;
    leave_out_models(&mut kernel);
    let mut archs = archs.iter().filter(|arch| is_for(source, &kernel, arch.value));
    archs.try_for_each(|arch| check_needs(&kernel, arch.value, NEWEST_PTX.number()))?;
    Ok(kernel)
}

/// Whether a kernel is launched on devices that take the code for an architecture. Where none of
/// the source's kernels names that, it is the code of devices of its number.
pub(super) fn is_for(source: &KernelSource, kernel: &Kernel, arch: Arch) -> bool {
    let named = source.instances.iter().flat_map(|one| one.archs.iter().copied());
    let taken = match named.clone().any(|one| one == arch) {
        true => Some(arch),
        false => {
            let codes = named.map(|one| (one.code(), one));
            best_arch(codes, (arch.number / 10, arch.number % 10))
        }
    };
    kernel.archs.is_empty() || taken.is_some_and(|taken| kernel.archs.contains(&taken))
}

/// A kernel in the code for an architecture that it is not for. Whoever loads that code looks for
/// every kernel, and nobody launches this one.
fn blank(kernel: &Kernel) -> Kernel {
    let Kernel { name, params, block, .. } = kernel.clone();
    let mut blank = Builder::new(name, params).finish();
    blank.block = block;
    blank
}

/// The code of kernels that were prepared, for one architecture. Where that is machine code, and
/// there is nobody to make it but the driver, it is PTX for the architecture.
pub(super) fn code(
    source: &KernelSource,
    arch: Placed<Arch>,
    kernels: &[&Kernel],
    assemblers: &Assemblers,
) -> Result<Code, SourceError> {
    let at = |error: &dyn std::fmt::Display| {
        SourceError::new(SourceErrorKind::Assembler, arch.span.or(source.path.span), error)
    };
    let own = kernels.iter().map(|kernel| match is_for(source, kernel, arch.value) {
        true => Cow::Borrowed(*kernel),
        false => Cow::Owned(blank(kernel)),
    });
    let own: Vec<_> = own.collect();
    let own: Vec<_> = own.iter().map(AsRef::as_ref).collect();
    let lowered = ptx(&own, arch.value, source.line_info).map_err(|error| at(&error))?;
    let arch = arch.value;
    let of_image = |error: &_| SourceError::image(source.path.span, error);
    let name = source.path.display().to_string();
    // The driver assembles what nobody else does.
    let is_machine_code = arch.kind == ArchKind::Sm;
    let (assembler, missing) = match is_machine_code.then(|| assemblers.of(&lowered.text)) {
        None => (None, None),
        Some(Ok(assembler)) => (Some(assembler), None),
        Some(Err(missing)) if missing.leaves_ptx() => (None, Some(missing.clone())),
        Some(Err(missing)) => return Err(at(missing)),
    };
    let Some(assembler) = assembler else {
        let bytes = [lowered.text.as_bytes(), b"\0"].concat();
        let image = Image::read(&format!("{name} for {}", arch.compute()), bytes);
        let image = image.map_err(|error| of_image(&error))?;
        return Ok(Code { arch, image, lowered, report: None, assembler: None, missing });
    };
    let options = AssembleOptions { line_info: source.line_info, ..AssembleOptions::default() };
    let assembled = assembler.assemble(&lowered.text, &name, arch, &options);
    let Assembled { image, report } = assembled.map_err(|error| match error {
        AssembleError::Image(error) => of_image(&error),
        error => at(&error),
    })?;
    let image = Image { assembler: Some(assembler.label()), ..image };
    let (report, assembler) = (Some(report), Some(assembler.kind()));
    Ok(Code { arch, image, lowered, report, assembler, missing })
}
