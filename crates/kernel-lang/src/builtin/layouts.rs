// SPDX-License-Identifier: Apache-2.0
//! The layout algebra, on layouts and on tensors.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::python::tree::CompareOp;
use crate::value::{LayoutValue, Leaf, Value};
use kernpack_layout::{self as layout, Layout, Stride, Swizzle, Tiler, Tuple, modes};
use kernpack_syntax::Span;
use std::sync::Arc;

const fn row(
    name: &'static str,
    takes: &'static [&'static str],
    doc: &'static str,
    run: fn(&mut Elaborator<'_>, &Given) -> Value,
) -> Builtin {
    Builtin { name, takes, doc, data: name, run }
}

pub(super) const ROWS: &[Builtin] = &[
    row(
        "make_layout",
        &["shape", "stride="],
        "The layout of a shape and strides. Without strides it is compact, and its first mode the \
         fastest.",
        make_layout,
    ),
    row(
        "make_ordered_layout",
        &["shape", "order"],
        "The compact layout of a shape, whose modes of smaller `order` are faster.",
        make_ordered,
    ),
    row(
        "make_swizzle",
        &["bits", "base", "shift"],
        "The swizzle that changes `bits` bits of an index, above `base` bits that stay, by those \
         `shift` places above them.",
        make_swizzle,
    ),
    row(
        "make_composed_layout",
        &["swizzle", "offset", "layout"],
        "A layout with a swizzle of its indices. The offset is 0.",
        make_composed,
    ),
    row(
        "make_layout_tv",
        &["threads", "values"],
        "A tuple: the tile that threads with some values each have together, and the layout that \
         says for a thread and a value which element of the tile it is.",
        make_tv,
    ),
    row("size", &["x", "mode="], "How many elements there are, in all or in some modes.", size),
    row("cosize", &["x"], "One more than the largest index.", cosize),
    row("rank", &["x"], "How many modes there are.", rank),
    row("depth", &["x"], "How deep modes are nested.", depth),
    row("get", &["x", "mode"], "One mode, as a layout or a tensor.", get),
    row("select", &["x", "mode"], "Some modes, in that order.", select),
    row(
        "group_modes",
        &["x", "begin", "end"],
        "With the modes from `begin` up to `end` in one.",
        group,
    ),
    row("coalesce", &["x"], "With as few modes as can be, and the same indices.", one_layout),
    row("filter", &["x"], "Without modes of stride 0 or extent 1.", one_layout),
    row("flatten", &["x"], "With all modes at the top.", one_layout),
    row("right_inverse", &["x"], "The layout that undoes it from the right.", one_layout),
    row("left_inverse", &["x"], "The layout that undoes it from the left.", one_layout),
    row("complement", &["x", "size="], "What a layout leaves out of so many indices.", complement),
    row(
        "composition",
        &["x", "by"],
        "The layout `x(by(c))`; of a tensor, its elements in that order.",
        by_tiler,
    ),
    row("logical_divide", &["x", "by"], "Tiles, and what is left of each mode.", by_tiler),
    row(
        "zipped_divide",
        &["x", "by"],
        "The tiles' modes in one mode, and the rests in another.",
        by_tiler,
    ),
    row(
        "tiled_divide",
        &["x", "by"],
        "The tiles' modes in one mode, and a mode for each rest.",
        by_tiler,
    ),
    row(
        "flat_divide",
        &["x", "by"],
        "A mode for each mode of the tile, and one for each rest.",
        by_tiler,
    ),
    row("logical_product", &["x", "by"], "A block, and its copies.", by_tiler),
    row(
        "zipped_product",
        &["x", "by"],
        "The blocks' modes in one mode, and the copies in another.",
        by_tiler,
    ),
    row(
        "tiled_product",
        &["x", "by"],
        "The blocks' modes in one mode, and a mode for each of the copies.",
        by_tiler,
    ),
    row(
        "flat_product",
        &["x", "by"],
        "A mode for each of the block, and one for each of the copies.",
        by_tiler,
    ),
    row("blocked_product", &["x", "by"], "Copies of a block side by side.", by_layout),
    row("raked_product", &["x", "by"], "Copies of a block, interleaved.", by_layout),
    row(
        "local_tile",
        &["x", "tiler", "coord", "proj="],
        "The tile at a coordinate, counted in tiles; `None` keeps all of a mode. `proj` leaves \
         out modes of tiler and coordinate where it is `None`.",
        local_tile,
    ),
    row(
        "local_partition",
        &["x", "threads", "index"],
        "The elements of a thread, where a layout says how the threads lie.",
        local_partition,
    ),
    row(
        "crd2idx",
        &["coord", "x"],
        "The index of a coordinate; `layout(coord)` is that, too.",
        crd2idx,
    ),
    row(
        "idx2crd",
        &["index", "shape"],
        "The coordinate with a number, the first mode being the fastest.",
        idx2crd,
    ),
    row(
        "elem_less",
        &["a", "b"],
        "Whether each number of a coordinate is less than that of another.",
        elem_less,
    ),
    row(
        "domain_offset",
        &["coord", "x"],
        "The tensor from a coordinate on, with its extents.",
        domain_offset,
    ),
];

