// SPDX-License-Identifier: Apache-2.0
//! Maps of tensors: `kp.make_tma(x, layout)`. A map is a parameter of the kernel that the launch
//! makes, and that says how boxes of a tensor are copied: its box and swizzle follow from the
//! layout of a tile in shared memory.
//!
//! A map is a tensor of coordinates, `((tile…), (tiles…))`, that copies take tiles of. The device
//! puts the rows of a box one behind the other. So a tile's mode along which the tensor's elements
//! lie side by side has stride 1, and the others are compact behind it. A row has as many bytes as
//! the swizzle's span: a tile of wider rows is several boxes side by side.

use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::value::{Base, Elaborated, LayoutValue, Leaf, Mapped, Memory, Tensor};
use kernpack_kernel_ir::Space;
use kernpack_kernel_ir::kernel::TensorMap;
use kernpack_layout::{
    Int, Layout, Mode, Shape, Swizzle, Tiler, Tuple, alignment, coalesce, make_identity_layout,
    zipped_divide,
};
use kernpack_machine::shared::MOST_BYTES;
use kernpack_machine::tensor_map::{MOST_IN_BOX, MOST_RANK, UNIT_BYTES};
use kernpack_syntax::Span;
use kernpack_validators::{Expr, MapSpec};
use std::sync::Arc;

/// The box of a tile.
struct Boxes {
    /// The modes of the tensor, the innermost first.
    order: Vec<usize>,
    /// The elements of a box along each of these.
    extents: Vec<i64>,
    /// How many there are side by side.
    count: i64,
}

