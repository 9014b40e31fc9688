// SPDX-License-Identifier: Apache-2.0
//! The call slots. Each is entered with the GIL held, an instance of its type, a tuple, and a dict
//! of at least one keyword or NULL.

use crate::python::{self, Object, Owned, TernaryFunction};
use crate::{dataclass, keywords, watch, written};
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The call slot of `tvm_ffi.Function`.
static BASE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The attribute with a function's names and defaults.
static KEYWORDS: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The method that makes of a result what the caller gets.
static FINISH: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The class of a result that no framework has made its own.
static TENSOR: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The class of several results.
static ARRAY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The method that gives a call that failed other arguments to try, or None.
static RETRY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The method that makes a call with arguments that say more than TVM-FFI passes, or gives
/// NotImplemented where that makes no difference.
static CALL_TOLD: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Prepares for calls, which end in `base`. False with an exception set where that fails. The
/// attributes' names are never freed: types may live as long as the process.
pub(crate) fn begin(base: *mut c_void) -> bool {
    BASE.store(base, Relaxed);
    let intern = |place: &AtomicPtr<c_void>, name: &'static CStr| {
        // SAFETY: the name ends in a NUL.
        place.store(unsafe { python::PyUnicode_InternFromString(name.as_ptr()) }, Relaxed);
        !place.load(Relaxed).is_null()
    };
    intern(&KEYWORDS, c"_keywords")
        && intern(&FINISH, c"_finish")
        && intern(&RETRY, c"_retry")
        && intern(&CALL_TOLD, c"_call_told")
        && dataclass::begin()
}

/// Says what results are that callers do not get as they are: instances of these classes, which
/// live as long as the process.
pub(crate) fn begin_results(tensor: Object, array: Object) {
    TENSOR.store(tensor, Relaxed);
    ARRAY.store(array, Relaxed);
}

/// Calls tvm_ffi, where what the function may write can be written.
///
/// # Safety
/// As of call slots.
unsafe fn base(this: Object, args: Object) -> Object {
    // SAFETY: as of call slots.
    if !unsafe { written::are_writable(this, args) } {
        return null_mut();
    }
    // SAFETY: types exist only behind `begin`, which had this slot from Python.
    let base = unsafe { core::mem::transmute::<*mut c_void, TernaryFunction>(BASE.load(Relaxed)) };
    // SAFETY: the slot is one of a type that `this` derives from.
    unsafe { base(this, args, null_mut()) }
}

/// The call slot of functions whose results go to the caller as they are.
pub(crate) unsafe extern "C" fn call(this: Object, args: Object, keywords: Object) -> Object {
    if keywords.is_null() {
        // SAFETY: as of call slots.
        return unsafe { base(this, args) };
    }
    // SAFETY: as of call slots.
    unsafe { call_with_keywords(this, args, keywords) }
}

#[cold]
unsafe fn call_with_keywords(this: Object, args: Object, keywords: Object) -> Object {
    // SAFETY: as of call slots; the name lives as long as the process.
    let known = Owned(unsafe { python::PyObject_GetAttr(this, KEYWORDS.load(Relaxed)) });
    if known.0.is_null() {
        return null_mut();
    }
    // SAFETY: the attribute is what Python's half of this sets, and the rest as of call slots.
    let all = unsafe { keywords::arguments(known.0, args, keywords) };
    if all.0.is_null() {
        return null_mut();
    }
    // SAFETY: as of call slots.
    unsafe { base(this, all.0) }
}

/// The call slot of functions with results.
pub(crate) unsafe extern "C" fn call_and_finish(
    this: Object,
    args: Object,
    keywords: Object,
) -> Object {
    // SAFETY: as of call slots.
    let result = Owned(unsafe { call(this, args, keywords) });
    // SAFETY: as of call slots.
    unsafe { finish(this, result, args, keywords) }
}

/// The call slot of functions that take tuples, for which a dataclass may stand.
pub(crate) unsafe extern "C" fn meet_call_and_finish(
    this: Object,
    args: Object,
    keywords: Object,
) -> Object {
    // SAFETY: as of call slots.
    unsafe { dataclass::meet_all(this, args, keywords) };
    // SAFETY: as of call slots.
    unsafe { call_retry_and_finish(this, args, keywords) }
}

