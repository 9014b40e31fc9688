// SPDX-License-Identifier: Apache-2.0
//! Arrays of values as objects of libtvm_ffi: what functions with several results return.

#![expect(unsafe_code, reason = "calls libtvm_ffi")]

use crate::Result;
use crate::call::{Any, Returned, check};
use core::ptr;
use kernpack_ffi_abi::layout::ByteArray;
use kernpack_ffi_abi::libtvm_ffi::{
    TVMFFIFunctionCall, TVMFFIFunctionGetGlobal, TVMFFIObjectDecRef,
};

/// The global function of libtvm_ffi that makes an array of its arguments.
const MAKER: &str = "ffi.Array";

/// An array of these values, which has references of its own.
///
/// # Errors
/// Where libtvm_ffi cannot make it.
pub fn array(items: &[Returned]) -> Result<Returned> {
    let name = ByteArray { data: MAKER.as_ptr() as u64, size: MAKER.len() as u64 };
    let mut maker = ptr::null_mut();
    // SAFETY: it reads a text and writes a pointer.
    check(unsafe { TVMFFIFunctionGetGlobal(&name, &mut maker) })?;
    let values: Vec<Any> = items.iter().map(Returned::value).collect();
    let mut made = Returned::none();
    // SAFETY: the maker is a function, and its arguments are there.
    let code =
        unsafe { TVMFFIFunctionCall(maker, values.as_ptr(), values.len() as i32, made.place()) };
    // SAFETY: the reference is ours, and the maker is used no more.
    unsafe { TVMFFIObjectDecRef(maker) };
    check(code)?;
    Ok(made)
}
