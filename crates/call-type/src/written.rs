// SPDX-License-Identifier: Apache-2.0
//! Arguments that a function may write: no array stands there that must stay as it is.
//!
//! DLPack hands out the memory of an immutable array like any other. So the types of arguments in
//! such places are compared with those that are known to be writable. A call with another one is
//! shown to the method `_meet_written`, which refuses it, or gives the types to know from now on.
//!
//! Which places these are is a word behind what an instance of `tvm_ffi.Function` has: bit `i` for
//! the argument `i`, and the last bit for all that follow.
//!
//! A call has no time for functions that only read a field. Where objects have their type and
//! tuples their items differs between Pythons, so that it is looked up once, in a tuple that is
//! made for that; a Python in which it is not found is refused.

use crate::known::Known;
use crate::python::{self, Object, Owned};
use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// The bytes of an instance in front of its word.
static WORD: AtomicUsize = AtomicUsize::new(0);
/// The bytes of an object in front of its type. Behind that, a tuple has the number of its items.
static TYPE: AtomicUsize = AtomicUsize::new(0);
/// The bytes of a tuple in front of its items.
static ITEMS: AtomicUsize = AtomicUsize::new(0);
/// The method that is asked about new types.
static MEET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The types that may be written.
static KNOWN: Known = Known::new();

const WORD_BYTES: usize = size_of::<Object>();
/// The last bit of a word.
const LAST: isize = u64::BITS as isize - 1;
/// How deep tuples in tuples are looked into.
const DEEPEST: usize = 8;

/// Prepares for instances that have their word behind those of `class`, a type: their size in
/// bytes. `None` with an exception set where that fails.
pub(crate) fn begin(class: Object) -> Option<usize> {
    // SAFETY: the name ends in a NUL.
    MEET.store(unsafe { python::PyUnicode_InternFromString(c"_meet_written".as_ptr()) }, Relaxed);
    if MEET.load(Relaxed).is_null() || !KNOWN.begin() {
        return None;
    }
    let size = word_behind(class)?;
    WORD.store(size, Relaxed);
    find_places(class, MEET.load(Relaxed)).then_some(size + size_of::<u64>())
}

/// The place of a word behind an instance of a type, in bytes. `None` with an exception set where
/// that fails.
pub(crate) fn word_behind(class: Object) -> Option<usize> {
    // SAFETY: the name ends in a NUL.
    let name = Owned(unsafe { python::PyUnicode_InternFromString(c"__basicsize__".as_ptr()) });
    if name.0.is_null() {
        return None;
    }
    // SAFETY: both are objects.
    let size = Owned(unsafe { python::PyObject_GetAttr(class, name.0) });
    if size.0.is_null() {
        return None;
    }
    // SAFETY: it is an object.
    let size = usize::try_from(unsafe { python::PyLong_AsSsize_t(size.0) }).ok()?;
    Some(size.next_multiple_of(size_of::<u64>()))
}

/// The items of a tuple.
///
/// # Safety
/// The GIL is held, and it is a tuple that lives for `'t`.
#[inline]
pub(crate) unsafe fn items_of<'t>(tuple: Object) -> &'t [Object] {
    // SAFETY: as the caller says.
    let n_items = unsafe { word_at(tuple, TYPE.load(Relaxed) + WORD_BYTES) } as usize;
    // SAFETY: a tuple has its items there.
    let first = unsafe { tuple.byte_add(ITEMS.load(Relaxed)) }.cast::<Object>();
    // SAFETY: as many as it says.
    unsafe { core::slice::from_raw_parts(first, n_items) }
}

/// The class of an object, which lives as long as that is of it.
///
/// # Safety
/// The GIL is held, and it is an object.
#[inline]
pub(crate) unsafe fn class_of(object: Object) -> Object {
    // SAFETY: as the caller says.
    unsafe { word_at(object, TYPE.load(Relaxed)) }
}

/// Finds out where objects have their types and tuples their items, with two objects of which one
/// is a class. False with an exception set where that fails.
fn find_places(class: Object, other: Object) -> bool {
    // SAFETY: two objects are packed, and two are told.
    let tuple = Owned(unsafe { python::PyTuple_Pack(2, class, other) });
    if tuple.0.is_null() {
        return false;
    }
    // SAFETY: a tuple is an object.
    let own_class = Owned(unsafe { python::PyObject_Type(tuple.0) });
    // SAFETY: a tuple of two has five words at least, and more where it has its type later.
    let has = |place: usize, word: Object| unsafe { word_at(tuple.0, place) } == word;
    // Behind a count of references, or behind more than that where Python has no GIL.
    let types = [1, 3].map(|words| words * WORD_BYTES);
    let of_type = types.into_iter().find(|place| has(*place, own_class.0));
    let items = of_type
        .filter(|place| has(place + WORD_BYTES, without_provenance_mut(2)))
        .and_then(|place| {
            // At once behind their number, or behind a hash.
            let places = [2, 3].map(|words| place + words * WORD_BYTES);
            places.into_iter().find(|place| has(*place, class) && has(place + WORD_BYTES, other))
        });
    let (Some(of_type), Some(items)) = (of_type, items) else {
        // SAFETY: Python has it.
        let class = unsafe { python::PyExc_ImportError };
        let message = c"kernpack does not know how this Python lays out its objects";
        // SAFETY: there is such an exception, and the text ends in a NUL.
        unsafe { python::PyErr_SetString(class, message.as_ptr()) };
        return false;
    };
    TYPE.store(of_type, Relaxed);
    ITEMS.store(items, Relaxed);
    true
}

