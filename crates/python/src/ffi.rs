// SPDX-License-Identifier: Apache-2.0
//! The TVM-FFI C ABI as the functions of this library use it: arguments, results, errors,
//! callbacks.
//!
//! The functions of libtvm_ffi are left undefined: whoever loads this library has loaded that one
//! before. [`kernpack_ffi_abi::libtvm_ffi`] declares them.

#![expect(unsafe_code, reason = "the ABI is one of C")]

use kernpack_ffi_abi::layout::{Any, ByteArray};
use kernpack_ffi_abi::libtvm_ffi::{
    TVMFFIBytesFromByteArray, TVMFFIEnvCheckSignals, TVMFFIErrorMoveFromRaised,
    TVMFFIErrorSetRaised, TVMFFIErrorSetRaisedFromCStr, TVMFFIFunctionCall, TVMFFIFunctionCreate,
    TVMFFIObjectDecRef, TVMFFIObjectIncRef, TVMFFIStringFromByteArray,
    TVMFFITensorFromDLPackVersioned,
};
use kernpack_ffi_abi::{ErrorKind, ManagedTensor, TypeIndex, slice};
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Why a function of this library fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which exception it becomes.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
    /// Whether Python has an exception set already, which is the one to raise.
    is_set: bool,
}

impl Error {
    /// An error of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), is_set: false }
    }

    /// A wrong argument.
    pub fn value(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::ValueError, message)
    }

    /// Something that failed.
    pub fn runtime(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::RuntimeError, message)
    }

    /// Python has an exception set: that of a signal, or of a callback.
    fn set() -> Error {
        Error { is_set: true, ..Error::runtime("") }
    }

    /// Raises it: -1, for the caller of an entry point.
    pub fn raise(&self) -> i32 {
        // An error of a callback's is raised already; one that Python has set goes by this name.
        let (kind, message) = match self.is_set {
            true if is_raised() => return -1,
            true => ("EnvErrorAlreadySet".to_string(), String::new()),
            false => (self.kind.to_string(), self.message.replace('\0', "?")),
        };
        let (kind, message) = (CString::new(kind), CString::new(message));
        let (kind, message) = (kind.unwrap_or_default(), message.unwrap_or_default());
        // SAFETY: both end in a NUL, and are copied.
        unsafe { TVMFFIErrorSetRaisedFromCStr(kind.as_ptr(), message.as_ptr()) };
        -1
    }
}

/// The result of a function of this library.
#[derive(Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    None,
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A function.
    Function(Object),
}

impl Value {
    /// A text that is JSON.
    ///
    /// # Errors
    /// Where the value has no JSON.
    pub fn json(value: &impl serde::Serialize) -> Result<Value, Error> {
        let text = serde_json::to_string(value);
        text.map(Value::Text).map_err(|error| Error::runtime(error.to_string()))
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub struct Args<'a>(&'a [Any]);

impl<'a> Args<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Those from that one on.
    pub fn from(self, at: usize) -> &'a [Any] {
        self.0.get(at..).unwrap_or_default()
    }

    /// A text or bytes.
    ///
    /// # Errors
    /// Where there is none, or something else.
    pub fn bytes(self, at: usize) -> Result<&'a [u8], Error> {
        let found = self.0.get(at).and_then(bytes);
        found.ok_or_else(|| Error::value(format!("argument #{at} should be a str or bytes")))
    }

    /// A text.
    ///
    /// # Errors
    /// Where there is none, or something else.
    pub fn text(self, at: usize) -> Result<&'a str, Error> {
        let text = std::str::from_utf8(self.bytes(at)?);
        text.map_err(|_| Error::value(format!("argument #{at} is not UTF-8")))
    }

    /// An integer.
    ///
    /// # Errors
    /// Where there is none, or something else.
    pub fn int(self, at: usize) -> Result<i64, Error> {
        let found = self.0.get(at).filter(|any| any.type_index == TypeIndex::INT.0);
        let found = found.map(|any| any.payload);
        found.ok_or_else(|| Error::value(format!("argument #{at} should be an int")))
    }

    /// All from that number on.
    pub fn behind(self, at: usize) -> &'a [Any] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Whether None was passed.
    pub fn is_none(self, at: usize) -> bool {
        self.0.get(at).is_some_and(|any| any.type_index == TypeIndex::NONE.0)
    }

    /// A function, held; `None` where None was passed.
    ///
    /// # Errors
    /// Where there is none, or something else.
    pub fn function(self, at: usize) -> Result<Option<Object>, Error> {
        match self.0.get(at) {
            Some(any) if any.type_index == TypeIndex::NONE.0 => Ok(None),
            Some(any) if any.type_index == TypeIndex::FUNCTION.0 => {
                let object = any.payload as *mut c_void;
                // SAFETY: the object lives as long as the call, at least.
                unsafe { TVMFFIObjectIncRef(object) };
                Ok(Some(Object(object)))
            }
            _ => Err(Error::value(format!("argument #{at} should be callable or None"))),
        }
    }
}

