// SPDX-License-Identifier: Apache-2.0
//! Dataclasses, which TVM-FFI passes as their fields if it is told so before it meets the first,
//! and other classes of which it does not pass all that they say.
//!
//! Each class of arguments is shown once to the method `_meet`, which tells it, and is known from
//! then on. Those of which `_meet` says that more is to be seen in them, such as the names of a
//! NamedTuple, are kept apart, and looked for where a class is not among the others.

use crate::known::Known;
use crate::python::{self, Object, Owned};
use crate::written::{class_of, items_of};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The classes that were met. TVM-FFI does not forget them either.
static MET: Known = Known::new();
/// The classes that say more than is passed.
static TELLING: Known = Known::new();
/// The method that meets a value of a new class.
static MEET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// How deep tuples in tuples are looked into.
const DEEPEST: usize = 8;

/// Prepares for meetings. False with an exception set where that fails.
pub(crate) fn begin() -> bool {
    // SAFETY: the name ends in a NUL.
    MEET.store(unsafe { python::PyUnicode_InternFromString(c"_meet".as_ptr()) }, Relaxed);
    !MEET.load(Relaxed).is_null() && MET.begin() && TELLING.begin()
}

/// Meets every argument. What fails is passed over: the call itself fails then. False where one is
/// of a class that says more than is passed.
///
/// # Safety
/// As of call slots.
pub(crate) unsafe fn meet_all(this: Object, args: Object, keywords: Object) -> bool {
    // SAFETY: as of call slots.
    let mut is_passed = unsafe { meet_items(this, args, 0) };
    if keywords.is_null() {
        return is_passed;
    }
    let (mut at, mut name, mut value) = (0, null_mut(), null_mut());
    // SAFETY: as of call slots; the places are variables.
    while unsafe { python::PyDict_Next(keywords, &mut at, &mut name, &mut value) } != 0 {
        // SAFETY: as of call slots; the dict keeps its value.
        is_passed &= unsafe { meet(this, value, 0) };
    }
    is_passed
}

/// # Safety
/// As of call slots, and `tuple` is one.
unsafe fn meet_items(this: Object, tuple: Object, depth: usize) -> bool {
    let mut is_passed = true;
    // SAFETY: as the caller says.
    for item in unsafe { items_of(tuple) } {
        // SAFETY: as above; the tuple keeps its item.
        is_passed &= unsafe { meet(this, *item, depth) };
    }
    is_passed
}

/// # Safety
/// As of call slots, and `value` is an object.
unsafe fn meet(this: Object, value: Object, depth: usize) -> bool {
    // SAFETY: as the caller says.
    let class = unsafe { class_of(value) };
    // SAFETY: it is a class.
    if unsafe { MET.has(class) } {
        return true;
    }
    // SAFETY: it is a class.
    if unsafe { python::PyType_GetFlags(class) } & python::TUPLE_SUBCLASS == 0 {
        // SAFETY: as the caller says.
        return unsafe { is_passed(this, value, class) };
    }
    // SAFETY: it is a tuple.
    let are_passed = depth >= DEEPEST || unsafe { meet_items(this, value, depth + 1) };
    // SAFETY: as the caller says. A tuple of Python's own is never told anything of.
    are_passed && (class == python::tuple() || unsafe { is_passed(this, value, class) })
}

/// Whether all that a class says is passed, of one that is not known for that.
///
/// # Safety
/// As of call slots, and `value` is an object of that class.
#[inline(never)]
unsafe fn is_passed(this: Object, value: Object, class: Object) -> bool {
    // SAFETY: it is a class.
    if unsafe { TELLING.has(class) } {
        return false;
    }
    // SAFETY: as the caller says.
    unsafe { meet_new(this, value, class) }
}

/// # Safety
/// As of call slots, and `value` is an object of that class.
#[cold]
unsafe fn meet_new(this: Object, value: Object, class: Object) -> bool {
    // What the method does may give the value another class.
    // SAFETY: it is an object.
    unsafe { python::Py_IncRef(class) };
    let class = Owned(class);
    // SAFETY: as of call slots; the name lives as long as the process.
    let method = Owned(unsafe { python::PyObject_GetAttr(this, MEET.load(Relaxed)) });
    // SAFETY: one object is packed, and one is told.
    let asked = Owned(unsafe { python::PyTuple_Pack(1, value) });
    let mut is_telling = false;
    if !method.0.is_null() && !asked.0.is_null() {
        // SAFETY: a callable, or what Python says is none; a tuple; no keywords.
        let answer = Owned(unsafe { python::PyObject_Call(method.0, asked.0, null_mut()) });
        is_telling = answer.0 == python::truth();
    }
    // SAFETY: nothing is needed but the GIL.
    unsafe { python::PyErr_Clear() };
    // SAFETY: it is a class.
    let is_tuple = unsafe { python::PyType_GetFlags(class.0) } & python::TUPLE_SUBCLASS != 0;
    if is_tuple && !is_telling {
        // What is in it has to be looked at each time.
        return true;
    }
    let known = if is_telling { &TELLING } else { &MET };
    // SAFETY: it is a class.
    unsafe { known.add(class.0) };
    !is_telling
}
