// SPDX-License-Identifier: Apache-2.0
//! Prepared calls on PyTorch's current stream.
//!
//! A prepared function takes no tensor from which TVM-FFI could tell the stream, so that it would
//! run on the one that the environment happens to have. What is made here asks PyTorch at each
//! call, sets that stream for its time, and calls the prepared function.

#![expect(unsafe_code, reason = "PyTorch and TVM-FFI are asked through their C functions")]

use crate::ffi::{Args, Error, Object, Value};
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::layout::Any;
use libloading::os::unix::Library;
use std::ffi::c_void;
use std::ptr;

/// PyTorch's stable C function for it: the device's index, and a place for the stream.
type CurrentStream = unsafe extern "C" fn(i32, *mut *mut c_void) -> i32;
type PackedFunction = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32;

unsafe extern "C" {
    fn TVMFFIFunctionCreate(
        state: *mut c_void,
        call: PackedFunction,
        delete: unsafe extern "C" fn(*mut c_void),
        out: *mut *mut c_void,
    ) -> i32;
    fn TVMFFIEnvSetStream(
        device_type: i32,
        device_id: i32,
        stream: *mut c_void,
        previous: *mut *mut c_void,
    ) -> i32;
}

struct Prepared {
    function: Object,
    device: i32,
    current_stream: CurrentStream,
}

/// `kernpack_on_torch_stream(prepared, device_index) -> Function`
pub fn on_torch_stream(args: Args<'_>) -> Result<Value, Error> {
    let function = args.function(0)?.ok_or_else(|| Error::value("there is no function"))?;
    let device = i32::try_from(args.int(1)?).map_err(|_| Error::value("no device's index"))?;
    let prepared = Box::new(Prepared { function, device, current_stream: current_stream()? });
    let state = Box::into_raw(prepared).cast();
    let mut made = ptr::null_mut();
    // SAFETY: the state is that of `call` and `delete`.
    match unsafe { TVMFFIFunctionCreate(state, call, delete, &mut made) } {
        0 => Ok(Value::Function(Object::owned(made))),
        _ => {
            // SAFETY: nobody has taken it.
            unsafe { delete(state) };
            Err(Error::runtime("out of memory"))
        }
    }
}

/// The function of the PyTorch that this process has loaded.
fn current_stream() -> Result<CurrentStream, Error> {
    const LIBRARY: &str = "libtorch_cuda.so";
    const FUNCTION: &[u8] = b"aoti_torch_get_current_cuda_stream\0";
    // SAFETY: nothing is loaded that is not there already.
    let library = unsafe { Library::open(Some(LIBRARY), libc_rtld_noload()) };
    let library = library.map_err(|_| Error::runtime(format!("{LIBRARY} is not loaded")))?;
    // SAFETY: the type is that of `torch/csrc/inductor/aoti_torch/c/shim.h`.
    let found = unsafe { library.get::<CurrentStream>(FUNCTION) };
    let found = found.map(|symbol| *symbol);
    // What PyTorch has loaded stays.
    std::mem::forget(library);
    found.map_err(|_| Error::runtime("this PyTorch does not tell its current stream"))
}

/// `RTLD_LAZY | RTLD_NOLOAD`, as Linux has them.
fn libc_rtld_noload() -> i32 {
    0x1 | 0x4
}

unsafe extern "C" fn call(
    state: *mut c_void,
    args: *const Any,
    n_args: i32,
    result: *mut Any,
) -> i32 {
    // SAFETY: the state lives as long as the function.
    let prepared = unsafe { &*state.cast::<Prepared>() };
    let mut stream = ptr::null_mut();
    // SAFETY: the place is a variable.
    if unsafe { (prepared.current_stream)(prepared.device, &mut stream) } != 0 {
        return Error::runtime("PyTorch does not tell its current stream").raise();
    }
    let (cuda, mut previous) = (DeviceType::CUDA.0, ptr::null_mut());
    // SAFETY: as above.
    unsafe { TVMFFIEnvSetStream(cuda, prepared.device, stream, &mut previous) };
    // SAFETY: the arguments are those of the caller.
    let status = unsafe { prepared.function.call(args, n_args, result) };
    // SAFETY: the stream is the one that was set before.
    unsafe { TVMFFIEnvSetStream(cuda, prepared.device, previous, ptr::null_mut()) };
    status
}

unsafe extern "C" fn delete(state: *mut c_void) {
    // SAFETY: it was made by `on_torch_stream`, and is deleted once.
    drop(unsafe { Box::from_raw(state.cast::<Prepared>()) });
}
