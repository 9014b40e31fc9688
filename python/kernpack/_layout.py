# SPDX-License-Identifier: Apache-2.0
"""Layouts as values: texts, of which the library says all else.

What is asked of a layout is the text of an expression, which the library evaluates. What it said is
remembered by that text, so that asking again takes microseconds. Not here: the functions on layouts
(`_algebra.py`), and any of their algebra.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, Union

from . import _native
from ._shape import untyped
from ._signature import SymInt

Number = Union[int, SymInt]
"""An extent, a stride or an index: of symbols where it is not known."""

Shape = Union[Number, "Layout", "Sequence[Shape]"]
"""Numbers, nested in tuples. A layout stands for its extents."""

Stride = Union[Number, str, "Layout", "Sequence[Stride]"]
"""Strides, nested in tuples. A text is a stride along a mode: `"1@0"`."""

LayoutLike = Union["Layout", Shape]
"""A layout, or a shape for the compact layout of it, whose first mode is the fastest."""

Tiler = Union[None, Number, "Layout", "Sequence[Tiler]"]
"""A shape or a layout, or one for each mode. None keeps a mode."""

Coord = Union[None, Number, "Sequence[Coord]"]
"""Numbers, nested in tuples. None leaves a mode free."""

_REMEMBERED = 4096
"""How many expressions are known by their texts."""


class Swizzle:
    """Bits of an index, changed by others of its bits: `Swizzle("S<3,4,3>")`, of which
    `kp.make_swizzle` makes one. A value: equal where the text is.
    """

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> Swizzle:
        made = evaluate(text)
        if not isinstance(made, Swizzle):
            raise ValueError(f"expected a swizzle, found `{text}`")
        return made

    @property
    def bits(self) -> int:
        """How many bits are changed."""
        return self._numbers()[0]

    @property
    def base(self) -> int:
        """How many of the lowest bits stay."""
        return self._numbers()[1]

    @property
    def shift(self) -> int:
        """How far above the bits are those that they are changed by."""
        return self._numbers()[2]

    def __call__(self, index: Number) -> Any:
        """The index that takes the place of another."""
        return evaluate(f"crd2idx({write_number(index)}, {self} o 0 o 1:1)")

    def _numbers(self) -> list[int]:
        numbers: list[int] = described(self._text)["value"]
        return numbers

    def __kernpack_text__(self) -> tuple[str, str]:
        """What kernels that capture it are given."""
        return "swizzle", self._text

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swizzle) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Swizzle, (self._text,)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a swizzle does not change")


class Layout:
    """A function from coordinates to indices: `Layout("(4,8):(8,1)")`, of which `kp.make_layout`
    makes one. A value, equal where the text is; `str(layout)` is the text.

    A coordinate has the index `outer(offset + inner(coord))`: of a plain layout `inner` is itself,
    `offset` is 0 and `outer` None, of a part of a layout there is an offset, and of a composed
    layout `outer` is a swizzle or a layout.
    """

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> Layout:
        """The layout of a text, or that an expression in it results in."""
        made = evaluate(text)
        if isinstance(made, (int, SymInt)) or _is_numbers(made):
            made = evaluate(f"make_layout({text})")
        if not isinstance(made, Layout):
            raise ValueError(f"expected a layout, found `{text}`")
        return made

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents, nested; `SymInt`s where they are not known."""
        return as_tuple(_frozen(self._facts()["shape"]))

    @property
    def stride(self) -> tuple[Any, ...]:
        """The strides, nested; texts where they go along modes: `"1@0"`."""
        return as_tuple(_frozen(self._facts()["stride"]))

    @property
    def rank(self) -> int:
        """How many modes there are."""
        rank: int = self._facts()["rank"]
        return rank

    @property
    def depth(self) -> int:
        """How deep modes are nested."""
        depth: int = self._facts()["depth"]
        return depth

    @property
    def size(self) -> Any:
        """How many coordinates there are."""
        return evaluate(f"size({self})")

    @property
    def cosize(self) -> Any:
        """One more than the largest index, of which offset and swizzle are left out."""
        return evaluate(f"cosize({self})")

    @property
    def inner(self) -> Layout:
        """The layout without offset and outer function."""
        text = described(self._text).get("inner")
        inner: Layout = self if text is None else evaluate(text)
        return inner

    @property
    def offset(self) -> Any:
        """What is added to each index of the inner layout."""
        return as_index(_frozen(described(self._text).get("offset", 0)))

    @property
    def outer(self) -> Union[Layout, Swizzle, None]:
        """The function of the indices, if there is one."""
        text = described(self._text).get("outer")
        outer: Union[Layout, Swizzle, None] = None if text is None else evaluate(text)
        return outer

    def __call__(self, coord: Coord) -> Any:
        """The index of a coordinate: a number, or a tuple where strides go along modes. Where a mode
        is None, the part that is left, at the offset of the rest.
        """
        written = write_coord(coord)
        if "_" in written and _has_none(coord):
            return evaluate(f"slice({written}, {self})")
        return as_index(evaluate(f"crd2idx({written}, {self})"))

    def __getitem__(self, index: Any) -> Layout:
        """A mode by its number; or what a coordinate leaves free, as a layout without an offset."""
        if _has_none(index):
            part: Layout = evaluate(f"slice({write_coord(index)}, {self})")
            if part.outer is not None:
                raise ValueError(f"a layout with a swizzle, {part.outer}, is no plain layout")
            return part.inner
        if isinstance(index, tuple):
            raise ValueError("a layout has modes by number, which are counted from 0")
        mode: Layout = evaluate(f"get({self}, {write_number(index)})")
        return mode

    def __len__(self) -> int:
        return self.rank

    def __iter__(self) -> Iterator[Layout]:
        return (self[mode] for mode in range(self.rank))

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = described(self._text)["layout"]
        return facts

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __kernpack_text__(self) -> tuple[str, str]:
        """What kernels that capture it are given."""
        return "layout", self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self._text,)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a layout does not change")

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows; the text where there is none."""
        try:
            return _native.layout_svg(self._text)
        except ValueError:
            return None


# Expressions


@functools.lru_cache(maxsize=_REMEMBERED)
def described(expression: str) -> dict[str, Any]:
    """What the library says of an expression. A `ValueError` says why there is no result."""
    return _native.layout(expression)


@functools.lru_cache(maxsize=_REMEMBERED)
def evaluate(expression: str) -> Any:
    """What an expression results in: a number, numbers nested in tuples, a truth, a `Swizzle`, a
    `Layout`, or a tile with the layout of its owners.
    """
    answer = described(expression)
    kind: str = answer["kind"]
    if kind == "swizzle":
        return _made(Swizzle, answer["text"])
    if kind == "tile with a layout of threads and values":
        return as_tuple(_frozen(answer["tile"])), _made(Layout, answer["inner"])
    if "layout" in answer:
        # A part that begins where its layout does is that layout.
        is_plain = answer.get("is_at_origin", False)
        return _made(Layout, answer["inner"] if is_plain else answer["text"])
    if "value" not in answer:
        raise ValueError(f"expected a layout, found a {kind}")
    return _frozen(answer["value"])


def _made(kind: type[Any], text: str) -> Any:
    """A value of a text that the library has written."""
    made = object.__new__(kind)
    object.__setattr__(made, "_text", text)
    return made


def _frozen(value: Any) -> Any:
    """Data of an answer as what does not change."""
    if isinstance(value, list):
        items: list[Any] = untyped(value)
        return tuple(_frozen(item) for item in items)
    if isinstance(value, dict):
        number: dict[str, Any] = untyped(value)
        return SymInt(number["name"], number["divisibility"])
    return value


def as_index(value: Any) -> Any:
    """Numbers as kernels nest them: a tuple of one number is that number."""
    if not isinstance(value, tuple):
        return value
    items: tuple[Any, ...] = untyped(value)
    return as_index(items[0]) if len(items) == 1 else tuple(as_index(item) for item in items)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """The same, as a tuple of the modes: of one mode, too."""
    modes: tuple[Any, ...] = untyped(value) if isinstance(value, tuple) else (value,)
    return tuple(as_index(mode) for mode in modes)


def _is_numbers(value: Any) -> bool:
    """Whether it is no more than numbers in tuples."""
    if isinstance(value, tuple):
        return all(_is_numbers(item) for item in untyped(value))
    return isinstance(value, (int, SymInt)) and not isinstance(value, bool)


def _has_none(coord: Any) -> bool:
    """Whether a mode of a coordinate is free."""
    if isinstance(coord, (tuple, list)):
        return any(_has_none(item) for item in untyped(coord))
    return coord is None


# Texts of arguments


def write_number(value: Any) -> str:
    """An integer, or a symbol with what is known of it."""
    if isinstance(value, SymInt):
        return _symbol(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    # Integers of NumPy and others, which a truth and a text are not.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected an integer, found {value!r}")
    return str(operator.index(value))


def _symbol(symbol: SymInt) -> str:
    if symbol.name is None:
        raise ValueError('a symbol of a layout has a name: kp.sym_int("n")')
    # What is no name is an expression that was told, and says what it knows.
    is_bare = symbol.divisibility == 1 or not symbol.name.isidentifier()
    return symbol.name if is_bare else f"{symbol.name}{{div={symbol.divisibility}}}"


def _write_tuple(items: Any, write: Any) -> str:
    return f"({','.join([write(item) for item in items])})"


def write_shape(value: Any) -> str:
    """Integers, nested in tuples."""
    if isinstance(value, Layout):
        return _write_tuple_of(described(str(value))["layout"]["shape"])
    if isinstance(value, (tuple, list)):
        return _write_tuple(value, write_shape)
    return write_number(value)


def _write_tuple_of(shape: Any) -> str:
    """A shape, as an answer has it."""
    if isinstance(shape, list):
        return _write_tuple(shape, _write_tuple_of)
    return write_number(_frozen(shape))


_ALONG_MODES = re.compile(r"[^@,:]+(@\d+)+")


def write_stride(value: Any) -> str:
    """Strides, nested in tuples."""
    if isinstance(value, str) and _ALONG_MODES.fullmatch(value):
        return value
    if isinstance(value, (tuple, list)):
        return _write_tuple(value, write_stride)
    return write_shape(value)


def write_layout(value: Any) -> str:
    """A layout, or a shape."""
    return str(value) if isinstance(value, Layout) else write_shape(value)


def write_tiler(value: Any) -> str:
    """A shape or a layout, or one for each mode."""
    if value is None:
        return "_"
    if isinstance(value, (tuple, list)):
        return _write_tuple(value, write_tiler)
    return write_layout(value)


def write_coord(value: Any) -> str:
    """Integers, nested in tuples, or None."""
    if value is None:
        return "_"
    if isinstance(value, (tuple, list)):
        return _write_tuple(value, write_coord)
    return write_number(value)


def write_modes(value: Any) -> str:
    """The numbers of modes, one or several."""
    modes: Sequence[Any] = untyped(value) if isinstance(value, (tuple, list)) else [value]
    return ", ".join([write_number(mode) for mode in modes])


def write_swizzle(value: Any) -> str:
    """A swizzle."""
    if not isinstance(value, Swizzle):
        raise TypeError(f"expected a swizzle, found {value!r}")
    return str(value)


# Pictures


def draw(
    layout: Union[LayoutLike, tuple[Any, Layout]],
    path: str | os.PathLike[str],
    *,
    banks: int | None = None,
    threads: LayoutLike | None = None,
) -> None:
    """Draws a layout of one or two modes into a file, as SVG; of what `kp.make_layout_tv` returns,
    who has which element.

    `banks` is the bytes of an element: the picture shows the bank of shared memory that each is in,
    and marks the accesses of a warp that conflict. `threads` is a layout from thread to the number
    of the coordinate that it accesses; left out, the first 32 coordinates are accessed.
    """
    drawn = _write_drawn(layout)
    written = "" if threads is None else write_layout(threads)
    if threads is not None and banks is None:
        raise ValueError("`threads` access banks; pass `banks`, too")
    if banks is not None and banks <= 0:
        raise ValueError("`banks` is the bytes of an element: 1, 2, 4, 8 or 16")
    _native.layout_svg(drawn, banks or 0, written)
    words = [] if banks is None else ["--banks", write_number(banks)]
    words += ["--threads", written] if written else []
    # The command line writes files whole or not at all.
    answer = _native.command("layout", drawn, "-o", os.fsdecode(path), *words)
    message: str = answer["json"].get("error", {}).get("message", "")
    if message:
        # Its code is 2 where the name is no name of a picture; how to call it is said below that.
        raise ValueError(message.split("\n")[0]) if answer["code"] == 2 else OSError(message)


def _write_drawn(value: Any) -> str:
    """A layout, or a tile with the layout of its owners."""
    if isinstance(value, tuple):
        items: tuple[Any, ...] = untyped(value)
        if len(items) == 2 and isinstance(items[0], tuple) and isinstance(items[1], Layout):
            return f"{items[1]} in {write_shape(items[0])}"
    return str(value) if isinstance(value, Layout) else f"make_layout({write_shape(value)})"
