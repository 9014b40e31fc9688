// SPDX-License-Identifier: Apache-2.0
//! Tensors of `dlpack-rs`: its `DLTensor` as a view, and managed tensors both ways.
//!
//! A managed tensor says neither who else has its memory nor who writes it. So one is lent, or
//! becomes a [`Tensor`], on the word of whoever gives it.

#![expect(unsafe_code, reason = "DLPack is a struct of C, and frees what it is told to")]

use super::adopt;
use super::tensor::object_of;
use crate::{Element, Error, ManagedTensor, Result, Tensor, View, ViewMut};
use core::mem::offset_of;
use core::ptr::NonNull;
use dlpack_rs::ffi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPACK_FLAG_BITMASK_READ_ONLY,
    DLTensor as Theirs,
};
use kernpack_ffi_abi::DType;
use kernpack_ffi_abi::layout::DLTensor;

/// The version of DLPack whose structs these are.
const MAJOR: u32 = dlpack_rs::ffi::DLPACK_MAJOR_VERSION;
/// The flag of elements below a byte that have a byte each.
const PADDED: u64 = dlpack_rs::ffi::DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED as u64;

// A managed tensor of ours is one of theirs.
const _: () = {
    assert!(size_of::<ManagedTensor>() == size_of::<DLManagedTensorVersioned>());
    assert!(offset_of!(ManagedTensor, deleter) == offset_of!(DLManagedTensorVersioned, deleter));
    assert!(offset_of!(ManagedTensor, flags) == offset_of!(DLManagedTensorVersioned, flags));
    assert!(offset_of!(ManagedTensor, tensor) == offset_of!(DLManagedTensorVersioned, dl_tensor));
};

/// The same tensor as a struct of ours.
fn ours(tensor: &Theirs) -> DLTensor {
    let DLDataType { code, bits, lanes } = tensor.dtype;
    DLTensor {
        data: tensor.data as u64,
        device_type: tensor.device.device_type as i32,
        device_id: tensor.device.device_id,
        ndim: tensor.ndim,
        dtype: DType { code, bits, lanes }.packed(),
        shape: tensor.shape as u64,
        strides: tensor.strides as u64,
        byte_offset: tensor.byte_offset,
    }
}

/// The same tensor as a struct of theirs.
fn theirs(tensor: &DLTensor) -> Theirs {
    let DType { code, bits, lanes } = DType::from_packed(tensor.dtype);
    let device_type = tensor.device_type as u32;
    Theirs {
        data: tensor.data as *mut _,
        device: DLDevice { device_type, device_id: tensor.device_id },
        ndim: tensor.ndim,
        dtype: DLDataType { code, bits, lanes },
        shape: tensor.shape as *mut _,
        strides: tensor.strides as *mut _,
        byte_offset: tensor.byte_offset,
    }
}

impl<'t, T: Element> View<'t, T> {
    /// The tensor that a `DLTensor` of `dlpack-rs` describes.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// All that the struct leads to is there for `'t`, and nobody writes it.
    pub unsafe fn from_dlpack(tensor: &Theirs) -> Result<View<'t, T>> {
        // SAFETY: the caller vouches for it.
        unsafe { View::from_raw(ours(tensor)) }
    }

    /// The tensor as a `DLTensor` of `dlpack-rs`, good as long as what the view is of, to be read.
    /// Where the view has no strides, there are none: it is row-major.
    pub fn to_dlpack(&self) -> Theirs {
        theirs(self.raw())
    }
}

impl<'t, T: Element> ViewMut<'t, T> {
    /// The tensor that a `DLTensor` of `dlpack-rs` describes.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// All that the struct leads to is there for `'t`, and nobody else reads or writes it.
    pub unsafe fn from_dlpack(tensor: &Theirs) -> Result<ViewMut<'t, T>> {
        // SAFETY: the caller vouches for it.
        unsafe { ViewMut::from_raw(ours(tensor)) }
    }

    /// The tensor as a `DLTensor` of `dlpack-rs`, good as long as the view is borrowed. Where the
    /// view has no strides, there are none: it is row-major.
    pub fn to_dlpack(&mut self) -> Theirs {
        theirs(self.raw())
    }
}

/// A managed tensor of either kind.
#[derive(Debug)]
enum Managed {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Legacy(NonNull<DLManagedTensor>),
}

/// A managed tensor of DLPack's, owned: its deleter is called once, when this is dropped.
///
/// It is lent as a view, or becomes a [`Tensor`].
#[derive(Debug)]
pub struct DlpackTensor(Managed);

// SAFETY: whoever made it vouched that any thread may free it.
unsafe impl Send for DlpackTensor {}
// SAFETY: a shared one is only read.
unsafe impl Sync for DlpackTensor {}

impl Drop for DlpackTensor {
    fn drop(&mut self) {
        match self.0 {
            Managed::Versioned(tensor) => {
                // SAFETY: it is there until its deleter is called.
                if let Some(delete) = unsafe { tensor.as_ref() }.deleter {
                    // SAFETY: nobody uses it any more.
                    unsafe { delete(tensor.as_ptr()) };
                }
            }
            Managed::Legacy(tensor) => {
                // SAFETY: as above.
                if let Some(delete) = unsafe { tensor.as_ref() }.deleter {
                    // SAFETY: as above.
                    unsafe { delete(tensor.as_ptr()) };
                }
            }
        }
    }
}

