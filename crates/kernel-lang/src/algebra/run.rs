// SPDX-License-Identifier: Apache-2.0
//! The operations: what each function of the algebra makes of its arguments.

use super::attribute::{index_of, shape_value};
use super::read::{Algebra, Form};
use super::{Operation, Row};
use kernpack_layout::{
    self as layout, IntOf, Layout, PartOf, Result, Stride, Swizzle, Tiler, modes,
};
use kernpack_syntax::{Diagnostic, Span};

/// A call: one argument for each parameter of the row, nothing for those that are left out.
struct Call<'a, E: Algebra> {
    args: &'a [Option<(&'a E::Value, Span)>],
    span: Span,
}

impl<'a, E: Algebra> Call<'a, E> {
    /// The argument of that number. Whoever calls has seen to it that no other than one that may be
    /// left out is missing.
    fn arg(&self, number: usize) -> Option<(&'a E::Value, Span)> {
        self.args.get(number).copied().flatten()
    }
}

/// Calls a function of the algebra; nothing where a mistake was reported.
pub(crate) fn run<E: Algebra>(
    cx: &mut E,
    row: &Row,
    args: &[Option<(&E::Value, Span)>],
    span: Span,
) -> Option<E::Value> {
    let call = &Call { args, span };
    match row.operation {
        Operation::MakeLayout => make_layout(cx, call),
        Operation::MakeOrderedLayout => make_ordered_layout(cx, call),
        Operation::MakeSwizzle => make_swizzle(cx, call),
        Operation::MakeComposedLayout => make_composed_layout(cx, call),
        Operation::MakeLayoutTv => make_layout_tv(cx, call),
        Operation::TileToShape => tile_to_shape(cx, call),
        Operation::Size => size(cx, call),
        Operation::Cosize => measured(cx, call, layout::cosize),
        Operation::Rank => counted(cx, call, |of| of.rank()),
        Operation::Depth => counted(cx, call, |of| of.depth()),
        Operation::Shape => first(cx, call).map(|of| shape_value(cx, &of.shape())),
        Operation::Get => by_modes(cx, call, modes::get),
        Operation::Select => by_modes(cx, call, modes::select),
        Operation::GroupModes => group_modes(cx, call),
        Operation::Coalesce => relaid(cx, call, layout::coalesce),
        Operation::Filter => relaid(cx, call, layout::filter),
        Operation::Flatten => relaid(cx, call, |_, of| Ok(of.flatten())),
        Operation::RightInverse => inverse(cx, call, layout::right_inverse),
        Operation::LeftInverse => inverse(cx, call, layout::left_inverse),
        Operation::Complement => complement(cx, call),
        Operation::Composition => by_tiler(cx, call, layout::composition_by),
        Operation::LogicalDivide => divided(cx, call, layout::logical_divide),
        Operation::ZippedDivide => divided(cx, call, layout::zipped_divide),
        Operation::TiledDivide => divided(cx, call, layout::tiled_divide),
        Operation::FlatDivide => divided(cx, call, layout::flat_divide),
        Operation::LogicalProduct => by_tiler(cx, call, layout::logical_product),
        Operation::ZippedProduct => by_tiler(cx, call, layout::zipped_product),
        Operation::TiledProduct => by_tiler(cx, call, layout::tiled_product),
        Operation::FlatProduct => by_tiler(cx, call, layout::flat_product),
        Operation::BlockedProduct => by_layout(cx, call, layout::blocked_product),
        Operation::RakedProduct => by_layout(cx, call, layout::raked_product),
        Operation::LocalTile => local_tile(cx, call),
        Operation::LocalPartition => local_partition(cx, call),
        Operation::DomainOffset => domain_offset(cx, call),
        Operation::CrdToIdx => crd2idx(cx, call),
        Operation::IdxToCrd => idx2crd(cx, call),
        Operation::ElemLess => elem_less(cx, call),
    }
}

type Of<E> = Layout<<E as Algebra>::Leaf>;
type Made<E> = Result<Of<E>>;
type ByTiler<E> = fn(&mut <E as Algebra>::Numbers, &Of<E>, &Tiler<<E as Algebra>::Leaf>) -> Made<E>;
type ByLayout<E> = fn(&mut <E as Algebra>::Numbers, &Of<E>, &Of<E>) -> Made<E>;
type Measure<E> =
    fn(&mut <E as Algebra>::Numbers, &Of<E>) -> Result<IntOf<<E as Algebra>::Numbers>>;

