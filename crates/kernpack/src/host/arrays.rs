// SPDX-License-Identifier: Apache-2.0
//! Arrays of `ndarray` as tensors on the CPU, in any layout.

#![expect(unsafe_code, reason = "a view is made of addresses")]

use super::lend::view_of;
use crate::{Element, Lend, LendMut, OnHost, Result, Tensor};
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::layout::DLTensor;
use ndarray::{ArrayBase, ArrayViewD, ArrayViewMutD, Data, DataMut, Dimension, IxDyn, RawData};

const _: () = assert!(size_of::<usize>() == size_of::<i64>());

/// The view of an array whose first element is there. Its extents and strides are the array's own:
/// none is negative that need not be.
#[inline]
fn view<S: RawData<Elem: Element>, D: Dimension>(
    array: &ArrayBase<S, D>,
    data: *const S::Elem,
) -> DLTensor {
    let (shape, strides) = (array.shape(), array.strides());
    let addresses = (shape.as_ptr() as u64, strides.as_ptr() as u64);
    let device = (DeviceType::CPU, 0);
    view_of::<S::Elem>(data as u64, device, addresses.0, addresses.1, shape.len())
}

// SAFETY: an array has elements where its extents and strides say, and nobody writes them while it
// is borrowed.
unsafe impl<P: OnHost, S: Data<Elem: Element>, D: Dimension> Lend<P> for ArrayBase<S, D> {
    type Element = S::Elem;
    type Guard<'a>
        = ()
    where
        Self: 'a,
        P: 'a;

    #[inline]
    fn lend<'a>(&'a self, _: &'a P) -> Result<(DLTensor, ())> {
        Ok((view(self, self.as_ptr()), ()))
    }
}

// SAFETY: as above; `as_mut_ptr` sees to it that nobody else has the elements.
unsafe impl<P: OnHost, S: DataMut<Elem: Element>, D: Dimension> LendMut<P> for ArrayBase<S, D> {
    type Element = S::Elem;
    type Guard<'a>
        = ()
    where
        Self: 'a,
        P: 'a;

    #[inline]
    fn lend_mut<'a>(&'a mut self, _: &'a P) -> Result<(DLTensor, ())> {
        let data = self.as_mut_ptr();
        Ok((view(self, data), ()))
    }
}

impl<T: Element> Tensor<T> {
    /// The tensor as an array.
    ///
    /// # Errors
    /// Where its elements are on a GPU.
    pub fn as_array(&self) -> Result<ArrayViewD<'_, T>> {
        let shape = array_shape(self.shape());
        let view = ArrayViewD::from_shape(shape, self.as_slice()?);
        Ok(view.expect("a tensor has as many elements as its extents say"))
    }

    /// The tensor as an array, to write.
    ///
    /// # Errors
    /// Where its elements are on a GPU.
    pub fn as_array_mut(&mut self) -> Result<ArrayViewMutD<'_, T>> {
        let shape = array_shape(self.shape());
        let view = ArrayViewMutD::from_shape(shape, self.as_mut_slice()?);
        Ok(view.expect("a tensor has as many elements as its extents say"))
    }
}

/// Extents, which are not negative, as `ndarray` has them.
fn array_shape(extents: &[i64]) -> IxDyn {
    let extents: Vec<_> = extents.iter().map(|extent| *extent as usize).collect();
    IxDyn(&extents)
}
