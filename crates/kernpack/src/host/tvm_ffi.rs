// SPDX-License-Identifier: Apache-2.0
//! Tensors and errors of the crate `tvm-ffi`.
//!
//! Its tensors are references that are counted, and whoever has one may write the memory. So
//! theirs are lent to be read, and ours become theirs; that nobody else has a tensor, only its
//! owner knows.

#![expect(unsafe_code, reason = "objects of libtvm_ffi are handed on by address")]

use super::adopt;
use crate::{Element, Error, Result, Tensor, View, ViewMut};
use ::tvm_ffi::tvm_ffi_sys::{TVMFFIByteArray, TVMFFIErrorCreate};
use ::tvm_ffi::{ObjectArc, ObjectRefCore};
use core::ptr;
use kernpack_ffi_abi::layout::{DLTensor, TENSOR_VIEW_OFFSET};

type TensorObject = <::tvm_ffi::Tensor as ObjectRefCore>::ContainerType;
type ErrorObject = <::tvm_ffi::Error as ObjectRefCore>::ContainerType;

/// The tensor that an object has behind its head. It is not read as their struct, whose device is
/// an enum of those that the crate knows.
fn view(tensor: &::tvm_ffi::Tensor) -> DLTensor {
    // SAFETY: the pointer is used while the tensor is borrowed.
    let object = unsafe { ObjectArc::as_raw(::tvm_ffi::Tensor::data(tensor)) };
    let view = object.wrapping_byte_add(TENSOR_VIEW_OFFSET as usize).cast::<DLTensor>();
    // SAFETY: that is where a tensor has it.
    unsafe { *view }
}

impl<'t, T: Element> View<'t, T> {
    /// A tensor of `tvm-ffi`, to read. Who writes it meanwhile through another reference breaks the
    /// promise that `Tensor::data_as_slice_mut` asks for.
    ///
    /// # Errors
    /// Where it has another dtype.
    pub fn from_tvm_ffi(tensor: &'t ::tvm_ffi::Tensor) -> Result<View<'t, T>> {
        // SAFETY: the tensor is borrowed for `'t`, and who writes it promises that nobody reads it.
        unsafe { View::from_raw(view(tensor)) }
    }
}

impl<'t, T: Element> ViewMut<'t, T> {
    /// A tensor of `tvm-ffi`, to write.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// Nobody reads or writes the memory for `'t` through another reference to the tensor, or to
    /// whatever it was made of.
    pub unsafe fn from_tvm_ffi(tensor: &'t mut ::tvm_ffi::Tensor) -> Result<ViewMut<'t, T>> {
        // SAFETY: the caller vouches for it.
        unsafe { ViewMut::from_raw(view(tensor)) }
    }
}

impl<T: Element> Tensor<T> {
    /// A tensor of `tvm-ffi` as one that may be read and written at will. Where it is refused, the
    /// reference is dropped.
    ///
    /// # Errors
    /// Where there are other references to it, it has another dtype, is not compact and row-major,
    /// or where its elements do not lie as their type asks for.
    ///
    /// # Safety
    /// The memory is that of no other tensor, of whatever library, and its elements are values of
    /// `T`.
    pub unsafe fn from_tvm_ffi(tensor: ::tvm_ffi::Tensor) -> Result<Tensor<T>> {
        check_unshared(&tensor)?;
        // SAFETY: a tensor has as many extents and strides as it says.
        unsafe { adopt::check::<T>(&view(&tensor)) }?;
        // SAFETY: the reference is handed on.
        let object = unsafe { ObjectArc::into_raw(::tvm_ffi::Tensor::into_data(tensor)) };
        // SAFETY: it is a compact tensor, and the only reference.
        unsafe { Tensor::from_object(object.cast_mut().cast()) }
    }
}

/// Refuses a tensor to which there are other references. All strong ones have one weak one
/// together.
fn check_unshared(tensor: &::tvm_ffi::Tensor) -> Result<()> {
    let object = ::tvm_ffi::Tensor::data(tensor);
    let others = ObjectArc::strong_count(object) + ObjectArc::weak_count(object) - 2;
    match others {
        0 => Ok(()),
        _ => Err(Error::Value(format!(
            "expected the only reference to a tensor, got one of {}",
            others + 1
        ))),
    }
}

impl<T: Element> From<Tensor<T>> for ::tvm_ffi::Tensor {
    fn from(tensor: Tensor<T>) -> ::tvm_ffi::Tensor {
        let object = tensor.into_object().cast::<TensorObject>();
        // SAFETY: it is a tensor, whose reference is handed on.
        let object = unsafe { ObjectArc::from_raw(object) };
        // SAFETY: as above.
        unsafe { ::tvm_ffi::Tensor::from_data(object) }
    }
}

/// An error of the same kind and message, of any kind that there is.
impl From<Error> for ::tvm_ffi::Error {
    fn from(error: Error) -> ::tvm_ffi::Error {
        let [kind, message, backtrace] = [error.kind(), error.message(), ""].map(bytes);
        let mut object = ptr::null_mut();
        // SAFETY: the texts are there, and so is a place for the error.
        let code = unsafe { TVMFFIErrorCreate(&kind, &message, &backtrace, &mut object) };
        assert_eq!(code, 0, "libtvm_ffi makes errors");
        // SAFETY: it is an error, whose reference is ours.
        let object = unsafe { ObjectArc::from_raw(object.cast::<ErrorObject>()) };
        // SAFETY: as above.
        unsafe { ::tvm_ffi::Error::from_data(object) }
    }
}

fn bytes(text: &str) -> TVMFFIByteArray {
    // SAFETY: it is used while the text is there.
    unsafe { TVMFFIByteArray::from_str(text) }
}

/// An error of the same kind and message. Its backtrace is left.
impl From<::tvm_ffi::Error> for Error {
    fn from(error: ::tvm_ffi::Error) -> Error {
        Error::new(error.kind().as_str(), error.message().to_string())
    }
}
