// SPDX-License-Identifier: Apache-2.0
//! The table of operations, a row each.

use super::Object;
use super::operation::{Call, Mapping, Operation, Read};
use crate::arith::Arith;
use crate::composed::{Composed, Outer};
use crate::index::{add_indices, coshape, crd2idx, product_each};
use crate::layout::make_row_major_layout;
use crate::modes;
use crate::parse::Form;
use crate::partition::Part;
use crate::slice::slice_and_offset;
use crate::tuple::Tuple;
use crate::vector::Access;
use crate::{self as algebra, Layout};

/// A row: what the operation results in, its name with its arguments, and how it is done.
macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $name:ident($arguments:literal) => $run:expr;)*) => {
        &[$(Operation {
            name: stringify!($name),
            arguments: $arguments,
            doc: concat!($($doc),+),
            run: $run,
        },)*]
    };
}

/// Every operation that can be written.
pub const OPERATIONS: &[Operation] = operations! {
    /// The layout of a shape and strides; of a shape alone the compact one whose first mode is the
    /// fastest; of layouts, one with each for a mode.
    make_layout("shape[, stride]...") => make_layout;
    /// The compact layout whose last mode is the fastest.
    make_row_major_layout("shape") => |call| {
        let shape = call.shape(0)?;
        let layout = make_row_major_layout(call.cx(), &shape);
        Ok(Object::Layout(call.done(layout)?))
    };
    /// The compact layout in which modes of a smaller order are faster.
    make_ordered_layout("shape, order") => |call| {
        let (shape, order) = (call.shape(0)?, call.numbers(1)?);
        let layout = algebra::make_ordered_layout(call.cx(), &shape, &order);
        Ok(Object::Layout(call.done(layout)?))
    };
    /// The layout that maps each coordinate to itself.
    make_identity_layout("shape") => |call| {
        Ok(Object::Layout(algebra::make_identity_layout(&call.shape(0)?)))
    };
    /// The layout from thread and value to an element of their tile, with the shape of the tile.
    make_layout_tv("threads, values") => |call| {
        let (threads, values) = (call.layout(0)?, call.layout(1)?);
        let made = algebra::make_layout_tv(call.cx(), &threads, &values);
        let (tile, layout) = call.done(made)?;
        Ok(Object::ThreadValue(tile, layout))
    };
    /// The layout with a swizzle of its indices.
    make_composed_layout("swizzle, offset, layout") => |call| {
        let swizzle = call.reader.swizzle(call.argument(0))?;
        let (offset, inner) = (call.shape(1)?, call.layout(2)?);
        Ok(Object::Composed(Composed { outer: Outer::Swizzle(swizzle), offset, inner }))
    };
    /// The swizzle that changes so many bits, above as many that stay, by those so far above them.
    make_swizzle("bits, base, shift") => |call| {
        let numbers = [call.number(0)?, call.number(1)?, call.number(2)?];
        Ok(Object::Swizzle(call.reader.swizzle_of(call.term, numbers)?))
    };
    /// The extents.
    shape("layout") => |call| Ok(Object::Shape(inner(call)?.shape()));
    /// The strides.
    stride("layout") => |call| Ok(Object::Strides(inner(call)?.strides()));
    /// How many coordinates there are.
    size("layout") => |call| {
        let layout = inner(call)?;
        let size = algebra::size(call.cx(), &layout);
        Ok(Object::Shape(Tuple::Leaf(call.done(size)?)))
    };
    /// One more than the largest index.
    cosize("layout") => |call| {
        let layout = match call.mapping(0)? {
            // As kernels have it: a swizzle puts indices in another order.
            Mapping::Composed(Composed { outer: Outer::Swizzle(_), inner, .. }) => inner,
            Mapping::Composed(composed) => {
                let term = call.argument(0);
                return Err(term.found("a layout", &Object::Composed(composed)));
            }
            Mapping::Part(part) => part.layout,
            Mapping::Layout(layout) => layout,
        };
        let cosize = algebra::cosize(call.cx(), &layout);
        Ok(Object::Shape(Tuple::Leaf(call.done(cosize)?)))
    };
    /// The same, for each mode of indices that are coordinates.
    coshape("layout") => |call| {
        let layout = call.layout(0)?;
        let shape = coshape(call.cx(), &layout);
        Ok(Object::Shape(call.done(shape)?))
    };
    /// How many modes there are at the top.
    rank("layout") => |call| {
        Ok(number(inner(call)?.rank() as i64))
    };
    /// How deep the modes are nested.
    depth("layout") => |call| {
        Ok(number(inner(call)?.depth() as i64))
    };
    /// The product of each mode.
    product_each("shape") => |call| {
        let shape = call.shape(0)?;
        let shape = product_each(call.cx(), &shape);
        Ok(Object::Shape(call.done(shape)?))
    };
    /// Whether coordinates of the first are coordinates of the second.
    is_compatible("shape, shape") => |call| {
        Ok(Object::Truth(algebra::is_compatible(&call.shape(0)?, &call.shape(1)?)))
    };
    /// The index of a coordinate.
    crd2idx("coord, layout") => |call| {
        let coord = call.coord(0)?;
        let index = match call.mapping(1)? {
            Mapping::Composed(composed) => composed.crd2idx(call.cx(), &coord),
            Mapping::Part(Part { layout, offset }) => {
                let index = crd2idx(call.cx(), &coord, &layout);
                let index = call.done(index)?;
                add_indices(call.cx(), &offset, &index)
            }
            Mapping::Layout(layout) => crd2idx(call.cx(), &coord, &layout),
        };
        Ok(Object::Shape(call.done(index)?))
    };
    /// The coordinate with that number.
    idx2crd("number, shape") => |call| {
        let (number, shape) = (call.int(0)?, call.shape(1)?);
        let coord = algebra::idx2crd(call.cx(), &number, &shape);
        Ok(Object::Shape(call.done(coord)?))
    };
    /// The same function with the fewest modes; with a profile, within its modes.
    coalesce("layout[, profile]") => |call| {
        let profile = profile(call)?;
        call.of_first(|cx, layout| algebra::coalesce_by(cx, layout, &profile))
    };
    /// Without modes of stride 0, and coalesced.
    filter("layout[, profile]") => |call| {
        let profile = profile(call)?;
        call.of_first(|cx, layout| algebra::filter_by(cx, layout, &profile))
    };
    /// With extent 1 where the stride is 0.
    filter_zeros("layout") => |call| {
        call.of_first(|_, layout| Ok(algebra::filter_zeros(layout)))
    };
    /// The layout of `a(b(c))`, or of each mode by itself.
    composition("layout, tiler") => |call| {
        call.by_tiler(algebra::composition_by)
    };
    /// The indices that the layout leaves out, below the size of a shape or its own cosize.
    complement("layout[, shape]") => |call| {
        let layout = call.layout(0)?;
        let rest = match call.len() {
            1 => algebra::complement_of_all(call.cx(), &layout),
            _ => { let target = call.shape(1)?; algebra::complement(call.cx(), &layout, &target) }
        };
        Ok(Object::Layout(call.done(rest)?))
    };
    /// The layout `r` with `a(r(i)) == i`.
    right_inverse("layout") => |call| {
        let layout = call.layout(0)?;
        let inverse = algebra::right_inverse(call.cx(), &layout);
        Ok(Object::Layout(call.done(inverse)?))
    };
    /// The layout `l` with `l(a(i)) == i`.
    left_inverse("layout") => |call| {
        let layout = call.layout(0)?;
        let inverse = algebra::left_inverse(call.cx(), &layout);
        Ok(Object::Layout(call.done(inverse)?))
    };
    /// The coordinates with index 0 that stride 0 makes.
    nullspace("layout") => |call| {
        let layout = call.layout(0)?;
        let space = algebra::nullspace(call.cx(), &layout);
        Ok(Object::Layout(call.done(space)?))
    };
    /// The coordinates at which both have the indices from 0 on.
    max_common_layout("layout, layout") => |call| {
        call.of_two(algebra::max_common_layout)
    };
    /// How many indices from 0 on both have at the same coordinates.
    max_common_vector("layout, layout") => |call| {
        let (a, b) = (call.layout(0)?, call.layout(1)?);
        let width = algebra::max_common_vector(call.cx(), &a, &b);
        Ok(number(call.done(width)?))
    };
    /// How many elements one access may have; of at most 16 bytes, where nothing else is said.
    vector_width("layout, element_bytes, alignment_bytes[, max_bytes]") => vector_width;
    /// Tile and rest of each mode.
    logical_divide("layout, tiler") => |call| call.by_tiler(algebra::logical_divide);
    /// The tile in one mode, and the rest in another.
    zipped_divide("layout, tiler") => |call| call.by_tiler(algebra::zipped_divide);
    /// The tile in one mode, and each rest in its own.
    tiled_divide("layout, tiler") => |call| call.by_tiler(algebra::tiled_divide);
    /// Each mode of tile and rest in its own.
    flat_divide("layout, tiler") => |call| call.by_tiler(algebra::flat_divide);
    /// How many tiles there are in each mode.
    tile_count("shape, tiler") => |call| {
        let (shape, tiler) = (call.shape(0)?, call.tiler(1)?);
        let count = algebra::tile_count(call.cx(), &shape, &tiler);
        Ok(Object::Shape(call.done(count)?))
    };
    /// The block, and its copies as the tiler orders them.
    logical_product("layout, tiler") => |call| call.by_tiler(algebra::logical_product);
    /// The blocks in one mode, and their copies in another.
    zipped_product("layout, tiler") => |call| call.by_tiler(algebra::zipped_product);
    /// The blocks in one mode, and each mode of the copies in its own.
    tiled_product("layout, tiler") => |call| call.by_tiler(algebra::tiled_product);
    /// Each mode of blocks and copies in its own.
    flat_product("layout, tiler") => |call| call.by_tiler(algebra::flat_product);
    /// Copies of the block side by side, mode by mode.
    blocked_product("layout, layout") => |call| call.by_layout(algebra::blocked_product);
    /// Copies of the block that interleave, mode by mode.
    raked_product("layout, layout") => |call| call.by_layout(algebra::raked_product);
    /// As many copies of the block as cover a shape.
    tile_to_shape("layout, shape[, order]") => |call| {
        let shape = call.shape(1)?;
        let order = match call.len() { 2 => None, _ => Some(call.numbers(2)?) };
        call.of_first(|cx, block| algebra::tile_to_shape(cx, block, &shape, order.as_ref()))
    };
    /// The free modes of a coordinate, at the index of the others.
    slice("coord, layout") => |call| {
        let coord = call.coord(0)?;
        if let Mapping::Composed(composed) = call.mapping(1)? {
            let part = composed.slice(call.cx(), &coord);
            return Ok(Object::Composed(call.done(part)?));
        }
        call.part_of(1, |cx, layout| {
            let (layout, offset) = slice_and_offset(cx, &coord, layout)?;
            Ok(Part { layout, offset })
        })
    };
    /// The modes of a coordinate that are not free.
    dice("coord, layout") => |call| {
        let (coord, layout) = (call.coord(0)?, call.layout(1)?);
        Ok(Object::Layout(call.done(algebra::dice(&coord, &layout))?))
    };
    /// The tile at a coordinate of the tiles.
    local_tile("layout, tiler, coord[, projection]") => |call| {
        let (tiler, coord) = (call.tiler(1)?, call.coord(2)?);
        let by = match call.len() { 3 => None, _ => Some(call.coord(3)?) };
        call.part_of(0, |cx, of| algebra::local_tile(cx, of, &tiler, &coord, by.as_ref()))
    };
    /// The elements of one thread.
    local_partition("layout, threads, thread[, projection]") => |call| {
        let (threads, thread) = (call.layout(1)?, call.int(2)?);
        let by = match call.len() { 3 => None, _ => Some(call.coord(3)?) };
        call.part_of(0, |cx, of| match &by {
            None => algebra::local_partition(cx, of, &threads, &thread),
            Some(by) => algebra::local_partition_by(cx, of, &threads, &thread, by),
        })
    };
    /// The layout from a coordinate on.
    domain_offset("coord, layout") => |call| {
        let coord = call.coord(0)?;
        call.part_of(1, |cx, of| algebra::domain_offset(cx, of, &coord))
    };
    /// Whether each number of the first is less than that of the second.
    elem_less("coord, coord") => elem_less;
    /// The mode at a path.
    get("layout, mode...") => |call| {
        let path = call.modes(1)?;
        call.of_first(|_, layout| modes::get(layout, &path))
    };
    /// These modes, in this order.
    select("layout, mode...") => |call| {
        let picked = call.modes(1)?;
        call.of_first(|_, layout| modes::select(layout, &picked))
    };
    /// The modes from one up to another.
    take("layout, begin, end") => |call| {
        let (begin, end) = (call.mode(1)?, call.mode(2)?);
        call.of_first(|_, layout| modes::take(layout, begin, end))
    };
    /// With the modes from one up to another, or all from there on, in one mode.
    group_modes("layout, begin[, end]") => |call| {
        let begin = call.mode(1)?;
        let end = match call.len() { 2 => None, _ => Some(call.mode(2)?) };
        call.of_first(|_, layout| {
            modes::group_modes(layout, begin, end.unwrap_or(layout.rank()))
        })
    };
    /// All modes at the top.
    flatten("layout") => |call| call.of_first(|_, layout| Ok(layout.flatten()));
    /// With `1:0` behind the modes, up to a rank.
    append("layout, rank") => |call| {
        let rank = call.mode(1)?;
        call.of_first(|_, layout| Ok(modes::append(layout, rank)))
    };
    /// With `1:0` before the modes, up to a rank.
    prepend("layout, rank") => |call| {
        let rank = call.mode(1)?;
        call.of_first(|_, layout| Ok(modes::prepend(layout, rank)))
    };
    /// With another layout for a mode.
    replace("layout, mode, layout") => |call| {
        let (mode, by) = (call.mode(1)?, call.layout(2)?);
        call.of_first(|_, layout| modes::replace(layout, mode, &by))
    };
    /// The modes of both in pairs.
    zip("layout, layout") => |call| call.of_two(|_, a, b| modes::zip(a, b));
    /// The same memory as elements of another width.
    recast_layout("new_bits, old_bits, layout") => |call| {
        let (new_bits, old_bits) = (call.number(0)?, call.number(1)?);
        recast(call, 2, new_bits, old_bits)
    };
    /// The same memory as elements `n` times as large.
    upcast("layout, n") => |call| {
        let n = call.number(1)?;
        recast(call, 0, n, 1)
    };
    /// The same memory as elements of which `n` take the place of one.
    downcast("layout, n") => |call| {
        let n = call.number(1)?;
        recast(call, 0, 1, n)
    };
};

