// SPDX-License-Identifier: Apache-2.0
//! Memory and streams of `cudarc`: slices as tensors on a GPU.
//!
//! A slice knows what its memory waits for: `device_ptr` and `device_ptr_mut` have the stream of a
//! call wait for what was last done with the slice on other streams, and their guards note, when
//! the launch has been made, that others have to wait for the call. So calls on several streams of
//! one context are in order, as `cudarc`'s own launches are. Where event tracking is off
//! (`CudaContext::disable_event_tracking`), order is the user's affair.

#![expect(unsafe_code, reason = "a view is made of addresses")]

use super::lend::{check_count, view_of};
use crate::{Element, Error, Hold, HoldMut, Lend, LendMut, Result, Stream};
use core::ffi::c_void;
use core::marker::PhantomData;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, SyncOnDrop,
};
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::layout::DLTensor;
use std::sync::Arc;

// SAFETY: a stream has its handle as long as it is there.
unsafe impl Stream for CudaStream {
    fn device_id(&self) -> i32 {
        self.context().ordinal() as i32
    }

    fn handle(&self) -> *mut c_void {
        self.cu_stream().cast()
    }

    /// Streams that the driver numbers are those of the current context.
    fn prepare(&self) -> Result<()> {
        let bound = self.context().bind_to_thread();
        bound
            .map_err(|error| Error::Runtime(format!("the context cannot be made current: {error}")))
    }
}

mod sealed {
    use super::{Arc, CudaSlice, CudaStream, CudaView, CudaViewMut};

    pub trait Sealed {}
    impl<T> Sealed for CudaSlice<T> {}
    impl<T> Sealed for CudaView<'_, T> {}
    impl<T> Sealed for CudaViewMut<'_, T> {}
    impl Sealed for CudaStream {}
    impl Sealed for Arc<CudaStream> {}
}

/// Memory of `cudarc` that can be a tensor: a slice, or a view of one.
pub trait CudaMemory<T: Element>: DevicePtr<T> + sealed::Sealed + Sized {
    /// The memory as a row-major tensor of these extents, to read.
    ///
    /// # Errors
    /// Where they do not count its elements.
    fn tensor<const N: usize>(&self, shape: [usize; N]) -> Result<CudaTensor<'_, T, Self, N>> {
        let shape = extents(self.len(), shape)?;
        Ok(CudaTensor { memory: self, shape, elements: PhantomData })
    }

    /// The memory as a row-major tensor of these extents, to write.
    ///
    /// # Errors
    /// Where they do not count its elements.
    fn tensor_mut<const N: usize>(
        &mut self,
        shape: [usize; N],
    ) -> Result<CudaTensorMut<'_, T, Self, N>> {
        let shape = extents(self.len(), shape)?;
        Ok(CudaTensorMut { memory: self, shape, elements: PhantomData })
    }
}

impl<T: Element> CudaMemory<T> for CudaSlice<T> {}
impl<T: Element> CudaMemory<T> for CudaView<'_, T> {}
impl<T: Element> CudaMemory<T> for CudaViewMut<'_, T> {}

/// Extents that count so many elements.
fn extents<const N: usize>(n_elements: usize, shape: [usize; N]) -> Result<[i64; N]> {
    // What does not fit is too large for any slice.
    let shape = shape.map(|extent| i64::try_from(extent).unwrap_or(i64::MAX));
    check_count(n_elements, &shape)?;
    Ok(shape)
}

/// A row-major tensor in memory of `cudarc`, to read.
#[derive(Debug)]
pub struct CudaTensor<'m, T, M, const N: usize> {
    memory: &'m M,
    shape: [i64; N],
    elements: PhantomData<T>,
}

/// A row-major tensor in memory of `cudarc`, to write.
#[derive(Debug)]
pub struct CudaTensorMut<'m, T, M, const N: usize> {
    memory: &'m mut M,
    shape: [i64; N],
    elements: PhantomData<T>,
}

/// A row-major tensor that owns memory of `cudarc`: what a prepared call may hold for good. It is
/// made by [`IntoTensor`].
#[derive(Debug)]
pub struct CudaOwned<T, const N: usize> {
    memory: CudaSlice<T>,
    shape: [i64; N],
}

impl<T, const N: usize> CudaOwned<T, N> {
    /// The memory.
    pub fn memory(&self) -> &CudaSlice<T> {
        &self.memory
    }

    /// The memory back.
    pub fn into_memory(self) -> CudaSlice<T> {
        self.memory
    }
}

/// Memory of `cudarc` that becomes a tensor which owns it.
pub trait IntoTensor<T: Element>: sealed::Sealed + Sized {
    /// The memory as a row-major tensor of these extents.
    ///
    /// # Errors
    /// Where they do not count its elements.
    fn into_tensor<const N: usize>(self, shape: [usize; N]) -> Result<CudaOwned<T, N>>;
}

