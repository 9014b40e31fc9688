// SPDX-License-Identifier: Apache-2.0
//! Prepared calls on the current stream of the framework that their tensors are of, such as
//! PyTorch.
//!
//! A prepared function takes no tensor from which TVM-FFI could tell the stream, so that it would
//! run on the one that the environment happens to have. What is made here asks the framework at
//! each call, as TVM-FFI does where it gets a tensor, sets that stream for its time, and calls the
//! prepared function.

#![expect(unsafe_code, reason = "frameworks and TVM-FFI are asked through their C functions")]

use crate::ffi::{Args, Error, Object, Value};
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvSetStream;
use std::ffi::c_void;
use std::ptr;

/// DLPack's `DLPackCurrentWorkStream`: the type and index of a device, and a place for the stream.
type CurrentStream = unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32;

struct Prepared {
    function: Object,
    device: i32,
    current_stream: CurrentStream,
}

/// DLPack's `DLPackExchangeAPI`, version 1: what a framework offers by the attribute
/// `__dlpack_c_exchange_api__` of its tensors.
#[repr(C)]
struct ExchangeApi {
    version: [u32; 2],
    previous: *const c_void,
    /// The functions that exchange tensors.
    exchange: [*const c_void; 4],
    current_stream: Option<CurrentStream>,
}

/// `kernpack_on_stream(prepared, device_index, exchange_api) -> Function`, the last as an address.
pub fn on_stream(args: Args<'_>) -> Result<Value, Error> {
    let function = args.function(0)?.ok_or_else(|| Error::value("there is no function"))?;
    let device = i32::try_from(args.int(1)?).map_err(|_| Error::value("no device's index"))?;
    let api = args.int(2)? as *const ExchangeApi;
    // SAFETY: the caller has the address from a framework, whose table lives as long as it does.
    let api = unsafe { api.as_ref() };
    let api = api.filter(|api| api.version[0] == 1);
    let current_stream = api.and_then(|api| api.current_stream);
    let current_stream = current_stream
        .ok_or_else(|| Error::runtime("the framework does not tell its current stream"))?;
    let prepared = Prepared { function, device, current_stream };
    // SAFETY: the arguments are those of an entry point's caller.
    let call = move |args, n_args, result| unsafe { call(&prepared, args, n_args, result) };
    Object::of_closure(call).map(Value::Function)
}

unsafe fn call(prepared: &Prepared, args: *const Any, n_args: i32, result: *mut Any) -> i32 {
    let (cuda, mut stream, mut previous) = (DeviceType::CUDA.0, ptr::null_mut(), ptr::null_mut());
    // SAFETY: the place is a variable. It would want the interpreter lock where it fails, which it
    // does for devices alone that the framework does not have, and it has tensors on this one.
    if unsafe { (prepared.current_stream)(cuda, prepared.device, &mut stream) } != 0 {
        return Error::runtime("the framework does not tell its current stream").raise();
    }
    // SAFETY: as above.
    unsafe { TVMFFIEnvSetStream(cuda, prepared.device, stream, &mut previous) };
    // SAFETY: the arguments are those of the caller.
    let status = unsafe { prepared.function.call(args, n_args, result) };
    // SAFETY: the stream is the one that was set before.
    unsafe { TVMFFIEnvSetStream(cuda, prepared.device, previous, ptr::null_mut()) };
    status
}
