// SPDX-License-Identifier: Apache-2.0
//! Sources `cubin`, `fatbin` and `ptx`: files of GPU code that somebody else compiled.

use super::cuda::type_name;
use super::error::{SourceError, SourceErrorKind};
use super::gpu::Described;
use crate::file::Files;
use crate::image::{Image, ImageKind};
use kernpack_ffi_abi::DType;
use kernpack_machine::Arch;
use kernpack_syntax::Placed;
use std::fmt::Display;
use std::path::PathBuf;

/// A file of GPU code.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFile {
    /// The file.
    pub path: Placed<PathBuf>,
    /// The kind that it is said to be of.
    pub kind: ImageKind,
    /// The architecture that it is said to be for; the file itself says it too.
    pub arch: Option<Placed<Arch>>,
    /// Of a cubin that Triton compiled, the JSON that says how its kernel is launched.
    pub triton: Option<Placed<PathBuf>>,
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

/// Files that have the same kernels.
impl Described for Vec<GpuFile> {
    fn word(&self) -> &'static str {
        match self.iter().any(|file| file.triton.is_some()) {
            true => "triton",
            false => "files",
        }
    }

    fn name(&self) -> Placed<String> {
        let names = self.iter().map(|file| file.path.display().to_string());
        let place = self.first().map(|file| file.path.span);
        Placed::new(names.collect::<Vec<_>>().join(", "), place.unwrap_or_default())
    }

    fn dtype_name(&self, dtype: DType, before: &str) -> Option<String> {
        match before.matches('<').count() > before.matches('>').count() {
            true => type_name(dtype).map(str::to_string),
            false => Some(dtype.to_string()),
        }
    }
}

fn kind_name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Cubin => "a cubin",
        ImageKind::Ptx => "PTX",
        ImageKind::Fatbin => "a fatbin",
    }
}
