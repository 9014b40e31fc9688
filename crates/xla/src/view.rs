// SPDX-License-Identifier: Apache-2.0
//! A buffer of XLA's as the callee sees it: a `DLTensor` with true extents and strides.
//!
//! XLA says extents, and leaves the order in memory to the program, which has it in its plan. A
//! callee may also see the dims in another order than the program.

use crate::dtype::{self, F4E2M1FN};
use crate::environment::Device;
use crate::failure::Failure;
use crate::layout::{Buffer, INVALID_ARGUMENT};
use crate::room::Room;
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::{managed, slice};

/// Room for extents and strides.
pub(crate) type Dims = Room<i64, 256>;

/// A plan's view of a buffer whose dims are not as the program's, row-major.
#[derive(Clone, Copy)]
pub(crate) struct Orders<'a> {
    /// For each dim that the callee sees, the program's.
    modes: &'a [i64],
    /// The program's dims, from the fastest.
    fastest: &'a [i64],
}

impl<'a> Orders<'a> {
    /// Of the words of a plan: both orders, one behind the other.
    pub(crate) fn new(words: &'a [i64]) -> Self {
        let (modes, fastest) = words.split_at(words.len() / 2);
        Orders { modes, fastest }
    }
}

/// The view of a buffer.
#[inline]
pub(crate) fn tensor(
    buffer: &Buffer,
    orders: Option<Orders<'_>>,
    device: Device,
    dims: &Dims,
) -> Result<DLTensor, Failure> {
    let dtype = dtype::dtype(buffer.dtype).ok_or_else(|| unsupported(buffer.dtype))?;
    let extents = extents(buffer);
    let (shape, strides) = match orders {
        None if buffer.dtype != F4E2M1FN => (buffer.dims, row_major(extents, dims).as_ptr()),
        None => {
            let shape = pairs(extents, extents.len().checked_sub(1), dims);
            (shape.as_ptr(), row_major(shape, dims).as_ptr())
        }
        Some(orders) => {
            let (shape, strides) = reordered(buffer, extents, orders, dims)?;
            (shape.as_ptr(), strides.as_ptr())
        }
    };
    Ok(DLTensor {
        data: buffer.data as u64,
        device_type: device.kind,
        device_id: device.ordinal,
        ndim: extents.len() as i32,
        dtype: dtype.packed(),
        shape: shape as u64,
        strides: strides as u64,
        byte_offset: 0,
    })
}

#[expect(unsafe_code, reason = "reads the caller's memory")]
#[inline]
fn extents(buffer: &Buffer) -> &[i64] {
    // SAFETY: a buffer has as many extents as dims.
    unsafe { slice(buffer.dims, usize::try_from(buffer.rank).unwrap_or(0)) }
}

#[cold]
fn unsupported(code: i32) -> Failure {
    let message = format_args!("XLA's element type {code} has no dtype in TVM-FFI");
    Failure::new(INVALID_ARGUMENT, message)
}

#[inline]
fn row_major<'a>(extents: &[i64], dims: &'a Dims) -> &'a [i64] {
    let strides = dims.take(extents.len());
    managed::row_major(extents, strides);
    strides
}

/// The extents, of which the fastest counts pairs of 4-bit floats.
fn pairs<'a>(extents: &[i64], fastest: Option<usize>, dims: &'a Dims) -> &'a [i64] {
    let shape = dims.take(extents.len());
    shape.copy_from_slice(extents);
    if let Some(extent) = fastest.and_then(|fastest| shape.get_mut(fastest)) {
        *extent = (*extent + 1) / 2;
    }
    shape
}

/// Extents and strides in the order of the callee.
fn reordered<'a>(
    buffer: &Buffer,
    extents: &[i64],
    orders: Orders<'_>,
    dims: &'a Dims,
) -> Result<(&'a [i64], &'a [i64]), Failure> {
    let rank = extents.len();
    let is_permutation = |order: &[i64]| {
        let has = |dim: usize| order.contains(&(dim as i64));
        order.len() == rank && (0..rank).all(has)
    };
    if !is_permutation(orders.modes) || !is_permutation(orders.fastest) {
        return Err(Failure::plan(format_args!("a buffer has {rank} dims, and its view others")));
    }
    let fastest = orders.fastest.first().map(|dim| *dim as usize);
    let halved = if buffer.dtype == F4E2M1FN { fastest } else { None };
    let extents = pairs(extents, halved, dims);
    let steps = dims.take(rank);
    let mut step = 1i64;
    for dim in orders.fastest {
        steps[*dim as usize] = step;
        step = step.wrapping_mul(extents[*dim as usize].max(1));
    }
    let (shape, strides) = (dims.take(rank), dims.take(rank));
    for (at, dim) in orders.modes.iter().enumerate() {
        shape[at] = extents[*dim as usize];
        strides[at] = steps[*dim as usize];
    }
    Ok((shape, strides))
}

/// The bytes of a buffer of bytes.
pub(crate) fn byte_count(buffer: &Buffer) -> u64 {
    let count = extents(buffer).iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
    count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
}
