// SPDX-License-Identifier: Apache-2.0
//! A call frame of XLA's, read: attributes, operands, results, and what may be asked of XLA.
#![expect(unsafe_code, reason = "reads the caller's structs, as the C ABI has them")]

use crate::failure::Failure;
use crate::layout::{
    ARRAY, ASKS_METADATA, Api, Array, Attributes, BUFFER, Buffer, Buffers, ByteSpan, CallFrame,
    ErrorCreate, INTERNAL, Metadata, MetadataExtension, OrdinalGet, S8, S64, STRING, StreamGet, U8,
    Version,
};
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::slice;
use std::ffi::CString;

/// A call frame.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a>(&'a CallFrame);

/// A program's attributes of a call.
#[derive(Clone, Copy, Default)]
pub(crate) struct Said<'a> {
    /// Digest and name of the function.
    pub(crate) key: &'a [u8],
    /// Its arguments, as `plan.rs` reads them.
    pub(crate) plan: &'a [i64],
    /// The package, where the program carries it.
    pub(crate) module: &'a [u8],
}

impl<'a> Frame<'a> {
    /// # Safety
    /// `frame` must be what XLA calls a handler with, for as long as `'a`.
    pub(crate) unsafe fn new(frame: *const CallFrame) -> Frame<'a> {
        // SAFETY: the caller vouches for it.
        Frame(unsafe { &*frame })
    }

    pub(crate) fn stage(self) -> i32 {
        self.0.stage
    }

    /// Where the answer goes, if the handler is asked what it is.
    pub(crate) fn asked_metadata(self) -> Option<&'a mut Metadata> {
        // SAFETY: NULL, or a question that stays for the call.
        let extension = unsafe { self.0.extension.as_ref() }?;
        if extension.kind != ASKS_METADATA {
            return None;
        }
        // SAFETY: a question of this kind is the head of this struct.
        let question = unsafe { *self.0.extension.cast::<MetadataExtension>() };
        // SAFETY: XLA gives room for the answer.
        unsafe { question.metadata.as_mut() }
    }

    /// The version of the API that asks. Before 0.2 it does not say.
    pub(crate) fn version(self) -> (i32, i32) {
        // SAFETY: NULL, or XLA's functions.
        let api = unsafe { self.0.api.as_ref() };
        api.map_or((0, 1), |Api { version: Version { major, minor, .. }, .. }| (*major, *minor))
    }

    /// The attributes. Those of other names and types are not ours to read.
    #[inline]
    pub(crate) fn said(self) -> Said<'a> {
        let Attributes { size, types, names, values, .. } = self.0.attributes;
        let size = usize::try_from(size).unwrap_or(0);
        // SAFETY: there are that many types.
        let types = unsafe { slice(types, size) };
        // SAFETY: and names.
        let names = unsafe { slice(names, size) };
        // SAFETY: and values.
        let values = unsafe { slice(values, size) };
        let mut said = Said::default();
        for ((kind, name), value) in types.iter().zip(names).zip(values) {
            match bytes(*name) {
                b"key" if *kind == STRING => said.key = bytes(value.cast()),
                b"plan" if *kind == ARRAY => said.plan = array(*value, &[S64]),
                b"module" if *kind == ARRAY => said.module = array(*value, &[U8, S8]),
                _ => {}
            }
        }
        said
    }

    /// An operand.
    #[inline]
    pub(crate) fn operand(self, index: usize) -> Result<&'a Buffer, Failure> {
        buffer(&self.0.operands, index).ok_or_else(|| missing("operand", index))
    }

    /// A result.
    #[inline]
    pub(crate) fn result(self, index: usize) -> Result<&'a Buffer, Failure> {
        buffer(&self.0.results, index).ok_or_else(|| missing("result", index))
    }

    fn api(self) -> &'a Api {
        // SAFETY: in calls it is never NULL.
        unsafe { &*self.0.api }
    }

    /// The index of the device on which the program runs.
    pub(crate) fn ordinal(self) -> Result<i32, Failure> {
        let mut asked = OrdinalGet {
            struct_size: size_of::<OrdinalGet>(),
            extension: ptr::null(),
            context: self.0.context,
            ordinal: 0,
        };
        // SAFETY: every version has this function at this place.
        let error = unsafe { (self.api().ordinal_get)(&raw mut asked) };
        if error.is_null() { Ok(asked.ordinal) } else { Err(Failure::Xla(error)) }
    }

    /// The stream on which the program runs.
    pub(crate) fn stream(self) -> Result<*mut c_void, Failure> {
        let mut asked = StreamGet {
            struct_size: size_of::<StreamGet>(),
            extension: ptr::null(),
            context: self.0.context,
            stream: ptr::null_mut(),
        };
        // SAFETY: every version has this function at this place.
        let error = unsafe { (self.api().stream_get)(&raw mut asked) };
        if error.is_null() { Ok(asked.stream) } else { Err(Failure::Xla(error)) }
    }

    /// An error of XLA's that says why a call failed.
    #[cold]
    pub(crate) fn error(self, failure: Failure) -> *mut c_void {
        let (code, message) = match failure {
            Failure::New { code, message } => (code, message),
            Failure::Xla(error) => return error,
        };
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        let mut asked = ErrorCreate {
            struct_size: size_of::<ErrorCreate>(),
            extension: ptr::null(),
            message: message.as_ptr(),
            code,
        };
        // SAFETY: every version has this function at this place, and it copies the message.
        unsafe { (self.api().error_create)(&raw mut asked) }
    }

    /// The error of a bug of ours.
    #[cold]
    pub(crate) fn panicked(self) -> *mut c_void {
        self.error(Failure::new(INTERNAL, "kernpack's handler panicked, which is a bug"))
    }
}

#[cold]
fn missing(word: &str, index: usize) -> Failure {
    Failure::plan(format_args!("there is no {word} #{index}"))
}

#[inline]
fn buffer(buffers: &Buffers, index: usize) -> Option<&Buffer> {
    let size = usize::try_from(buffers.size).unwrap_or(0);
    // SAFETY: there are that many types.
    let kind = unsafe { slice(buffers.types, size) }.get(index)?;
    // SAFETY: and values.
    let value = unsafe { slice(buffers.values, size) }.get(index)?;
    if *kind != BUFFER {
        return None;
    }
    // SAFETY: a value of this type is a buffer.
    unsafe { value.cast::<Buffer>().as_ref() }
}

#[inline]
fn bytes<'a>(span: *const ByteSpan) -> &'a [u8] {
    // SAFETY: names and texts are spans, which stay for the call.
    let span = unsafe { *span };
    // SAFETY: a span has as many bytes as it says.
    unsafe { slice(span.data, span.size) }
}

/// An attribute's numbers, or none where it has others.
#[inline]
fn array<'a, T>(value: *const c_void, dtypes: &[i32]) -> &'a [T] {
    // SAFETY: the attribute is an array, which stays for the call.
    let array = unsafe { *value.cast::<Array>() };
    if !dtypes.contains(&array.dtype) {
        return &[];
    }
    // SAFETY: it has as many elements as it says, and they are `T`s.
    unsafe { slice(array.data.cast(), array.size) }
}