/// The layout of the first argument.
fn first<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<Layout<E::Leaf>> {
    let (value, span) = call.arg(0)?;
    Some(cx.read_layout(value, span)?.0)
}

/// Another layout of the same elements: of a tensor a tensor, of anything else a layout.
fn relaid<E: Algebra>(
    cx: &mut E,
    call: &Call<'_, E>,
    make: impl Fn(&mut E::Numbers, &Layout<E::Leaf>) -> Made<E>,
) -> Option<E::Value> {
    let (value, span) = call.arg(0)?;
    if let Form::Tensor(tensor, of) = cx.form(value, span)? {
        let made = cx.compute(call.span, |numbers| make(numbers, &of))?;
        return Some(cx.of_view(tensor, made, &make));
    }
    let (of, swizzle) = cx.read_layout(value, span)?;
    let made = cx.compute(call.span, |numbers| make(numbers, &of))?;
    Some(cx.of_layout(made, swizzle))
}

/// A layout the other way round.
fn inverse<E: Algebra>(
    cx: &mut E,
    call: &Call<'_, E>,
    make: fn(&mut E::Numbers, &Layout<E::Leaf>) -> Made<E>,
) -> Option<E::Value> {
    let (value, span) = call.arg(0)?;
    cx.read_plain(value, span)?;
    relaid(cx, call, make)
}

/// A part of a tensor; or of a layout, of which the place is left out.
fn part<E: Algebra>(
    cx: &mut E,
    (value, span): (&E::Value, Span),
    call: &Call<'_, E>,
    make: impl Fn(&mut E::Numbers, &Layout<E::Leaf>) -> Result<PartOf<E::Numbers>>,
) -> Option<E::Value> {
    if let Form::Tensor(tensor, of) = cx.form(value, span)? {
        let part = cx.compute(call.span, |numbers| make(numbers, &of))?;
        return cx.of_part(tensor, part, &make, call.span);
    }
    let of = cx.read_plain(value, span)?;
    let part = cx.compute(call.span, |numbers| make(numbers, &of))?;
    Some(cx.of_layout(part.layout, None))
}

fn by_tiler<E: Algebra>(cx: &mut E, call: &Call<'_, E>, make: ByTiler<E>) -> Option<E::Value> {
    let (value, span) = call.arg(1)?;
    let tiler = cx.read_tiler(value, span)?;
    relaid(cx, call, |numbers, of| make(numbers, of, &tiler))
}

fn by_layout<E: Algebra>(cx: &mut E, call: &Call<'_, E>, make: ByLayout<E>) -> Option<E::Value> {
    let (value, span) = call.arg(1)?;
    let by = cx.read_plain(value, span)?;
    relaid(cx, call, |numbers, of| make(numbers, of, &by))
}

fn by_modes<E: Algebra>(
    cx: &mut E,
    call: &Call<'_, E>,
    make: fn(&Layout<E::Leaf>, &[usize]) -> Made<E>,
) -> Option<E::Value> {
    let (value, span) = call.arg(1)?;
    let numbers = cx.read_modes(value, span)?;
    relaid(cx, call, |_, of| make(of, &numbers))
}

fn measured<E: Algebra>(cx: &mut E, call: &Call<'_, E>, measure: Measure<E>) -> Option<E::Value> {
    let of = first(cx, call)?;
    let number = cx.compute(call.span, |numbers| measure(numbers, &of))?;
    Some(cx.of_number(&number))
}

fn counted<E: Algebra>(
    cx: &mut E,
    call: &Call<'_, E>,
    count: fn(&Layout<E::Leaf>) -> usize,
) -> Option<E::Value> {
    let count = count(&first(cx, call)?);
    Some(cx.of_number(&(count as i64).into()))
}

fn make_layout<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (value, span) = call.arg(0)?;
    let shape = cx.read_shape(value, span)?;
    let made = match call.arg(1) {
        None => cx.compute(call.span, |numbers| layout::make_layout(numbers, &shape))?,
        Some((value, span)) => {
            let strides = cx.read_shape(value, span)?;
            let strides = strides.map(&mut |one| Stride::from(one.clone()));
            cx.compute(call.span, |_| Layout::of(&shape, &strides))?
        }
    };
    Some(cx.of_layout(made, None))
}

