// SPDX-License-Identifier: Apache-2.0
//! The parts of calls of generated functions: values as entry points take them, the objects
//! that some of them are, on the caller's stack, and the call itself.
//!
//! Entry points read their arguments and keep none, so that nobody counts references to what is on
//! the stack. This is for files that kernpack writes, of the same version.

#![expect(unsafe_code, reason = "entry points are functions of C")]
#![allow(missing_docs, reason = "it is for generated code")]

use crate::{Element, Error, Result, Tensor};
use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr;
pub use kernpack_ffi_abi::layout::{Any, DLTensor};
use kernpack_ffi_abi::layout::{
    ByteArray, ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET, Object, SeqCell, ShapeCell,
};
pub use kernpack_ffi_abi::libtvm_ffi::SafeCall;
use kernpack_ffi_abi::libtvm_ffi::{TVMFFIErrorMoveFromRaised, TVMFFIObjectDecRef};
use kernpack_ffi_abi::{DType, TypeIndex, slice, value};

pub use super::memory::need_memory;
pub use super::prepared::{Function, hold, launch};
pub use super::stream::on;

/// Refuses a file that another version of kernpack wrote.
pub const fn expect_version(written: &str) {
    let (written, own) = (written.as_bytes(), env!("CARGO_PKG_VERSION").as_bytes());
    let mut is_own = written.len() == own.len();
    let mut i = 0;
    while is_own && i < own.len() {
        is_own = written[i] == own[i];
        i += 1;
    }
    assert!(is_own, "another version of kernpack wrote this file: build the package again");
}

/// An entry point of a package that is there for `'p`.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'p> {
    function: SafeCall,
    signature: &'static str,
    package: PhantomData<&'p ()>,
}

impl<'p> Entry<'p> {
    /// The entry point of that address, which has that signature.
    ///
    /// # Safety
    /// It is there for `'p`.
    #[inline]
    pub const unsafe fn new(function: SafeCall, signature: &'static str) -> Entry<'p> {
        Entry { function, signature, package: PhantomData }
    }

    /// The signature.
    pub const fn signature(&self) -> &'static str {
        self.signature
    }

    /// Calls it.
    ///
    /// # Safety
    /// The arguments are what its signature says, or the call refuses them.
    ///
    /// # Errors
    /// Why it was refused, or failed.
    #[inline]
    pub unsafe fn call(self, args: &[Any]) -> Result<Returned> {
        let mut returned = Returned::none();
        // SAFETY: the arguments are there, and so is a place for the result.
        let code = unsafe {
            (self.function)(ptr::null_mut(), args.as_ptr(), args.len() as i32, returned.place())
        };
        check(code)?;
        Ok(returned)
    }
}