fn number(number: i64) -> Object {
    Object::Shape(Tuple::Leaf(algebra::Int::Known(number)))
}

/// The first argument, and of a composed layout the inner one, which has its coordinates.
fn inner(call: &mut Call<'_, '_>) -> Read<Layout<algebra::Symbol>> {
    match call.mapping(0)? {
        Mapping::Composed(composed) => Ok(composed.inner),
        Mapping::Part(part) => Ok(part.layout),
        Mapping::Layout(layout) => Ok(layout),
    }
}

/// The second argument; without one, that of a single leaf.
fn profile(call: &mut Call<'_, '_>) -> Read<Tuple<i64>> {
    match call.len() {
        1 => Ok(Tuple::Leaf(1)),
        _ => call.numbers(1),
    }
}

fn make_layout(call: &mut Call<'_, '_>) -> Read<Object> {
    let is_layout =
        |number| matches!(&call.argument(number).form, Form::Layout(_) | Form::Call(..));
    if call.len() == 2 && !is_layout(0) && !is_layout(1) {
        let shape = call.shape(0)?;
        let strides = call.reader.strides(call.argument(1))?;
        return Ok(Object::Layout(call.done(Layout::of(&shape, &strides))?));
    }
    if call.len() == 1 {
        return Ok(Object::Layout(call.layout(0)?));
    }
    let layouts = (0..call.len()).map(|number| call.layout(number));
    Ok(Object::Layout(Tuple::Node(layouts.collect::<Read<_>>()?)))
}