fn make_ordered_layout<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (shape, order) = (call.arg(0)?, call.arg(1)?);
    let (shape, order) = (cx.read_shape(shape.0, shape.1), cx.read_order(order.0, order.1));
    let (shape, order) = (shape?, order?);
    let made =
        cx.compute(call.span, |numbers| layout::make_ordered_layout(numbers, &shape, &order))?;
    Some(cx.of_layout(made, None))
}

fn make_swizzle<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (b, m, s) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let b = cx.read_constant(b.0, b.1, (0, 30));
    let m = cx.read_constant(m.0, m.1, (0, 30));
    let s = cx.read_constant(s.0, s.1, (-30, 30));
    let (b, m, s) = (b? as u32, m? as u32, s? as i32);
    let made = cx.compute(call.span, |_| Swizzle::new(b, m, s))?;
    Some(cx.of_swizzle(made))
}

fn make_composed_layout<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (inner, at) = call.arg(0)?;
    let Form::Swizzle(swizzle) = cx.form(inner, at)? else {
        return cx.refuse_value("a swizzle", inner, at);
    };
    let (offset, at) = call.arg(1)?;
    match cx.form(offset, at)? {
        Form::Number(number) if number.is(0) => {}
        _ => return cx.refuse_value("the constant 0", offset, at),
    }
    let (outer, at) = call.arg(2)?;
    let of = cx.read_plain(outer, at)?;
    Some(cx.of_layout(of, Some(swizzle)))
}

fn make_layout_tv<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (threads, values) = (call.arg(0)?, call.arg(1)?);
    let (threads, values) =
        (cx.read_plain(threads.0, threads.1), cx.read_plain(values.0, values.1));
    let (threads, values) = (threads?, values?);
    let made = cx.compute(call.span, |cx| layout::make_layout_tv(cx, &threads, &values));
    let (tile, owners) = made?;
    let items = vec![shape_value(cx, &tile), cx.of_layout(owners, None)];
    Some(cx.of_tuple(items))
}

fn tile_to_shape<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (shape, at) = call.arg(1)?;
    let shape = cx.read_shape(shape, at)?;
    let order = match call.arg(2) {
        None => None,
        Some((order, at)) => Some(cx.read_order(order, at)?),
    };
    relaid(cx, call, |numbers, of| layout::tile_to_shape(numbers, of, &shape, order.as_ref()))
}

fn size<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let mut of = first(cx, call)?;
    if let Some((mode, at)) = call.arg(1) {
        let path = cx.read_modes(mode, at)?;
        of = cx.compute(call.span, |_| modes::get(&of, &path))?;
    }
    let size = cx.compute(call.span, |numbers| layout::size(numbers, &of))?;
    Some(cx.of_number(&size))
}

fn group_modes<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (begin, at) = call.arg(1)?;
    let begin = cx.read_constant(begin, at, (0, 64))? as usize;
    let end = match call.arg(2) {
        None => None,
        Some((end, at)) => Some(cx.read_constant(end, at, (0, 64))? as usize),
    };
    relaid(cx, call, |_, of| modes::group_modes(of, begin, end.unwrap_or(of.rank())))
}

fn complement<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let target = match call.arg(1) {
        None => None,
        Some((target, at)) => Some(cx.read_shape(target, at)?),
    };
    let (of, span) = call.arg(0)?;
    let of = cx.read_plain(of, span)?;
    let made = cx.compute(call.span, |numbers| match &target {
        Some(target) => layout::complement(numbers, &of, target),
        None => layout::complement_of_all(numbers, &of),
    })?;
    Some(cx.of_layout(made, None))
}

