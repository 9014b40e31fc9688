// SPDX-License-Identifier: Apache-2.0
//! Where tensors have their elements, for who keeps a copy of them.

#![expect(unsafe_code, reason = "arguments are C")]

use crate::ffi::{Args, Error, Value};
use kernpack_ffi_abi::layout::{Any, DLTensor};
use kernpack_ffi_abi::value::{items, view};
use kernpack_ffi_abi::{DType, TypeIndex, slice};

/// A device by its type and number, and there an address with a number of bytes.
type Span = (i32, i32, u64, u64);

/// `kernpack_spans(arg, …) -> JSON`: for each tensor among the arguments, or in tuples of them,
/// `[device_type, device_id, address, bytes]`: from its first byte to its last one.
pub fn spans(args: Args<'_>) -> Result<Value, Error> {
    let mut found = Vec::new();
    // SAFETY: the arguments are those of an entry point's caller.
    args.behind(0).iter().for_each(|arg| unsafe { add(arg, &mut found) });
    Value::json(&found)
}

/// # Safety
/// It is an argument of an entry point's caller.
unsafe fn add(arg: &Any, found: &mut Vec<Span>) {
    // SAFETY: as the caller says.
    if let Some(view) = unsafe { view(arg) } {
        // SAFETY: a caller's view has as many extents and strides as it says.
        found.extend(unsafe { span(view) });
    } else if matches!(TypeIndex(arg.type_index), TypeIndex::ARRAY | TypeIndex::LIST) {
        // SAFETY: as the caller says.
        let (data, size) = unsafe { items(arg) };
        // SAFETY: the items live as long as what they are in.
        let items = unsafe { slice(data as *const Any, size) };
        // SAFETY: items are passed as arguments are.
        items.iter().for_each(|item| unsafe { add(item, found) });
    }
}

/// The span of a tensor; none of one without elements.
///
/// # Safety
/// It has as many extents, and strides if any, as it says.
unsafe fn span(view: &DLTensor) -> Option<Span> {
    // SAFETY: as the caller says.
    let extents = unsafe { view.extents() };
    if extents.contains(&0) {
        return None;
    }
    let steps: Vec<i64> = match view.strides {
        0 => row_major(extents),
        // SAFETY: as the caller says.
        strides => unsafe { slice(strides as *const i64, extents.len()) }.to_vec(),
    };
    let ends = extents.iter().zip(steps).map(|(extent, step)| (extent - 1).wrapping_mul(step));
    let (below, above) = ends.fold((0, 0), |(below, above), end: i64| {
        (end.min(0).wrapping_add(below), end.max(0).wrapping_add(above))
    });
    let bits = i64::from(DType::from_packed(view.dtype).element_bits());
    let first = below.wrapping_mul(bits).div_euclid(8);
    let last = (above.wrapping_add(1).wrapping_mul(bits).wrapping_add(7)).div_euclid(8);
    let address = view.data.wrapping_add(view.byte_offset).wrapping_add_signed(first);
    Some((view.device_type, view.device_id, address, (last - first) as u64))
}

fn row_major(extents: &[i64]) -> Vec<i64> {
    let mut step = 1i64;
    let mut steps = Vec::with_capacity(extents.len());
    for extent in extents.iter().rev() {
        steps.push(step);
        step = step.wrapping_mul(*extent);
    }
    steps.reverse();
    steps
}
