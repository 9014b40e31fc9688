// SPDX-License-Identifier: Apache-2.0
//! CuTe's layout algebra.
//!
//! A [`Layout`] is a function from coordinates to indices: nested extents with nested strides,
//! written `shape:stride`. `(4,8):(8,1)` is a matrix in C's order, and `((2,2),8):((8,32),1)` has
//! two modes for its rows. The algebra makes layouts of layouts: [`composition`] is what it says,
//! [`complement`] is what a layout leaves out, and dividing ([`zipped_divide`]) and multiplying
//! ([`raked_product`]) are made of both. So tiles, the elements of a thread and the order in which
//! they lie in memory are all found by the same few functions.
//!
//! # Numbers that are not known
//!
//! An extent or a stride is an [`Int`]: a number, or a value that is known later. Every operation
//! that makes numbers takes a context, [`Arith`]. It folds what is known, uses what follows from
//! [`Facts`], and has the rest emitted: into an IR, or as an expression. There are two contexts
//! here. [`Static`] is for layouts of numbers alone, [`Symbols`] for names and for CuTe's `?`:
//!
//! ```
//! use kernpack_layout::{Symbols, Tiler, parse, zipped_divide};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut cx = Symbols::new();
//! let rows = parse::layout("(?,?):(?,1)", &mut cx)?;
//! let tile = parse::shape("(1,32)", &mut cx)?;
//! let tiler = Tiler::of_shape(&mut cx, &tile)?;
//! let tiles = zipped_divide(&mut cx, &rows, &tiler)?;
//! assert_eq!(tiles.to_string(), "((1,32),(?,?)):((0,1),(?,32))");
//! # Ok(())
//! # }
//! ```
//!
//! An operation that would have to know more gives an [`Error`], with the layouts in question as
//! they are printed: a composition that only some extents allow is never taken for granted. Neither
//! is there a panic, nor a number that has wrapped around.
//!
//! # Strides along modes
//!
//! A stride may be a multiple of a basis vector, `1@0`; an index is then a coordinate. So
//! [`make_identity_layout`] maps coordinates to themselves, and what is tiled like a tensor says
//! where in the tensor each element is.
//!
//! Deliberately absent: memory, types of elements, and any IR. A [`Composed`] layout has a swizzle
//! and an offset, and nothing else that is no layout.
//!
//! # Where things live
//!
//! A layout (`layout.rs`) is a nested tuple (`tuple.rs`) of modes, each with extent and stride, and
//! an extent or a stride is a number or a value that is known later (`int.rs`). What computes with
//! them is a context (`arith.rs`), which its user implements: it emits what cannot be folded, and
//! knows facts (`facts.rs`). `symbols.rs` is the context of names and `?`. Each operation has a
//! file by its name: `coalesce.rs`, `composition.rs`, `complement.rs`, `inverse.rs`, `divide.rs`,
//! `product.rs`, `slice.rs`, `partition.rs`, `recast.rs`; `index.rs` has coordinates and indices,
//! `tiler.rs` what is done mode by mode, `modes.rs` what only moves modes, `swizzle.rs` and
//! `composed.rs` layouts with a swizzle, `vector.rs` the width of accesses. `display.rs` prints,
//! `parse/` reads the same text, `evaluate/` does operations that stand in it, `draw/` makes
//! pictures, and `error.rs` is what can come of it.

#![forbid(unsafe_code)]

mod arith;
mod coalesce;
mod complement;
mod composed;
mod composition;
mod display;
mod divide;
pub mod draw;
mod error;
pub mod evaluate;
mod facts;
mod index;
mod int;
mod inverse;
mod layout;
pub mod modes;
pub mod parse;
mod partition;
mod product;
mod recast;
mod slice;
mod swizzle;
mod symbols;
mod tiler;
mod tuple;
mod vector;

pub use arith::{Arith, Op, Static};
pub use coalesce::{coalesce, coalesce_by, filter, filter_by, filter_zeros};
pub use complement::{complement, complement_of_all, is_injective, nullspace};
pub use composed::{Composed, Outer};
pub use composition::{composition, composition_by};
pub use divide::{flat_divide, logical_divide, tile_count, tiled_divide, zipped_divide};
pub use error::{Error, Result};
pub use facts::{Facts, gcd};
pub use index::{
    add_indices, coshape, cosize, crd2idx, crd2num, idx2crd, idx2crd_by_stride, index, index_of,
    is_compatible, product, product_each, reach, size,
};
pub use int::{Int, Value};
pub use inverse::{left_inverse, max_common_layout, max_common_vector, right_inverse};
pub use layout::{
    IntOf, Layout, LayoutOf, Mode, Shape, ShapeOf, Stride, Strides, make_identity_layout,
    make_layout, make_ordered_layout, make_row_major_layout,
};
pub use partition::{
    Part, PartOf, domain_offset, local_partition, local_partition_by, local_tile, make_layout_tv,
    projected, tile_place,
};
pub use product::{
    blocked_product, flat_product, logical_product, raked_product, tile_to_shape, tiled_product,
    zipped_product,
};
pub use recast::{downcast, recast_layout, upcast};
pub use slice::{Coord, Slot, dice, slice, slice_and_offset};
pub use swizzle::Swizzle;
pub use symbols::{Symbol, Symbols};
pub use tiler::Tiler;
pub use tuple::Tuple;
pub use vector::{Access, alignment, vector_width};