/// # Safety
/// The object has a pointer there.
#[inline]
unsafe fn word_at(object: Object, place: usize) -> Object {
    // SAFETY: as the caller says.
    let place = unsafe { object.byte_add(place) };
    // SAFETY: as the caller says.
    unsafe { place.cast::<Object>().read() }
}

/// # Safety
/// `this` is an instance of a type that was made here.
#[inline]
unsafe fn word_of(this: Object) -> *mut u64 {
    // SAFETY: instances have the word behind what they inherit.
    unsafe { this.byte_add(WORD.load(Relaxed)) }.cast()
}

/// Says which arguments a function may write.
///
/// # Safety
/// The GIL is held, and `this` is an instance of a type that was made here.
pub(crate) unsafe fn set(this: Object, written: u64) {
    // SAFETY: as the caller says.
    let word = unsafe { word_of(this) };
    // SAFETY: as above.
    unsafe { word.write(written) };
}

/// Whether what a call may write can be written. False with an exception set.
///
/// # Safety
/// As of call slots.
#[inline]
pub(crate) unsafe fn are_writable(this: Object, args: Object) -> bool {
    // SAFETY: as of call slots.
    let word = unsafe { word_of(this) };
    // SAFETY: as above.
    let written = unsafe { word.read() };
    // SAFETY: as of call slots.
    written == 0 || unsafe { are_known(args, written, 0) } || unsafe { meet(this, args) }
}

/// Whether the types of these items of a tuple are known.
///
/// # Safety
/// The GIL is held, and `tuple` is one.
#[inline]
unsafe fn are_known(tuple: Object, mut written: u64, depth: usize) -> bool {
    // SAFETY: as the caller says.
    let n_items = unsafe { word_at(tuple, TYPE.load(Relaxed) + WORD_BYTES) } as isize;
    while written != 0 {
        let at = written.trailing_zeros() as isize;
        if at >= n_items {
            return true;
        }
        if at == LAST {
            // SAFETY: as the caller says.
            return (at..n_items).all(|at| unsafe { is_item_known(tuple, at, depth) });
        }
        // SAFETY: as the caller says.
        if !unsafe { is_item_known(tuple, at, depth) } {
            return false;
        }
        written &= written - 1;
    }
    true
}

/// # Safety
/// The GIL is held, and `tuple` is one that has the item.
#[inline]
unsafe fn is_item_known(tuple: Object, at: isize, depth: usize) -> bool {
    // SAFETY: as the caller says.
    let item = unsafe { word_at(tuple, ITEMS.load(Relaxed) + at as usize * WORD_BYTES) };
    // SAFETY: an item is an object.
    let class = unsafe { class_of(item) };
    // SAFETY: it is a class.
    let is_known = unsafe { KNOWN.has(class) };
    // SAFETY: as above.
    is_known || unsafe { are_items_known(item, class, depth) }
}

/// Whether it is a tuple of what is known.
///
/// # Safety
/// The GIL is held, and `item` is an object of that class.
#[inline(never)]
unsafe fn are_items_known(item: Object, class: Object, depth: usize) -> bool {
    // SAFETY: it is a class.
    let is_tuple = unsafe { python::PyType_GetFlags(class) } & python::TUPLE_SUBCLASS != 0;
    // SAFETY: it is a tuple.
    is_tuple && depth < DEEPEST && unsafe { are_known(item, u64::MAX, depth + 1) }
}

/// Shows a call to the method that refuses it, or says which types may be written.
///
/// # Safety
/// As of call slots.
#[cold]
unsafe fn meet(this: Object, args: Object) -> bool {
    // SAFETY: as of call slots; the name lives as long as the process.
    let method = Owned(unsafe { python::PyObject_GetAttr(this, MEET.load(Relaxed)) });
    // SAFETY: one object is packed, and one is told.
    let asked = Owned(unsafe { python::PyTuple_Pack(1, args) });
    if method.0.is_null() || asked.0.is_null() {
        return false;
    }
    // SAFETY: a callable, or what Python says is none; a tuple; no keywords.
    let types = Owned(unsafe { python::PyObject_Call(method.0, asked.0, null_mut()) });
    if types.0.is_null() {
        return false;
    }
    // SAFETY: the method gives a tuple of types.
    for class in unsafe { items_of(types.0) } {
        // SAFETY: it is a class.
        unsafe { KNOWN.add(*class) };
    }
    true
}
