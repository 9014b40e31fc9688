// SPDX-License-Identifier: Apache-2.0
//! Calls on a GPU, of slices of `cudarc`, beside those that ask for addresses and guards, make
//! tensors of them and call the packed symbol, and a prepared call beside that function object.

use crate::rounds::{figure, time};
use crate::{Outcome, rms_norm};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use half::f16;
use kernpack::CudaMemory;
use kernpack_ffi_abi::layout::{Any, DLTensor};
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvSetStream;
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use serde_json::Value;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Fewer than a stream holds, so that no call waits for kernels.
const N_CALLS: i64 = 200;
const ROWS: usize = 8;
const D: usize = 1024;

unsafe extern "C" {
    fn __tvm_ffi_rms(handle: *mut c_void, args: *const Any, n_args: i32, result: *mut Any) -> i32;
}

struct Memory {
    stream: Arc<CudaStream>,
    x: CudaSlice<f16>,
    w: CudaSlice<f16>,
    out: CudaSlice<f16>,
}

impl Memory {
    fn new(context: &Arc<CudaContext>) -> Outcome<Memory> {
        let stream = context.new_stream()?;
        let [x, w, out] = [ROWS * D, D, ROWS * D].map(|n| stream.alloc_zeros(n));
        let (x, w, out) = (x?, w?, out?);
        Ok(Memory { stream, x, w, out })
    }

    fn typed(&mut self) -> kernpack::Result<()> {
        let Memory { stream, x, w, out } = self;
        rms_norm::rms(stream, x.tensor([ROWS, D])?, w.tensor([D])?, out.tensor_mut([ROWS, D])?)
            .call()
    }

    /// The same, as a program has to write it that has only the packed symbol.
    fn by_hand(&mut self) -> Outcome<()> {
        let Memory { stream, x, w, out } = self;
        stream.context().bind_to_thread()?;
        let (rows, row) = ([ROWS as i64, D as i64], [D as i64]);
        let (x, _x_guard) = x.device_ptr(stream);
        let (w, _w_guard) = w.device_ptr(stream);
        let (out, _out_guard) = out.device_ptr_mut(stream);
        let tensors = [tensor(x, &rows), tensor(w, &row), tensor(out, &rows)];
        let args = tensors.each_ref().map(|tensor| Any {
            type_index: TypeIndex::DL_TENSOR_PTR.0,
            padding: 0,
            payload: ptr::from_ref(tensor) as i64,
        });
        let (cuda, device) = (DeviceType::CUDA.0, stream.context().ordinal() as i32);
        let mut before = ptr::null_mut();
        let mut result = Any { type_index: TypeIndex::NONE.0, padding: 0, payload: 0 };
        // SAFETY: the stream is there, and there is a place for the one before.
        unsafe { TVMFFIEnvSetStream(cuda, device, stream.cu_stream().cast(), &mut before) };
        // SAFETY: the arguments are those of the function, and there is a place for the result.
        let status = unsafe { __tvm_ffi_rms(ptr::null_mut(), args.as_ptr(), 3, &mut result) };
        // SAFETY: as above.
        unsafe { TVMFFIEnvSetStream(cuda, device, before, ptr::null_mut()) };
        if status == 0 { Ok(()) } else { Err("it is refused".into()) }
    }

    /// Nanoseconds of a call, of many that are waited for at the end.
    fn time(&mut self, call: impl Fn(&mut Memory)) -> f64 {
        let nanoseconds = time(N_CALLS, || (0..N_CALLS).for_each(|_| call(self)));
        self.stream.synchronize().expect("the kernels run");
        nanoseconds
    }
}

fn tensor(data: u64, shape: &[i64]) -> DLTensor {
    DLTensor {
        data,
        device_type: DeviceType::CUDA.0,
        device_id: 0,
        ndim: shape.len() as i32,
        dtype: DType::FLOAT16.packed(),
        shape: shape.as_ptr() as u64,
        strides: 0,
        byte_offset: 0,
    }
}

/// The figures of a GPU: with events, as `cudarc` is, and without.
///
/// # Errors
/// Where there is no GPU.
pub fn measure() -> Outcome<Vec<Value>> {
    rms_norm::preload(0).call()?;
    let tracked = CudaContext::new(0)?;
    let with_events = beside("with events", &tracked)?;
    // SAFETY: each memory is used on one stream.
    unsafe { tracked.disable_event_tracking() };
    Ok(vec![with_events, beside("without events", &tracked)?])
}

fn beside(title: &str, context: &Arc<CudaContext>) -> Outcome<Value> {
    let (mut ours, mut theirs) = (Memory::new(context)?, Memory::new(context)?);
    ours.typed()?;
    theirs.by_hand()?;
    context.synchronize()?;
    Ok(figure(
        &format!("typed call from Rust, slices of cudarc {title}, beside its guards by hand"),
        1.10,
        || ours.time(|memory| memory.typed().expect("it is accepted")),
        || theirs.time(|memory| memory.by_hand().expect("it is accepted")),
    ))
}
