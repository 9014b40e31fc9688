// SPDX-License-Identifier: Apache-2.0
//! GPU code for one architecture or for several: files that somebody else compiled (`cubin`,
//! `fatbin` and `ptx`), CUDA C++, or kernels written here.

use super::cuda::{self, CudaArtifact, CudaSource};
use super::error::{SourceError, SourceErrorKind};
use super::kernel::KernelSource;
use crate::file::{Files, Held, Looked};
use crate::image::{self, Image, ImageKind};
use kernpack_ffi_abi::DType;
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Placed, Span};
use std::fmt::Display;
use std::path::PathBuf;

/// Kernels for GPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum GpuSource {
    /// Files that have the same kernels, each for other devices, in the order in which a user wrote
    /// them.
    Files(Vec<GpuFile>),
    /// A CUDA C++ file, and what it is compiled for.
    Cuda(CudaSource, Vec<Placed<Arch>>),
    /// Kernels of a file in the kernel language, and what they are compiled for.
    Kernel(KernelSource, Vec<Placed<Arch>>),
}

/// A file of GPU code.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFile {
    /// The file.
    pub path: Placed<PathBuf>,
    /// What it is said to be.
    pub kind: ImageKind,
    /// What it is said to be for; the file itself says it too.
    pub arch: Option<Placed<Arch>>,
    /// Of a cubin that Triton compiled, the JSON that says how its kernel is launched.
    pub triton: Option<Placed<PathBuf>>,
}

/// The symbol of a kernel in every image, or why it has none.
pub type KernelSymbol = Result<String, SourceError>;

/// What a source of GPU code became.
#[derive(Clone, Debug)]
pub struct GpuArtifact {
    /// The images, which are ready for the driver.
    pub images: Vec<Image>,
    /// Each kernel as launches name it, with its symbol.
    pub symbols: Vec<(String, KernelSymbol)>,
    /// What NVRTC warned of, with the names of files as the user knows them.
    pub log: String,
    /// What there is to be said of the kernels themselves.
    pub warnings: Vec<Diagnostic>,
    /// What was read and what was missed.
    pub looked: Looked,
}

impl GpuSource {
    /// Whether Triton's JSON says how its kernel is launched.
    pub fn is_triton(&self) -> bool {
        matches!(self, GpuSource::Files(files) if files.iter().any(|file| file.triton.is_some()))
    }

    /// What it is compiled for, unless it is compiled already.
    pub fn archs(&self) -> Option<&[Placed<Arch>]> {
        match self {
            GpuSource::Files(_) => None,
            GpuSource::Cuda(_, archs) | GpuSource::Kernel(_, archs) => Some(archs),
        }
    }

    /// Has it compiled for these. Gives whether it is compiled at all.
    pub fn set_archs(&mut self, archs: &[Arch]) -> bool {
        match self {
            GpuSource::Files(_) => false,
            GpuSource::Cuda(_, own) | GpuSource::Kernel(_, own) => {
                *own = archs.iter().copied().map(Placed::from).collect();
                true
            }
        }
    }

    /// Of what is compiled, whether somebody wrote what it is to be compiled for: what nobody wrote
    /// has no place.
    pub fn is_arch_written(&self) -> Option<bool> {
        Some(self.archs()?.iter().any(|arch| arch.span != Span::default()))
    }

    /// What stands for a dtype in the name of a kernel, behind this part of it: the type of CUDA
    /// C++, if there is one, or the dtype's own name. The type is what templates take; in CUDA C++
    /// it stands everywhere.
    pub fn dtype_name(&self, dtype: DType, before: &str) -> Option<String> {
        let is_argument = before.matches('<').count() > before.matches('>').count();
        let is_type = match self {
            GpuSource::Files(_) => is_argument,
            GpuSource::Cuda(..) => true,
            GpuSource::Kernel(..) => false,
        };
        match is_type {
            true => cuda::type_name(dtype).map(str::to_string),
            false => Some(dtype.to_string()),
        }
    }

    /// What messages call it, where it is written.
    pub fn name(&self) -> Placed<String> {
        match self {
            GpuSource::Files(files) => {
                let names = files.iter().map(|file| file.path.display().to_string());
                let place = files.first().map(|file| file.path.span);
                Placed::new(names.collect::<Vec<_>>().join(", "), place.unwrap_or_default())
            }
            GpuSource::Cuda(CudaSource { path, .. }, _)
            | GpuSource::Kernel(KernelSource { path, .. }, _) => {
                Placed::new(path.display().to_string(), path.span)
            }
        }
    }

    /// Reads the files, or compiles the text. `kernels` are those that launches name.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged, or is not what it is said to be; where there is no
    /// compiler, or it refuses the text. All that is wrong.
    pub fn build(&self, kernels: &[String], held: &Held) -> Result<GpuArtifact, Vec<SourceError>> {
        match self {
            GpuSource::Files(files) => read(files, kernels, held),
            GpuSource::Cuda(source, archs) => {
                let built =
                    source.build_found(archs, kernels, held).map_err(|error| vec![error])?;
                let symbols =
                    kernels.iter().cloned().zip(built.symbols.into_iter().map(Ok)).collect();
                let CudaArtifact { images, log, looked, .. } = built;
                Ok(GpuArtifact { images, symbols, log, warnings: vec![], looked })
            }
            GpuSource::Kernel(source, archs) => source.build(archs, kernels),
        }
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
    let (log, warnings, looked) = (String::new(), vec![], files.into_looked());
    Ok(GpuArtifact { images, symbols, log, warnings, looked })
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

impl GpuFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or is not what it is said to be.
    pub fn image(&self, files: &mut Files<'_>) -> Result<Image, SourceError> {
        let place = self.path.span;
        let mut bytes = files.read(&self.path).map_err(|error| SourceError::file(place, &error))?;
        if self.kind == ImageKind::Ptx && !bytes.is_empty() && !bytes.ends_with(b"\0") {
            bytes.push(0);
        }
        let image = Image::read(&self.path.display().to_string(), bytes)
            .map_err(|error| SourceError::image(place, &error))?;
        if image.kind != self.kind {
            return Err(
                self.is_other(Placed::new(kind_name(self.kind), place), kind_name(image.kind))
            );
        }
        match self.arch {
            Some(arch) if !image.archs().contains(&arch) => {
                let found: Vec<_> = image.archs().iter().map(Arch::to_string).collect();
                Err(self.is_other(arch, &found.join(", ")))
            }
            _ => Ok(image),
        }
    }

    fn is_other(&self, expected: Placed<impl Display>, found: &str) -> SourceError {
        let message = format!("`{}` should be {expected}, and is {found}", self.path.display());
        SourceError::new(SourceErrorKind::File, expected.span, message)
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
