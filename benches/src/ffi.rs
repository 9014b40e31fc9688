// SPDX-License-Identifier: Apache-2.0
//! Loading and calling entry points, and libtvm_ffi behind them: the only file that knows pointers.
#![expect(unsafe_code, reason = "entry points and libtvm_ffi are called through their C ABI")]

use crate::call::{Arg, Call};
use crate::toolchain;
use anyhow::{Context, Result};
use bytemuck::Zeroable;
use kernpack_ffi_abi::layout::{Any, ByteArray, OBJECT_HEADER_BYTES};
use kernpack_ffi_abi::{FUNCTION_PREFIX, TypeIndex, imports};
use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW, Symbol};
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;
use std::time::Instant;

type SafeCall = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32;
type MoveFromRaised = unsafe extern "C" fn(*mut *mut c_void);
type DecRef = unsafe extern "C" fn(*mut c_void) -> i32;

/// libtvm_ffi, which the process keeps.
struct TvmFfi {
    move_from_raised: MoveFromRaised,
    dec_ref: DecRef,
    _handle: Handle,
}

impl TvmFfi {
    fn load() -> Result<TvmFfi> {
        let path = toolchain::tvm_ffi()?.join("lib/libtvm_ffi.so");
        let handle = open(&path, RTLD_NOW | RTLD_GLOBAL)?;
        Ok(TvmFfi {
            move_from_raised: *symbol(&handle, "TVMFFIErrorMoveFromRaised")?,
            dec_ref: *symbol(&handle, imports::OBJECT_DEC_REF.symbol)?,
            _handle: handle,
        })
    }

    /// The error of this thread, which has one.
    fn take_raised(&self) -> *mut c_void {
        let mut error = ptr::null_mut();
        // SAFETY: the function writes one pointer.
        unsafe { (self.move_from_raised)(&raw mut error) };
        error
    }

    fn free(&self, error: *mut c_void) {
        // SAFETY: `take_raised` handed over this reference.
        unsafe { (self.dec_ref)(error) };
    }
}

fn open(path: &Path, flags: i32) -> Result<Handle> {
    // SAFETY: what is opened is libtvm_ffi, or was made by this crate; neither runs code that
    // breaks the process.
    unsafe { Handle::open(Some(path), flags) }.with_context(|| path.display().to_string())
}

fn symbol<T>(handle: &Handle, name: &str) -> Result<Symbol<T>> {
    // SAFETY: each caller names a function of the ABI with the type it has there.
    unsafe { handle.get(name.as_bytes()) }.with_context(|| name.to_string())
}

/// libtvm_ffi, loaded once, before everything that needs its symbols.
///
/// # Errors
/// Where Python has no tvm_ffi.
fn tvm_ffi() -> Result<&'static TvmFfi> {
    static LOADED: OnceLock<TvmFfi> = OnceLock::new();
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded);
    }
    let loaded = TvmFfi::load()?;
    Ok(LOADED.get_or_init(|| loaded))
}

/// Microseconds of loading and unloading a module that is not loaded.
///
/// # Errors
/// Where it, or libtvm_ffi, cannot be loaded.
pub fn time_load(path: &Path) -> Result<f64> {
    const TIMES: u32 = 10;
    tvm_ffi()?;
    let start = Instant::now();
    for _ in 0..TIMES {
        open(path, RTLD_NOW | RTLD_LOCAL)?.close()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES))
}

/// A loaded module, which the process keeps.
#[derive(Debug)]
pub struct Library {
    /// Where it lies.
    pub path: PathBuf,
    handle: &'static Handle,
}

/// An entry point.
#[derive(Clone, Copy)]
pub struct EntryPoint {
    function: SafeCall,
    tvm_ffi: &'static TvmFfi,
}

/// The error of a refused call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// `TypeError` or the like.
    pub kind: String,
    /// The text.
    pub message: String,
}

impl Library {
    /// Loads a module.
    ///
    /// # Errors
    /// Where it, or libtvm_ffi, cannot be loaded.
    pub fn load(path: &Path) -> Result<Library> {
        tvm_ffi()?;
        let handle = open(path, RTLD_NOW | RTLD_LOCAL)?;
        Ok(Library { path: path.to_path_buf(), handle: Box::leak(Box::new(handle)) })
    }

