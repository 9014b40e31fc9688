// SPDX-License-Identifier: Apache-2.0
//! Dataclasses, which TVM-FFI passes as their fields if it is told so before it meets the first,
//! and other classes of which it does not pass all that they say.
//!
//! Each class of arguments is shown once to the method `_meet`, which tells it. Classes that were
//! met are known by their identity, so that a call costs a look into a set for each argument. Those
//! of which `_meet` says that more is to be seen in them, such as the names of a NamedTuple, are in
//! a set of their own, which is looked into where a class is not in the other one.

use crate::python::{self, Object, Owned};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The classes that were met, a set. They are never forgotten, nor does TVM-FFI forget them.
static MET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The classes that say more than is passed, a set. They are never forgotten either.
static TELLING: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The method that meets a value of a new class.
static MEET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// How deep tuples in tuples are looked into.
const DEEPEST: usize = 8;

/// Prepares for meetings. False with an exception set where that fails.
pub(crate) fn begin() -> bool {
    // SAFETY: the name ends in a NUL.
    MEET.store(unsafe { python::PyUnicode_InternFromString(c"_meet".as_ptr()) }, Relaxed);
    // SAFETY: NULL makes an empty set.
    MET.store(unsafe { python::PySet_New(null_mut()) }, Relaxed);
    // SAFETY: as above.
    TELLING.store(unsafe { python::PySet_New(null_mut()) }, Relaxed);
    [&MEET, &MET, &TELLING].iter().all(|place| !place.load(Relaxed).is_null())
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
    for at in 0..unsafe { python::PyTuple_Size(tuple) } {
        // SAFETY: as above.
        let item = unsafe { python::PyTuple_GetItem(tuple, at) };
        // SAFETY: as above; the tuple keeps its item.
        is_passed &= unsafe { meet(this, item, depth) };
    }
    is_passed
}

/// # Safety
/// As of call slots, and `value` is an object.
unsafe fn meet(this: Object, value: Object, depth: usize) -> bool {
    // SAFETY: as the caller says.
    let class = Owned(unsafe { python::PyObject_Type(value) });
    // SAFETY: a class can be hashed.
    if class.0.is_null() || unsafe { python::PySet_Contains(MET.load(Relaxed), class.0) } == 1 {
        return true;
    }
    // SAFETY: it is a class.
    if unsafe { python::PyType_GetFlags(class.0) } & python::TUPLE_SUBCLASS == 0 {
        // SAFETY: as the caller says.
        return unsafe { is_passed(this, value, class.0) };
    }
    // SAFETY: it is a tuple.
    let are_passed = depth >= DEEPEST || unsafe { meet_items(this, value, depth + 1) };
    // SAFETY: as the caller says. A tuple of Python's own is never told anything of.
    are_passed && (class.0 == python::tuple() || unsafe { is_passed(this, value, class.0) })
}

/// Whether all that a class says is passed, of one that is not known for that.
///
/// # Safety
/// As of call slots, and `value` is an object of that class.
#[inline(never)]
unsafe fn is_passed(this: Object, value: Object, class: Object) -> bool {
    // SAFETY: a class can be hashed.
    if unsafe { python::PySet_Contains(TELLING.load(Relaxed), class) } == 1 {
        return false;
    }
    // SAFETY: as the caller says.
    unsafe { meet_new(this, value, class) }
}

/// # Safety
/// As of call slots, and `value` is an object of that class.
#[cold]
unsafe fn meet_new(this: Object, value: Object, class: Object) -> bool {
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
    let is_tuple = unsafe { python::PyType_GetFlags(class) } & python::TUPLE_SUBCLASS != 0;
    if is_tuple && !is_telling {
        // What is in it has to be looked at each time.
        return true;
    }
    let set = if is_telling { &TELLING } else { &MET };
    // SAFETY: a set, and a class, which can be hashed.
    if unsafe { python::PySet_Add(set.load(Relaxed), class) } != 0 {
        // SAFETY: as above.
        unsafe { python::PyErr_Clear() };
    }
    !is_telling
}
