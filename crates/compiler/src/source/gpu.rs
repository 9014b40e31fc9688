// SPDX-License-Identifier: Apache-2.0
//! Sources `cubin`, `fatbin` and `ptx`: GPU code that somebody else compiled, for one architecture or for several.

use crate::error::CompileError;
use crate::image::{Arch, Image, ImageKind};
use std::path::PathBuf;

/// Files that have the same kernels, each for other devices.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSource {
    /// The files, in the order in which a user wrote them.
    pub files: Vec<GpuFile>,
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
}

/// What a source of GPU code became.
#[derive(Clone, Debug)]
pub struct GpuArtifact {
    /// The images, which are ready for the driver.
    pub images: Vec<Image>,
    /// What the user brought: the bytes of the files.
    pub source: Vec<Vec<u8>>,
    /// Every file that was read.
    pub inputs: Vec<PathBuf>,
}

impl GpuSource {
    /// What messages call it.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|file| file.path.display().to_string()).collect();
        names.join(", ")
    }

    /// Reads the files.
    ///
    /// # Errors
    /// Where one cannot be read, is damaged, or is not what it is said to be.
    pub fn build(&self) -> Result<GpuArtifact, CompileError> {
        let _span = tracing::debug_span!("source", path = %self.name()).entered();
        let mut artifact = GpuArtifact { images: vec![], source: vec![], inputs: vec![] };
        for file in &self.files {
            let bytes = file.read()?;
            artifact.source.push(bytes.clone());
            artifact.inputs.push(file.path.clone());
            artifact.images.push(file.image(bytes)?);
        }
        Ok(artifact)
    }
}

impl GpuFile {
    fn read(&self) -> Result<Vec<u8>, CompileError> {
        std::fs::read(&self.path)
            .map_err(|reason| CompileError::Read { path: self.path.clone(), reason })
    }

    fn image(&self, mut bytes: Vec<u8>) -> Result<Image, CompileError> {
        if self.kind == ImageKind::Ptx && !bytes.ends_with(b"\0") {
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
