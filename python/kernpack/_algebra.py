# SPDX-License-Identifier: Apache-2.0
"""The functions of the layout algebra, with the names and parameters that kernels have for them.

Each writes the text of an expression; `_layout.py` has it evaluated. To add one is to write its
`def` here, and its name in `__all__`, which `kernpack` has all of: these have one type for Python
and kernels, of `_language.pyi`. What stands here and is not among them, kernels have not, or with
other arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Union, overload

from . import _signature
from ._layout import (
    Coord,
    Layout,
    LayoutLike,
    Number,
    Shape,
    Stride,
    Swizzle,
    Tiler,
    as_index,
    as_tuple,
    evaluate,
    write_coord,
    write_layout,
    write_modes,
    write_number,
    write_shape,
    write_stride,
    write_swizzle,
    write_tiler,
)

if TYPE_CHECKING:
    from ._values import Tensor

__all__ = [
    "blocked_product",
    "ceil_div",
    "coalesce",
    "complement",
    "composition",
    "cosize",
    "crd2idx",
    "depth",
    "domain_offset",
    "elem_less",
    "filter",
    "flat_divide",
    "flat_product",
    "flatten",
    "get",
    "group_modes",
    "idx2crd",
    "left_inverse",
    "local_partition",
    "local_tile",
    "logical_divide",
    "logical_product",
    "make_composed_layout",
    "make_layout",
    "make_layout_tv",
    "make_ordered_layout",
    "make_swizzle",
    "raked_product",
    "rank",
    "right_inverse",
    "select",
    "size",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "zipped_divide",
    "zipped_product",
]

Modes = Union[int, Sequence[int]]
"""The numbers of modes, one or several."""


def _call(name: str, *args: str) -> Any:
    """The result of an operation, of arguments that are written."""
    return evaluate(f"{name}({', '.join(args)})")


def _layout(name: str, *args: str) -> Layout:
    """The layout that an operation results in."""
    made: Layout = _call(name, *args)
    return made


def _given(value: Any, write: Callable[[Any], str]) -> tuple[str, ...]:
    """An argument that may be left out."""
    return () if value is None else (write(value),)


# Making and asking


def make_layout(shape: Shape, stride: Stride | None = None) -> Layout:
    """The layout of a shape and strides. Without strides it is compact, and its first mode the
    fastest.
    """
    return _layout("make_layout", write_shape(shape), *_given(stride, write_stride))


def make_ordered_layout(shape: Shape, order: Shape) -> Layout:
    """The compact layout of a shape, whose modes of smaller `order` are faster."""
    return _layout("make_ordered_layout", write_shape(shape), write_shape(order))


def make_identity_layout(shape: Shape) -> Layout:
    """The layout that maps each coordinate to itself: its strides go along modes."""
    return _layout("make_identity_layout", write_shape(shape))


def make_swizzle(b: int, m: int, s: int) -> Swizzle:
    """The swizzle that changes `b` bits of an index, above `m` bits that stay, by those `s` places
    above them.
    """
    made: Swizzle = _call("make_swizzle", *(write_number(number) for number in (b, m, s)))
    return made


def make_composed_layout(inner: Swizzle, offset: Number, outer: LayoutLike) -> Layout:
    """The layout `outer` with a swizzle of its indices, `inner`, to which the offset is added
    before. Kernels have it with the offset 0 alone.
    """
    args = (write_swizzle(inner), write_number(offset), write_layout(outer))
    return _layout("make_composed_layout", *args)


def make_layout_tv(
    thr_layout: LayoutLike, val_layout: LayoutLike
) -> tuple[tuple[Any, ...], Layout]:
    """The tile that threads with some values each have together, and the layout that says for a
    thread and a value which element of the tile it is.
    """
    made: tuple[tuple[Any, ...], Layout] = _call(
        "make_layout_tv", write_layout(thr_layout), write_layout(val_layout)
    )
    return made


def tile_to_shape(atom: LayoutLike, trg_shape: Shape, order: Shape | None = None) -> Layout:
    """As many copies of a layout as cover a shape, those along modes of smaller `order` first."""
    args = (write_layout(atom), write_shape(trg_shape), *_given(order, write_shape))
    return _layout("tile_to_shape", *args)


def size(a: LayoutLike, mode: Modes | None = None) -> Any:
    """How many elements there are, in all or in some modes."""
    return _call("size", write_layout(a if mode is None else get(a, mode)))


def cosize(a: LayoutLike) -> Any:
    """One more than the largest index."""
    return _call("cosize", write_layout(a))


def rank(a: LayoutLike) -> int:
    """How many modes there are."""
    number: int = _call("rank", write_layout(a))
    return number


def depth(a: LayoutLike) -> int:
    """How deep modes are nested."""
    number: int = _call("depth", write_layout(a))
    return number


@overload
def shape(input: Layout | Tensor) -> tuple[Any, ...]: ...
@overload
def shape(input: Sequence[_signature.Dim]) -> _signature.Type: ...
def shape(input: Any) -> Any:
    """The extents of a layout, as a tuple. Of dims, a parameter of a signature: integers that are
    passed as a `Shape` or a tuple.
    """
    return input.shape if isinstance(input, Layout) else _signature.shape(input)


def crd2idx(coord: Coord, layout: LayoutLike) -> Any:
    """The index of a coordinate; `layout(coord)` is that, too."""
    return as_index(_call("crd2idx", write_coord(coord), write_layout(layout)))


def idx2crd(idx: Number, shape: Shape) -> tuple[Any, ...]:
    """The coordinate with a number, the first mode being the fastest."""
    return as_tuple(_call("idx2crd", write_number(idx), write_shape(shape)))


def elem_less(lhs: Shape, rhs: Shape) -> bool:
    """Whether each number of a coordinate is less than that of another."""
    truth: bool = _call("elem_less", write_shape(lhs), write_shape(rhs))
    return truth


def ceil_div(a: Number, b: Number) -> Any:
    """The quotient, rounded up."""
    return _call("ceil_div", write_number(a), write_number(b))


# Modes


def get(input: LayoutLike, mode: Modes) -> Layout:
    """One mode, as a layout."""
    return _layout("get", write_layout(input), write_modes(mode))


def select(input: LayoutLike, mode: Modes) -> Layout:
    """Some modes, in that order."""
    return _layout("select", write_layout(input), write_modes(mode))


def group_modes(input: LayoutLike, begin: int, end: int | None = None) -> Layout:
    """With the modes from `begin` up to `end` in one, or all from there on."""
    args = (write_layout(input), write_number(begin), *_given(end, write_number))
    return _layout("group_modes", *args)


def flatten(a: LayoutLike) -> Layout:
    """With all modes at the top."""
    return _layout("flatten", write_layout(a))


# The algebra


def coalesce(input: LayoutLike) -> Layout:
    """With as few modes as can be, and the same indices."""
    return _layout("coalesce", write_layout(input))


def filter(input: LayoutLike) -> Layout:
    """Without modes of stride 0 or extent 1."""
    return _layout("filter", write_layout(input))


def right_inverse(input: LayoutLike) -> Layout:
    """The layout that undoes it from the right."""
    return _layout("right_inverse", write_layout(input))


def left_inverse(input: LayoutLike) -> Layout:
    """The layout that undoes it from the left."""
    return _layout("left_inverse", write_layout(input))


def complement(input: LayoutLike, cotarget: Shape | None = None) -> Layout:
    """What a layout leaves out of so many indices, or below its largest one."""
    return _layout("complement", write_layout(input), *_given(cotarget, write_shape))


def composition(lhs: LayoutLike, rhs: Tiler) -> Layout:
    """The layout `lhs(rhs(c))`, or that for each mode."""
    return _layout("composition", write_layout(lhs), write_tiler(rhs))


# Tiles


def logical_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """Tiles, and what is left of each mode."""
    return _layout("logical_divide", write_layout(target), write_tiler(tiler))


def zipped_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """The tiles' modes in one mode, and the rests in another."""
    return _layout("zipped_divide", write_layout(target), write_tiler(tiler))


