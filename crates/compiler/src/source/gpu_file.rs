// SPDX-License-Identifier: Apache-2.0
//! Files of GPU code that somebody else compiled, read: each for devices of its own.

use super::gpu::{Build, GpuArtifact, GpuCompiler};
use kernpack_machine::Arch;
use kernpack_package::file::{Files, Held};
use kernpack_package::image::{self, Image};
use kernpack_package::source::{GpuFile, SourceError, SourceErrorKind};
use kernpack_syntax::Placed;

impl Build for Vec<GpuFile> {
    fn compiler(&self) -> Option<GpuCompiler> {
        None
    }

    fn build(
        &self,
        _: &[Placed<Arch>],
        kernels: &[String],
        held: &Held,
    ) -> Result<GpuArtifact, Vec<SourceError>> {
        read(self, kernels, held)
    }
}

fn read(
    gpu_files: &[GpuFile],
    kernels: &[String],
    held: &Held,
) -> Result<GpuArtifact, Vec<SourceError>> {
    let (mut files, mut images, mut errors) = (Files::new(held), vec![], vec![]);
    for file in gpu_files {
        let _span = tracing::debug_span!("source", path = %file.path.display()).entered();
        match file.image(&mut files) {
            Ok(image) => images.push(image),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        errors.extend(arch_twice(gpu_files, &images));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let symbols = image::symbols(&images, kernels).into_iter().map(|symbol| {
        symbol.map_err(|(image, error)| SourceError::image(gpu_files[image].path.span, &error))
    });
    let symbols = kernels.iter().cloned().zip(symbols).collect();
    let looked = files.into_looked();
    Ok(GpuArtifact { images, symbols, looked, ..GpuArtifact::default() })
}

/// Two files that have code for one architecture: nothing says which of them a device should take.
fn arch_twice(files: &[GpuFile], images: &[Image]) -> Option<SourceError> {
    for (i, image) in images.iter().enumerate() {
        for (earlier, of) in images[..i].iter().zip(files) {
            let archs = earlier.archs();
            if let Some(arch) = image.archs().into_iter().find(|arch| archs.contains(arch)) {
                let (first, second) = (of.path.display(), files[i].path.display());
                let message = format!(
                    "`{first}` and `{second}` both have code for {arch}; name one file for each architecture"
                );
                return Some(SourceError::new(SourceErrorKind::File, files[i].path.span, message));
            }
        }
    }
    None
}
