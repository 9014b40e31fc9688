// SPDX-License-Identifier: Apache-2.0
//! Keywords and defaults: the arguments of a call in the function's order.

use crate::python::{self, Object, Owned};
use core::ptr::null_mut;

/// The contents of a function's attribute `_keywords`: a tuple of three.
struct Known {
    /// The names, a tuple.
    names: Object,
    /// A value for each name; `bind` itself where there is none.
    defaults: Object,
    /// A Python function of these parameters that returns the arguments as a tuple. It words the
    /// `TypeError` of a call that does not fit.
    bind: Object,
}

/// The arguments in order, those left out by their defaults. NULL with an exception set where the
/// call does not fit.
///
/// # Safety
/// The GIL is held; `known` is such a tuple, `args` a tuple, `keywords` a dict.
pub(crate) unsafe fn arguments(known: Object, args: Object, keywords: Object) -> Owned {
    // SAFETY: as the caller says.
    let Some(known) = (unsafe { Known::of(known) }) else { return Owned(null_mut()) };
    // SAFETY: as the caller says.
    let filled = unsafe { known.fill(args, keywords) };
    match filled.0.is_null() {
        false => filled,
        // SAFETY: as the caller says.
        true => Owned(unsafe { python::PyObject_Call(known.bind, args, keywords) }),
    }
}

impl Known {
    /// # Safety
    /// `known` is a tuple.
    unsafe fn of(known: Object) -> Option<Known> {
        // SAFETY: an index that is not there gives NULL.
        let names = unsafe { python::PyTuple_GetItem(known, 0) };
        // SAFETY: as above.
        let defaults = unsafe { python::PyTuple_GetItem(known, 1) };
        // SAFETY: as above.
        let bind = unsafe { python::PyTuple_GetItem(known, 2) };
        let is_whole = !names.is_null() && !defaults.is_null() && !bind.is_null();
        is_whole.then_some(Known { names, defaults, bind })
    }

    /// The arguments in order; NULL, with or without an exception, where they do not fit.
    ///
    /// # Safety
    /// `args` is a tuple, `keywords` a dict.
    unsafe fn fill(&self, args: Object, keywords: Object) -> Owned {
        // SAFETY: as the caller says.
        let n_given = unsafe { python::PyTuple_Size(args) };
        // SAFETY: as the attribute is.
        let n_names = unsafe { python::PyTuple_Size(self.names) };
        // SAFETY: as the caller says.
        let mut n_left = unsafe { python::PyDict_Size(keywords) };
        if n_given > n_names {
            return Owned(null_mut());
        }
        // SAFETY: a number of names is not negative.
        let all = Owned(unsafe { python::PyTuple_New(n_names) });
        for at in 0..n_names {
            let value = if at < n_given {
                // SAFETY: as the caller says.
                unsafe { python::PyTuple_GetItem(args, at) }
            } else {
                // SAFETY: as the caller says.
                unsafe { self.by_name(at, keywords, &mut n_left) }
            };
            if all.0.is_null() || value.is_null() {
                return Owned(null_mut());
            }
            // SAFETY: the value is borrowed; the tuple gets a reference of its own.
            unsafe { python::Py_IncRef(value) };
            // SAFETY: the tuple is new, and has the place.
            unsafe { python::PyTuple_SetItem(all.0, at, value) };
        }
        // A keyword that is left has no name here, or was given by position too.
        if n_left == 0 { all } else { Owned(null_mut()) }
    }

    /// The value of a name: borrowed; NULL where it is neither given nor has a default.
    ///
    /// # Safety
    /// `keywords` is a dict.
    unsafe fn by_name(&self, at: isize, keywords: Object, n_left: &mut isize) -> Object {
        // SAFETY: names are a tuple of that length.
        let name = unsafe { python::PyTuple_GetItem(self.names, at) };
        // SAFETY: as the caller says.
        let given = unsafe { python::PyDict_GetItemWithError(keywords, name) };
        if !given.is_null() {
            *n_left -= 1;
            return given;
        }
        // SAFETY: there are as many defaults as names.
        let default = unsafe { python::PyTuple_GetItem(self.defaults, at) };
        if default == self.bind { null_mut() } else { default }
    }
}
