// SPDX-License-Identifier: Apache-2.0
//! Functions that return a string: metadata and documentation.

use super::SafeCall;
use super::import::declare;
use kernpack_codegen::llvm::{Emitter, Ty};
use kernpack_ffi_abi::imports::STRING_FROM_BYTE_ARRAY;
use kernpack_ffi_abi::layout::{ByteArray, byte_array};

/// Defines `symbol`, an entry point of no arguments that returns `text`.
pub fn lower(e: &Emitter<'_>, symbol: &str, text: &str) {
    let function = SafeCall::define(e, symbol);
    let array = e.stack(function, size_of::<ByteArray>() as u32);
    e.store_at(array, byte_array::DATA.offset, e.bytes("text", text.as_bytes(), 1));
    e.store_at(array, byte_array::SIZE.offset, e.int(Ty::I64, text.len() as i64));
    let make = declare(e, STRING_FROM_BYTE_ARRAY);
    let status = e.call(make, &[array, e.param(function, 3)]).expect("an int");
    e.ret(status);
}