fn elem_less(call: &mut Call<'_, '_>) -> Read<Object> {
    let (a, b) = (call.shape(0)?, call.shape(1)?);
    let (a, b) = (a.leaves(), b.leaves());
    if a.len() != b.len() {
        let message = format!("{} numbers are compared with {}", a.len(), b.len());
        return Err(call.term.error(message));
    }
    let mut unknown = None;
    for (a, b) in a.into_iter().zip(b) {
        let (less, more) = (call.cx().facts_of(a), call.cx().facts_of(b));
        match (less.max < more.min, less.min >= more.max || a == b) {
            (true, _) => {}
            (false, true) => return Ok(Object::Truth(false)),
            (false, false) => unknown = Some((a, b)),
        }
    }
    match unknown {
        None => Ok(Object::Truth(true)),
        Some((a, b)) => {
            Err(call.term.error(format!("whether `{a}` is less than `{b}` is not known")))
        }
    }
}

fn vector_width(call: &mut Call<'_, '_>) -> Read<Object> {
    let layout = call.layout(0)?;
    let (element_bytes, alignment_bytes) = (call.number(1)?, call.number(2)?);
    let max_bytes = match call.len() {
        3 => 16,
        _ => call.number(3)?,
    };
    let access = Access { element_bytes, alignment_bytes, max_bytes };
    let width = algebra::vector_width(call.cx(), &layout, &access);
    Ok(number(call.done(width)?))
}

fn recast(call: &mut Call<'_, '_>, at: usize, new_bits: i64, old_bits: i64) -> Read<Object> {
    if let Form::Swizzle(_) = &call.argument(at).form {
        let swizzle = call.reader.swizzle(call.argument(at))?;
        return Ok(Object::Swizzle(call.done(swizzle.recast(new_bits, old_bits))?));
    }
    let layout = match call.mapping(at)? {
        Mapping::Composed(composed) => {
            let recast = composed.recast(call.cx(), new_bits, old_bits);
            return Ok(Object::Composed(call.done(recast)?));
        }
        // Where it begins need not be a whole number of other elements.
        Mapping::Part(part) => {
            let term = call.argument(at);
            call.reader.layout_of(term, Object::Part(part))?
        }
        Mapping::Layout(layout) => layout,
    };
    let layout = algebra::recast_layout(call.cx(), &layout, new_bits, old_bits);
    Ok(Object::Layout(call.done(layout)?))
}
