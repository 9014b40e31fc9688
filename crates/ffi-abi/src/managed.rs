// SPDX-License-Identifier: Apache-2.0
//! Tensors in DLPack's managed form: a view with what frees it. So memory is handed to TVM-FFI, by
//! an allocator or for a tensor object. Not here: where memory comes from.
#![expect(unsafe_code, reason = "reads and frees what C holds by address")]

use crate::layout::DLTensor;
use crate::memory::slice;
use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

/// The version of DLPack that [`ManagedTensor`] follows.
const VERSION: (u32, u32) = (1, 1);

/// `DLManagedTensorVersioned`: a tensor with what frees it.
#[repr(C)]
#[derive(Debug)]
pub struct ManagedTensor {
    /// The version of DLPack, which has to be the reader's.
    pub major: u32,
    /// The smaller part of the version.
    pub minor: u32,
    /// The owner's.
    pub context: *mut c_void,
    /// Frees the tensor, this struct included.
    pub deleter: unsafe extern "C" fn(*mut ManagedTensor),
    /// Whether it may be written, and such.
    pub flags: u64,
    /// The tensor.
    pub tensor: DLTensor,
}

/// A managed tensor and what it owns. C has the address of its first field.
#[repr(C)]
struct Owner<M> {
    managed: ManagedTensor,
    /// Extents, then strides. A `Box` would be theirs alone, and nobody could read them by address.
    dims: Arc<[i64]>,
    memory: M,
}

impl ManagedTensor {
    /// A managed tensor like `view`, with extents and strides of its own: row-major ones where the
    /// view has none. Its deleter drops `memory`, on whichever thread that is.
    ///
    /// # Safety
    /// The view must have as many extents as it says, and as many strides if any.
    pub unsafe fn over<M: Send + 'static>(view: &DLTensor, memory: M) -> *mut ManagedTensor {
        // SAFETY: the caller vouches for the extents.
        let extents = unsafe { view.extents() };
        let mut strides = extents.to_vec();
        if view.strides == 0 {
            row_major(extents, &mut strides);
        } else {
            // SAFETY: and for the strides.
            strides.copy_from_slice(unsafe { slice(view.strides as *const i64, extents.len()) });
        }
        let dims: Arc<[i64]> = extents.iter().chain(&strides).copied().collect();
        let (shape, strides) = dims.split_at(extents.len());
        let tensor =
            DLTensor { shape: shape.as_ptr() as u64, strides: strides.as_ptr() as u64, ..*view };
        let (major, minor) = VERSION;
        let (context, deleter) = (ptr::null_mut(), delete::<M> as _);
        let managed = ManagedTensor { major, minor, context, deleter, flags: 0, tensor };
        Box::into_raw(Box::new(Owner { managed, dims, memory })).cast()
    }
}

unsafe extern "C" fn delete<M>(managed: *mut ManagedTensor) {
    // SAFETY: it is the first field of an owner of such memory, and nobody uses it any more.
    drop(unsafe { Box::from_raw(managed.cast::<Owner<M>>()) });
}

/// Writes the strides of a row-major tensor, in elements. An extent of 0 counts as 1.
#[inline]
pub fn row_major(shape: &[i64], strides: &mut [i64]) {
    let mut step = 1i64;
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul((*extent).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extents and strides of a managed tensor like this view, which is deleted.
    fn expect_dims(view: DLTensor, dims: [&[i64]; 2]) {
        let memory = Arc::new(());
        // SAFETY: the callers' views have the extents and strides that they say.
        let managed = unsafe { ManagedTensor::over(&view, memory.clone()) };
        // SAFETY: it was just made.
        let ManagedTensor { deleter, tensor, .. } = unsafe { managed.read() };
        // SAFETY: a managed tensor has its own extents.
        assert_eq!(unsafe { tensor.extents() }, dims[0]);
        let strides = DLTensor { shape: tensor.strides, ..tensor };
        // SAFETY: and strides.
        assert_eq!(unsafe { strides.extents() }, dims[1]);
        assert!(tensor.shape != view.shape && tensor.data == view.data);
        assert_eq!(Arc::strong_count(&memory), 2);
        // SAFETY: nobody uses it any more.
        unsafe { deleter(managed) };
        assert_eq!(Arc::strong_count(&memory), 1);
    }

    #[test]
    fn a_managed_tensor_owns_its_dims_and_its_memory() {
        let shape = [2i64, 0, 3, 5];
        let view =
            DLTensor { data: 64, ndim: 4, shape: shape.as_ptr() as u64, ..DLTensor::default() };
        expect_dims(view, [&shape, &[15, 15, 5, 1]]);
        let strides = [7i64, 1, 0, 2];
        let view = DLTensor { strides: strides.as_ptr() as u64, ..view };
        expect_dims(view, [&shape, &strides]);
    }

    #[test]
    fn a_tensor_may_have_no_dims() {
        expect_dims(DLTensor { data: 64, ..DLTensor::default() }, [&[], &[]]);
    }
}
