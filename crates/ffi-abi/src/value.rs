// SPDX-License-Identifier: Apache-2.0
//! Values of TVM-FFI that lead somewhere: to the bytes of texts, and the items of sequences.
#![expect(unsafe_code, reason = "values lead to what lies in a caller's memory")]

use crate::layout::{Any, ByteArray, DLTensor, OBJECT_HEADER_BYTES, ShapeCell, TENSOR_VIEW_OFFSET};
use crate::memory::slice;
use crate::type_index::TypeIndex;
use core::ffi::CStr;
use core::ptr;

/// The bytes of a text or of bytes, in each of the forms that they are passed in; nothing of other
/// values.
///
/// # Safety
/// The value is what its type index says, and what it leads to is there as long as it.
pub unsafe fn bytes(any: &Any) -> Option<&[u8]> {
    let address = any.payload as *const u8;
    let (data, size) = match TypeIndex(any.type_index) {
        TypeIndex::SMALL_STR | TypeIndex::SMALL_BYTES => {
            (ptr::from_ref(&any.payload).cast(), any.padding as usize)
        }
        TypeIndex::STR | TypeIndex::BYTES => {
            let cell = address.wrapping_add(OBJECT_HEADER_BYTES as usize);
            // SAFETY: behind its header, such an object has a `ByteArray`.
            unsafe { byte_array(cell) }
        }
        // SAFETY: the value is the address of a `ByteArray`.
        TypeIndex::BYTE_ARRAY_PTR => unsafe { byte_array(address) },
        TypeIndex::RAW_STR => {
            // SAFETY: the value is the address of a text that ends in a NUL.
            let text = unsafe { CStr::from_ptr(address.cast()) };
            return Some(text.to_bytes());
        }
        _ => return None,
    };
    // SAFETY: the bytes live as long as the value.
    Some(unsafe { slice(data, size) })
}

/// # Safety
/// A `ByteArray` lies at the address.
unsafe fn byte_array(address: *const u8) -> (*const u8, usize) {
    // SAFETY: as the caller says.
    let array = unsafe { address.cast::<ByteArray>().read() };
    (array.data as *const u8, array.size as usize)
}

/// The view of a tensor; nothing of other values.
///
/// # Safety
/// The value is what its type index says, and what it leads to is there as long as it.
#[inline]
pub unsafe fn view(any: &Any) -> Option<&DLTensor> {
    let address = match TypeIndex(any.type_index) {
        TypeIndex::DL_TENSOR_PTR => any.payload as u64,
        TypeIndex::TENSOR => any.payload as u64 + u64::from(TENSOR_VIEW_OFFSET),
        _ => return None,
    };
    // SAFETY: a view lies there, behind the header of an object.
    Some(unsafe { &*(address as *const DLTensor) })
}

/// The address and the number of the items of a Shape, an Array or a List.
///
/// # Safety
/// The value is one of these.
pub unsafe fn items(any: &Any) -> (u64, usize) {
    let cell = any.payload as u64 + u64::from(OBJECT_HEADER_BYTES);
    // SAFETY: each has its items' address and then their number behind its header.
    let cell = unsafe { (cell as *const ShapeCell).read() };
    (cell.data, cell.size as usize)
}
