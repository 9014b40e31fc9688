// SPDX-License-Identifier: Apache-2.0
//! Calls that are checked once: what they hold, and how they are launched.
//!
//! A prepared call is a function object with the addresses of its tensors. The tensors themselves
//! are the caller's, who keeps them beside the function, and drops that first. Not here: the types
//! of prepared calls, which generated functions have.

#![expect(unsafe_code, reason = "functions are objects of libtvm_ffi, and tensors addresses")]

use super::stream::set_current;
use super::tensor::object_of;
use crate::call::{Any, Returned, check};
use crate::{Absent, Element, Result, Stream, Tensor, View, ViewMut};
use core::ptr;
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIFunctionCall;
use kernpack_ffi_abi::{ManagedTensor, TypeIndex};

/// A tensor that a prepared call may hold.
///
/// # Safety
/// Its elements stay where they are as long as the value is there, wherever it is moved to, and
/// whatever is done with a reference `&` to it.
#[diagnostic::on_unimplemented(
    message = "a prepared call cannot hold `{Self}`",
    note = "it holds tensors whose elements stay in their place: `slice.into_tensor([m, n])?` of \
            memory of `cudarc`, what a function returned, views"
)]
pub unsafe trait Hold {}

/// A tensor that a prepared call lends to be written between launches.
///
/// # Safety
/// What is lent does not have the elements be elsewhere.
pub unsafe trait HoldMut: Hold {
    /// The elements, to write.
    type Contents<'c>
    where
        Self: 'c;

    /// Lends the elements.
    fn contents(&mut self) -> Self::Contents<'_>;
}

// SAFETY: whoever made the view vouched for it.
unsafe impl<T> Hold for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Hold for ViewMut<'_, T> {}
// SAFETY: a tensor has its memory as long as it is there.
unsafe impl<T> Hold for Tensor<T> {}
// SAFETY: there is none.
unsafe impl<T> Hold for Absent<T> {}
// SAFETY: it is what is behind the reference, which stays there.
unsafe impl<H: Hold + ?Sized> Hold for &H {}
// SAFETY: as above.
unsafe impl<H: Hold + ?Sized> Hold for &mut H {}

// SAFETY: it is a view of the same elements.
unsafe impl<T: Element> HoldMut for ViewMut<'_, T> {
    type Contents<'c>
        = ViewMut<'c, T>
    where
        Self: 'c;

    fn contents(&mut self) -> ViewMut<'_, T> {
        self.again()
    }
}

// SAFETY: as above.
unsafe impl<T: Element> HoldMut for Tensor<T> {
    type Contents<'c>
        = ViewMut<'c, T>
    where
        Self: 'c;

    fn contents(&mut self) -> ViewMut<'_, T> {
        self.as_view_mut()
    }
}

// SAFETY: it is what is behind the reference.
unsafe impl<H: HoldMut + ?Sized> HoldMut for &mut H {
    type Contents<'c>
        = H::Contents<'c>
    where
        Self: 'c;

    fn contents(&mut self) -> H::Contents<'_> {
        (**self).contents()
    }
}

/// A tensor as an object, which a prepared call may keep. The memory stays its owner's.
#[derive(Debug)]
pub struct Held(Returned);

impl Held {
    /// The object as a value, which is good as long as this is there.
    pub fn any(&self) -> Any {
        self.0.value()
    }
}

/// Makes an object of a view.
///
/// # Errors
/// Where libtvm_ffi cannot make it.
pub fn hold(view: &DLTensor) -> Result<Held> {
    // SAFETY: a view that is lent has the extents and strides that it says.
    let managed = unsafe { ManagedTensor::over(view, ()) };
    // SAFETY: it has just been made.
    let object = unsafe { object_of(managed) }?;
    Ok(Held(Returned::object(TypeIndex::TENSOR, object)))
}

/// A function object.
#[derive(Debug)]
pub struct Function(pub(crate) Returned);

// SAFETY: a prepared call is launched by whoever has it to himself, on any thread.
unsafe impl Send for Function {}
// SAFETY: with a shared reference nothing is done.
unsafe impl Sync for Function {}

/// Launches a prepared call on a stream.
///
/// # Errors
/// Why it failed.
///
/// # Safety
/// What it was prepared with is there, and nobody else has what it writes.
#[inline]
pub unsafe fn launch<S: Stream + ?Sized>(stream: &S, function: &Function) -> Result<()> {
    let _current = set_current(stream)?;
    let object = function.0.value().payload as *mut _;
    let mut returned = Returned::none();
    // SAFETY: it is a function, which takes nothing, and there is a place for the result.
    check(unsafe { TVMFFIFunctionCall(object, ptr::null(), 0, returned.place()) })
}
