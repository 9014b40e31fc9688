// SPDX-License-Identifier: Apache-2.0
//! A GPU that is not there: the driver that needs none, with a package that is loaded for each
//! test, and tensors by their addresses.

#![expect(unsafe_code, reason = "tensors on a GPU are addresses")]

use crate::cuda_host::Host;
use crate::cuda_stub::{Stub, launched};
use crate::packages::{STREAMS, SharedObject, compiled};
use crate::streams;
use kernpack::{DLTensor, DType, DeviceType, RawStream, View, ViewMut};
use serde_json::Value;

/// A driver with one device, started, and a package that no other driver has seen.
pub struct Gpu {
    pub package: streams::Module,
    pub stub: Stub,
    pub host: Host,
    _object: SharedObject,
}

impl Gpu {
    pub fn new() -> Gpu {
        let object = SharedObject::of(&compiled(STREAMS));
        let (stub, host) = (Stub::load(""), Host::new());
        host.set_current(host.primary(0));
        Gpu { package: streams::load(&object.path).unwrap(), stub, host, _object: object }
    }

    /// A new stream.
    pub fn stream(&self) -> RawStream {
        // SAFETY: the stream is there as long as the driver that is loaded.
        unsafe { RawStream::new(0, self.host.stream() as *mut _) }
    }

    /// The arguments of the launches since they were last asked for.
    pub fn arguments(&self) -> Vec<Value> {
        let log = self.stub.take_log();
        launched(&log).into_iter().map(|launch| launch["arguments"].clone()).collect()
    }
}

/// A tensor at that address of the device.
fn on_gpu(data: u64, shape: &[i64]) -> DLTensor {
    DLTensor {
        data,
        device_type: DeviceType::CUDA.0,
        device_id: 0,
        ndim: shape.len() as i32,
        dtype: DType::FLOAT32.packed(),
        shape: shape.as_ptr() as u64,
        strides: 0,
        byte_offset: 0,
    }
}

pub fn view(data: u64, shape: &[i64]) -> View<'_, f32> {
    // SAFETY: the driver that is loaded reads no memory of a device.
    unsafe { View::from_raw(on_gpu(data, shape)) }.unwrap()
}

pub fn view_mut(data: u64, shape: &[i64]) -> ViewMut<'_, f32> {
    // SAFETY: as above.
    unsafe { ViewMut::from_raw(on_gpu(data, shape)) }.unwrap()
}