    /// The entry point of the function `name`.
    ///
    /// # Errors
    /// Where the module has none.
    pub fn entry_point(&self, name: &str) -> Result<EntryPoint> {
        let function = *symbol(self.handle, &format!("{FUNCTION_PREFIX}{name}"))?;
        Ok(EntryPoint { function, tvm_ffi: tvm_ffi()? })
    }
}

impl EntryPoint {
    /// Calls it.
    ///
    /// # Errors
    /// The error that it raises.
    pub fn call(&self, call: &Call) -> Result<Any, Raised> {
        let (status, result) = self.invoke(call);
        match status {
            0 => Ok(result),
            _ => Err(self.raised()),
        }
    }

    #[inline(always)]
    fn invoke(&self, call: &Call) -> (i32, Any) {
        let args = call.args();
        let mut result = Any::zeroed();
        // SAFETY: the arguments are as the ABI has them, and the memory they point to lives as long
        // as `call`.
        let status = unsafe {
            (self.function)(ptr::null_mut(), args.as_ptr(), args.len() as i32, &raw mut result)
        };
        (status, result)
    }

    fn raised(&self) -> Raised {
        let error = self.tvm_ffi.take_raised();
        let text = |number: usize| {
            let texts = error.cast::<u8>().wrapping_add(OBJECT_HEADER_BYTES as usize);
            let text = texts.cast::<ByteArray>().wrapping_add(number);
            // SAFETY: an error object starts with its header, its kind and its message.
            let text = unsafe { *text };
            // SAFETY: both are that many bytes, which the error owns.
            let bytes =
                unsafe { std::slice::from_raw_parts(text.data as *const u8, text.size as usize) };
            String::from_utf8_lossy(bytes).into_owned()
        };
        let raised = Raised { kind: text(0), message: text(1) };
        self.tvm_ffi.free(error);
        raised
    }

    /// Nanoseconds of an accepted call: the mean of `n_calls`.
    ///
    /// # Panics
    /// Where a call is refused.
    #[inline(never)]
    pub fn time_accepted(&self, call: &Call, n_calls: u32) -> f64 {
        let start = Instant::now();
        let mut all = 0;
        for _ in 0..n_calls {
            all |= self.invoke(call).0;
        }
        let elapsed = start.elapsed();
        assert_eq!(all, 0, "the call is accepted");
        elapsed.as_nanos() as f64 / f64::from(n_calls)
    }

    /// Nanoseconds of a refused call, with taking and dropping the error.
    ///
    /// # Panics
    /// Where a call is accepted.
    #[inline(never)]
    pub fn time_refused(&self, call: &Call, n_calls: u32) -> f64 {
        let start = Instant::now();
        for _ in 0..n_calls {
            assert_ne!(self.invoke(call).0, 0, "the call is refused");
            self.tvm_ffi.free(self.tvm_ffi.take_raised());
        }
        start.elapsed().as_nanos() as f64 / f64::from(n_calls)
    }
}

/// An error whose texts are all static, for the reference's entry point `raise`.
#[derive(Debug)]
pub struct Raise {
    kind: CString,
    parts: Vec<CString>,
}

impl Raise {
    /// An error of these parts.
    ///
    /// # Panics
    /// Where a text has a NUL.
    pub fn new(kind: &str, parts: &[&str]) -> Raise {
        let text = |text: &str| CString::new(text).expect("messages have no NUL");
        Raise { kind: text(kind), parts: parts.iter().map(|part| text(part)).collect() }
    }

    /// Nanoseconds of raising, taking and dropping it.
    #[inline(never)]
    pub fn time(&self, raise: EntryPoint, n_calls: u32) -> f64 {
        let parts: Vec<_> = self.parts.iter().map(|part| CStr::as_ptr(part)).collect();
        let payloads = [self.kind.as_ptr() as i64, parts.as_ptr() as i64, parts.len() as i64];
        let args = payloads.map(|payload| Arg::Plain(TypeIndex::OPAQUE_PTR, payload));
        raise.time_refused(&Call::new(&args), n_calls)
    }
}
