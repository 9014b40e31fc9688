// SPDX-License-Identifier: Apache-2.0
//! Where the arrays of a block lie. Up to [`STATIC_BYTES`] they are the kernel's own, each by
//! itself; where there are more, or where a parameter says how large one is, a launch brings one
//! array, in which they lie one behind the other: those of a known size first.
//!
//! Whoever asks where arrays lie asks here: the lowering for offsets, the verifier for what is
//! known of the sum, the interpreter for where each ends, and a launch for the bytes that it
//! brings.

use crate::kernel::{Kernel, SharedArray, Size, Value};
use kernpack_machine::block::MOST_ACCESS_BYTES;
use kernpack_machine::shared::STATIC_BYTES;

/// The least alignment of the offset of an array behind one of unknown size: what the
/// widest access of a thread moves.
const LEAST_ROUNDING: u32 = MOST_ACCESS_BYTES;

/// Where the arrays lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedLayout {
    /// Each by itself, of the kernel's own.
    Static,
    /// In one array that the launch brings.
    Dynamic(DynamicLayout),
}

/// Where arrays lie in the one that the launch brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicLayout {
    /// The offset of each, in the order of the kernel's list.
    pub offsets: Vec<Extent>,
    /// The bytes that the launch brings.
    pub total: Extent,
    /// The alignment of the array's address, in bytes.
    pub align: u32,
}

/// A number of bytes: so many, and for each of some parameters as many as that says, rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The bytes that are known.
    pub bytes: u64,
    /// Parameters that are numbers of bytes. What is below 0 counts as 0.
    pub params: Vec<Value>,
    /// To a multiple of what each of these is rounded up: a power of two.
    pub rounding: u32,
}

impl Extent {
    /// The number, where parameters are known.
    pub fn eval(&self, param: impl Fn(Value) -> i64) -> u64 {
        let rounding = u64::from(self.rounding);
        let params = self.params.iter().map(|value| param(*value).max(0) as u64);
        let rounded = params.map(|bytes| bytes.div_ceil(rounding).saturating_mul(rounding));
        rounded.fold(self.bytes, u64::saturating_add)
    }
}

impl SharedLayout {
    /// That of a kernel.
    pub fn of(kernel: &Kernel) -> SharedLayout {
        let layout = dynamic(&kernel.shared);
        let is_known = layout.total.params.is_empty();
        match is_known && most_in_any_order(&kernel.shared) <= u64::from(STATIC_BYTES) {
            true => SharedLayout::Static,
            false => SharedLayout::Dynamic(layout),
        }
    }
}

/// Where arrays end, each in the order of the kernel's list, and all of them together.
pub fn ends(kernel: &Kernel) -> (Vec<Extent>, Extent) {
    let DynamicLayout { mut offsets, total, align: _ } = dynamic(&kernel.shared);
    for (end, array) in offsets.iter_mut().zip(&kernel.shared) {
        match array.size {
            Size::Bytes(bytes) => end.bytes += u64::from(bytes),
            Size::Param(value) => end.params.push(value),
        }
    }
    (offsets, total)
}

/// The most bytes that arrays of known sizes take, whichever comes first: the assembler decides
/// that of a kernel's own.
fn most_in_any_order(arrays: &[SharedArray]) -> u64 {
    let align = arrays.iter().map(|array| array.align.max(1)).max().unwrap_or(1);
    let sizes = arrays.iter().map(|array| match array.size {
        Size::Bytes(bytes) => aligned(bytes.into(), align),
        Size::Param(_) => 0,
    });
    sizes.sum()
}

/// Where arrays of known sizes end, one behind the other.
fn known_end(arrays: &[SharedArray]) -> u64 {
    arrays.iter().fold(0, |end, array| match array.size {
        Size::Bytes(bytes) => aligned(end, array.align) + u64::from(bytes),
        Size::Param(_) => end,
    })
}