fn value_of(layout: Layout<Leaf>) -> Value {
    Value::Layout(Arc::new(LayoutValue { layout, swizzle: None }))
}

fn make_layout(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let span = given.span;
    let Some(shape) = cx.shape(&given.get("shape").clone(), given.at("shape")) else {
        return Value::Poison;
    };
    let made = match given.opt("stride").cloned() {
        None => layout::make_layout(cx, &shape),
        Some(stride) => match cx.shape(&stride.value, stride.span) {
            Some(stride) => {
                let strides = stride.map(&mut |one| Stride::from(*one));
                Layout::of(&shape, &strides)
            }
            None => return Value::Poison,
        },
    };
    cx.algebra(made, span).map_or(Value::Poison, value_of)
}

/// Constant integers, nested in tuples.
fn order(cx: &mut Elaborator<'_>, given: &Given, name: &str) -> Option<Tuple<i64>> {
    let shape = cx.shape(&given.get(name).clone(), given.at(name))?;
    match shape.try_map(&mut |int| int.known().ok_or(())) {
        Ok(order) => Some(order),
        Err(()) => {
            cx.expected("constants", given, name);
            None
        }
    }
}

fn make_ordered(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let shape = cx.shape(&given.get("shape").clone(), given.at("shape"));
    let (Some(shape), Some(order)) = (shape, order(cx, given, "order")) else {
        return Value::Poison;
    };
    let made = layout::make_ordered_layout(cx, &shape, &order);
    cx.algebra(made, given.span).map_or(Value::Poison, value_of)
}

fn make_swizzle(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let bits = cx.constant_int(given, "bits", 0, 30);
    let base = cx.constant_int(given, "base", 0, 30);
    let shift = cx.constant_int(given, "shift", -30, 30);
    let (Some(bits), Some(base), Some(shift)) = (bits, base, shift) else { return Value::Poison };
    let made = Swizzle::new(bits as u32, base as u32, shift as i32);
    cx.algebra(made, given.span).map_or(Value::Poison, Value::Swizzle)
}

fn make_composed(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Value::Swizzle(swizzle) = given.get("swizzle") else {
        return cx.expected("a swizzle", given, "swizzle");
    };
    if given.get("offset").as_int() != Some(0) {
        return cx.expected("the constant 0", given, "offset");
    }
    match cx.layout(&given.get("layout").clone(), given.at("layout")) {
        Some(of) => Value::Layout(Arc::new(LayoutValue { swizzle: Some(*swizzle), ..of })),
        None => Value::Poison,
    }
}

fn make_tv(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let threads = cx.layout(&given.get("threads").clone(), given.at("threads"));
    let values = cx.layout(&given.get("values").clone(), given.at("values"));
    let (Some(threads), Some(values)) = (threads, values) else { return Value::Poison };
    let made = layout::make_layout_tv(cx, &threads.layout, &values.layout);
    match cx.algebra(made, given.span) {
        Some((tile, tv)) => Value::tuple(vec![cx.shape_value(&tile), value_of(tv)]),
        None => Value::Poison,
    }
}