/// The bytes of a text or of bytes.
pub fn bytes(any: &Any) -> Option<&[u8]> {
    // SAFETY: arguments are what they say, for as long as the call.
    unsafe { kernpack_ffi_abi::value::bytes(any) }
}

/// The answer of a function that was asked for one.
#[derive(Debug)]
pub enum Answer {
    /// Nothing.
    None,
    /// A function.
    Lasting(Object),
    /// A function that is for once: the first item of an array.
    Once(Object),
}

/// An object of libtvm_ffi's, held.
#[derive(Debug, PartialEq)]
pub struct Object(*mut c_void);

// SAFETY: counts of references are atomic, and functions may be called from any thread.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    /// Calls a function as entry points are called.
    ///
    /// # Safety
    /// The object is a function, and the rest is that of an entry point's caller.
    pub unsafe fn call(&self, args: *const Any, n_args: i32, result: *mut Any) -> i32 {
        // SAFETY: as the caller says.
        unsafe { TVMFFIFunctionCall(self.0, args, n_args, result) }
    }

    /// A new function, which is called with the arguments of an entry point's caller.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn of_closure<C>(call: C) -> Result<Object, Error>
    where
        C: Fn(*const Any, i32, *mut Any) -> i32 + Send + Sync + 'static,
    {
        let state = Box::into_raw(Box::new(call)).cast();
        let mut made = ptr::null_mut();
        // SAFETY: the state is that of both functions.
        match unsafe {
            TVMFFIFunctionCreate(state, call_closure::<C>, delete_closure::<C>, &mut made)
        } {
            0 => Ok(Object(made)),
            _ => {
                // SAFETY: nobody has taken it.
                unsafe { delete_closure::<C>(state) };
                Err(Error::runtime("out of memory"))
            }
        }
    }

    /// Calls a function with a text and a number.
    ///
    /// # Errors
    /// Where it raises.
    pub fn tell(&self, text: &str, number: i64) -> Result<(), Error> {
        self.asked(text, number, &[]).map(|result| release(&result))
    }

    /// Calls a function with a text, a number, and the arguments of a caller: the function that it
    /// answers.
    ///
    /// # Errors
    /// Where it raises.
    pub fn ask(&self, text: &str, number: i64, args: &[Any]) -> Result<Answer, Error> {
        let result = self.asked(text, number, args)?;
        if result.type_index == TypeIndex::FUNCTION.0 {
            return Ok(Answer::Lasting(Object(result.payload as *mut c_void)));
        }
        let items = match TypeIndex(result.type_index) {
            TypeIndex::ARRAY => {
                // SAFETY: it is an array.
                let (data, size) = unsafe { kernpack_ffi_abi::value::items(&result) };
                // SAFETY: it is held meanwhile.
                unsafe { slice(data as *const Any, size) }
            }
            _ => &[],
        };
        let once = Args(items).function(0).ok().flatten();
        release(&result);
        Ok(once.map_or(Answer::None, Answer::Once))
    }

    fn asked(&self, text: &str, number: i64, args: &[Any]) -> Result<Any, Error> {
        let text = make_bytes(text.as_bytes(), TVMFFIStringFromByteArray)?;
        let mut passed = vec![text, any(TypeIndex::INT, number)];
        passed.extend(args.iter().map(|arg| any(TypeIndex(arg.type_index), arg.payload)));
        let result = self.told(&passed);
        release(&passed[0]);
        result
    }

    /// Calls a function with a number and a tensor, which goes to it.
    ///
    /// # Errors
    /// Where it raises.
    pub fn give(&self, number: i64, tensor: *mut ManagedTensor) -> Result<(), Error> {
        let mut object = ptr::null_mut();
        // SAFETY: the tensor is one that was just made, and the place is a variable.
        let status = unsafe { TVMFFITensorFromDLPackVersioned(tensor, 0, 0, &mut object) };
        if status != 0 {
            return Err(Error::runtime("out of memory"));
        }
        let tensor = any(TypeIndex::TENSOR, object as i64);
        let passed = [any(TypeIndex::INT, number), tensor];
        let result = self.told(&passed);
        release(&passed[1]);
        result.map(|result| release(&result))
    }

    /// Calls a function with values, which stay the caller's.
    fn told(&self, passed: &[Any]) -> Result<Any, Error> {
        let mut result = any(TypeIndex::NONE, 0);
        // SAFETY: the function is held, and there are as many arguments as it is told.
        let status = unsafe { self.call(passed.as_ptr(), passed.len() as i32, &mut result) };
        if status == 0 { Ok(result) } else { Err(Error::set()) }
    }
}

