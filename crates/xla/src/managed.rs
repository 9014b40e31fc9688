// SPDX-License-Identifier: Apache-2.0
//! Tensors in DLPack's managed form, whose memory is XLA's: what is freed is the description alone.
#![expect(unsafe_code, reason = "reads and frees what C holds by address")]

use crate::tvm_ffi::{self, Managed};
use core::ptr;
use kernpack_ffi_abi::layout::DLTensor;

/// A managed tensor and its extents and strides. C has the address of its first field.
#[repr(C)]
struct Owner {
    managed: Managed,
    dims: Box<[i64]>,
}

/// A managed tensor like `view`, with extents and strides of its own.
pub(crate) fn view(view: &DLTensor) -> *mut Managed {
    // SAFETY: a view has as many extents as it says.
    let shape = unsafe { tvm_ffi::slice(view.shape as *const i64, rank(view)) };
    let strides = if view.strides == 0 {
        row_major(shape)
    } else {
        // SAFETY: and as many strides, where it has any.
        unsafe { tvm_ffi::slice(view.strides as *const i64, rank(view)) }.to_vec()
    };
    manage(*view, shape, &strides)
}

/// A row-major managed tensor at an address, otherwise like `prototype`.
pub(crate) fn row_major_at(prototype: &DLTensor, data: u64) -> *mut Managed {
    // SAFETY: a prototype has as many extents as it says.
    let shape = unsafe { tvm_ffi::slice(prototype.shape as *const i64, rank(prototype)) };
    let view = DLTensor { data, byte_offset: 0, ..*prototype };
    manage(view, shape, &row_major(shape))
}

fn rank(view: &DLTensor) -> usize {
    usize::try_from(view.ndim).unwrap_or(0)
}

fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut step = 1i64;
    let mut strides = vec![0; shape.len()];
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul((*extent).max(1));
    }
    strides
}

fn manage(view: DLTensor, shape: &[i64], strides: &[i64]) -> *mut Managed {
    let dims: Box<[i64]> = [shape, strides].concat().into();
    let (shape, strides) = dims.split_at(shape.len());
    let tensor =
        DLTensor { shape: shape.as_ptr() as u64, strides: strides.as_ptr() as u64, ..view };
    let managed =
        Managed { major: 1, minor: 0, context: ptr::null_mut(), deleter, flags: 0, tensor };
    Box::into_raw(Box::new(Owner { managed, dims })).cast()
}

unsafe extern "C" fn deleter(managed: *mut Managed) {
    // SAFETY: `manage` made it, as the first field of an owner, and nobody uses it any more.
    drop(unsafe { Box::from_raw(managed.cast::<Owner>()) });
}
