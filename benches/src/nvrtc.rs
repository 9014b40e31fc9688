// SPDX-License-Identifier: Apache-2.0
//! NVRTC by itself: what a build of CUDA C++ is held against.
#![expect(unsafe_code, reason = "NVRTC is C")]

use anyhow::{Result, ensure};
use kernpack_compiler::source::nvrtc::Nvrtc;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

type Program = *mut c_void;

/// The compiler, loaded.
pub struct Bare(Library);

impl Bare {
    /// The one that kernpack finds.
    ///
    /// # Errors
    /// Where it finds none.
    pub fn load() -> Result<Bare> {
        let path = Nvrtc::find()?.path;
        // SAFETY: loading NVRTC runs only its own code.
        Ok(Bare(unsafe { Library::new(path) }?))
    }

    fn function<F>(&self, name: &str) -> Result<Symbol<'_, F>> {
        // SAFETY: each caller names a function of NVRTC's with the type it has in `nvrtc.h`.
        Ok(unsafe { self.0.get(name.as_bytes()) }?)
    }

    /// Machine code for an architecture, such as `sm_90`.
    ///
    /// # Errors
    /// Where NVRTC refuses the text.
    pub fn compile(&self, text: &CStr, option: &CStr) -> Result<Vec<u8>> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        let create = self.function::<Create>("nvrtcCreateProgram")?;
        let compile = self.function::<Compile>("nvrtcCompileProgram")?;
        let size = self
            .function::<unsafe extern "C" fn(Program, *mut usize) -> c_int>("nvrtcGetCUBINSize")?;
        let code =
            self.function::<unsafe extern "C" fn(Program, *mut u8) -> c_int>("nvrtcGetCUBIN")?;
        let destroy =
            self.function::<unsafe extern "C" fn(*mut Program) -> c_int>("nvrtcDestroyProgram")?;
        let mut program = ptr::null_mut();
        let (none, options) = (ptr::null(), [option.as_ptr()]);
        let mut n_bytes = 0;
        let name = c"add_one.cu".as_ptr();
        // SAFETY: the strings end with NUL.
        let status = unsafe { create(&mut program, text.as_ptr(), name, 0, none, none) };
        ensure!(status == 0, "no program");
        // SAFETY: there is one option.
        let status = unsafe { compile(program, 1, options.as_ptr()) };
        ensure!(status == 0, "NVRTC refuses the program");
        // SAFETY: NVRTC writes one number.
        let status = unsafe { size(program, &mut n_bytes) };
        ensure!(status == 0, "NVRTC made no code");
        let mut bytes = vec![0; n_bytes];
        // SAFETY: the code has as many bytes as NVRTC says.
        let status = unsafe { code(program, bytes.as_mut_ptr()) };
        ensure!(status == 0, "NVRTC made no code");
        // SAFETY: nobody uses the program any more.
        let status = unsafe { destroy(&mut program) };
        ensure!(status == 0, "the program stays");
        Ok(bytes)
    }
}
