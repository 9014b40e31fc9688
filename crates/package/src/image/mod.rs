// SPDX-License-Identifier: Apache-2.0
//! GPU images as data: what a cubin, a fatbin or PTX text is made for, and which kernels it has.
//!
//! ```text
//! bytes ──read──▶ Image ─┬─ Code: sm_90a ───── Kernel, Kernel      a cubin and PTX have one
//!                        ├─ Code: sm_100 ───── Kernel, Kernel      a fatbin has several
//!                        └─ Code: compute_80   (compressed)
//! ```
//!
//! Nothing is loaded, compiled or decompressed, and no GPU is needed. The bytes stay as they were
//! given: PTX must end in a NUL when the driver gets it, and [`Image::is_terminated`] says whether
//! it does.
//!
//! The formats are not documented by NVIDIA. What is read here was taken from images that ptxas
//! 12.8, 12.9 and 13.0, NVRTC 13.0 and fatbinary 13.0 made, and compared with what cuobjdump says
//! of them. Any bytes give an [`Image`] or an [`ImageError`], never a panic.

mod bytes;
mod cpp_name;
mod cubin;
mod error;
mod fatbin;
mod ptx;
pub mod section;
mod symbol;

use kernpack_machine::Arch;

pub use error::{ImageError, ImageProblem};
pub use symbol::{KernelName, symbols};

/// GPU code in one of the forms that the driver loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its name in messages: that of its file.
    pub name: String,
    /// The form.
    pub kind: ImageKind,
    /// The code in it: one of a cubin and PTX, in a fatbin one for each architecture.
    pub codes: Vec<Code>,
    /// The image itself, as it was given.
    pub bytes: Vec<u8>,
    /// The assembler that made it here, with its version, such as `ptxas 12.8`.
    pub assembler: Option<String>,
}

/// The form of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// Machine code for one architecture, an ELF file.
    Cubin,
    /// Text that the driver compiles.
    Ptx,
    /// Several of the others in one file.
    Fatbin,
}

impl ImageKind {
    /// The word for it: also how its files end.
    pub const fn word(self) -> &'static str {
        match self {
            ImageKind::Cubin => "cubin",
            ImageKind::Ptx => "ptx",
            ImageKind::Fatbin => "fatbin",
        }
    }
}

/// Code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The architecture that it is made for.
    pub arch: Arch,
    /// Its kernels, or nothing where the code is compressed, and only the driver will know.
    pub kernels: Option<Vec<Kernel>>,
}

/// A kernel, as its image describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its symbol: of C++ the mangled name.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The bytes that all parameters take.
    pub param_bytes: u32,
    /// The shared memory of fixed size in bytes, where the image says so: PTX does not. The driver
    /// rounds it up to a multiple of 16.
    pub static_shared_bytes: Option<u32>,
    /// The most threads of a block, where `__launch_bounds__` or the like says so.
    pub max_threads: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Where it lies among the parameters, in bytes. Machine code below sm_90 may place a parameter
    /// that is aligned to more than 32 bytes, and later code one aligned to more than 16, elsewhere
    /// than PTX of the same kernel.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
}

impl Image {
    /// Reads what the image says about itself. `name` is for messages.
    ///
    /// # Errors
    /// Where the bytes are no image that the driver would load, or a damaged one.
    pub fn read(name: &str, bytes: Vec<u8>) -> Result<Image, ImageError> {
        let (kind, codes) =
            read(&bytes).map_err(|problem| ImageError { image: name.to_string(), problem })?;
        Ok(Image { name: name.to_string(), kind, codes, bytes, assembler: None })
    }

    /// The architectures that the image has code for, in its order.
    pub fn archs(&self) -> Vec<Arch> {
        self.codes.iter().map(|code| code.arch).collect()
    }

    /// The kernel of this symbol, as the first code has it that can be read and that has it.
    /// Whether all code does is [`symbols`]' to say.
    pub fn kernel(&self, symbol: &str) -> Option<&Kernel> {
        let kernels = self.codes.iter().flat_map(|code| code.kernels.iter().flatten());
        kernels.into_iter().find(|kernel| kernel.name == symbol)
    }

    /// Whether the driver may get the bytes as they are. It reads PTX up to a NUL, and other images
    /// know their length.
    pub fn is_terminated(&self) -> bool {
        self.kind != ImageKind::Ptx || self.bytes.ends_with(b"\0")
    }
}

fn read(bytes: &[u8]) -> Result<(ImageKind, Vec<Code>), ImageProblem> {
    if bytes.is_empty() {
        return Err(ImageProblem::NoBytes);
    }
    if bytes.starts_with(b"\x7fELF") {
        return Ok((ImageKind::Cubin, vec![cubin::read(bytes)?]));
    }
    if bytes.starts_with(&fatbin::MAGIC) {
        return Ok((ImageKind::Fatbin, fatbin::read(bytes)?));
    }
    if ptx::is_ptx(bytes) {
        return Ok((ImageKind::Ptx, vec![ptx::read(bytes)?]));
    }
    let start = bytes.iter().take(16).flat_map(|byte| byte.escape_ascii());
    Err(ImageProblem::NotAnImage { start: start.map(char::from).collect() })
}

#[cfg(test)]
mod tests;
