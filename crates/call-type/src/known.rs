// SPDX-License-Identifier: Apache-2.0
//! Classes that are known by their identity.
//!
//! A call asks for the class of each argument, and nearly always for one of the first that a
//! program has shown: these stand in a few places, and the others in a set of Python's. None is
//! ever forgotten, nor freed, so that no other class comes to have the address of one.

use crate::python::{self, Object, Owned};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

const N_FIRST: usize = 8;

/// Classes that are known.
pub(crate) struct Known {
    first: [AtomicPtr<c_void>; N_FIRST],
    /// The set of those for which no place was left.
    others: AtomicPtr<c_void>,
}

impl Known {
    /// Knows no class, and is to begin.
    pub(crate) const fn new() -> Known {
        let first = [const { AtomicPtr::new(null_mut()) }; N_FIRST];
        Known { first, others: AtomicPtr::new(null_mut()) }
    }

    /// Prepares. False with an exception set where that fails.
    pub(crate) fn begin(&self) -> bool {
        // SAFETY: NULL makes an empty set.
        self.others.store(unsafe { python::PySet_New(null_mut()) }, Relaxed);
        !self.others.load(Relaxed).is_null()
    }

    /// Whether a class is known.
    ///
    /// # Safety
    /// The GIL is held, and it is a class.
    #[inline]
    pub(crate) unsafe fn has(&self, class: Object) -> bool {
        // SAFETY: as the caller says.
        self.first[0].load(Relaxed) == class || unsafe { self.has_else(class) }
    }

    /// # Safety
    /// As of [`Known::has`].
    #[inline(never)]
    unsafe fn has_else(&self, class: Object) -> bool {
        for place in &self.first {
            let known = place.load(Relaxed);
            if known == class {
                return true;
            }
            if known.is_null() {
                return false;
            }
        }
        // SAFETY: a set, and an object.
        let found = unsafe { python::PySet_Contains(self.others.load(Relaxed), class) };
        if found < 0 {
            // Its class has it not hashed.
            // SAFETY: nothing is needed but the GIL.
            unsafe { python::PyErr_Clear() };
        }
        found == 1
    }

    /// Knows a class from now on. Where there is no memory for that, or it cannot be hashed, it
    /// stays unknown.
    ///
    /// # Safety
    /// The GIL is held, and it is a class.
    pub(crate) unsafe fn add(&self, class: Object) {
        // SAFETY: as the caller says.
        if unsafe { self.has(class) } {
            return;
        }
        // SAFETY: it is an object.
        unsafe { python::Py_IncRef(class) };
        let held = Owned(class);
        for place in &self.first {
            if place.compare_exchange(null_mut(), class, Relaxed, Relaxed).is_ok() {
                held.into_raw();
                return;
            }
        }
        // SAFETY: a set, which holds what is added, and an object.
        if unsafe { python::PySet_Add(self.others.load(Relaxed), class) } != 0 {
            // SAFETY: nothing is needed but the GIL.
            unsafe { python::PyErr_Clear() };
        }
    }
}
