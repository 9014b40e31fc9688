// SPDX-License-Identifier: Apache-2.0
//! The arguments of the driver's functions: how each type is written in C, which a test holds to
//! `cuda.h`, and how an argument stands in the log.
//!
//! Pointers are [`Out`], [`In`] and [`InOut`], so that what a function does with one shows in its
//! signature, and so that the bodies of functions contain no pointers to follow.

#![expect(unsafe_code, reason = "callers of a C library pass pointers")]

use crate::json;
use crate::memory::Memory;
use crate::status::Status;
use std::ffi::{CStr, c_char, c_void};

/// A type that crosses the C ABI.
pub trait CType {
    /// The type in C.
    fn c() -> String;
}

/// A type whose values are worth a place in the log.
pub trait Value: CType + Copy {
    /// The value, as JSON.
    fn json(self, memory: &Memory) -> String;
}

/// An argument of a call.
pub trait Argument {
    /// What the caller gave, as JSON.
    fn given(&self, memory: &Memory) -> String;

    /// What the call wrote there, as JSON, if it may write: asked only after a call that succeeded.
    fn written(&self, _memory: &Memory) -> Option<String> {
        None
    }
}

impl<T: Value> Argument for T {
    fn given(&self, memory: &Memory) -> String {
        self.json(memory)
    }
}

/// Where a function writes a result; a caller passes NULL or memory of its own.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Out<T>(pub *mut T);

impl<T: Copy> Out<T> {
    /// Writes the result, which is refused if the caller gave no place for it.
    pub fn put(self, value: T) -> Result<(), Status> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: The driver's functions demand of their callers that a result's pointer can be
        // written.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes the result if the caller wants it.
    pub fn offer(self, value: T) {
        if !self.0.is_null() {
            let _written = self.put(value);
        }
    }
}

impl<T: CType> CType for Out<T> {
    fn c() -> String {
        format!("{} *", T::c())
    }
}

impl<T: Value> Argument for Out<T> {
    fn given(&self, _memory: &Memory) -> String {
        if self.0.is_null() { "null".to_string() } else { json::string("out") }
    }

    fn written(&self, memory: &Memory) -> Option<String> {
        // SAFETY: A function that succeeded has written all results whose pointers are not NULL.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() }.json(memory))
    }
}

/// What a function reads; a caller passes NULL or what is to be read.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T>(pub *const T);

impl<T: Copy> In<T> {
    /// What the caller gave, which is refused if it is nothing.
    pub fn get(self) -> Result<T, Status> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: The driver's functions demand of their callers that such a pointer can be read.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// As many as the caller says there are.
    pub fn list(self, n: usize) -> Result<Vec<T>, Status> {
        if self.0.is_null() && n > 0 {
            return Err(Status::INVALID_VALUE);
        }
        let elements = (0..n).map(|index| self.0.wrapping_add(index));
        // SAFETY: The caller says how many follow one another there.
        Ok(elements.map(|element| unsafe { element.read_unaligned() }).collect())
    }
}

impl<T: CType> CType for In<T> {
    fn c() -> String {
        format!("const {} *", T::c())
    }
}

impl<T: Value> Argument for In<T> {
    fn given(&self, memory: &Memory) -> String {
        self.get().map_or("null".to_string(), |value| value.json(memory))
    }
}

/// What a function reads and then overwrites.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct InOut<T>(pub *mut T);

impl<T: Copy> InOut<T> {
    /// What the caller gave.
    pub fn get(self) -> Result<T, Status> {
        In(self.0).get()
    }

    /// Overwrites it.
    pub fn put(self, value: T) -> Result<(), Status> {
        Out(self.0).put(value)
    }
}

impl<T: CType> CType for InOut<T> {
    fn c() -> String {
        Out::<T>::c()
    }
}

impl<T: Value> Argument for InOut<T> {
    fn given(&self, memory: &Memory) -> String {
        In(self.0).given(memory)
    }

    fn written(&self, memory: &Memory) -> Option<String> {
        Out(self.0).written(memory)
    }
}

/// A C string; NULL is null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(pub *const c_char);

impl Text {
    /// The text, which is refused if there is none.
    pub fn get(self) -> Result<String, Status> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: The driver's functions demand of their callers that such a text ends with a NUL.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl CType for Text {
    fn c() -> String {
        "const char *".to_string()
    }
}

impl Value for Text {
    fn json(self, _memory: &Memory) -> String {
        self.get().map_or("null".to_string(), |text| json::string(&text))
    }
}

/// Memory of the caller's that the log cannot show: only whether there is any. What matters of it,
/// the call notes.
macro_rules! addresses {
    ($($(#[$doc:meta])* $name:ident($type:ty, $c:literal);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(pub $type);

        impl CType for $name {
            fn c() -> String {
                $c.to_string()
            }
        }

        impl Value for $name {
            fn json(self, _memory: &Memory) -> String {
                if self.0.is_null() { "null".to_string() } else { json::string("given") }
            }
        }
    )*};
}

addresses! {
    /// An image, of which only its beginning says how long it is.
    Code(*const c_void, "const void *");
    /// Options of the compiler, which are ignored.
    Options(*mut u32, "CUjit_option *");
    /// Options of a library, which are ignored.
    LibraryOptions(*mut u32, "CUlibraryOption *");
    /// Values of options, addresses of arguments, or the packed form of arguments.
    Pointers(*mut *mut c_void, "void **");
    /// Bytes to read.
    Source(*const c_void, "const void *");
    /// Bytes to write.
    Destination(*mut c_void, "void *");
    /// Where text goes.
    Characters(*mut c_char, "char *");
    /// Where a new context's parameters would lie.
    ContextParameters(*mut c_void, "CUctxCreateParams *");
}

/// An address, of which nothing is read.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Address(pub *mut c_void);

impl CType for Address {
    fn c() -> String {
        "void *".to_string()
    }
}

impl Value for Address {
    fn json(self, memory: &Memory) -> String {
        json::string(&memory.name(self.0 as u64))
    }
}

/// Types that are numbers, and how C writes them.
macro_rules! numbers {
    ($($type:ty = $c:literal;)*) => {$(
        impl CType for $type {
            fn c() -> String {
                $c.to_string()
            }
        }

        impl Value for $type {
            fn json(self, _memory: &Memory) -> String {
                self.to_string()
            }
        }
    )*};
}

numbers! {
    u8 = "unsigned char";
    i32 = "int";
    u32 = "unsigned int";
    u64 = "cuuint64_t";
    usize = "size_t";
    f32 = "float";
}
