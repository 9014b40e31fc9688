// SPDX-License-Identifier: Apache-2.0
//! Prepared calls: the state that a call's checks left behind, and what it was given, as a function
//! that launches whenever it is called.
//!
//! The call's arguments are kept alive by references to their objects. A bare `DLTensor*` belongs
//! to somebody who may free it, so a call with one cannot be prepared. The elements of an array are
//! held by themselves, since a list may lose them.

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use super::again::Again;
use super::kept;
use crate::blank::Blank;
use crate::interface::functions::Launch;
use crate::interface::layout::{Any, ErrorParts, Preparable, Sequence, type_index};

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn TVMFFIObjectIncRef(object: *mut c_void) -> c_int;
    fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int;
    fn TVMFFIFunctionCreate(
        state: *mut c_void,
        call: unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32,
        delete: unsafe extern "C" fn(*mut c_void),
        function: *mut *mut c_void,
    ) -> c_int;
}

/// A prepared call. Behind it lies the state.
#[repr(C)]
struct Prepared {
    again: Again,
    launch: Launch,
    /// The objects that it has references to.
    held: *mut *mut c_void,
    n_held: usize,
}

impl Prepared {
    /// Where the state of a call is that was allocated with it.
    fn state(prepared: *mut Prepared) -> *mut u64 {
        prepared.wrapping_add(1).cast()
    }

    /// Takes a reference to an object, for which there is room.
    ///
    /// # Safety
    ///
    /// It is an object, and there is room.
    unsafe fn hold(&mut self, object: *mut c_void) {
        // SAFETY: as the caller says.
        unsafe { TVMFFIObjectIncRef(object) };
        // SAFETY: as the caller says.
        unsafe { self.held.wrapping_add(self.n_held).write(object) };
        self.n_held += 1;
    }
}

/// Makes a function of a call. 0, or -1 where an error is raised.
///
/// # Safety
///
/// `function` is the compiler's, `args` has `n_args` values, `result` and `error` may be written,
/// and the error has its backtrace.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_prepare(
    function: *const Preparable,
    args: *const Any,
    n_args: i32,
    result: *mut Any,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    // SAFETY: as the caller says.
    let function = unsafe { &*function };
    let bytes = size_of::<Prepared>() + function.state_bytes as usize;
    // SAFETY: plain memory.
    let prepared: *mut Prepared = unsafe { malloc(bytes) }.cast();
    if prepared.is_null() {
        return out_of_memory(blank);
    }
    let again = Again::new(function.is_same != 0);
    let empty = Prepared { again, launch: function.launch, held: ptr::null_mut(), n_held: 0 };
    // SAFETY: it is as large as that.
    unsafe { prepared.write(empty) };
    // SAFETY: the arguments are as the caller says, and there is room for the state.
    let mut status = unsafe { (function.check)(args, n_args, Prepared::state(prepared), error) };
    if status == 0 {
        // SAFETY: the arguments have been checked: there are as many.
        status = unsafe { finish(prepared, function, args, n_args as usize, result, blank) };
    }
    if status != 0 {
        // SAFETY: there is no function that would.
        unsafe { delete(prepared.cast()) };
    }
    status
}

/// Makes the function of a call that has passed its checks.
///
/// # Safety
///
/// As of [`kernpack_rt_cuda_prepare`].
unsafe fn finish(
    prepared: *mut Prepared,
    function: &Preparable,
    args: *const Any,
    n_args: usize,
    result: *mut Any,
    blank: Blank,
) -> i32 {
    // SAFETY: as the caller says.
    let room = unsafe { count_objects(args, n_args) };
    // One more: no allocation may be of nothing.
    // SAFETY: plain memory.
    let held = unsafe { malloc(8 * (room + 1)) };
    if held.is_null() {
        return out_of_memory(blank);
    }
    // SAFETY: nobody else knows it yet.
    let held_by = unsafe { &mut *prepared };
    held_by.held = held.cast();
    // SAFETY: as the caller says, and there is room.
    if let Err(number) = unsafe { hold(held_by, args, n_args, room) } {
        return not_owned(blank, function.name, number);
    }
    let mut made = ptr::null_mut();
    // SAFETY: libtvm_ffi writes one object.
    if unsafe { TVMFFIFunctionCreate(prepared.cast(), call, delete, &raw mut made) } != 0 {
        return -1;
    }
    // SAFETY: as the caller says.
    unsafe { result.write(Any { type_index: type_index::FUNCTION, padding: 0, payload: made }) };
    0
}

fn out_of_memory(blank: Blank) -> i32 {
    blank.runtime_error().text(c"out of memory while a call was prepared").raise()
}

/// Some argument, or an element of it, is a tensor that nobody owns.
fn not_owned(blank: Blank, name: *const c_char, number: usize) -> i32 {
    let mut message = blank.type_error();
    message.text(c"Mismatched type on argument #").int(number as i64);
    message.text(c" when calling: `").c_str(name);
    message.text(
        c"`, expected a tensor that can be held, got a DLTensor*, which belongs to the caller",
    );
    message.raise()
}

