// SPDX-License-Identifier: Apache-2.0
//! The part of CPython's stable ABI that is used, declared by hand: every function here is in it
//! since 3.4 at the latest, and every number is fixed by it. Source: the documentation of Python,
//! "C API Stability".

use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

/// A `PyObject*`, borrowed or owned as the function's documentation says.
pub(crate) type Object = *mut c_void;

/// A call slot: the callable, a tuple, and a dict or NULL.
pub(crate) type TernaryFunction = unsafe extern "C" fn(Object, Object, Object) -> Object;

/// `PyType_Slot`.
#[repr(C)]
pub(crate) struct Slot {
    pub slot: c_int,
    pub function: *mut c_void,
}

/// `PyType_Spec`.
#[repr(C)]
pub(crate) struct Spec {
    pub name: *const c_char,
    pub basicsize: c_int,
    pub itemsize: c_int,
    pub flags: c_uint,
    pub slots: *mut Slot,
}

/// `Py_tp_call`.
pub(crate) const SLOT_CALL: c_int = 50;
/// `Py_TPFLAGS_TUPLE_SUBCLASS`.
pub(crate) const TUPLE_SUBCLASS: c_ulong = 1 << 26;
/// `Py_TPFLAGS_DEFAULT` and `Py_TPFLAGS_BASETYPE`.
pub(crate) const TYPE_FLAGS: c_uint = (1 << 18) | (1 << 10);

unsafe extern "C" {
    pub(crate) fn abort() -> !;
    pub(crate) fn PyType_FromSpecWithBases(spec: *mut Spec, bases: Object) -> Object;
    pub(crate) fn PyType_GetSlot(class: Object, slot: c_int) -> *mut c_void;
    pub(crate) fn PyTuple_Pack(count: isize, ...) -> Object;
    pub(crate) fn PyTuple_New(count: isize) -> Object;
    pub(crate) fn PyTuple_Size(tuple: Object) -> isize;
    pub(crate) fn PyTuple_GetItem(tuple: Object, index: isize) -> Object;
    pub(crate) fn PyTuple_SetItem(tuple: Object, index: isize, item: Object) -> c_int;
    pub(crate) fn PyDict_Size(dict: Object) -> isize;
    pub(crate) fn PyDict_GetItemWithError(dict: Object, key: Object) -> Object;
    pub(crate) fn PyObject_GetAttr(object: Object, name: Object) -> Object;
    pub(crate) fn PyObject_Call(callable: Object, args: Object, keywords: Object) -> Object;
    pub(crate) fn PyObject_Type(object: Object) -> Object;
    pub(crate) fn PyType_GetFlags(class: Object) -> c_ulong;
    pub(crate) fn PySet_New(items: Object) -> Object;
    pub(crate) fn PySet_Contains(set: Object, item: Object) -> c_int;
    pub(crate) fn PySet_Add(set: Object, item: Object) -> c_int;
    pub(crate) fn PyDict_Next(
        dict: Object,
        at: *mut isize,
        key: *mut Object,
        value: *mut Object,
    ) -> c_int;
    /// `Py_None` is its address.
    static _Py_NoneStruct: u8;
    /// `Py_True` is its address.
    static _Py_TrueStruct: u8;
    /// `Py_NotImplemented` is its address.
    static _Py_NotImplementedStruct: u8;
    static PyTuple_Type: u8;
    pub(crate) fn PyErr_Fetch(class: *mut Object, value: *mut Object, traceback: *mut Object);
    pub(crate) fn PyErr_Restore(class: Object, value: Object, traceback: Object);
    pub(crate) fn PyErr_Clear();
    pub(crate) fn PyErr_SetString(class: Object, message: *const c_char);
    pub(crate) static PyExc_ImportError: Object;
    pub(crate) fn PyLong_AsSsize_t(number: Object) -> isize;
    pub(crate) fn PyUnicode_InternFromString(text: *const c_char) -> Object;
    pub(crate) fn Py_IncRef(object: Object);
    pub(crate) fn Py_DecRef(object: Object);
}

/// `None`, borrowed.
pub(crate) fn none() -> Object {
    (&raw const _Py_NoneStruct).cast_mut().cast()
}

/// `True`, borrowed.
pub(crate) fn truth() -> Object {
    (&raw const _Py_TrueStruct).cast_mut().cast()
}

/// `NotImplemented`, borrowed.
pub(crate) fn not_implemented() -> Object {
    (&raw const _Py_NotImplementedStruct).cast_mut().cast()
}

/// The class `tuple`, borrowed.
pub(crate) fn tuple() -> Object {
    (&raw const PyTuple_Type).cast_mut().cast()
}

/// A reference that is dropped in the end; perhaps NULL, which owns nothing.
pub(crate) struct Owned(pub Object);

impl Owned {
    /// The reference, for somebody else to drop.
    pub(crate) fn into_raw(self) -> Object {
        let object = self.0;
        core::mem::forget(self);
        object
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: NULL is allowed; anything else is a reference that is owned here.
        unsafe { Py_DecRef(self.0) }
    }
}