unsafe extern "C" fn call_closure<C: Fn(*const Any, i32, *mut Any) -> i32>(
    state: *mut c_void,
    args: *const Any,
    n_args: i32,
    result: *mut Any,
) -> i32 {
    // SAFETY: the state lives as long as the function.
    let call = unsafe { &*state.cast::<C>() };
    call(args, n_args, result)
}

unsafe extern "C" fn delete_closure<C>(state: *mut c_void) {
    // SAFETY: it was made with the function, and is deleted once.
    drop(unsafe { Box::from_raw(state.cast::<C>()) });
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: a reference is held since this was made.
        unsafe { TVMFFIObjectDecRef(self.0) };
    }
}

/// Whether a signal wants the process's attention, such as that of Ctrl-C.
///
/// # Errors
/// It does, and Python has its exception set.
pub fn check_signals() -> Result<(), Error> {
    // SAFETY: nothing is asked of the caller.
    match unsafe { TVMFFIEnvCheckSignals() } {
        0 => Ok(()),
        _ => Err(Error::set()),
    }
}

/// Runs the body of an entry point, whatever happens in it: 0, or -1 with an error raised.
///
/// # Safety
/// The arguments are those of an entry point's caller.
pub unsafe fn run(
    args: *const Any,
    n_args: i32,
    result: *mut Any,
    body: impl FnOnce(Args<'_>) -> Result<Value, Error>,
) -> i32 {
    let n_args = usize::try_from(n_args).unwrap_or(0);
    // SAFETY: the caller passes as many arguments as it says.
    let args = unsafe { slice(args, n_args) };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(Args(args)).and_then(into_any)));
    let outcome = outcome.unwrap_or_else(|_| Err(Error::runtime("kernpack failed; see above")));
    match outcome {
        Ok(value) => {
            // SAFETY: the caller has a place for the result.
            unsafe { result.write(value) };
            0
        }
        Err(error) => error.raise(),
    }
}

/// Whether an error is raised in libtvm_ffi; it stays so.
fn is_raised() -> bool {
    let mut error = ptr::null_mut();
    // SAFETY: the place is a variable.
    unsafe { TVMFFIErrorMoveFromRaised(&mut error) };
    if error.is_null() {
        return false;
    }
    set_raised(error);
    true
}

fn set_raised(error: *mut c_void) {
    // SAFETY: the error is an object, which libtvm_ffi takes a reference to.
    unsafe { TVMFFIErrorSetRaised(error) };
    // SAFETY: the reference that was moved here is dropped.
    unsafe { TVMFFIObjectDecRef(error) };
}

fn into_any(value: Value) -> Result<Any, Error> {
    Ok(match value {
        Value::None => any(TypeIndex::NONE, 0),
        Value::Text(text) => make_bytes(text.as_bytes(), TVMFFIStringFromByteArray)?,
        Value::Bytes(bytes) => make_bytes(&bytes, TVMFFIBytesFromByteArray)?,
        Value::Function(object) => {
            let made = any(TypeIndex::FUNCTION, object.0 as i64);
            // The reference goes to the caller.
            std::mem::forget(object);
            made
        }
    })
}

/// A value that holds a copy of the bytes.
fn make_bytes(
    bytes: &[u8],
    make: unsafe extern "C" fn(*const ByteArray, *mut Any) -> i32,
) -> Result<Any, Error> {
    let view = ByteArray { data: bytes.as_ptr() as u64, size: bytes.len() as u64 };
    let mut made = any(TypeIndex::NONE, 0);
    // SAFETY: the bytes live, and the place is a variable.
    let status = unsafe { make(&view, &mut made) };
    if status == 0 { Ok(made) } else { Err(Error::runtime("out of memory")) }
}

fn any(index: TypeIndex, payload: i64) -> Any {
    Any { type_index: index.0, padding: 0, payload }
}

/// Drops what a value holds.
fn release(any: &Any) {
    if any.type_index >= TypeIndex::OBJECT.0 {
        // SAFETY: the value holds a reference, and is not used again.
        unsafe { TVMFFIObjectDecRef(any.payload as *mut c_void) };
    }
}
