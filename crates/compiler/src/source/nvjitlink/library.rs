// SPDX-License-Identifier: Apache-2.0
//! nvJitLink's C functions, and one safe call that goes through all of them.
//!
//! The library stays loaded for the rest of the process. It keeps what it knows of a link behind
//! that link's handle, and may be called from several threads at once.

#![expect(unsafe_code, reason = "nvJitLink is a C library")]

use crate::source::assembler::AssembleError;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

/// A link of nvJitLink's.
type Handle = *mut c_void;
/// Reports the bytes of a result.
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
/// Writes a result.
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

// The header gives each function a name of its version, and those without are there besides.
functions! {
    "it is no nvJitLink of CUDA 12.4 or later"; [("", ""), ("__", "_13_0"), ("__", "_12_0")];
    version: "nvJitLinkVersion" = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> c_int,
    create: "nvJitLinkCreate" = unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> c_int,
    destroy: "nvJitLinkDestroy" = unsafe extern "C" fn(*mut Handle) -> c_int,
    add: "nvJitLinkAddData" = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int,
    complete: "nvJitLinkComplete" = unsafe extern "C" fn(Handle) -> c_int,
    cubin_size: "nvJitLinkGetLinkedCubinSize" = Size,
    cubin: "nvJitLinkGetLinkedCubin" = Get,
    errors_size: "nvJitLinkGetErrorLogSize" = Size,
    errors: "nvJitLinkGetErrorLog" = Get,
    infos_size: "nvJitLinkGetInfoLogSize" = Size,
    infos: "nvJitLinkGetInfoLog" = Get,
}

/// `NVJITLINK_INPUT_PTX`.
const INPUT_PTX: c_int = 2;
/// `NVJITLINK_ERROR_UNRECOGNIZED_ARCH` and `NVJITLINK_ERROR_UNSUPPORTED_ARCH`.
const OF_ARCH: [c_int; 2] = [16, 17];

/// A text to be assembled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The PTX.
    pub text: &'a CStr,
    /// Its name in nvJitLink's messages.
    pub name: &'a CStr,
    /// nvJitLink's options.
    pub options: &'a [CString],
}

/// The outcome.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// The cubin.
    pub cubin: Vec<u8>,
    /// The errors all the same.
    pub errors: String,
    /// The words of ptxas about the kernels.
    pub infos: String,
}

/// Why nothing came of it.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// nvJitLink's number for the reason.
    status: c_int,
    /// Its words about the text.
    pub errors: String,
}

impl Failure {
    /// Whether it is the architecture that is not known.
    pub(super) fn is_of_arch(&self) -> bool {
        // Before CUDA 13 it is the assembler that says so, and not a number.
        OF_ARCH.contains(&self.status) || AssembleError::says_arch(&self.errors)
    }
}

impl Functions {
    /// The version of CUDA.
    pub(super) fn version(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live here.
        unsafe { (self.version)(&mut major, &mut minor) };
        (major, minor)
    }

    /// Assembles.
    pub(super) fn assemble(&self, job: &Job<'_>) -> Result<Output, Failure> {
        let link = self.create(job)?;
        let text = job.text.to_bytes_with_nul();
        let (address, name) = (text.as_ptr().cast(), job.name.as_ptr());
        // SAFETY: the link lives, the text has as many bytes as it is told, and both texts end in a
        // NUL.
        let status = unsafe { (self.add)(link.handle, INPUT_PTX, address, text.len(), name) };
        link.require(status)?;
        // SAFETY: the link lives.
        let status = unsafe { (self.complete)(link.handle) };
        link.require(status)?;
        Ok(Output {
            cubin: link.result(self.cubin_size, self.cubin)?,
            errors: link.errors(),
            infos: link.result(self.infos_size, self.infos).map_or_else(|_| String::new(), text_of),
        })
    }

    fn create(&self, job: &Job<'_>) -> Result<Owned<'_>, Failure> {
        let mut link = Owned { functions: self, handle: ptr::null_mut() };
        let options: Vec<_> = job.options.iter().map(|option| option.as_ptr()).collect();
        let n_options = u32::try_from(options.len()).unwrap_or(u32::MAX);
        // SAFETY: there are as many options as it is told, and each ends in a NUL.
        let status = unsafe { (self.create)(&mut link.handle, n_options, options.as_ptr()) };
        link.require(status)?;
        Ok(link)
    }
}

/// A link that is destroyed in the end. Where its options were refused there may be none.
struct Owned<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl Owned<'_> {
    fn require(&self, status: c_int) -> Result<(), Failure> {
        if status == 0 {
            return Ok(());
        }
        let told = Some(self.errors()).filter(|errors| !errors.is_empty());
        Err(Failure { status, errors: told.unwrap_or_else(|| format!("error {status}")) })
    }

    fn errors(&self) -> String {
        let (size, get) = (self.functions.errors_size, self.functions.errors);
        self.result(size, get).map_or_else(|_| String::new(), text_of)
    }

    /// A result whose size is asked first.
    fn result(&self, size: Size, get: Get) -> Result<Vec<u8>, Failure> {
        let failed = |status| Failure { status, errors: String::new() };
        if self.handle.is_null() {
            return Err(failed(0));
        }
        let mut n_bytes = 0;
        // SAFETY: the link lives, and the pointer is to an integer that lives here.
        let status = unsafe { size(self.handle, &mut n_bytes) };
        if status != 0 {
            return Err(failed(status));
        }
        // A log may end in a NUL that its size does not count.
        let mut bytes = vec![0; n_bytes + 1];
        // SAFETY: there is room for as many bytes as the size says, and one more.
        let status = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        bytes.truncate(n_bytes);
        if status == 0 { Ok(bytes) } else { Err(failed(status)) }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the link was created and is destroyed once.
            unsafe { (self.functions.destroy)(&mut self.handle) };
        }
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).trim_end().to_string()
}