fn dynamic(arrays: &[SharedArray]) -> DynamicLayout {
    let align = arrays.iter().map(|array| array.align.max(1)).fold(LEAST_ROUNDING, u32::max);
    let unknown = arrays.iter().filter(|array| matches!(array.size, Size::Param(_)));
    let rounding = unknown.map(|array| array.align.max(1)).fold(LEAST_ROUNDING, u32::max);
    let (mut end, mut params) = (0, Vec::new());
    let first_unknown = aligned(known_end(arrays), rounding);
    let offsets = arrays.iter().map(|array| match array.size {
        Size::Bytes(bytes) => {
            let bytes_before = aligned(end, array.align);
            end = bytes_before + u64::from(bytes);
            Extent { bytes: bytes_before, params: vec![], rounding }
        }
        Size::Param(value) => {
            let offset = Extent { bytes: first_unknown, params: params.clone(), rounding };
            params.push(value);
            offset
        }
    });
    let offsets = offsets.collect();
    let bytes = if params.is_empty() { end } else { first_unknown };
    DynamicLayout { offsets, total: Extent { bytes, params, rounding }, align }
}

fn aligned(bytes: u64, align: u32) -> u64 {
    bytes.next_multiple_of(align.max(1).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Scalar;

    fn kernel(arrays: &[(Size, u32)]) -> Kernel {
        let array = |(size, align): &(Size, u32)| SharedArray {
            name: "a".to_string(),
            element: Scalar::F32,
            size: *size,
            align: *align,
        };
        Kernel { shared: arrays.iter().map(array).collect(), ..Kernel::default() }
    }

    fn expect_dynamic(arrays: &[(Size, u32)], params: &[i64], offsets: &[u64], total: u64) {
        let SharedLayout::Dynamic(layout) = SharedLayout::of(&kernel(arrays)) else {
            panic!("the arrays are the kernel's own");
        };
        let eval = |extent: &Extent| extent.eval(|value| params[value.index()]);
        assert_eq!(layout.offsets.iter().map(eval).collect::<Vec<_>>(), offsets);
        assert_eq!(eval(&layout.total), total);
    }

    #[test]
    fn what_fits_is_the_kernels_own() {
        let fits = [(Size::Bytes(4), 4), (Size::Bytes(STATIC_BYTES - 16), 16)];
        assert_eq!(SharedLayout::of(&kernel(&fits)), SharedLayout::Static);
        assert_eq!(SharedLayout::of(&kernel(&[])), SharedLayout::Static);
        expect_dynamic(
            &[(Size::Bytes(20), 4), (Size::Bytes(STATIC_BYTES - 16), 16)],
            &[],
            &[0, 32],
            49168,
        );
    }

    #[test]
    fn arrays_of_known_size_come_first_and_each_is_aligned() {
        let unknown = |param| Size::Param(Value(param));
        let arrays =
            [(unknown(0), 4), (Size::Bytes(12), 8), (unknown(1), 128), (Size::Bytes(8), 8)];
        expect_dynamic(&arrays, &[4, 130], &[128, 0, 256, 16], 512);
        // Negative extents count as nothing.
        expect_dynamic(&arrays, &[-4, 0], &[128, 0, 128, 16], 128);
    }

    /// The bytes between two arrays count: together they are more than a kernel has by itself,
    /// though their sizes are not.
    #[test]
    fn what_lies_between_arrays_counts() {
        let padded = [(Size::Bytes(4), 16), (Size::Bytes(STATIC_BYTES - 4), 16)];
        expect_dynamic(&padded, &[], &[0, 16], u64::from(STATIC_BYTES) + 12);
        // In this order they fit, and in the other one they would not.
        let ordered = [(Size::Bytes(STATIC_BYTES - 64), 128), (Size::Bytes(64), 16)];
        expect_dynamic(&ordered, &[], &[0, 49088], u64::from(STATIC_BYTES));
        let (of_each, of_all) = ends(&kernel(&padded));
        assert_eq!(of_each.iter().map(|end| end.bytes).collect::<Vec<_>>(), [4, 49164]);
        assert_eq!((of_all.bytes, of_all.params), (49164, vec![]));
    }
}
