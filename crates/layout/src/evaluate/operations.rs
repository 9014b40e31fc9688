// SPDX-License-Identifier: Apache-2.0
//! The table of operations, a row each.

use super::Object;
use super::operation::{Call, Mapping, Operation, Read};
use crate::index::{coshape, crd2idx, product_each};
use crate::layout::make_row_major_layout;
use crate::modes;
use crate::parse::Form;
use crate::partition::Part;
use crate::slice::slice_and_offset;
use crate::tuple::Tuple;
use crate::vector::Access;
use crate::{self as algebra, Layout};

/// A row: the name with its arguments, what it results in, and how.
macro_rules! operations {
    ($($name:ident($arguments:literal): $doc:literal => $run:expr;)*) => {
        &[$(Operation { name: stringify!($name), arguments: $arguments, doc: $doc, run: $run },)*]
    };
}

/// Every operation that can be written.
pub const OPERATIONS: &[Operation] = operations! {
    make_layout("shape[, stride]..."): "the layout of a shape and strides; of a shape alone the compact one whose first mode is the fastest; of layouts, one with each for a mode" => make_layout;
    make_row_major_layout("shape"): "the compact layout whose last mode is the fastest" => |call| {
        let shape = call.shape(0)?;
        let layout = make_row_major_layout(call.cx(), &shape);
        Ok(Object::Layout(call.done(layout)?))
    };
    make_ordered_layout("shape, order"): "the compact layout in which modes of a smaller order are faster" => |call| {
        let (shape, order) = (call.shape(0)?, call.numbers(1)?);
        let layout = algebra::make_ordered_layout(call.cx(), &shape, &order);
        Ok(Object::Layout(call.done(layout)?))
    };
    make_identity_layout("shape"): "the layout that maps each coordinate to itself" => |call| {
        Ok(Object::Layout(algebra::make_identity_layout(&call.shape(0)?)))
    };
    make_layout_tv("threads, values"): "the layout from thread and value to an element of their tile, with the shape of the tile" => |call| {
        let (threads, values) = (call.layout(0)?, call.layout(1)?);
        let made = algebra::make_layout_tv(call.cx(), &threads, &values);
        let (tile, layout) = call.done(made)?;
        Ok(Object::ThreadValue(tile, layout))
    };
    shape("layout"): "the extents" => |call| Ok(Object::Shape(inner(call)?.shape()));
    stride("layout"): "the strides" => |call| Ok(Object::Strides(inner(call)?.strides()));
    size("layout"): "how many coordinates there are" => |call| {
        let layout = inner(call)?;
        let size = algebra::size(call.cx(), &layout);
        Ok(Object::Shape(Tuple::Leaf(call.done(size)?)))
    };
    cosize("layout"): "one more than the largest index" => |call| {
        let layout = call.layout(0)?;
        let cosize = algebra::cosize(call.cx(), &layout);
        Ok(Object::Shape(Tuple::Leaf(call.done(cosize)?)))
    };
    coshape("layout"): "the same, for each mode of indices that are coordinates" => |call| {
        let layout = call.layout(0)?;
        let shape = coshape(call.cx(), &layout);
        Ok(Object::Shape(call.done(shape)?))
    };
    rank("layout"): "how many modes there are at the top" => |call| {
        Ok(number(inner(call)?.rank() as i64))
    };
    depth("layout"): "how deep the modes are nested" => |call| {
        Ok(number(inner(call)?.depth() as i64))
    };
    product_each("shape"): "the product of each mode" => |call| {
        let shape = call.shape(0)?;
        let shape = product_each(call.cx(), &shape);
        Ok(Object::Shape(call.done(shape)?))
    };
    is_compatible("shape, shape"): "whether coordinates of the first are coordinates of the second" => |call| {
        Ok(Object::Truth(algebra::is_compatible(&call.shape(0)?, &call.shape(1)?)))
    };
    crd2idx("coord, layout"): "the index of a coordinate" => |call| {
        let coord = call.coord(0)?;
        let index = match call.mapping(1)? {
            Mapping::Composed(composed) => composed.crd2idx(call.cx(), &coord),
            Mapping::Layout(layout) => crd2idx(call.cx(), &coord, &layout),
        };
        Ok(Object::Shape(call.done(index)?))
    };
    idx2crd("number, shape"): "the coordinate with that number" => |call| {
        let (number, shape) = (call.int(0)?, call.shape(1)?);
        let coord = algebra::idx2crd(call.cx(), &number, &shape);
        Ok(Object::Shape(call.done(coord)?))
    };
    coalesce("layout[, profile]"): "the same function with the fewest modes; with a profile, within its modes" => |call| {
        let profile = profile(call)?;
        call.of_first(|cx, layout| algebra::coalesce_by(cx, layout, &profile))
    };
    filter("layout[, profile]"): "without modes of stride 0, and coalesced" => |call| {
        let profile = profile(call)?;
        call.of_first(|cx, layout| algebra::filter_by(cx, layout, &profile))
    };
    filter_zeros("layout"): "with extent 1 where the stride is 0" => |call| {
        call.of_first(|_, layout| Ok(algebra::filter_zeros(layout)))
    };
    composition("layout, tiler"): "the layout of `a(b(c))`, or of each mode by itself" => |call| {
        call.by_tiler(algebra::composition_by)
    };
    complement("layout[, shape]"): "what the layout leaves out, below the size of a shape or its own cosize" => |call| {
        let layout = call.layout(0)?;
        let rest = match call.len() {
            1 => algebra::complement_of_all(call.cx(), &layout),
            _ => { let target = call.shape(1)?; algebra::complement(call.cx(), &layout, &target) }
        };
        Ok(Object::Layout(call.done(rest)?))
    };
    right_inverse("layout"): "the layout `r` with `a(r(i)) == i`" => |call| {
        let layout = call.layout(0)?;
        let inverse = algebra::right_inverse(call.cx(), &layout);
        Ok(Object::Layout(call.done(inverse)?))
    };
    left_inverse("layout"): "the layout `l` with `l(a(i)) == i`" => |call| {
        let layout = call.layout(0)?;
        let inverse = algebra::left_inverse(call.cx(), &layout);
        Ok(Object::Layout(call.done(inverse)?))
    };
    nullspace("layout"): "the coordinates with index 0 that stride 0 makes" => |call| {
        let layout = call.layout(0)?;
        let space = algebra::nullspace(call.cx(), &layout);
        Ok(Object::Layout(call.done(space)?))
    };
    max_common_layout("layout, layout"): "the coordinates at which both have the indices from 0 on" => |call| {
        call.of_two(algebra::max_common_layout)
    };
    max_common_vector("layout, layout"): "how many indices from 0 on both have at the same coordinates" => |call| {
        let (a, b) = (call.layout(0)?, call.layout(1)?);
        let width = algebra::max_common_vector(call.cx(), &a, &b);
        Ok(number(call.done(width)?))
    };
    vector_width("layout, element_bytes, alignment_bytes[, max_bytes]"): "how many elements one access may have; of at most 16 bytes, where nothing else is said" => vector_width;
    logical_divide("layout, tiler"): "tile and rest of each mode" => |call| call.by_tiler(algebra::logical_divide);
    zipped_divide("layout, tiler"): "the tile in one mode, and the rest in another" => |call| call.by_tiler(algebra::zipped_divide);
    tiled_divide("layout, tiler"): "the tile in one mode, and each rest in its own" => |call| call.by_tiler(algebra::tiled_divide);
    flat_divide("layout, tiler"): "each mode of tile and rest in its own" => |call| call.by_tiler(algebra::flat_divide);
    tile_count("shape, tiler"): "how many tiles there are in each mode" => |call| {
        let (shape, tiler) = (call.shape(0)?, call.tiler(1)?);
        let count = algebra::tile_count(call.cx(), &shape, &tiler);
        Ok(Object::Shape(call.done(count)?))
    };
    logical_product("layout, tiler"): "the block, and its copies as the tiler orders them" => |call| call.by_tiler(algebra::logical_product);
    zipped_product("layout, tiler"): "the blocks in one mode, and their copies in another" => |call| call.by_tiler(algebra::zipped_product);
    tiled_product("layout, tiler"): "the blocks in one mode, and each mode of the copies in its own" => |call| call.by_tiler(algebra::tiled_product);
    flat_product("layout, tiler"): "each mode of blocks and copies in its own" => |call| call.by_tiler(algebra::flat_product);
    blocked_product("layout, layout"): "copies of the block side by side, mode by mode" => |call| call.of_two(algebra::blocked_product);
    raked_product("layout, layout"): "copies of the block that interleave, mode by mode" => |call| call.of_two(algebra::raked_product);
    tile_to_shape("layout, shape[, order]"): "as many copies of the block as cover a shape" => |call| {
        let shape = call.shape(1)?;
        let order = match call.len() { 2 => None, _ => Some(call.numbers(2)?) };
        call.of_first(|cx, block| algebra::tile_to_shape(cx, block, &shape, order.as_ref()))
    };
    slice("coord, layout"): "the free modes of a coordinate, at the index of the others" => |call| {
        let coord = call.coord(0)?;
        match call.mapping(1)? {
            Mapping::Composed(composed) => {
                let part = composed.slice(call.cx(), &coord);
                Ok(Object::Composed(call.done(part)?))
            }
            Mapping::Layout(layout) => {
                let part = slice_and_offset(call.cx(), &coord, &layout);
                let (layout, offset) = call.done(part)?;
                Ok(Object::Part(Part { layout, offset }))
            }
        }
    };
    dice("coord, layout"): "the modes of a coordinate that are not free" => |call| {
        let (coord, layout) = (call.coord(0)?, call.layout(1)?);
        Ok(Object::Layout(call.done(algebra::dice(&coord, &layout))?))
    };
    local_tile("layout, tiler, coord[, projection]"): "the tile at a coordinate of the tiles" => |call| {
        let (layout, tiler, coord) = (call.layout(0)?, call.tiler(1)?, call.coord(2)?);
        let by = match call.len() { 3 => None, _ => Some(call.coord(3)?) };
        let part = algebra::local_tile(call.cx(), &layout, &tiler, &coord, by.as_ref());
        Ok(Object::Part(call.done(part)?))
    };
    local_partition("layout, threads, thread[, projection]"): "the elements of one thread" => |call| {
        let (layout, threads, thread) = (call.layout(0)?, call.layout(1)?, call.int(2)?);
        let part = match call.len() {
            3 => algebra::local_partition(call.cx(), &layout, &threads, &thread),
            _ => {
                let by = call.coord(3)?;
                algebra::local_partition_by(call.cx(), &layout, &threads, &thread, &by)
            }
        };
        Ok(Object::Part(call.done(part)?))
    };
    get("layout, mode..."): "the mode at a path" => |call| {
        let path = call.modes(1)?;
        call.of_first(|_, layout| modes::get(layout, &path))
    };
    select("layout, mode..."): "these modes, in this order" => |call| {
        let picked = call.modes(1)?;
        call.of_first(|_, layout| modes::select(layout, &picked))
    };
    take("layout, begin, end"): "the modes from one up to another" => |call| {
        let (begin, end) = (call.mode(1)?, call.mode(2)?);
        call.of_first(|_, layout| modes::take(layout, begin, end))
    };
    group_modes("layout, begin, end"): "with the modes from one up to another in one mode" => |call| {
        let (begin, end) = (call.mode(1)?, call.mode(2)?);
        call.of_first(|_, layout| modes::group_modes(layout, begin, end))
    };
    flatten("layout"): "all modes at the top" => |call| call.of_first(|_, layout| Ok(layout.flatten()));
    append("layout, rank"): "with `1:0` behind the modes, up to a rank" => |call| {
        let rank = call.mode(1)?;
        call.of_first(|_, layout| Ok(modes::append(layout, rank)))
    };
    prepend("layout, rank"): "with `1:0` before the modes, up to a rank" => |call| {
        let rank = call.mode(1)?;
        call.of_first(|_, layout| Ok(modes::prepend(layout, rank)))
    };
    replace("layout, mode, layout"): "with another layout for a mode" => |call| {
        let (mode, by) = (call.mode(1)?, call.layout(2)?);
        call.of_first(|_, layout| modes::replace(layout, mode, &by))
    };
    zip("layout, layout"): "the modes of both in pairs" => |call| call.of_two(|_, a, b| modes::zip(a, b));
    recast_layout("new_bits, old_bits, layout"): "the same memory as elements of another width" => |call| {
        let (new_bits, old_bits) = (call.number(0)?, call.number(1)?);
        recast(call, 2, new_bits, old_bits)
    };
    upcast("layout, n"): "the same memory as elements `n` times as large" => |call| {
        let n = call.number(1)?;
        recast(call, 0, n, 1)
    };
    downcast("layout, n"): "the same memory as elements of which `n` take the place of one" => |call| {
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
    match call.mapping(at)? {
        Mapping::Composed(composed) => {
            let recast = composed.recast(call.cx(), new_bits, old_bits);
            Ok(Object::Composed(call.done(recast)?))
        }
        Mapping::Layout(layout) => {
            let layout = algebra::recast_layout(call.cx(), &layout, new_bits, old_bits);
            Ok(Object::Layout(call.done(layout)?))
        }
    }
}
