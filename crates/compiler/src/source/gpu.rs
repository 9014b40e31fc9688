// SPDX-License-Identifier: Apache-2.0
//! GPU code for one architecture or for several: files that somebody else compiled (`cubin`, `fatbin` and `ptx`), or CUDA C++.

use super::cuda::{CudaArtifact, CudaError, CudaSource};
use super::nvrtc::Nvrtc;
use crate::error::CompileError;
use crate::image::{Arch, Image, ImageKind};
use std::path::PathBuf;

/// Kernels for GPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum GpuSource {
    /// Files that have the same kernels, each for other devices, in the order in which a user wrote them.
    Files(Vec<GpuFile>),
    /// A CUDA C++ file, and what it is compiled for.
    Cuda(CudaSource, Vec<Arch>),
}

/// A file of GPU code.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFile {
    /// The file.
    pub path: PathBuf,
    /// What it is said to be.
    pub kind: ImageKind,
    /// What it is said to be for; the file itself says it too.
    pub arch: Option<Arch>,
    /// Of a cubin that Triton compiled, the JSON that says how its kernel is launched.
    pub triton: Option<PathBuf>,
}

/// What a source of GPU code became.
#[derive(Clone, Debug)]
pub struct GpuArtifact {
    /// The images, which are ready for the driver.
    pub images: Vec<Image>,
    /// The symbol of each kernel that launches name; a compiled image has them as they are written.
    pub symbols: Vec<(String, String)>,
    /// What NVRTC warned of, with the names of files as the user knows them.
    pub log: String,
    /// Every file that was read.
    pub inputs: Vec<PathBuf>,
}

impl GpuSource {
    /// Whether Triton's JSON says how its kernel is launched.
    pub fn is_triton(&self) -> bool {
        matches!(self, GpuSource::Files(files) if files.iter().any(|file| file.triton.is_some()))
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            GpuSource::Files(files) => {
                let names: Vec<_> =
                    files.iter().map(|file| file.path.display().to_string()).collect();
                names.join(", ")
            }
            GpuSource::Cuda(source, _) => source.path.display().to_string(),
        }
    }

    /// Reads the files, or compiles the text. `kernels` are those that launches name.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged, or is not what it is said to be; where there is no compiler, or it refuses the text.
    pub fn build(&self, kernels: &[String]) -> Result<GpuArtifact, CompileError> {
        match self {
            GpuSource::Files(files) => read(files, kernels),
            GpuSource::Cuda(source, archs) => {
                let built =
                    source.build(&Nvrtc::find().map_err(CudaError::from)?, archs, kernels)?;
                let symbols = kernels.iter().cloned().zip(built.symbols).collect();
                let CudaArtifact { images, log, inputs, .. } = built;
                Ok(GpuArtifact { images, symbols, log, inputs })
            }
        }
    }
}

fn read(files: &[GpuFile], kernels: &[String]) -> Result<GpuArtifact, CompileError> {
    let mut artifact =
        GpuArtifact { images: vec![], symbols: vec![], log: String::new(), inputs: vec![] };
    for file in files {
        let _span = tracing::debug_span!("source", path = %file.path.display()).entered();
        artifact.inputs.extend([&file.path].into_iter().chain(&file.triton).cloned());
        artifact.images.push(file.image()?);
    }
    no_arch_twice(files, &artifact.images)?;
    artifact.symbols = kernels.iter().map(|kernel| (kernel.clone(), kernel.clone())).collect();
    Ok(artifact)
}

/// No two files have code for one architecture: nothing says which of them a device should take.
fn no_arch_twice(files: &[GpuFile], images: &[Image]) -> Result<(), CompileError> {
    for (i, image) in images.iter().enumerate() {
        for (earlier, of) in images[..i].iter().zip(files) {
            let archs = earlier.archs();
            if let Some(arch) = image.archs().into_iter().find(|arch| archs.contains(arch)) {
                let files = (of.path.clone(), files[i].path.clone());
                return Err(CompileError::SameArch { files, arch });
            }
        }
    }
    Ok(())
}

impl GpuFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or is not what it is said to be.
    pub fn image(&self) -> Result<Image, CompileError> {
        let mut bytes = std::fs::read(&self.path)
            .map_err(|reason| CompileError::Read { path: self.path.clone(), reason })?;
        if self.kind == ImageKind::Ptx && !bytes.is_empty() && !bytes.ends_with(b"\0") {
            bytes.push(0);
        }
        let image = Image::read(&self.path.display().to_string(), bytes)?;
        let unlike = |expected: String, found: String| CompileError::OtherImage {
            path: self.path.clone(),
            expected,
            found,
        };
        if image.kind != self.kind {
            return Err(unlike(
                kind_name(self.kind).to_string(),
                kind_name(image.kind).to_string(),
            ));
        }
        match self.arch {
            Some(arch) if !image.archs().contains(&arch) => {
                let found: Vec<_> = image.archs().iter().map(Arch::to_string).collect();
                Err(unlike(arch.to_string(), found.join(", ")))
            }
            _ => Ok(image),
        }
    }
}

impl GpuArtifact {
    /// What there is code for, in the order of the images.
    pub fn archs(&self) -> Vec<Arch> {
        self.images.iter().flat_map(Image::archs).collect()
    }
}

fn kind_name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Cubin => "a cubin",
        ImageKind::Ptx => "PTX",
        ImageKind::Fatbin => "a fatbin",
    }
}