/// How many objects there are among values, and in arrays among them.
///
/// # Safety
///
/// There are that many values.
unsafe fn count_objects(values: *const Any, n_values: usize) -> usize {
    let mut count = 0;
    for i in 0..n_values {
        // SAFETY: as the caller says.
        let value = unsafe { values.wrapping_add(i).read() };
        if value.type_index >= type_index::OBJECT {
            count += 1;
        }
        // SAFETY: the value is whole.
        if let Some(sequence) = unsafe { as_sequence(value) } {
            // SAFETY: an array has as many elements as it says.
            count += unsafe { count_objects(sequence.elements, sequence.size as usize) };
        }
    }
    count
}

/// Takes references to the objects among values, as far as there is room. Where a value has, or is,
/// a tensor that nobody owns, its number.
///
/// # Safety
///
/// There are that many values, and room for so many objects.
unsafe fn hold(
    prepared: &mut Prepared,
    values: *const Any,
    n_values: usize,
    room: usize,
) -> Result<(), usize> {
    for i in 0..n_values {
        // SAFETY: as the caller says.
        let value = unsafe { values.wrapping_add(i).read() };
        if value.type_index == type_index::DL_TENSOR {
            return Err(i);
        }
        if value.type_index >= type_index::OBJECT && prepared.n_held < room {
            // SAFETY: values of these types point to an object, and there is room.
            unsafe { prepared.hold(value.payload) };
        }
        // SAFETY: the value is whole.
        if let Some(sequence) = unsafe { as_sequence(value) } {
            let n_elements = sequence.size as usize;
            // SAFETY: an array has as many elements as it says.
            let held = unsafe { hold(prepared, sequence.elements, n_elements, room) };
            held.map_err(|_| i)?;
        }
    }
    Ok(())
}

/// An array or a list.
///
/// # Safety
///
/// The value is whole.
unsafe fn as_sequence<'a>(value: Any) -> Option<&'a Sequence> {
    let is_sequence = matches!(value.type_index, type_index::ARRAY | type_index::LIST);
    // SAFETY: values of these types point to one.
    is_sequence.then(|| unsafe { &*value.payload.cast() })
}

/// Launches: again what was launched before, if that can be, and is all that the call does.
unsafe extern "C" fn call(
    state: *mut c_void,
    _args: *const Any,
    n_args: i32,
    result: *mut Any,
) -> i32 {
    // SAFETY: it was prepared.
    let prepared = unsafe { &*state.cast::<Prepared>() };
    if n_args == 0 && prepared.again.go() {
        let none = Any { type_index: type_index::NONE, padding: 0, payload: ptr::null_mut() };
        // SAFETY: as the caller says.
        unsafe { result.write(none) };
        return 0;
    }
    // SAFETY: as the caller says.
    unsafe { call_at_length(state.cast(), n_args, result) }
}

/// The like by the function's own code. No entry point is being called: errors have no backtrace.
#[inline(never)]
unsafe fn call_at_length(prepared: *mut Prepared, n_args: i32, result: *mut Any) -> i32 {
    let mut memory = MaybeUninit::<ErrorParts>::uninit();
    let error = memory.as_mut_ptr();
    // SAFETY: there is memory for the error.
    let blank = unsafe { Blank::new(error) };
    blank.set_backtrace(c"".as_ptr());
    if n_args != 0 {
        return unexpected_arguments(blank, n_args);
    }
    // SAFETY: it was prepared.
    let launch = unsafe { (*prepared).launch };
    // SAFETY: the state was checked, and what it points to is held.
    unsafe { launch(Prepared::state(prepared), prepared.cast(), result, error) }
}

#[cold]
#[inline(never)]
fn unexpected_arguments(blank: Blank, n_args: i32) -> i32 {
    let mut message = blank.type_error();
    message.text(c"Mismatched number of arguments when calling: a prepared function");
    message.text(c", expected 0 arguments, got ").int(n_args.into()).raise()
}

/// Drops what is held.
unsafe extern "C" fn delete(state: *mut c_void) {
    let prepared: *mut Prepared = state.cast();
    // SAFETY: it was made by `kernpack_rt_cuda_prepare`, and nobody calls it any more.
    let Prepared { held, n_held, .. } = unsafe { prepared.read() };
    kept::drop_of(state);
    for i in 0..n_held {
        // SAFETY: there are as many.
        let object = unsafe { held.wrapping_add(i).read() };
        // SAFETY: a reference to it was taken.
        unsafe { TVMFFIObjectDecRef(object) };
    }
    // SAFETY: malloc gave it, or it is NULL.
    unsafe { free(held.cast()) };
    // SAFETY: malloc gave it.
    unsafe { free(state) };
}