/// The layout of the first argument.
fn of(cx: &mut Elaborator<'_>, given: &Given) -> Option<Layout<Leaf>> {
    match given.get("x") {
        Value::Elements(elements) => {
            let shape = elements.shape.clone();
            let made = layout::make_layout(cx, &shape);
            cx.algebra(made, given.span)
        }
        value => cx.layout(&value.clone(), given.at("x")).map(|of| of.layout),
    }
}

/// Numbers of modes, as one integer or a tuple of them.
fn mode_numbers(cx: &mut Elaborator<'_>, given: &Given) -> Option<Vec<usize>> {
    let numbers = match given.get("mode") {
        Value::Tuple(tuple) => tuple.items.iter().map(Value::as_int).collect(),
        one => one.as_int().map(|one| vec![one]),
    };
    let modes = numbers.map(|numbers: Vec<i128>| {
        numbers.into_iter().map(|one| usize::try_from(one).ok()).collect::<Option<Vec<_>>>()
    });
    match modes.flatten() {
        Some(modes) => Some(modes),
        None => {
            cx.expected("constant numbers of modes", given, "mode");
            None
        }
    }
}

fn size(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(mut of) = of(cx, given) else { return Value::Poison };
    if given.opt("mode").is_some() {
        let Some(path) = mode_numbers(cx, given) else { return Value::Poison };
        let part = modes::get(&of, &path);
        let Some(part) = cx.algebra(part, given.span) else { return Value::Poison };
        of = part;
    }
    cx.size_value(&of)
}

fn cosize(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(of) = of(cx, given) else { return Value::Poison };
    let size = layout::cosize(cx, &of);
    match cx.algebra(size, given.span) {
        Some(size) => cx.index_value(&size),
        None => Value::Poison,
    }
}

fn rank(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    of(cx, given).map_or(Value::Poison, |of| Value::Int(of.rank() as i128))
}

fn depth(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    of(cx, given).map_or(Value::Poison, |of| Value::Int(of.depth() as i128))
}

fn get(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(path) = mode_numbers(cx, given) else { return Value::Poison };
    cx.relayout(given.get("x"), given.span, |_, of| modes::get(of, &path))
}

fn select(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(numbers) = mode_numbers(cx, given) else { return Value::Poison };
    cx.relayout(given.get("x"), given.span, |_, of| modes::select(of, &numbers))
}

fn group(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let begin = cx.constant_int(given, "begin", 0, 64);
    let end = cx.constant_int(given, "end", 0, 64);
    let (Some(begin), Some(end)) = (begin, end) else { return Value::Poison };
    let (begin, end) = (begin as usize, end as usize);
    cx.relayout(given.get("x"), given.span, |_, of| modes::group_modes(of, begin, end))
}

fn one_layout(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let make = given.row.data;
    cx.relayout(given.get("x"), given.span, |cx, of| match make {
        "coalesce" => layout::coalesce(cx, of),
        "filter" => layout::filter(cx, of),
        "flatten" => Ok(of.flatten()),
        "right_inverse" => layout::right_inverse(cx, of),
        _ => layout::left_inverse(cx, of),
    })
}

fn complement(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let target = match given.opt("size").cloned() {
        None => None,
        Some(arg) => match cx.shape(&arg.value, arg.span) {
            Some(target) => Some(target),
            None => return Value::Poison,
        },
    };
    let Some(of) = of(cx, given) else { return Value::Poison };
    let made = match target {
        Some(target) => layout::complement(cx, &of, &target),
        None => layout::complement_of_all(cx, &of),
    };
    cx.algebra(made, given.span).map_or(Value::Poison, value_of)
}

fn by_tiler(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(tiler) = cx.tiler(&given.get("by").clone(), given.at("by")) else {
        return Value::Poison;
    };
    let make = given.row.data;
    cx.relayout(given.get("x"), given.span, |cx, of| match make {
        "composition" => layout::composition_by(cx, of, &tiler),
        "logical_divide" => layout::logical_divide(cx, of, &tiler),
        "zipped_divide" => layout::zipped_divide(cx, of, &tiler),
        "tiled_divide" => layout::tiled_divide(cx, of, &tiler),
        "flat_divide" => layout::flat_divide(cx, of, &tiler),
        "logical_product" => layout::logical_product(cx, of, &tiler),
        "zipped_product" => layout::zipped_product(cx, of, &tiler),
        "tiled_product" => layout::tiled_product(cx, of, &tiler),
        _ => layout::flat_product(cx, of, &tiler),
    })
}

