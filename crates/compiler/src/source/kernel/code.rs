// SPDX-License-Identifier: Apache-2.0
//! The code of kernels, for whoever wants to read it: as LLVM has it, as PTX, and as machine code.
//! Kernels that are not for the architecture are left out.

use super::build;
use crate::source::assembler::Assemblers;
use kernpack_codegen::kernel::nvptx;
use kernpack_kernel_ir::Kernel;
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::source::KernelSource;
use kernpack_package::source::SourceError;
use kernpack_syntax::Placed;

/// The kernels in LLVM's text, before any of its passes.
///
/// # Errors
/// All that is wrong with the kernels.
pub fn llvm_text(source: &KernelSource, arch: Arch) -> Result<String, Vec<SourceError>> {
    let prepared = prepared(source, arch)?;
    let kernels: Vec<_> = prepared.iter().collect();
    Ok(nvptx::llvm_text(&kernels, arch, source.line_info))
}

/// The kernels in PTX.
///
/// # Errors
/// All that is wrong with the kernels.
pub fn ptx_text(source: &KernelSource, arch: Arch) -> Result<String, Vec<SourceError>> {
    let image = image(source, arch.compute())?;
    Ok(String::from_utf8_lossy(&image).trim_end_matches('\0').to_string())
}

/// The kernels in machine code, a cubin.
///
/// # Errors
/// All that is wrong with the kernels, or that there is no assembler.
pub fn cubin(source: &KernelSource, arch: Arch) -> Result<Vec<u8>, Vec<SourceError>> {
    let arch = Placed::from(Arch { kind: ArchKind::Sm, ..arch });
    let prepared = prepared(source, arch.value)?;
    let kernels: Vec<_> = prepared.iter().collect();
    let code = build::code(source, arch, &kernels, &Assemblers::here());
    let code = code.and_then(|code| code.or_missing(source)).map_err(|error| vec![error])?;
    Ok(code.image.bytes)
}

/// The kernels as the driver loads them: machine code, or PTX that ends in a NUL.
///
/// # Errors
/// All that is wrong with the kernels, or that there is no assembler.
pub fn image(source: &KernelSource, arch: Arch) -> Result<Vec<u8>, Vec<SourceError>> {
    let source = of_arch(source, arch);
    let artifact = build::build(&source, &[Placed::from(arch)], &[], &Assemblers::here())?;
    Ok(artifact.images.into_iter().next().map(|image| image.bytes).unwrap_or_default())
}

pub(super) fn prepared(source: &KernelSource, arch: Arch) -> Result<Vec<Kernel>, Vec<SourceError>> {
    build::prepare(&of_arch(source, arch), &[Placed::from(arch)]).map_err(|problems| {
        let of_kernel = |problem| SourceError::kernel(source.path.span, problem);
        problems.into_iter().map(of_kernel).collect()
    })
}

/// The source with the kernels that are for an architecture.
fn of_arch(source: &KernelSource, arch: Arch) -> KernelSource {
    let own = source.instances.iter().filter(|kernel| build::is_for(source, kernel, arch));
    KernelSource { instances: own.cloned().collect(), ..source.clone() }
}
