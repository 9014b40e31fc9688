// SPDX-License-Identifier: Apache-2.0
//! The type of kernpack's functions in Python: what happens when one is called.
//!
//! The types derive from `tvm_ffi.Function` and replace its call slot. A call without keywords goes
//! to the slot that was there, untouched, so that it costs what it costs there:
//!
//! ```text
//! f(a, b)             ─ call ──────────────────────────────▶ tvm_ffi's slot
//! f(a, beta=2.0)      ─ call ─ arguments in order ─────────▶ tvm_ffi's slot
//! k(y)  that writes   ─ call ─ the type of y is known ─────▶ tvm_ffi's slot
//! g(a)  with results  ─ call_and_finish ─ call ─▶ … ─ _finish ─▶ what the caller gets
//! h((a, b))           ─ meet_call_and_finish, which knows dataclasses ─▶ …
//! j(a)  of a program  ─ watch_and_call: what it has captured is there ─ call, as of h ─▶ …
//! ```
//!
//! This is no extension module. It knows the stable ABI of CPython alone, and looks up where
//! objects have their types and tuples their items (`written.rs`). It is loaded by `ctypes.PyDLL`,
//! and so one file serves every CPython 3.9 and later. It has no `std`, and nothing in it panics.
//! Not here: names, defaults and results of functions, which are attributes that Python sets
//! (`python/kernpack/_function.py`).
//!
//! Where things live: `call.rs` has the call slots, `keywords.rs` puts keywords and defaults into
//! the function's order, `written.rs` keeps immutable arrays from what a function writes,
//! `dataclass.rs` notices dataclasses that are new, `watch.rs` that what a function has captured is
//! another object now, and `python.rs` declares what is used of CPython, by hand.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * the arguments of a call without keywords of a function without results or tuples reach the
//!   slot of `tvm_ffi` untouched: of those that are written, the types are compared.
//! * names, defaults and results are attributes that Python sets: it knows no signature.
#![no_std]

mod call;
mod dataclass;
mod keywords;
mod known;
mod python;
mod watch;
mod written;

use call::{call, call_and_finish, meet_call_and_finish, watch_and_call, watch_and_call_flat};
use core::ffi::c_void;
use core::ptr::null_mut;
use python::{Object, Owned, SLOT_CALL, Slot, Spec, TernaryFunction};

/// Nothing panics; the linker wants to know what would happen.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it takes nothing and does not return.
    unsafe { python::abort() }
}

/// A type whose instances take keywords, derived from `class`, which derives from
/// `tvm_ffi.Function` and has no `__call__` of its own. NULL with an exception set where that
/// fails.
///
/// # Safety
/// The GIL is held, and `class` is a type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_function_type(class: Object) -> Object {
    // SAFETY: the caller says that it is a type.
    let base = unsafe { python::PyType_GetSlot(class, SLOT_CALL) };
    if base.is_null() || !call::begin(base) {
        return null_mut();
    }
    let Some(size) = written::begin(class) else { return null_mut() };
    // SAFETY: as the caller says.
    unsafe { derive(class, call, size) }
}

/// Says which arguments a function may write: bit `i` for the argument `i`, and the last bit for
/// all that follow. Those are shown to the method `_meet_written` where the type of one is new.
///
/// # Safety
/// The GIL is held, and `this` is an instance of a type that was made here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_know_written(this: Object, written: u64) {
    // SAFETY: as the caller says.
    unsafe { written::set(this, written) };
}

/// A type whose instances hand their results to the method `_finish` of `class`, which derives from
/// a type that [`kernpack_function_type`] made: those that are a `tensor` or an `array`, classes of
/// tvm_ffi's.
///
/// # Safety
/// The GIL is held, and all three are types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_result_type(
    class: Object,
    tensor: Object,
    array: Object,
) -> Object {
    call::begin_results(tensor, array);
    // SAFETY: as the caller says.
    unsafe { derive(class, call_and_finish, 0) }
}

/// The same for functions that take tuples: they also show arguments of new classes to the method
/// `_meet`, and calls that fail to `_retry`.
///
/// # Safety
/// The GIL is held, and `class` is a type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_tuple_type(class: Object) -> Object {
    // SAFETY: as the caller says.
    unsafe { derive(class, meet_call_and_finish, 0) }
}

/// The same for functions of a program, which are compiled for what they have captured: they also
/// have what [`kernpack_watch`] says watched, and call the method `_renew` where that has changed.
///
/// # Safety
/// The GIL is held, and `class` is a type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_jit_type(class: Object) -> Object {
    let Some(size) = watch::begin(class) else { return null_mut() };
    // SAFETY: as the caller says.
    unsafe { derive(class, watch_and_call, size) }
}

/// The same for those of them that take no tuples, for which a dataclass could stand: `class`
/// derives from a type that [`kernpack_jit_type`] made.
///
/// # Safety
/// The GIL is held, and `class` is a type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_flat_jit_type(class: Object) -> Object {
    // SAFETY: as the caller says.
    unsafe { derive(class, watch_and_call_flat, 0) }
}

/// Has a function watch the objects of a tuple; `watch.rs` says what is in it.
///
/// # Safety
/// The GIL is held, `this` is an instance of a type of [`kernpack_jit_type`], and `watched` such a
/// tuple, or None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_watch(this: Object, watched: Object) {
    // SAFETY: as the caller says.
    unsafe { watch::set(this, watched) };
}

/// Says whether a function is compiled for what its arguments say beyond what TVM-FFI passes. Calls
/// with such arguments go to the method `_call_told` then.
///
/// # Safety
/// The GIL is held, and `this` is an instance of a type of [`kernpack_jit_type`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_know_wants_told(this: Object, wants_told: i32) {
    // SAFETY: as the caller says.
    unsafe { watch::set_wants_told(this, wants_told != 0) };
}

/// A type derived from `class`, with that call slot, whose instances have so many bytes; 0: those
/// of `class`. All go by the name that users know.
///
/// # Safety
/// The GIL is held, and `class` is a type.
unsafe fn derive(class: Object, call: TernaryFunction, size: usize) -> Object {
    let end = Slot { slot: 0, function: null_mut() };
    let mut slots = [Slot { slot: SLOT_CALL, function: call as *mut c_void }, end];
    let mut spec = Spec {
        name: c"kernpack.Function".as_ptr(),
        basicsize: size as core::ffi::c_int,
        // This one is inherited.
        itemsize: 0,
        flags: python::TYPE_FLAGS,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: one object is packed, and one is told.
    let bases = Owned(unsafe { python::PyTuple_Pack(1, class) });
    if bases.0.is_null() {
        return null_mut();
    }
    // SAFETY: the description ends in an empty slot, and Python copies what it keeps of it.
    unsafe { python::PyType_FromSpecWithBases(&mut spec, bases.0) }
}
