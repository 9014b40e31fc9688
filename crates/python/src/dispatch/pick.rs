// SPDX-License-Identifier: Apache-2.0
//! Picks: what a key has of arguments beside their classes, which are extents, dtypes and numbers
//! that a tuned function is tuned for.

use crate::ffi::Error;
use kernpack_ffi_abi::layout::{Any, DLTensor};
use kernpack_ffi_abi::value::view;
use serde::Deserialize;

/// Something of an argument, which has its number: as JSON `{"extent": [0, 1]}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// The extent of a dim of a tensor; a negative one counts from the last.
    Extent(usize, i32),
    /// All extents of a tensor.
    Shape(usize),
    /// The dtype of a tensor.
    #[serde(rename = "dtype")]
    DType(usize),
    /// The bits of a number.
    Number(usize),
    /// The number of the device that the first tensor is on.
    Device,
}

/// Reads a list of them, which is JSON.
pub fn read(text: &str) -> Result<Vec<Pick>, Error> {
    serde_json::from_str(text).map_err(|error| Error::value(error.to_string()))
}

impl Pick {
    /// Takes its words. Of what is not there that is a word, too: the call will be refused.
    ///
    /// # Safety
    /// They are arguments of an entry point's caller.
    #[inline]
    pub unsafe fn of(self, args: &[Any], take: &mut impl FnMut(u64)) {
        // SAFETY: as the caller says.
        let tensor = |at| args.get(at).and_then(|arg: &Any| unsafe { view(arg) });
        // SAFETY: as the caller says.
        let extents = |at| tensor(at).map_or(&[][..], |view: &DLTensor| unsafe { view.extents() });
        match self {
            Pick::Extent(at, dim) => {
                let extents = extents(at);
                let from_last = if dim < 0 { extents.len() as i64 } else { 0 };
                let dim = usize::try_from(from_last + i64::from(dim));
                let extent = dim.ok().and_then(|dim| extents.get(dim));
                take(extent.map_or(u64::MAX, |extent| *extent as u64));
            }
            Pick::Shape(at) => {
                let extents = extents(at);
                take(extents.len() as u64);
                extents.iter().for_each(|extent| take(*extent as u64));
            }
            Pick::DType(at) => {
                take(tensor(at).map_or(u64::MAX, |view| u64::from(view.dtype)));
            }
            Pick::Device => {
                // SAFETY: as the caller says.
                let found = args.iter().find_map(|arg| unsafe { view(arg) });
                take(found.map_or(u64::MAX, |view| view.device_id as u64));
            }
            Pick::Number(at) => {
                let number = args.get(at);
                take(number.map_or(u64::MAX, |arg| arg.type_index as u64));
                take(number.map_or(0, |arg| arg.payload as u64));
            }
        }
    }
}