/// Calls, tries again with other arguments where that fails, and makes of the result what the
/// caller gets.
///
/// # Safety
/// As of call slots.
#[inline]
unsafe fn call_retry_and_finish(this: Object, args: Object, keywords: Object) -> Object {
    // SAFETY: as of call slots.
    let mut result = Owned(unsafe { call(this, args, keywords) });
    if result.0.is_null() {
        // SAFETY: as of call slots; an exception is set.
        result = unsafe { retry(this, args, keywords) };
    }
    // SAFETY: as of call slots.
    unsafe { finish(this, result, args, keywords) }
}

/// The call slot of functions of a program, which are compiled for what they have captured.
pub(crate) unsafe extern "C" fn watch_and_call(
    this: Object,
    args: Object,
    keywords: Object,
) -> Object {
    // SAFETY: as of call slots.
    if !unsafe { watch::is_met(this) } {
        return null_mut();
    }
    // SAFETY: as of call slots.
    let are_passed = unsafe { dataclass::meet_all(this, args, keywords) };
    // SAFETY: as of call slots.
    if !are_passed && unsafe { watch::wants_told(this) } {
        // SAFETY: as of call slots; None is an object.
        let result = unsafe { ask(this, &CALL_TOLD, python::none(), args, keywords) };
        if result.0 != python::not_implemented() {
            return result.into_raw();
        }
    }
    // SAFETY: as of call slots.
    unsafe { call_retry_and_finish(this, args, keywords) }
}

/// The same for those that take no tuples.
pub(crate) unsafe extern "C" fn watch_and_call_flat(
    this: Object,
    args: Object,
    keywords: Object,
) -> Object {
    // SAFETY: as of call slots.
    if !unsafe { watch::is_met(this) } {
        return null_mut();
    }
    // SAFETY: as of call slots.
    unsafe { call_retry_and_finish(this, args, keywords) }
}

/// The caller's result: NULL where the call has failed.
///
/// # Safety
/// As of call slots.
unsafe fn finish(this: Object, result: Owned, args: Object, keywords: Object) -> Object {
    if result.0.is_null() {
        return null_mut();
    }
    // SAFETY: the result is an object.
    let class = unsafe { written::class_of(result.0) };
    if class != TENSOR.load(Relaxed) && class != ARRAY.load(Relaxed) {
        return result.into_raw();
    }
    // SAFETY: as of call slots; the result is an object.
    unsafe { ask(this, &FINISH, result.0, args, keywords) }.into_raw()
}

/// Tries a call that failed with the arguments that `_retry` gives for it. Where that gives None,
/// the exception stays, and where it raises another one, that is what the call raises.
///
/// # Safety
/// As of call slots, and an exception is set.
#[cold]
unsafe fn retry(this: Object, args: Object, keywords: Object) -> Owned {
    let (mut class, mut value, mut traceback) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the places are variables.
    unsafe { python::PyErr_Fetch(&mut class, &mut value, &mut traceback) };
    // SAFETY: as of call slots; the exception's class is an object.
    let others = unsafe { ask(this, &RETRY, class, args, keywords) };
    if others.0.is_null() {
        drop((Owned(class), Owned(value), Owned(traceback)));
        return others;
    }
    if others.0 == python::none() {
        // SAFETY: the three come from `PyErr_Fetch`, and are handed back.
        unsafe { python::PyErr_Restore(class, value, traceback) };
        return Owned(null_mut());
    }
    drop((Owned(class), Owned(value), Owned(traceback)));
    // SAFETY: as of call slots; `_retry` gives a tuple.
    Owned(unsafe { base(this, others.0) })
}

/// Calls a method: `this.method(first, args, keywords)`, where no keywords are an empty tuple.
///
/// # Safety
/// As of call slots, and `first` is an object.
unsafe fn ask(
    this: Object,
    method: &AtomicPtr<c_void>,
    first: Object,
    args: Object,
    keywords: Object,
) -> Owned {
    // SAFETY: as of call slots; the name lives as long as the process.
    let method = Owned(unsafe { python::PyObject_GetAttr(this, method.load(Relaxed)) });
    // SAFETY: nothing is needed but the GIL.
    let none = Owned(unsafe { python::PyTuple_New(0) });
    if method.0.is_null() || none.0.is_null() {
        return Owned(null_mut());
    }
    let keywords = if keywords.is_null() { none.0 } else { keywords };
    // SAFETY: three objects are packed, and three are told.
    let asked = Owned(unsafe { python::PyTuple_Pack(3, first, args, keywords) });
    if asked.0.is_null() {
        return Owned(null_mut());
    }
    // SAFETY: a callable, or what Python says is none; a tuple; no keywords.
    Owned(unsafe { python::PyObject_Call(method.0, asked.0, null_mut()) })
}