fn not_null<T>(tensor: *mut T) -> Result<NonNull<T>> {
    NonNull::new(tensor).ok_or_else(|| Error::Value("the managed tensor is NULL".to_string()))
}

impl DlpackTensor {
    /// Takes a managed tensor over. One that is refused is freed.
    ///
    /// # Errors
    /// Where it is NULL, or of another major version of DLPack.
    ///
    /// # Safety
    /// It is the caller's to give away, and any thread may free it. It describes memory that is
    /// there until its deleter is called, and that nobody writes while it is lent.
    pub unsafe fn from_versioned(tensor: *mut DLManagedTensorVersioned) -> Result<DlpackTensor> {
        let tensor = not_null(tensor)?;
        let owned = DlpackTensor(Managed::Versioned(tensor));
        // SAFETY: the caller says that it is there.
        let version = unsafe { tensor.as_ref() }.version;
        match version.major == MAJOR {
            true => Ok(owned),
            false => Err(Error::Value(format!(
                "expected a managed tensor of DLPack {MAJOR}, got one of {}.{}",
                version.major, version.minor
            ))),
        }
    }

    /// Takes a managed tensor of DLPack before 1.0 over. Such a one cannot say that it is
    /// read-only.
    ///
    /// # Errors
    /// Where it is NULL.
    ///
    /// # Safety
    /// As of [`from_versioned`](DlpackTensor::from_versioned).
    pub unsafe fn from_legacy(tensor: *mut DLManagedTensor) -> Result<DlpackTensor> {
        not_null(tensor).map(|tensor| DlpackTensor(Managed::Legacy(tensor)))
    }

    fn flags(&self) -> u64 {
        match self.0 {
            // SAFETY: it is there as long as this.
            Managed::Versioned(tensor) => unsafe { tensor.as_ref() }.flags,
            Managed::Legacy(_) => 0,
        }
    }

    fn raw(&self) -> DLTensor {
        match self.0 {
            // SAFETY: it is there as long as this.
            Managed::Versioned(tensor) => ours(unsafe { &tensor.as_ref().dl_tensor }),
            // SAFETY: as above.
            Managed::Legacy(tensor) => ours(unsafe { &tensor.as_ref().dl_tensor }),
        }
    }

    /// Whether it says that its memory may not be written.
    pub fn is_read_only(&self) -> bool {
        self.flags() & DLPACK_FLAG_BITMASK_READ_ONLY != 0
    }

    /// The tensor, to read.
    ///
    /// # Errors
    /// Where it has another dtype, or elements below a byte that are not packed.
    pub fn view<T: Element>(&self) -> Result<View<'_, T>> {
        self.require_packed::<T>()?;
        // SAFETY: whoever made this vouched for it.
        unsafe { View::from_raw(self.raw()) }
    }

    /// The tensor, to write.
    ///
    /// # Errors
    /// Where it is read-only, or as of [`view`](DlpackTensor::view).
    ///
    /// # Safety
    /// Nobody else reads or writes the memory as long as the view is there.
    pub unsafe fn view_mut<T: Element>(&mut self) -> Result<ViewMut<'_, T>> {
        self.require_writable()?;
        self.require_packed::<T>()?;
        // SAFETY: the caller vouches for it.
        unsafe { ViewMut::from_raw(self.raw()) }
    }

    /// The tensor as one that may be read and written at will. One that is refused is freed.
    ///
    /// # Errors
    /// Where it is read-only, has another dtype or a device that has no name, is not compact and
    /// row-major, or where its elements do not lie as their type asks for.
    ///
    /// # Safety
    /// Nobody else has the memory any more, and its elements are values of `T`.
    pub unsafe fn into_tensor<T: Element>(self) -> Result<Tensor<T>> {
        self.require_writable()?;
        self.require_packed::<T>()?;
        let view = self.raw();
        // SAFETY: whoever made this vouched for its extents and strides.
        unsafe { adopt::check::<T>(&view) }?;
        // SAFETY: as above.
        let managed = unsafe { ManagedTensor::over(&view, self) };
        // SAFETY: it has just been made.
        let object = unsafe { object_of(managed) }?;
        // SAFETY: it has just been made, of memory that is the tensor's alone and compact.
        unsafe { Tensor::from_object(object) }
    }

    fn require_writable(&self) -> Result<()> {
        match self.is_read_only() {
            false => Ok(()),
            true => Err(Error::Value(
                "expected a tensor to write, got one that is read-only: its `view` is there to be \
                 read"
                    .to_string(),
            )),
        }
    }

    fn require_packed<T: Element>(&self) -> Result<()> {
        match T::DTYPE.element_bits() < 8 && self.flags() & PADDED != 0 {
            false => Ok(()),
            true => Err(Error::Value(format!(
                "expected elements of {} packed in bytes, got a byte for each",
                T::DTYPE
            ))),
        }
    }
}

impl<T: Element> Tensor<T> {
    /// The tensor as a managed one, which is the caller's to free: by its deleter, on any thread.
    pub fn into_dlpack(self) -> *mut DLManagedTensorVersioned {
        let view = *self.view();
        // SAFETY: a tensor has its own extents and strides.
        unsafe { ManagedTensor::over(&view, self) }.cast()
    }
}