fn local_tile<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (tiler, coord) = (call.arg(1)?, call.arg(2)?);
    let (tiler, coord) = (cx.read_tiler(tiler.0, tiler.1), cx.read_coord(coord.0, coord.1));
    let (tiler, coord) = (tiler?, coord?);
    let (tiler, coord) = match call.arg(3) {
        None => (tiler, coord),
        Some((projection, at)) => {
            let projection = cx.read_coord(projection, at)?;
            cx.compute(call.span, |_| layout::projected(&tiler, &coord, &projection))?
        }
    };
    let (value, span) = call.arg(0)?;
    if let Form::Tensor(tensor, of) = cx.form(value, span)? {
        let (tiles, at) = cx
            .compute(call.span, |numbers| layout::tile_place(numbers, &of, &tiler, &coord, None))?;
        let tensor = cx.cut(tensor, &tiler);
        let relay = |numbers: &mut E::Numbers, of: &Layout<E::Leaf>| {
            Ok(layout::tile_place(numbers, of, &tiler, &coord, None)?.0)
        };
        return cx.of_tile(tensor, tiles, &at, &relay, call.arg(2)?.1);
    }
    part(cx, call.arg(0)?, call, |numbers, of| {
        layout::local_tile(numbers, of, &tiler, &coord, None)
    })
}

fn local_partition<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (threads, index) = (call.arg(1)?, call.arg(2)?);
    let (threads, index) = (cx.read_plain(threads.0, threads.1), cx.read_int(index.0, index.1));
    let (threads, index) = (threads?, index?);
    let take = |numbers: &mut E::Numbers, of: &Layout<E::Leaf>| {
        layout::local_partition(numbers, of, &threads, &index)
    };
    let (value, span) = call.arg(0)?;
    let Form::Tensor(tensor, of) = cx.form(value, span)? else {
        return part(cx, (value, span), call, take);
    };
    let made = cx.compute(call.span, |numbers| take(numbers, &of))?;
    let tiler = cx.compute(call.span, |numbers| {
        let shape = layout::product_each(numbers, &threads.shape())?;
        Tiler::of_shape(numbers, &shape)
    })?;
    let tensor = cx.cut(tensor, &tiler);
    let mine = cx.of_part(tensor, made, &take, call.span)?;
    Some(cx.within(mine, &index, &threads, call.arg(2)?.1))
}

/// Tiles and rests of the elements.
fn divided<E: Algebra>(cx: &mut E, call: &Call<'_, E>, make: ByTiler<E>) -> Option<E::Value> {
    let (value, span) = call.arg(1)?;
    let tiler = cx.read_tiler(value, span)?;
    let (value, span) = call.arg(0)?;
    let divide = |numbers: &mut E::Numbers, of: &Layout<E::Leaf>| make(numbers, of, &tiler);
    let Form::Tensor(tensor, of) = cx.form(value, span)? else {
        return relaid(cx, call, divide);
    };
    let made = cx.compute(call.span, |numbers| divide(numbers, &of))?;
    let tensor = cx.cut(tensor, &tiler);
    Some(cx.of_view(tensor, made, &divide))
}

fn domain_offset<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (coord, at) = call.arg(0)?;
    let coord = cx.read_coord(coord, at)?;
    part(cx, call.arg(1)?, call, |numbers, of| layout::domain_offset(numbers, of, &coord))
}

fn crd2idx<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let ((coord, at), (of, of_at)) = (call.arg(0)?, call.arg(1)?);
    let (of, swizzle) = cx.read_layout(of, of_at)?;
    index_of(cx, (&of, swizzle), coord, at)
}

fn idx2crd<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (index, shape) = (call.arg(0)?, call.arg(1)?);
    let (index, shape) = (cx.read_int(index.0, index.1), cx.read_shape(shape.0, shape.1));
    let (index, shape) = (index?, shape?);
    let coord = cx.compute(call.span, |numbers| layout::idx2crd(numbers, &index, &shape))?;
    Some(shape_value(cx, &coord))
}

fn elem_less<E: Algebra>(cx: &mut E, call: &Call<'_, E>) -> Option<E::Value> {
    let (a, b) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (cx.read_shape(a.0, a.1), cx.read_shape(b.0, b.1));
    let (a, b) = (a?, b?);
    let (a, b) = (a.leaves(), b.leaves());
    if a.len() != b.len() {
        let message = format!("{} numbers are compared with {}", a.len(), b.len());
        let problem = Diagnostic::new("shape", message).label(call.span, "");
        cx.refuse(problem.help("pass as many on both sides"));
        return None;
    }
    let pairs: Vec<_> = a.into_iter().cloned().zip(b.into_iter().cloned()).collect();
    cx.all_less(&pairs, call.span)
}