impl Elaborator<'_> {
    /// `kp.make_tma(x, layout)`
    pub fn make_map(&mut self, x: &Tensor, layout: &LayoutValue, span: Span) -> Elaborated {
        self.map_of_tile(x, layout, span).unwrap_or(Elaborated::Poison)
    }

    fn map_of_tile(&mut self, x: &Tensor, layout: &LayoutValue, span: Span) -> Option<Elaborated> {
        let memory = self.mapped_memory(x, span)?;
        let modes = self.mapped_modes(x, span)?;
        let tile = self.tile_of(&modes, layout, span)?;
        let extents = tile.iter().map(|mode| self.known_extent(mode, span));
        let extents = extents.collect::<Option<Vec<_>>>()?;
        let inner = self.innermost(x, &modes, span)?;
        let bytes = i64::from(memory.element.bytes());
        let swizzle = match layout.swizzle {
            Some(swizzle) => Some(self.algebra(swizzle.recast(8, bytes * 8), span)?),
            None => None,
        };
        let boxes = self.boxes(layout, &tile, (inner, bytes, swizzle), span)?;
        self.check_box(&boxes, bytes, span)?;
        let map = TensorMap {
            element: memory.element,
            rank: modes.len(),
            extents: std::array::from_fn(|at| {
                boxes.extents.get(at).map_or(1, |extent| *extent as u32)
            }),
            swizzle: swizzle.map_or(0, |swizzle| 16 << swizzle.bits()),
            is_written: memory.is_written,
        };
        let spec = self.map_spec(x, &modes, (&map, &boxes.order), span)?;
        let has_whole_units = self.has_whole_units(&modes, &boxes.order, bytes);
        let shape = Tuple::Node(modes.iter().map(|mode| Tuple::Leaf(mode.extent)).collect());
        let tiles = self.tiles(&shape, &extents, span)?;
        let coalesced = coalesce(&mut self.emit, &Tuple::Node(tile));
        let mapped = Mapped {
            pointer: self.emit.map(spec, map),
            tensor: memory.pointer,
            map,
            order: boxes.order,
            n_boxes: boxes.count,
            tile: tiles.modes()[0].clone(),
            layout: self.algebra(coalesced, span)?,
            swizzle,
            has_whole_units,
        };
        Some(Elaborated::Tensor(Arc::new(Tensor {
            name: self.made_name("map"),
            base: Base::Map(Arc::new(mapped)),
            offset: Tuple::Leaf(Int::Known(0)),
            layout: tiles,
            limits: Vec::new(),
        })))
    }

    /// The memory that a map can be of: a tensor of the call, from its beginning on.
    fn mapped_memory(&mut self, x: &Tensor, span: Span) -> Option<Memory> {
        let memory = memory_of(x).filter(|memory| memory.space == Space::Global).cloned();
        let is_whole = matches!(x.offset, Tuple::Leaf(Int::Known(0)));
        let is_passed = memory.as_ref().is_some_and(|memory| {
            let param = self.emit.pointer_param(memory.pointer);
            param.is_some_and(|(_, pointer)| pointer.element == memory.element)
        });
        if is_whole && is_passed {
            return memory;
        }
        let message = format!("`{}` is no tensor that the launch passes, or a part of it", x.name);
        let help = "make the map of the whole tensor, and copy tiles of it";
        self.mistake("tensor-map", span, message, help);
        None
    }

    /// The modes of a tensor, of which each is one dim of the map.
    fn mapped_modes(&mut self, x: &Tensor, span: Span) -> Option<Vec<Mode<Leaf>>> {
        let modes = match &x.layout {
            Tuple::Leaf(mode) => Some(vec![mode.clone()]),
            Tuple::Node(modes) => modes.iter().map(|mode| mode.as_leaf().cloned()).collect(),
        };
        let modes = modes.filter(|modes: &Vec<_>| (1..=MOST_RANK).contains(&modes.len()));
        if modes.is_none() {
            let message = format!("`{}` is `{}`", x.name, x.layout);
            let help = format!("make maps of tensors that have 1 to {MOST_RANK} plain modes");
            self.mistake("tensor-map", span, message, help);
        }
        modes
    }

    /// The modes of a tile, one for each of the tensor's. One more is that of the stages.
    fn tile_of(
        &mut self,
        modes: &[Mode<Leaf>],
        layout: &LayoutValue,
        span: Span,
    ) -> Option<Vec<Layout<Leaf>>> {
        let all = match &layout.layout {
            mode @ Tuple::Leaf(_) => vec![mode.clone()],
            Tuple::Node(modes) => modes.clone(),
        };
        let rank = modes.len();
        if !(rank..=rank + 1).contains(&all.len()) {
            let message = format!("`{layout}` has {} modes, and the tensor has {rank}", all.len());
            let help =
                "give the layout of a tile in shared memory, and behind its modes one of stages";
            self.mistake("tensor-map", span, message, help);
            return None;
        }
        Some(all[..rank].to_vec())
    }

    fn known_extent(&mut self, mode: &Layout<Leaf>, span: Span) -> Option<i64> {
        let size = kernpack_layout::size(&mut self.emit, mode);
        let size = self.algebra(size, span)?.known();
        if size.is_none() {
            let message = "how many elements a tile has is not known while compiling";
            self.mistake("tensor-map", span, message, "give a layout of constant extents");
        }
        size
    }

    /// The mode along which a tensor's elements lie side by side.
    fn innermost(&mut self, x: &Tensor, modes: &[Mode<Leaf>], span: Span) -> Option<usize> {
        let is_inner = |mode: &Mode<Leaf>| mode.stride.scale.known() == Some(1);
        let inner = modes.iter().rposition(is_inner);
        if inner.is_none() {
            let message =
                format!("no mode of `{}` is known to have stride 1: `{}`", x.name, x.layout);
            let help = "say in the signature that rows are compact, or which mode is, by `order=`";
            self.mistake("tensor-map", span, message, help);
        }
        inner
    }

    /// The boxes of a tile that is laid out as copies of boxes lay it out; reports where it is not.
    fn boxes(
        &mut self,
        layout: &LayoutValue,
        tile: &[Layout<Leaf>],
        (inner, bytes, swizzle): (usize, i64, Option<Swizzle>),
        span: Span,
    ) -> Option<Boxes> {
        let coalesced = tile.iter().map(|mode| coalesce(&mut self.emit, mode));
        let coalesced: Vec<_> = coalesced.collect();
        let coalesced = coalesced.into_iter().map(|mode| self.algebra(mode, span));
        let coalesced = coalesced.collect::<Option<Vec<_>>>()?;
        let extents = tile.iter().map(|mode| self.known_extent(mode, span));
        let extents = extents.collect::<Option<Vec<_>>>()?;
        let row = match swizzle {
            Some(swizzle) => match is_of_maps(swizzle) {
                true => (16 << swizzle.bits()) / bytes,
                false => return self.refuse_swizzle(layout, bytes, span),
            },
            None => first_extent(&coalesced[inner]).unwrap_or(1),
        };
        let mut outer: Vec<_> = (0..tile.len()).filter(|mode| *mode != inner).collect();
        outer.sort_by_key(|mode| first_stride(&coalesced[*mode], extents[*mode]));
        let (count, rest) = (extents[inner] / row.max(1), extents[inner] % row.max(1));
        let expected = expected((inner, row, count), &outer, &extents);
        if rest == 0 && expected == coalesced {
            let order: Vec<_> = [inner].into_iter().chain(outer).collect();
            let mut extents: Vec<_> = order.iter().map(|mode| extents[*mode]).collect();
            extents[0] = row;
            return Some(Boxes { order, extents, count });
        }
        let what = Tuple::Node(tile.to_vec());
        let message = format!("boxes are not laid out as `{what}`");
        let problem = match rest == 0 {
            true => {
                let expected =
                    LayoutValue { layout: Tuple::Node(expected), swizzle: layout.swizzle };
                format!("lay the tile out as `{expected}`")
            }
            false => format!("give a tile of whole rows of {row} elements, the swizzle's"),
        };
        self.mistake("tensor-map", span, message, problem);
        None
    }

    fn refuse_swizzle<T>(&mut self, layout: &LayoutValue, bytes: i64, span: Span) -> Option<T> {
        let swizzle = layout.swizzle.map(|swizzle| swizzle.to_string()).unwrap_or_default();
        let message = format!("`{swizzle}` of elements of {bytes} bytes is no swizzle of boxes");
        let base = 4 - bytes.trailing_zeros();
        let help = format!(
            "use `S<3,{base},3>`, `S<2,{base},3>` or `S<1,{base},3>`: rows of 128, 64 or 32 bytes"
        );
        self.mistake("tensor-map", span, message, help);
        None
    }

    /// That the device copies such boxes; reports where not.
    fn check_box(&mut self, boxes: &Boxes, bytes: i64, span: Span) -> Option<()> {
        let row_bytes = boxes.extents[0] * bytes;
        let elements = boxes.extents.iter().try_fold(boxes.count, |all, one| all.checked_mul(*one));
        let tile_bytes = elements.and_then(|elements| elements.checked_mul(bytes));
        let (message, help) = if let Some(extent) =
            boxes.extents.iter().find(|extent| !(1..=MOST_IN_BOX).contains(*extent))
        {
            let message = format!("a box of {extent} elements along a mode");
            (message, format!("give a tile of 1 to {MOST_IN_BOX} elements along each mode"))
        } else if row_bytes % i64::from(UNIT_BYTES) != 0 {
            let message = format!("a box with rows of {row_bytes} bytes");
            (message, format!("give a tile whose rows are a multiple of {UNIT_BYTES} bytes"))
        } else if tile_bytes.is_none_or(|bytes| bytes > MOST_BYTES.into()) {
            let message = "a tile of more bytes than a block has".to_string();
            (message, format!("give a tile of at most {} KiB", MOST_BYTES >> 10))
        } else {
            return Some(());
        };
        self.mistake("tensor-map", span, message, help);
        None
    }

    /// The map as a launch makes it.
    fn map_spec(
        &mut self,
        x: &Tensor,
        modes: &[Mode<Leaf>],
        (map, order): (&TensorMap, &[usize]),
        span: Span,
    ) -> Option<MapSpec> {
        let memory = memory_of(x)?;
        let (tensor, _) = self.emit.pointer_param(memory.pointer)?;
        let mut spec = MapSpec::new(tensor);
        let number = |cx: &Self, int: &Int<Leaf>| match int {
            Int::Known(number) => Some(Expr::Int(*number)),
            Int::Dynamic(leaf) => cx.emit.expr_of(leaf.value),
        };
        let outermost_first = order.iter().rev().map(|mode| &modes[*mode]);
        let numbers = outermost_first
            .map(|mode| Some((number(self, &mode.extent)?, number(self, &mode.stride.scale)?)));
        let Some(numbers) = numbers.collect::<Option<Vec<_>>>() else {
            let message = format!("extents or strides of `{}` are not known at the launch", x.name);
            self.mistake("tensor-map", span, message, "make the map of the tensor as it is passed");
            return None;
        };
        let (dims, strides) = numbers.into_iter().unzip();
        (spec.dims, spec.strides) = (Some(dims), Some(strides));
        spec.box_dims = Some(map.box_extents().iter().rev().copied().collect());
        spec.choices.swizzle = map.swizzle;
        Some(spec)
    }

    /// Whether rows of a tensor are known to be a multiple of what the device writes at once. The
    /// signature may say so. Of a compact tensor they are: the next row begins where one ends, and
    /// each call checks that rows of a map begin at such multiples.
    fn has_whole_units(&self, modes: &[Mode<Leaf>], order: &[usize], bytes: i64) -> bool {
        let (row, unit) = (&modes[order[0]].extent, i64::from(UNIT_BYTES));
        let is_compact = order.get(1).is_some_and(|next| modes[*next].stride.scale == *row);
        is_compact || alignment(&self.emit, unit, row, bytes) % unit == 0
    }

    /// The coordinates of a shape, in tiles.
    fn tiles(&mut self, shape: &Shape<Leaf>, tile: &[i64], span: Span) -> Option<Layout<Leaf>> {
        let tiler = Tiler::of_shape(&mut self.emit, &Shape::<Leaf>::of_numbers(tile));
        let tiler = match self.algebra(tiler, span)? {
            Tiler::Layout(layout) => Tiler::Modes(vec![Tiler::Layout(layout)]),
            modes => modes,
        };
        let tiles = zipped_divide(&mut self.emit, &make_identity_layout(shape), &tiler);
        self.algebra(tiles, span)
    }
}

