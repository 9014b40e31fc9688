// SPDX-License-Identifier: Apache-2.0
//! What the environment's allocator refuses: its error is raised again, with the call in front. A
//! function of the package does it for all.

use super::import::declare;
use crate::llvm::{Emitter, Function, Predicate, Ty, V};
use kernpack_ffi_abi::imports::{ERROR_MOVE_FROM_RAISED, ERROR_SET_RAISED_PARTS, OBJECT_DEC_REF};
use kernpack_ffi_abi::layout::{ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET, byte_array};

/// The most bytes of a kind that are kept, its end included.
const KIND_BYTES: u32 = 64;
/// The most bytes of a message that are kept, its end included.
const MESSAGE_BYTES: u32 = 1024;

/// `kernpack_allocation_refused(what)`: raises the error that is raised again, behind the C string
/// `what`.
pub fn refused<'c>(e: &Emitter<'c>) -> Function<'c> {
    let function = e.declare("kernpack_allocation_refused", &[Ty::Ptr], Some(Ty::I32));
    e.mark_cold(function);
    function
}

/// Writes that function into the module.
pub fn define(e: &Emitter<'_>) {
    let function = refused(e);
    e.begin(function);
    let at = e.stack(function, 8);
    e.call(declare(e, ERROR_MOVE_FROM_RAISED), &[at]);
    let error = e.load(Ty::Ptr, at);
    let kind = c_string(e, function, e.offset_by(error, ERROR_KIND_OFFSET), KIND_BYTES);
    let message = c_string(e, function, e.offset_by(error, ERROR_MESSAGE_OFFSET), MESSAGE_BYTES);
    let parts = e.stack(function, 16);
    e.store_at(parts, 0, e.param(function, 0));
    e.store_at(parts, 8, message);
    e.call(declare(e, ERROR_SET_RAISED_PARTS), &[kind, parts, e.int(Ty::I32, 2)]);
    e.call(declare(e, OBJECT_DEC_REF), &[error]);
    e.ret(e.int(Ty::I32, -1));
}

/// A byte array as a C string of at most `room` bytes, which is on the function's stack.
fn c_string<'c>(e: &Emitter<'c>, function: Function<'c>, array: V<'c>, room: u32) -> V<'c> {
    let data = e.load(Ty::Ptr, e.offset_by(array, byte_array::DATA.offset));
    let size = e.load(Ty::I64, e.offset_by(array, byte_array::SIZE.offset));
    let most = e.int(Ty::I64, i64::from(room) - 1);
    let size = e.select(e.compare(Predicate::ULT, size, most), size, most);
    let string = e.stack(function, room);
    let copy = e.declare("memcpy", &[Ty::Ptr, Ty::Ptr, Ty::I64], Some(Ty::Ptr));
    e.call(copy, &[string, data, size]);
    e.store(e.offset(string, size), e.int(Ty::I8, 0));
    string
}