impl<T: Element> IntoTensor<T> for CudaSlice<T> {
    fn into_tensor<const N: usize>(self, shape: [usize; N]) -> Result<CudaOwned<T, N>> {
        let shape = extents(self.len(), shape)?;
        Ok(CudaOwned { memory: self, shape })
    }
}

// SAFETY: a slice has its memory as long as it is there.
unsafe impl<T, const N: usize> Hold for CudaOwned<T, N> {}
// SAFETY: the memory behind the reference is there as long as that.
unsafe impl<T, M, const N: usize> Hold for CudaTensor<'_, T, M, N> {}
// SAFETY: as above.
unsafe impl<T, M, const N: usize> Hold for CudaTensorMut<'_, T, M, N> {}

// SAFETY: it is a view of the same elements.
unsafe impl<T, const N: usize> HoldMut for CudaOwned<T, N> {
    type Contents<'c>
        = CudaViewMut<'c, T>
    where
        Self: 'c;

    fn contents(&mut self) -> CudaViewMut<'_, T> {
        self.memory.as_view_mut()
    }
}

/// A stream of `cudarc`, as functions take one: itself, or the `Arc` that it comes in.
pub trait CudarcStream: Stream + sealed::Sealed {
    /// The stream.
    fn stream(&self) -> &CudaStream;
}

impl CudarcStream for CudaStream {
    fn stream(&self) -> &CudaStream {
        self
    }
}

impl CudarcStream for Arc<CudaStream> {
    fn stream(&self) -> &CudaStream {
        self
    }
}

/// Refuses memory of another context than the stream's.
fn check_context(memory: &CudaStream, stream: &CudaStream) -> Result<()> {
    if memory.context().cu_ctx() == stream.context().cu_ctx() {
        return Ok(());
    }
    let [expected, found] = [stream, memory].map(|each| each.context().ordinal());
    Err(Error::Value(format!(
        "the memory is of another context than the stream: expected cuda:{expected}, got \
         cuda:{found}"
    )))
}

/// A tensor of these extents at an address, where the stream has been told to wait for it, with the
/// guard that has others wait for the stream.
fn lent<'g, T: Element>(
    (address, guard): (CUdeviceptr, SyncOnDrop<'g>),
    shape: &[i64],
    stream: &CudaStream,
) -> Result<(DLTensor, SyncOnDrop<'g>)> {
    // What goes wrong with events, `cudarc` keeps for whoever asks.
    if let Err(error) = stream.context().check_err() {
        // Nothing is launched, so that it is nobody's business what the guard meets.
        drop(guard);
        let _ = stream.context().check_err();
        let message = format!("the stream cannot wait for the memory: {error}");
        return Err(Error::Runtime(message));
    }
    let device = (DeviceType::CUDA, stream.device_id());
    Ok((view_of::<T>(address, device, shape.as_ptr() as u64, 0, shape.len()), guard))
}

/// Has a tensor lend its memory, of whose address `cudarc` is asked.
macro_rules! lend_memory {
    (Lend for [$($generics:tt)*] $ty:ty) => {
        lend_memory!(Lend, lend, [&'a], device_ptr, [$($generics)*] $ty);
    };
    (LendMut for [$($generics:tt)*] $ty:ty) => {
        lend_memory!(LendMut, lend_mut, [&'a mut], device_ptr_mut, [$($generics)*] $ty);
    };
    ($lend:ident, $method:ident, [$($reference:tt)*], $ptr:ident, [$($generics:tt)*] $ty:ty) => {
        // SAFETY: stands where this is used.
        unsafe impl<S: CudarcStream, T: Element, $($generics)*> $lend<S> for $ty {
            type Element = T;
            type Guard<'a> = SyncOnDrop<'a> where Self: 'a, S: 'a;

            fn $method<'a>(
                self: $($reference)* Self,
                stream: &'a S,
            ) -> Result<(DLTensor, SyncOnDrop<'a>)> {
                let stream = stream.stream();
                check_context(self.memory.stream(), stream)?;
                lent::<T>(self.memory.$ptr(stream), &self.shape, stream)
            }
        }
    };
}

// SAFETY: the memory has so many elements and lies on the device of its context, which is that of
// the stream; the guard has others wait that write it.
lend_memory!(Lend for [M: CudaMemory<T>, const N: usize] CudaTensor<'_, T, M, N>);

// SAFETY: as above; the guard has others wait that read or write it.
lend_memory!(
    LendMut for [M: CudaMemory<T> + DevicePtrMut<T>, const N: usize] CudaTensorMut<'_, T, M, N>
);

// SAFETY: as of a tensor that borrows its memory.
lend_memory!(Lend for [const N: usize] CudaOwned<T, N>);

// SAFETY: as above.
lend_memory!(LendMut for [const N: usize] CudaOwned<T, N>);
