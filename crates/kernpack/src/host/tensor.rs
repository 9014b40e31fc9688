// SPDX-License-Identifier: Apache-2.0
//! Tensors that own their memory: what functions return.

#![expect(unsafe_code, reason = "tensors are objects of libtvm_ffi")]

use super::lend::{check_dtype, lend_view};
use crate::call::check;
use crate::{Cpu, Element, Error, Place, Result, ViewMut};
use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};
use kernpack_ffi_abi::layout::{DLTensor, TENSOR_VIEW_OFFSET};
use kernpack_ffi_abi::libtvm_ffi::{TVMFFIObjectDecRef, TVMFFITensorFromDLPackVersioned};
use kernpack_ffi_abi::{DeviceType, ManagedTensor, slice};

/// A tensor with memory of its own, which nobody else has: compact and row-major, on the CPU or on
/// a GPU.
///
/// On a GPU it is ready on the stream of the call that returned it, and its memory goes back in the
/// order of that stream. Where it was lent to calls on another one, or as a [`ViewMut`], it is
/// freed with a wait for all that runs on the device.
pub struct Tensor<T> {
    object: NonNull<c_void>,
    /// The stream that its memory goes by; NULL where there is none.
    stream: *mut c_void,
    /// Whether others may use it.
    is_elsewhere: AtomicBool,
    elements: PhantomData<T>,
}

// SAFETY: nobody else has the tensor, and any thread may free it.
unsafe impl<T: Send> Send for Tensor<T> {}
// SAFETY: a shared tensor is only read.
unsafe impl<T: Sync> Sync for Tensor<T> {}

impl<T> Drop for Tensor<T> {
    fn drop(&mut self) {
        if *self.is_elsewhere.get_mut() {
            kernpack_allocator::wait_for_gpu(self.view().device_id);
        }
        // SAFETY: the reference is this value's.
        unsafe { TVMFFIObjectDecRef(self.object.as_ptr()) };
    }
}

/// The object of a managed tensor, whose reference is the caller's.
///
/// # Errors
/// Where libtvm_ffi cannot make it.
///
/// # Safety
/// The managed tensor is the caller's, who hands it on.
pub(super) unsafe fn object_of(managed: *mut ManagedTensor) -> Result<*mut c_void> {
    let mut object = ptr::null_mut();
    // SAFETY: the caller says so, and there is a place for the object.
    check(unsafe { TVMFFITensorFromDLPackVersioned(managed, 0, 0, &mut object) })?;
    Ok(object)
}

impl<T> Tensor<T> {
    pub(crate) fn view(&self) -> &DLTensor {
        let view = self.object.as_ptr().wrapping_byte_add(TENSOR_VIEW_OFFSET as usize);
        // SAFETY: that is where a tensor has its view, as long as it is there.
        unsafe { &*view.cast_const().cast::<DLTensor>() }
    }

    /// The view, for use on a stream.
    fn view_on(&self, stream: *mut c_void) -> DLTensor {
        if stream != self.stream {
            self.lend_elsewhere();
        }
        *self.view()
    }

    /// Notes that who uses the memory is not known.
    fn lend_elsewhere(&self) {
        if !self.stream.is_null() {
            self.is_elsewhere.store(true, Ordering::Relaxed);
        }
    }
}

impl<T: Element> Tensor<T> {
    /// The tensor of an object that a function has just returned.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// It is a Tensor, compact and row-major, of which this is the only reference.
    pub(crate) unsafe fn from_object(object: *mut c_void) -> Result<Tensor<T>> {
        let object = NonNull::new(object)
            .ok_or_else(|| Error::Runtime("a tensor that is returned is NULL".to_string()))?;
        let (stream, is_elsewhere) = (ptr::null_mut(), AtomicBool::new(false));
        let tensor = Tensor { object, stream, is_elsewhere, elements: PhantomData };
        check_dtype::<T>(tensor.view())?;
        Ok(tensor)
    }

    /// The same, with memory that goes by the order of that stream.
    pub(crate) fn ordered_by(self, stream: *mut c_void) -> Tensor<T> {
        let mut tensor = self;
        tensor.stream = stream;
        tensor
    }

    /// The object, whose reference is the caller's.
    #[cfg(feature = "tvm-ffi")]
    pub(crate) fn into_object(self) -> *mut c_void {
        core::mem::ManuallyDrop::new(self).object.as_ptr()
    }

    /// The extents.
    pub fn shape(&self) -> &[i64] {
        // SAFETY: a tensor has its own.
        unsafe { self.view().extents() }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().product::<i64>() as usize
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device: its type, and its number among those of that type.
    pub fn device(&self) -> (DeviceType, i32) {
        let view = self.view();
        (DeviceType(view.device_type), view.device_id)
    }

    /// The address of the first element, on the device.
    pub fn address(&self) -> u64 {
        self.view().data + self.view().byte_offset
    }

    /// Refuses elements that are not in the memory of the host, each in bytes of its own.
    fn require_host(&self) -> Result<()> {
        let (device, number) = self.device();
        if !device.is_host() {
            return Err(Error::Value(format!(
                "the elements are on {device}:{number}, which the CPU cannot read"
            )));
        }
        match T::DTYPE.element_bits() < 8 {
            false => Ok(()),
            true => Err(Error::Value(format!(
                "elements of {} are packed in bytes, so that there is no slice of them: read the \
                 bytes at `address`",
                T::DTYPE
            ))),
        }
    }

    /// The tensor as a view, to write.
    pub fn as_view_mut(&mut self) -> ViewMut<'_, T> {
        self.lend_elsewhere();
        // SAFETY: the view is the tensor's own, which nobody else has.
        let view = unsafe { ViewMut::from_raw(*self.view()) };
        view.expect("a tensor has the dtype of its type")
    }

    /// The elements.
    ///
    /// # Errors
    /// Where they are on a GPU, or packed: smaller than a byte.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.require_host()?;
        // SAFETY: it is compact, has elements of that type, and nobody writes them.
        Ok(unsafe { slice(self.address() as *const T, self.len()) })
    }

    /// The elements, to write.
    ///
    /// # Errors
    /// Where they are on a GPU, or packed: smaller than a byte.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.require_host()?;
        let (data, len) = (self.address() as *mut T, self.len());
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as above; nobody else has the tensor.
        Ok(unsafe { core::slice::from_raw_parts_mut(data, len) })
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, number) = self.device();
        write!(f, "Tensor({:?}, {}, {device}:{number})", self.shape(), T::DTYPE)
    }
}

// SAFETY: the view is the tensor's own; who borrows the tensor keeps it, and nobody writes it.
lend_view!(Lend for Tensor<T>, (self, _place) on [] Cpu => Ok(*self.view()));

// SAFETY: as above; nobody else has the tensor.
lend_view!(LendMut for Tensor<T>, (self, _place) on [] Cpu => Ok(*self.view()));

// SAFETY: as of the CPU.
lend_view!(
    Lend for Tensor<T>, (self, place) on [P: Place + ?Sized] P => Ok(self.view_on(place.passed()))
);

// SAFETY: as of the CPU.
lend_view!(
    LendMut for Tensor<T>, (self, place) on [P: Place + ?Sized] P => {
        Ok(self.view_on(place.passed()))
    }
);
