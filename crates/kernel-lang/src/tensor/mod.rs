// SPDX-License-Identifier: Apache-2.0
//! Tensors: views of memory with layouts, and what is done with them. They are gone when the kernel
//! is operations: what is left of an element is an address, an alignment and a statement that its
//! index is in bounds.

mod access;
mod algebra;
mod copy;
mod copy_async;
mod copy_box;
mod copy_bulk;
mod limit;
mod make;
mod map;
mod recast;
mod swizzled;
mod whole;
mod within;

pub(crate) use copy::Predicate;
pub(crate) use copy_box::BoxCopy;
pub(crate) use limit::{Limit, Touched};
pub(crate) use map::map_of;
pub(crate) use within::Within;