/// The error of this thread, where a function says that there is one.
#[inline]
pub(crate) fn check(code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

#[cold]
fn raised() -> Error {
    let mut error = ptr::null_mut();
    // SAFETY: there is a place for the error.
    unsafe { TVMFFIErrorMoveFromRaised(&mut error) };
    if error.is_null() {
        return Error::Runtime("the call failed without an error".to_string());
    }
    // SAFETY: an error's texts lie there.
    let [kind, message] = [ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET]
        .map(|offset| unsafe { text_at(error as u64 + u64::from(offset)) });
    // SAFETY: this is the only reference, and it is used no more.
    unsafe { TVMFFIObjectDecRef(error) };
    Error::new(&kind, message)
}

/// A copy of a text.
///
/// # Safety
/// At the address are those of its bytes and their number.
unsafe fn text_at(address: u64) -> String {
    // SAFETY: the caller says so.
    let array = unsafe { *(address as *const ByteArray) };
    // SAFETY: as above.
    let bytes = unsafe { slice(array.data as *const u8, array.size as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The value that a call returned.
#[derive(Debug)]
pub struct Returned {
    value: Any,
    /// The stream of the call, by whose order memory goes; NULL on the CPU.
    stream: *mut c_void,
}

impl Drop for Returned {
    #[inline]
    fn drop(&mut self) {
        if self.value.type_index >= TypeIndex::OBJECT.0 {
            // SAFETY: the reference is this value's.
            unsafe { TVMFFIObjectDecRef(self.value.payload as *mut c_void) };
        }
    }
}

impl Returned {
    /// A value whose reference becomes this one's.
    #[inline]
    const fn of(value: Any) -> Returned {
        Returned { value, stream: ptr::null_mut() }
    }

    /// Nothing.
    #[inline]
    pub(crate) const fn none() -> Returned {
        Returned::of(NONE)
    }

    /// An object of that type, whose reference becomes the value's.
    pub(crate) fn object(index: TypeIndex, object: *mut c_void) -> Returned {
        Returned::of(any(index, object as i64))
    }

    /// The same, of a call on that stream.
    #[inline]
    pub(crate) fn on_stream(mut self, stream: *mut c_void) -> Returned {
        self.stream = stream;
        self
    }

    /// The value, whose reference stays this one's.
    pub(crate) fn value(&self) -> Any {
        self.value
    }

    /// Where a function puts what it returns.
    #[inline]
    pub(crate) fn place(&mut self) -> *mut Any {
        &mut self.value
    }

    fn holds(&self, index: TypeIndex) -> bool {
        self.value.type_index == index.0
    }

    /// The tensor that it is.
    ///
    /// # Errors
    /// Where it is none of that type.
    pub fn tensor<T: Element>(self) -> Result<Tensor<T>> {
        if !self.holds(TypeIndex::TENSOR) {
            return Err(self.unexpected("a tensor"));
        }
        let this = ManuallyDrop::new(self);
        let object = this.value.payload as *mut c_void;
        // SAFETY: it is a tensor, and its reference is handed on.
        let tensor = unsafe { Tensor::from_object(object) }?;
        Ok(tensor.ordered_by(this.stream))
    }

    /// The tensors that it is.
    ///
    /// # Errors
    /// Where it is not so many of them.
    pub fn tensors<const N: usize>(self) -> Result<[Returned; N]> {
        if !self.holds(TypeIndex::ARRAY) {
            return Err(self.unexpected("an array"));
        }
        // SAFETY: it is an array.
        let (data, size) = unsafe { value::items(&self.value) };
        // SAFETY: it has so many elements.
        let items = unsafe { slice(data as *const Any, size) };
        let items: [Any; N] = items.try_into().map_err(|_| self.unexpected("as many results"))?;
        Ok(items.map(|value| share(value).on_stream(self.stream)))
    }

    /// The function that it is.
    ///
    /// # Errors
    /// Where it is none.
    pub fn function(self) -> Result<Function> {
        match self.holds(TypeIndex::FUNCTION) {
            true => Ok(Function(self)),
            false => Err(self.unexpected("a function")),
        }
    }

    /// The text that it is.
    ///
    /// # Errors
    /// Where it is none.
    pub fn text(self) -> Result<String> {
        if self.holds(TypeIndex::SMALL_STR) {
            let bytes = self.value.payload.to_le_bytes();
            let bytes = bytes.get(..self.value.padding as usize).unwrap_or(&bytes);
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        if !self.holds(TypeIndex::STR) {
            return Err(self.unexpected("a text"));
        }
        // SAFETY: the text of a string lies behind its header.
        Ok(unsafe { text_at(self.value.payload as u64 + size_of::<Object>() as u64) })
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = TypeIndex(self.value.type_index);
        Error::Runtime(format!("expected {expected} as the result, got {found}"))
    }
}

/// A reference of its own to a value.
fn share(value: Any) -> Returned {
    if value.type_index >= TypeIndex::OBJECT.0 {
        let object = value.payload as *mut c_void;
        // SAFETY: the value has a reference, so that the object is there.
        unsafe { kernpack_ffi_abi::libtvm_ffi::TVMFFIObjectIncRef(object) };
    }
    Returned::of(value)
}

// ---- values

const NONE: Any = Any { type_index: TypeIndex::NONE.0, padding: 0, payload: 0 };

/// A value of that type.
#[inline]
const fn any(index: TypeIndex, payload: i64) -> Any {
    Any { type_index: index.0, padding: 0, payload }
}

#[inline]
pub const fn none() -> Any {
    NONE
}

#[inline]
pub fn tensor(tensor: &DLTensor) -> Any {
    any(TypeIndex::DL_TENSOR_PTR, ptr::from_ref(tensor) as i64)
}

#[inline]
pub fn int(value: impl Into<i64>) -> Any {
    any(TypeIndex::INT, value.into())
}

#[inline]
pub const fn boolean(value: bool) -> Any {
    any(TypeIndex::BOOL, value as i64)
}

#[inline]
pub fn float(value: impl Into<f64>) -> Any {
    any(TypeIndex::FLOAT, value.into().to_bits() as i64)
}

#[inline]
pub const fn data_type(value: DType) -> Any {
    any(TypeIndex::DATA_TYPE, value.packed() as i64)
}

#[inline]
pub fn pointer<T>(value: *const T) -> Any {
    any(TypeIndex::OPAQUE_PTR, value as i64)
}

// ---- objects on the stack

/// An object that a call borrows, behind its head.
#[repr(C)]
#[derive(Debug)]
pub struct Place<C> {
    head: Object,
    cell: C,
}

impl<C> Place<C> {
    #[inline]
    fn new(index: TypeIndex, cell: C) -> Place<C> {
        // One strong and one weak reference, which nobody drops.
        let ref_count = (1 << 32) | 1;
        let head = Object { ref_count, type_index: index.0, padding: 0, deleter: 0 };
        Place { head, cell }
    }

    /// The object as a value, which is good as long as this is borrowed.
    #[inline]
    pub fn any(&self) -> Any {
        any(TypeIndex(self.head.type_index), ptr::from_ref(self) as i64)
    }
}

pub type Shape = Place<ShapeCell>;
pub type Values = Place<SeqCell>;
pub type Text = Place<ByteArray>;

/// Integers, as a Shape.
#[inline]
pub fn shape(extents: &[i64]) -> Shape {
    let (data, size) = (extents.as_ptr() as u64, extents.len() as u64);
    Place::new(TypeIndex::SHAPE, ShapeCell { data, size })
}

/// Values, as an Array.
#[inline]
pub fn values(items: &[Any]) -> Values {
    let (data, size) = (items.as_ptr() as u64, items.len() as i64);
    Place::new(TypeIndex::ARRAY, SeqCell { data, size, capacity: size, data_deleter: 0 })
}

/// A text, as a String.
#[inline]
pub fn text(text: &str) -> Text {
    let (data, size) = (text.as_ptr() as u64, text.len() as u64);
    Place::new(TypeIndex::STR, ByteArray { data, size })
}

/// The words of an integer that may be beyond 2^63 - 1, behind their number.
pub type BigInt = Place<[u64; 3]>;

/// An integer, as a BigInt.
#[inline]
pub fn big_int(value: u64) -> BigInt {
    Place::new(TypeIndex::BIG_INT, [2, value, 0])
}

/// An integer without a sign: as it is, or the BigInt that was made of it.
#[inline]
pub fn uint(value: u64, object: &BigInt) -> Any {
    i64::try_from(value).map_or_else(|_| object.any(), int)
}