def tiled_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """The tiles' modes in one mode, and a mode for each rest."""
    return _layout("tiled_divide", write_layout(target), write_tiler(tiler))


def flat_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """A mode for each mode of the tile, and one for each rest."""
    return _layout("flat_divide", write_layout(target), write_tiler(tiler))


def logical_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """A block, and its copies."""
    return _layout("logical_product", write_layout(block), write_tiler(tiler))


def zipped_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """The blocks' modes in one mode, and the copies in another."""
    return _layout("zipped_product", write_layout(block), write_tiler(tiler))


def tiled_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """The blocks' modes in one mode, and a mode for each of the copies."""
    return _layout("tiled_product", write_layout(block), write_tiler(tiler))


def flat_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """A mode for each of the block, and one for each of the copies."""
    return _layout("flat_product", write_layout(block), write_tiler(tiler))


def blocked_product(block: LayoutLike, tiler: LayoutLike) -> Layout:
    """Copies of a block side by side."""
    return _layout("blocked_product", write_layout(block), write_layout(tiler))


def raked_product(block: LayoutLike, tiler: LayoutLike) -> Layout:
    """Copies of a block, interleaved."""
    return _layout("raked_product", write_layout(block), write_layout(tiler))


def local_tile(input: LayoutLike, tiler: Tiler, coord: Coord, proj: Coord = None) -> Layout:
    """The tile at a coordinate, counted in tiles, at the offset of its first element; `None` keeps
    all of a mode. `proj` leaves out modes of tiler and coordinate where it is `None`.
    """
    args = (write_layout(input), write_tiler(tiler), write_coord(coord))
    return _layout("local_tile", *args, *_given(proj, write_coord))


def local_partition(target: LayoutLike, tiler: LayoutLike, index: Number) -> Layout:
    """The elements of thread `index`, at the offset of the first of them, where a layout says how
    the threads lie.
    """
    args = (write_layout(target), write_layout(tiler), write_number(index))
    return _layout("local_partition", *args)


def domain_offset(coord: Coord, tensor: LayoutLike) -> Layout:
    """The layout from a coordinate on, with its extents, at the offset of the coordinate."""
    return _layout("domain_offset", write_coord(coord), write_layout(tensor))
