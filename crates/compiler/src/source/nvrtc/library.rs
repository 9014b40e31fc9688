// SPDX-License-Identifier: Apache-2.0
//! NVRTC's C functions, and one safe call that goes through all of them.
//!
//! A library stays loaded for the rest of the process: it keeps threads and state of its own, and
//! is not made for being unloaded.

#![expect(unsafe_code, reason = "NVRTC is a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// A program of NVRTC's.
type Program = *mut c_void;
/// Reports the bytes of a result.
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
/// Writes a result.
type Get = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

functions! {
    "it is no NVRTC of CUDA 11.2 or later"; [("", "")];
    version: "nvrtcVersion" = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    n_archs: "nvrtcGetNumSupportedArchs" = unsafe extern "C" fn(*mut c_int) -> c_int,
    archs: "nvrtcGetSupportedArchs" = unsafe extern "C" fn(*mut c_int) -> c_int,
    error: "nvrtcGetErrorString" = unsafe extern "C" fn(c_int) -> *const c_char,
    create: "nvrtcCreateProgram" = unsafe extern "C" fn(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char,
    ) -> c_int,
    destroy: "nvrtcDestroyProgram" = unsafe extern "C" fn(*mut Program) -> c_int,
    add_name: "nvrtcAddNameExpression" = unsafe extern "C" fn(Program, *const c_char) -> c_int,
    compile: "nvrtcCompileProgram" = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    lowered_name: "nvrtcGetLoweredName" = unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> c_int,
    log_size: "nvrtcGetProgramLogSize" = Size,
    log: "nvrtcGetProgramLog" = Get,
    cubin_size: "nvrtcGetCUBINSize" = Size,
    cubin: "nvrtcGetCUBIN" = Get,
    ptx_size: "nvrtcGetPTXSize" = Size,
    ptx: "nvrtcGetPTX" = Get,
}

/// A program to be compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// The program, then the files it may include.
    pub files: &'a [Header],
    /// NVRTC's options.
    pub options: &'a [CString],
    /// Names of kernels as C++ writes them, template arguments and all.
    pub expressions: &'a [CString],
    /// PTX is wanted, not a cubin.
    pub is_ptx: bool,
}

/// A text that is read from memory.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// How it is included, and what messages and debug information call it.
    pub name: CString,
    /// The text.
    pub text: CString,
}

/// The outcome.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// The image. PTX ends in a NUL.
    pub bytes: Vec<u8>,
    /// The symbol of each expression.
    pub symbols: Vec<String>,
    /// Warnings.
    pub log: String,
}

/// Why nothing came of it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// NVRTC's name of the reason.
    pub reason: String,
    /// Its words about the program.
    pub log: String,
}

impl Functions {
    /// The version of CUDA.
    pub(super) fn version(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live here.
        unsafe { (self.version)(&mut major, &mut minor) };
        (major.unsigned_abs(), minor.unsigned_abs())
    }

    /// The numbers of the architectures that code can be made for.
    pub(super) fn archs(&self) -> Vec<u32> {
        let mut n_archs = 0;
        // SAFETY: the pointer is to an integer that lives here.
        unsafe { (self.n_archs)(&mut n_archs) };
        let mut archs = vec![0; usize::try_from(n_archs).unwrap_or(0)];
        // SAFETY: there is room for as many as were just counted; the number never changes.
        unsafe { (self.archs)(archs.as_mut_ptr()) };
        archs.into_iter().map(c_int::unsigned_abs).collect()
    }

    /// Compiles.
    pub(super) fn compile(&self, job: &Job<'_>) -> Result<Output, Failure> {
        let program = self.create(job)?;
        for expression in job.expressions {
            // SAFETY: the program lives, and the text ends in a NUL.
            let status = unsafe { (self.add_name)(program.handle, expression.as_ptr()) };
            self.require(status, String::new)?;
        }
        let options: Vec<_> = job.options.iter().map(|option| option.as_ptr()).collect();
        let n_options = c_int::try_from(options.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program lives, and there are as many options as it is told.
        let status = unsafe { (self.compile)(program.handle, n_options, options.as_ptr()) };
        let log = || program.result(self.log_size, self.log).map_or_else(|_| String::new(), text);
        self.require(status, log)?;
        let (size, get) =
            if job.is_ptx { (self.ptx_size, self.ptx) } else { (self.cubin_size, self.cubin) };
        let symbols = job.expressions.iter().map(|expression| program.symbol(expression));
        Ok(Output {
            bytes: program.result(size, get)?,
            symbols: symbols.collect::<Result<_, _>>()?,
            log: log(),
        })
    }

    fn create(&self, job: &Job<'_>) -> Result<Owned<'_>, Failure> {
        let mut program = Owned { functions: self, handle: ptr::null_mut() };
        let names: Vec<_> = job.files.iter().map(|file| file.name.as_ptr()).collect();
        let texts: Vec<_> = job.files.iter().map(|file| file.text.as_ptr()).collect();
        let n_files = c_int::try_from(job.files.len() - 1).unwrap_or(c_int::MAX);
        let (all_texts, all_names) = (texts[1..].as_ptr(), names[1..].as_ptr());
        // SAFETY: the program is the first text, as many follow as it is told, and all end in a
        // NUL.
        let status = unsafe {
            (self.create)(&mut program.handle, texts[0], names[0], n_files, all_texts, all_names)
        };
        self.require(status, String::new)?;
        Ok(program)
    }

    fn require(&self, status: c_int, log: impl FnOnce() -> String) -> Result<(), Failure> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: every number has a text, also those that NVRTC does not know.
        let reason = unsafe { (self.error)(status) };
        // SAFETY: the text is a constant that ends in a NUL.
        let reason = unsafe { CStr::from_ptr(reason) };
        Err(Failure { reason: reason.to_string_lossy().into_owned(), log: log() })
    }
}

/// A program that is destroyed in the end.
struct Owned<'a> {
    functions: &'a Functions,
    handle: Program,
}

impl Owned<'_> {
    /// A result whose size is asked first.
    fn result(&self, size: Size, get: Get) -> Result<Vec<u8>, Failure> {
        let mut n_bytes = 0;
        // SAFETY: the program lives, and the pointer is to an integer that lives here.
        let status = unsafe { size(self.handle, &mut n_bytes) };
        self.functions.require(status, String::new)?;
        let mut bytes = vec![0; n_bytes];
        // SAFETY: there is room for as many bytes as the size says.
        let status = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        self.functions.require(status, String::new)?;
        Ok(bytes)
    }

    /// The symbol of a name that was added before.
    fn symbol(&self, expression: &CStr) -> Result<String, Failure> {
        let mut symbol = ptr::null();
        // SAFETY: the program lives, and the pointer is to a pointer that lives here.
        let status =
            unsafe { (self.functions.lowered_name)(self.handle, expression.as_ptr(), &mut symbol) };
        self.functions.require(status, String::new)?;
        // SAFETY: the text belongs to the program, which lives, and ends in a NUL.
        let symbol = unsafe { CStr::from_ptr(symbol) };
        Ok(symbol.to_string_lossy().into_owned())
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the program was created and is destroyed once.
            unsafe { (self.functions.destroy)(&mut self.handle) };
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).trim_end().to_string()
}