/// Whether boxes are swizzled so: it is of bytes.
fn is_of_maps(swizzle: Swizzle) -> bool {
    (1..=3).contains(&swizzle.bits()) && swizzle.base() == 4 && swizzle.shift() == 3
}

fn first_extent(mode: &Layout<Leaf>) -> Option<i64> {
    mode.leaves().first()?.extent.known()
}

/// The stride of a mode, for its place among others. One without a second element comes last.
fn first_stride(mode: &Layout<Leaf>, extent: i64) -> i64 {
    let stride = mode.leaves().first().and_then(|mode| mode.stride.scale.known());
    stride.filter(|_| extent > 1).unwrap_or(i64::MAX)
}

/// The modes of a tile as copies of boxes lay them out: `count` boxes with rows of `row` elements
/// side by side.
fn expected(
    (inner, row, count): (usize, i64, i64),
    outer: &[usize],
    extents: &[i64],
) -> Vec<Layout<Leaf>> {
    let plain = |extent, stride| match extent {
        1 => Layout::unit(),
        _ => Layout::mode(extent, stride),
    };
    let mut modes = vec![Layout::unit(); extents.len()];
    let mut stride = row;
    for mode in outer {
        modes[*mode] = plain(extents[*mode], stride);
        stride *= extents[*mode];
    }
    modes[inner] = match (count, stride == row) {
        (..=1, _) => plain(row, 1),
        (_, true) => plain(row * count, 1),
        (_, false) => Tuple::Node(vec![Layout::mode(row, 1), Layout::mode(count, stride)]),
    };
    modes
}

/// The map that a tensor of coordinates is of.
pub(crate) fn map_of(tensor: &Tensor) -> Option<&Mapped> {
    match &tensor.base {
        Base::Map(mapped) => Some(mapped),
        Base::Memory(_) | Base::Coordinates => None,
    }
}

impl Mapped {
    /// How many elements two boxes side by side are apart in shared memory.
    pub fn pitch(&self) -> i64 {
        self.map.box_extents().iter().copied().map(i64::from).product()
    }
}
