// SPDX-License-Identifier: Apache-2.0
//! From kernels to images: all that is wrong first, then each architecture by itself, several
//! kernels and architectures at once.

use super::warning::warnings;
use crate::source::gpu::GpuArtifact;
use crate::source::nvjitlink::{
    AssembleError, AssembleOptions, Assembled, NvJitLink, NvJitLinkError, Report,
};
use kernpack_codegen::kernel::nvptx::{Lowered, NEWEST_PTX, VPRINTF, check_needs, ptx};
use kernpack_kernel_ir::{Builder, Kernel, expand, leave_out_models, verify};
use kernpack_machine::{Arch, ArchKind, best_arch};
use kernpack_package::file::Looked;
use kernpack_package::image::Image;
use kernpack_package::source::KernelSource;
use kernpack_package::source::{SourceError, SourceErrorKind};
use kernpack_process::parallel;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Finds the assembler.
pub(super) type Find<'a> = &'a (dyn Fn() -> Result<NvJitLink, NvJitLinkError> + Sync);

/// The code for one architecture.
pub(super) struct Code {
    pub arch: Arch,
    pub image: Image,
    pub lowered: Lowered,
    /// The assembler's report about machine code.
    pub report: Option<Report>,
}

pub(super) fn build(
    source: &KernelSource,
    archs: &[Placed<Arch>],
    kernels: &[String],
    find: Find<'_>,
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
    let found = OnceLock::new();
    let assembler = || found.get_or_init(find).as_ref();
    let codes = parallel::map(&archs, |arch| code(source, *arch, &prepared, &assembler));
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
    let warnings = warnings(source, &prepared, &codes_made);
    let images = codes_made.into_iter().map(|code| code.image).collect();
    let symbols = source.symbols(kernels);
    Ok(GpuArtifact { images, symbols, log: String::new(), warnings, looked: Looked::default() })
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
    archs.try_for_each(|arch| check_needs(&kernel, arch.number, NEWEST_PTX.number()))?;
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

/// The code of kernels that were prepared, for one architecture.
pub(super) fn code<'f>(
    source: &KernelSource,
    arch: Placed<Arch>,
    kernels: &[&Kernel],
    assembler: &dyn Fn() -> Result<&'f NvJitLink, &'f NvJitLinkError>,
) -> Result<Code, SourceError> {
    let at = |error: &dyn std::fmt::Display| {
        SourceError::new(SourceErrorKind::Assembler, arch.span.or(source.path.span), error)
    };
    let name = source.path.display().to_string();
    let own = kernels.iter().map(|kernel| match is_for(source, kernel, arch.value) {
        true => Cow::Borrowed(*kernel),
        false => Cow::Owned(blank(kernel)),
    });
    let own: Vec<_> = own.collect();
    let own: Vec<_> = own.iter().map(AsRef::as_ref).collect();
    let lowered = ptx(&own, arch.value, source.line_info).map_err(|error| at(&error))?;
    let arch = arch.value;
    match arch.kind {
        ArchKind::Compute => {
            let bytes = [lowered.text.as_bytes(), b"\0"].concat();
            let image = Image::read(&format!("{name} for {arch}"), bytes)
                .map_err(|error| SourceError::image(source.path.span, &error))?;
            Ok(Code { arch, image, lowered, report: None })
        }
        ArchKind::Sm => {
            let nvjitlink = assembler().map_err(|error| at(error))?;
            let options =
                AssembleOptions { line_info: source.line_info, ..AssembleOptions::default() };
            let assembled = nvjitlink.assemble(&lowered.text, &name, arch, &options);
            let Assembled { image, report } = assembled.map_err(|error| match error {
                AssembleError::Image(error) => SourceError::image(source.path.span, &error),
                error => at(&error),
            })?;
            Ok(Code { arch, image, lowered, report: Some(report) })
        }
    }
}
