// SPDX-License-Identifier: Apache-2.0
//! Images: which kernels one has, what arguments they take, and where they run. Three kinds are
//! read: the stub's own ([`text`]), which can also say what a kernel does; ELF cubins ([`cubin`]);
//! and PTX ([`ptx`]). Fat binaries are not.
//!
//! What is none of these loads too, as it does with the real driver, and is found out when a kernel
//! is asked for.

#![expect(unsafe_code, reason = "only an image itself says how long it is")]

pub mod cubin;
pub mod ptx;
pub mod text;

use crate::argument::Code;
use crate::status::Status;
use std::ffi::{CStr, CString};

/// An architecture that an image has code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// The compute capability.
    pub compute: (u32, u32),
    /// Which others run it.
    pub reach: Reach,
}

/// Which devices run an architecture's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Plain machine code: the same major number, and no lower minor one.
    Minor,
    /// Family-specific code, the same.
    Family,
    /// Architecture-specific code: only this.
    Exact,
    /// Plain PTX: this and everything later.
    Later,
}

impl Arch {
    /// Reads `sm_90a`, `sm_100f`, `sm_80`; of PTX if it is text.
    pub fn parse(name: &str, is_ptx: bool) -> Option<Arch> {
        let digits = name.strip_prefix("sm_")?;
        let (digits, reach) = match digits.as_bytes().last()? {
            b'a' => (&digits[..digits.len() - 1], Reach::Exact),
            b'f' => (&digits[..digits.len() - 1], Reach::Family),
            _ if is_ptx => (digits, Reach::Later),
            _ => (digits, Reach::Minor),
        };
        let number: u32 = digits.parse().ok()?;
        Some(Arch { compute: (number / 10, number % 10), reach })
    }

    /// Whether a device of this compute capability runs the code.
    pub fn runs_on(self, device: (u32, u32)) -> bool {
        match self.reach {
            Reach::Minor | Reach::Family => {
                self.compute.0 == device.0 && self.compute.1 <= device.1
            }
            Reach::Exact => self.compute == device,
            Reach::Later => self.compute <= device,
        }
    }
}

/// Where an argument lies among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Bytes before it.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

/// Parameters of these sizes and alignments, one behind the other.
pub fn lay_out(sizes: impl IntoIterator<Item = (usize, usize)>) -> Vec<Param> {
    let mut end = 0usize;
    let place = |(size, alignment): (usize, usize)| {
        let offset = end.next_multiple_of(alignment.max(1));
        end = offset + size;
        Param { offset, size }
    };
    sizes.into_iter().map(place).collect()
}

/// What a kernel does when it is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// `out[i] = in[i] + 1` in float32; the arguments are in, out and the number of elements, in 4
    /// or 8 bytes.
    AddOne,
    /// Copies bytes; the arguments are from, to and how many, in 4 or 8 bytes.
    Copy,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelImage {
    /// The name, for ever: callers may keep it.
    pub name: &'static CStr,
    /// The parameters.
    pub params: Vec<Param>,
    /// Shared memory that it always takes.
    pub static_shared: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// The most threads in a block.
    pub max_threads: u32,
    /// What it does.
    pub effect: Effect,
}

impl KernelImage {
    /// A kernel that takes nothing and does nothing.
    pub fn new(name: &str) -> KernelImage {
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        KernelImage {
            name: Box::leak(name.into_boxed_c_str()),
            params: Vec::new(),
            static_shared: 0,
            registers: 16,
            max_threads: 1024,
            effect: Effect::Nothing,
        }
    }
}

/// What is in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The architectures it has code for.
    pub arches: Vec<Arch>,
    /// The kernels.
    pub kernels: Vec<KernelImage>,
    /// Whether it is text for the driver's compiler.
    pub is_ptx: bool,
}

impl Image {
    /// Reads an image; otherwise, what the driver says to whoever asks for a kernel of it.
    pub fn parse(bytes: &[u8]) -> Result<Image, Status> {
        if bytes.starts_with(cubin::MAGIC) {
            return cubin::parse(bytes).ok_or(Status::INVALID_IMAGE);
        }
        let text = str::from_utf8(bytes).map_err(|_| Status::INVALID_IMAGE)?;
        if text.starts_with(text::FIRST_WORD) {
            return text::parse(text).ok_or(Status::INVALID_IMAGE);
        }
        if !text.contains(".version") {
            return Err(Status::INVALID_IMAGE);
        }
        ptx::parse(text).ok_or(Status::INVALID_PTX)
    }

    /// What the driver says where it does not run: the compiler does not take PTX for another
    /// architecture.
    pub fn refusal(&self) -> Status {
        if self.is_ptx { Status::INVALID_PTX } else { Status::NO_BINARY_FOR_GPU }
    }

    /// Whether a device of this compute capability runs it.
    pub fn runs_on(&self, device: (u32, u32)) -> bool {
        self.arches.iter().any(|arch| arch.runs_on(device))
    }
}

/// The bytes of an image that a caller passes.
pub fn bytes(code: Code) -> Result<Vec<u8>, Status> {
    if code.0.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let start = code.0.cast::<u8>();
    let is_elf = cubin::MAGIC.iter().enumerate().all(|(index, byte)| {
        // SAFETY: Text ends with a NUL, which is not in the magic number, so no byte behind the end
        // is looked at.
        unsafe { start.wrapping_add(index).read() == *byte }
    });
    if !is_elf {
        // SAFETY: What is not ELF is text, and the driver too demands that it ends with a NUL.
        return Ok(unsafe { CStr::from_ptr(start.cast()) }.to_bytes().to_vec());
    }
    // SAFETY: The size never exceeds what has been found to belong to the file: first its header.
    let prefix = |size| unsafe { std::slice::from_raw_parts(start, size) };
    let mut size = cubin::HEADER_BYTES;
    while let Some(more) = cubin::extent(prefix(size)).filter(|more| *more > size) {
        size = more;
    }
    Ok(prefix(size).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_run_where_they_should() {
        let runs = |name, is_ptx, device| Arch::parse(name, is_ptx).unwrap().runs_on(device);
        assert!(runs("sm_80", false, (8, 6)) && !runs("sm_86", false, (8, 0)));
        assert!(!runs("sm_80", false, (9, 0)) && runs("sm_80", true, (9, 0)));
        assert!(runs("sm_90a", false, (9, 0)) && !runs("sm_90a", true, (10, 0)));
        assert!(runs("sm_100f", false, (10, 3)) && !runs("sm_100f", false, (12, 0)));
        assert!(!runs("sm_100a", false, (10, 3)) && runs("sm_121", false, (12, 1)));
        assert!(!runs("sm_100", true, (9, 0)));
        assert_eq!(Arch::parse("compute_90", true), None);
        assert_eq!(Arch::parse("sm_a", true), None);
    }

    #[test]
    fn what_is_no_image_says_so_later() {
        assert_eq!(Image::parse(b"\x7fELF garbage"), Err(Status::INVALID_IMAGE));
        assert_eq!(Image::parse(b"garbage"), Err(Status::INVALID_IMAGE));
        assert_eq!(Image::parse(b".version 8.0\n.target"), Err(Status::INVALID_PTX));
        assert_eq!(Image::parse(b"KPSTUB nothing"), Err(Status::INVALID_IMAGE));
        assert_eq!(Image::parse(&[0xff, 0xfe]), Err(Status::INVALID_IMAGE));
    }
}