fn by_layout(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(by) = cx.layout(&given.get("by").clone(), given.at("by")) else {
        return Value::Poison;
    };
    let make = given.row.data;
    cx.relayout(given.get("x"), given.span, |cx, of| match make {
        "blocked_product" => layout::blocked_product(cx, of, &by.layout),
        _ => layout::raked_product(cx, of, &by.layout),
    })
}

fn local_tile(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let tiler: Option<Tiler<Leaf>> = cx.tiler(&given.get("tiler").clone(), given.at("tiler"));
    let coord = cx.coord(&given.get("coord").clone(), given.at("coord"));
    let (Some(tiler), Some(coord)) = (tiler, coord) else { return Value::Poison };
    let proj = match given.opt("proj").cloned() {
        None => None,
        Some(arg) => match cx.coord(&arg.value, arg.span) {
            Some(proj) => Some(proj),
            None => return Value::Poison,
        },
    };
    cx.part(given.get("x"), given.span, |cx, of| {
        layout::local_tile(cx, of, &tiler, &coord, proj.as_ref())
    })
}

fn local_partition(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let threads = cx.layout(&given.get("threads").clone(), given.at("threads"));
    let index = cx.index_arg(given, "index");
    let (Some(threads), Some(index)) = (threads, index) else { return Value::Poison };
    let index = cx.leaf(index);
    cx.part(given.get("x"), given.span, |cx, of| {
        layout::local_partition(cx, of, &threads.layout, &index)
    })
}

fn domain_offset(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let Some(coord) = cx.coord(&given.get("coord").clone(), given.at("coord")) else {
        return Value::Poison;
    };
    cx.part(given.get("x"), given.span, |cx, of| layout::domain_offset(cx, of, &coord))
}

fn crd2idx(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let (coord, span) = (given.get("coord").clone(), given.at("coord"));
    match of(cx, given) {
        Some(of) => cx.index_of_coord(&of, &coord, span),
        None => Value::Poison,
    }
}

impl Elaborator<'_> {
    /// The index of a coordinate.
    pub fn index_of_coord(&mut self, of: &Layout<Leaf>, coord: &Value, span: Span) -> Value {
        let Some(coord) = self.coord(coord, span) else { return Value::Poison };
        let index = layout::crd2idx(self, &coord, of);
        match self.algebra(index, span) {
            Some(index) => self.nested(&index),
            None => Value::Poison,
        }
    }
}

fn idx2crd(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let index = cx.index_arg(given, "index");
    let shape = cx.shape(&given.get("shape").clone(), given.at("shape"));
    let (Some(index), Some(shape)) = (index, shape) else { return Value::Poison };
    let index = cx.leaf(index);
    let coord = layout::idx2crd(cx, &index, &shape);
    match cx.algebra(coord, given.span) {
        Some(coord) => cx.shape_value(&coord),
        None => Value::Poison,
    }
}

fn elem_less(cx: &mut Elaborator<'_>, given: &Given) -> Value {
    let a = cx.shape(&given.get("a").clone(), given.at("a"));
    let b = cx.shape(&given.get("b").clone(), given.at("b"));
    let (Some(a), Some(b)) = (a, b) else { return Value::Poison };
    let mut all = Value::Bool(true);
    let (a, b): (Vec<_>, Vec<_>) =
        (a.leaves().into_iter().copied().collect(), b.leaves().into_iter().copied().collect());
    if a.len() != b.len() {
        let message = format!("{} numbers are compared with {}", a.len(), b.len());
        return cx.mistake("shape", given.span, message, "pass as many on both sides");
    }
    for (a, b) in a.iter().zip(&b) {
        let (a, b) = (cx.index_value(a), cx.index_value(b));
        let one = cx.compare_numbers(CompareOp::Lt, &a, &b, given.span);
        all = cx.both(&all, &one.unwrap_or(Value::Poison), given.span);
    }
    all
}
