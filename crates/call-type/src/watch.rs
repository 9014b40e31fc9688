// SPDX-License-Identifier: Apache-2.0
//! Objects that a function has captured: each call of it looks whether they are still there.
//!
//! What is watched is a tuple behind what an instance has, or NULL. Its items come in threes: a
//! dict, a key of it, and the object that has to stand there. The last item is a tuple of what
//! takes longer, each a tuple: the object that has to be found, one to begin with, and the
//! attributes that lead from that to it. Where another object is found, the method `_renew` sees to
//! it, and gives the new tuple through [`set`]. What is None calls that method every time.
//!
//! Behind it stands a word that says whether the function is compiled for what a call's arguments
//! say beyond what TVM-FFI passes: the names of a NamedTuple, the dtype of a number of NumPy.
//!
//! Not here: which objects those are, and which of them are one value
//! (`python/kernpack/_captured.py`).

use crate::python::{self, Object, Owned};
use crate::written::{items_of, word_behind};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// The bytes of an instance in front of its word.
static WORD: AtomicUsize = AtomicUsize::new(0);
/// The method that sees to what has changed.
static RENEW: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Prepares for instances that have their word behind those of `class`, a type: their size in
/// bytes. `None` with an exception set where that fails.
pub(crate) fn begin(class: Object) -> Option<usize> {
    // SAFETY: the name ends in a NUL.
    RENEW.store(unsafe { python::PyUnicode_InternFromString(c"_renew".as_ptr()) }, Relaxed);
    if RENEW.load(Relaxed).is_null() {
        return None;
    }
    let size = word_behind(class)?;
    WORD.store(size, Relaxed);
    Some(size + size_of::<Object>() + size_of::<usize>())
}

/// # Safety
/// `this` is an instance of a type that watches.
#[inline]
unsafe fn word_of(this: Object) -> *mut Object {
    // SAFETY: instances have the word behind what they inherit.
    unsafe { this.byte_add(WORD.load(Relaxed)) }.cast()
}

/// Watches the objects of a tuple from now on. The caller holds it for as long.
///
/// # Safety
/// The GIL is held, `this` is an instance of a type that watches, and `watched` a tuple or None.
pub(crate) unsafe fn set(this: Object, watched: Object) {
    // SAFETY: as the caller says.
    let word = unsafe { word_of(this) };
    // SAFETY: as above.
    unsafe { word.write(watched) };
}

/// # Safety
/// As of [`word_of`].
#[inline]
unsafe fn wants_told_of(this: Object) -> *mut usize {
    // SAFETY: as the caller says.
    let word = unsafe { word_of(this) };
    // SAFETY: the word stands behind the first.
    unsafe { word.add(1) }.cast()
}

/// Says whether a function is compiled for what its arguments say beyond what TVM-FFI passes.
///
/// # Safety
/// The GIL is held, and `this` is an instance of a type that watches.
pub(crate) unsafe fn set_wants_told(this: Object, wants_told: bool) {
    // SAFETY: as the caller says.
    let word = unsafe { wants_told_of(this) };
    // SAFETY: as above.
    unsafe { word.write(usize::from(wants_told)) };
}

/// Whether it is.
///
/// # Safety
/// As of call slots.
#[inline(never)]
pub(crate) unsafe fn wants_told(this: Object) -> bool {
    // SAFETY: as of call slots.
    let word = unsafe { wants_told_of(this) };
    // SAFETY: as above.
    unsafe { word.read() != 0 }
}

/// Whether a call may be made: what is watched is there, or has been seen to. False with an
/// exception set.
///
/// # Safety
/// As of call slots.
#[inline]
pub(crate) unsafe fn is_met(this: Object) -> bool {
    // SAFETY: as of call slots.
    let word = unsafe { word_of(this) };
    // SAFETY: as above.
    let watched = unsafe { word.read() };
    if watched.is_null() || watched == python::none() {
        // SAFETY: as of call slots.
        return unsafe { renew(this) };
    }
    // Attributes may run code that has something else watched, and so may keys that are no plain
    // texts.
    // SAFETY: it is an object.
    unsafe { python::Py_IncRef(watched) };
    let watched = Owned(watched);
    // SAFETY: it is such a tuple.
    let is_there = unsafe { is_there(watched.0) };
    // SAFETY: as of call slots.
    is_there || unsafe { renew(this) }
}

/// # Safety
/// The GIL is held, and it is such a tuple.
#[inline]
unsafe fn is_there(watched: Object) -> bool {
    // SAFETY: as the caller says.
    let items = unsafe { items_of(watched) };
    let Some((slow, quick)) = items.split_last() else { return true };
    for three in quick.chunks_exact(3) {
        // SAFETY: a dict, and a text, which can be hashed.
        if unsafe { python::PyDict_GetItemWithError(three[0], three[1]) } != three[2] {
            return false;
        }
    }
    // SAFETY: the last item is a tuple.
    let slow = unsafe { items_of(*slow) };
    // SAFETY: its items are tuples.
    slow.iter().all(|one| unsafe { leads_there(*one) })
}

/// Whether attributes lead to an object.
///
/// # Safety
/// The GIL is held, and it is a tuple of what takes longer.
unsafe fn leads_there(one: Object) -> bool {
    // SAFETY: as the caller says.
    let items = unsafe { items_of(one) };
    let [wanted, root, names @ ..] = items else { return true };
    // SAFETY: it is an object.
    unsafe { python::Py_IncRef(*root) };
    let mut found = Owned(*root);
    for name in names {
        // SAFETY: an object, and a text.
        found = Owned(unsafe { python::PyObject_GetAttr(found.0, *name) });
        if found.0.is_null() {
            // Whoever sees to what has changed forgets the exception.
            return false;
        }
    }
    found.0 == *wanted
}

/// Has the method see to what has changed.
///
/// # Safety
/// As of call slots.
#[cold]
unsafe fn renew(this: Object) -> bool {
    // What is not there any more may have left an exception.
    // SAFETY: nothing is needed but the GIL.
    unsafe { python::PyErr_Clear() };
    // SAFETY: as of call slots; the name lives as long as the process.
    let method = Owned(unsafe { python::PyObject_GetAttr(this, RENEW.load(Relaxed)) });
    // SAFETY: nothing is needed but the GIL.
    let none = Owned(unsafe { python::PyTuple_New(0) });
    if method.0.is_null() || none.0.is_null() {
        return false;
    }
    // SAFETY: a callable, or what Python says is none; a tuple; no keywords.
    !Owned(unsafe { python::PyObject_Call(method.0, none.0, null_mut()) }).0.is_null()
}
