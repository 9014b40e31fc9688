// SPDX-License-Identifier: Apache-2.0
//! XLA's custom calls of TVM-FFI functions: one handler for all of them.
//!
//! JAX compiles a program in which a call has three attributes: `key`, the SHA-256 of a package and
//! the name of a function in it; `plan`, what the function's arguments are; and, in programs that
//! are exported, `module`, the package itself. XLA calls the handler when the program is loaded,
//! which is when a package of the program's own is loaded too, and for each call of the function:
//!
//! 1. `frame.rs` reads XLA's call frame, whose structs are in `layout.rs`;
//! 2. `callee.rs` finds the function by its key, in a table of the process. Python fills it
//!    (`kernpack_xla_know`), or `library.rs` from packages: those that Python has loaded
//!    (`kernpack_xla_know_package`), and the program's own;
//! 3. `call.rs` makes the arguments as `plan.rs` reads them: operands and results become views
//!    (`view.rs`, `dtype.rs`), with memory from `room.rs`; sequences become objects (`object.rs`);
//! 4. `environment.rs` sets stream and allocator, the function is called, and both are restored;
//! 5. a failure goes back to XLA with the kind of the function's error (`failure.rs`).
//!
//! The handler has no state in XLA's sense, whose interface for it changes with its versions. It
//! never panics into XLA. Nothing here knows signatures: `python/kernpack/jax.py` does, and writes
//! the plans.
//!
//! # Where things live
//!
//! The handler that XLA calls for every function of every package, on the CPU and on CUDA.
//! `layout.rs` has XLA's structs, written by hand, and `dtype.rs` its element types; `frame.rs`
//! reads a call frame through them. `callee.rs` is the table of functions by digest and name, and
//! `library.rs` loads what a program carries. `call.rs` makes the arguments as `plan.rs` reads them
//! from the program: views (`view.rs`), objects (`object.rs`), in memory of the stack (`room.rs`).
//! `environment.rs` sets stream and allocator, and `failure.rs` words what went wrong.
//! `python/kernpack/_xla.py` writes the plans, `_jax_*.py` know signatures and JAX, and
//! `docs/jax.md` is what users see.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * nothing is known of signatures, and nothing of JAX: only of call frames and plans.
//! * what a call sets on its thread is as before when it ends, whatever its end; no panic reaches
//!   XLA; a function that is found once is found for ever.

mod call;
mod callee;
pub mod dtype;
mod environment;
mod failure;
mod frame;
pub mod layout;
mod library;
mod object;
mod plan;
mod room;
mod view;

use crate::call::Platform;
use crate::callee::Callee;
use crate::failure::Failure;
use crate::frame::Frame;
use crate::layout::{CallFrame, EXECUTE, INSTANTIATE, IS_CAPTURABLE, Metadata};
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::slice;
use libloading::os::unix::Library;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A handler, as XLA knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Handler {
    platform: Platform,
    /// Whether its calls may be recorded in a command buffer, and replayed.
    is_capturable: bool,
}

impl Handler {
    /// The answer to XLA for a frame: NULL, or an error.
    fn answer(self, frame: Frame<'_>) -> *mut c_void {
        if let Some(metadata) = frame.asked_metadata() {
            self.describe(frame, metadata);
            return ptr::null_mut();
        }
        match catch_unwind(AssertUnwindSafe(|| self.step(frame))) {
            Ok(Ok(())) => ptr::null_mut(),
            Ok(Err(failure)) => frame.error(failure),
            Err(_) => frame.panicked(),
        }
    }

    fn describe(self, frame: Frame<'_>, metadata: &mut Metadata) {
        (metadata.version.major, metadata.version.minor) = frame.version();
        metadata.traits = if self.is_capturable { IS_CAPTURABLE as u32 } else { 0 };
    }

    #[inline]
    fn step(self, frame: Frame<'_>) -> Result<(), Failure> {
        let said = frame.said();
        match frame.stage() {
            INSTANTIATE => library::resolve(said.key, said.module).map(|_| ()),
            EXECUTE => {
                let callee = library::resolve(said.key, said.module)?;
                call::run(frame, self.platform, callee, said.plan)
            }
            _ => Ok(()),
        }
    }
}

/// Expands rows into handlers that XLA can call.
macro_rules! handlers {
    ($( $(#[$doc:meta])* $name:ident = $platform:ident, $is_capturable:literal; )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// For XLA to call: `frame` must be a call frame.
        #[expect(unsafe_code, reason = "XLA calls it")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(frame: *mut CallFrame) -> *mut c_void {
            // SAFETY: XLA's frame stays for the call.
            let frame = unsafe { Frame::new(frame) };
            Handler { platform: Platform::$platform, is_capturable: $is_capturable }.answer(frame)
        }
    )* };
}

handlers! {
    /// The handler of programs on the processor.
    kernpack_xla_cpu = Cpu, false;
    /// The handler of programs on a GPU, whose calls XLA may record.
    kernpack_xla_cuda = Cuda, true;
    /// The handler of programs on a GPU, whose calls XLA makes each time.
    kernpack_xla_cuda_plain = Cuda, false;
}

/// Has the handler find a function under a key, `sha256/name`. It is held for ever; of two under
/// one key, the first is found.
///
/// # Safety
/// There must be `size` bytes at `key`, and `function` must be a function object of TVM-FFI.
#[expect(unsafe_code, reason = "Python calls it")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_xla_know(key: *const u8, size: usize, function: *mut c_void) {
    // SAFETY: the caller vouches for it.
    let key = unsafe { slice(key, size) };
    if callee::find(key).is_none() {
        // SAFETY: as above.
        callee::add(key, unsafe { Callee::of_object(function) });
    }
}

/// Has the handler find every function of a package, which is loaded for ever.
///
/// # Safety
/// There must be `size` bytes at `digest`, and `handle` must be what `dlopen` gave for the package.
#[expect(unsafe_code, reason = "Python calls it")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_xla_know_package(
    digest: *const u8,
    size: usize,
    handle: *mut c_void,
) {
    // SAFETY: the caller vouches for it.
    let digest = unsafe { slice(digest, size) };
    // SAFETY: as above.
    let library = unsafe { Library::from_raw(handle) };
    library::know(&String::from_utf8_lossy(digest), library);
}

/// Whether the handler finds a function under a key: 1 or 0.
///
/// # Safety
/// There must be `size` bytes at `key`.
#[expect(unsafe_code, reason = "Python calls it")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_xla_knows(key: *const u8, size: usize) -> i32 {
    // SAFETY: the caller vouches for it.
    let key = unsafe { slice(key, size) };
    i32::from(callee::find(key).is_some())
}

/// The bytes that the last call with a workspace needed of it.
#[expect(unsafe_code, reason = "Python calls it")]
#[unsafe(no_mangle)]
pub extern "C" fn kernpack_xla_workspace_peak() -> u64 {
    environment::peak()
}
