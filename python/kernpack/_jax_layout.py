# SPDX-License-Identifier: Apache-2.0
"""How an array of a program lies in memory, and which of its dims is which of the function's.

Two permutations stand between an array and the tensor that a function sees. *Modes* say for each
dim of the tensor which dim of the array it is. The *layout* says which of the array's dims is
fastest; where nobody says it, it is the one with which the tensor lies as the signature asks. XLA
moves memory where an array lies otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from kernpack._jax_arguments import Leaf, dtype_name
from kernpack._shape import Dim, Spec, star_among

Layout = str | Sequence[int]
"""`row`, `col`, or a rank for each dim of the array, 0 being the fastest: as in `order=`."""


@dataclass(frozen=True)
class View:
    """An array's dims as a function sees them."""

    modes: tuple[int, ...]
    """For each dim of the tensor, the array's."""
    fastest: tuple[int, ...]
    """The array's dims from the fastest."""

    @property
    def is_plain(self) -> bool:
        """Whether the tensor is the array, row-major."""
        return self.modes == tuple(range(len(self.modes))) and self.major_to_minor is None

    @property
    def major_to_minor(self) -> tuple[int, ...] | None:
        """The layout as `jax.ffi` takes it; None: row-major."""
        order = self.fastest[::-1]
        return None if order == tuple(range(len(order))) else order


@dataclass(frozen=True)
class Views:
    """What a caller says of the dims of a function's arrays, by path."""

    layouts: Mapping[str, Layout]
    modes: Mapping[str, Sequence[int]]

    def of(self, leaf: Leaf, rank: int) -> View:
        """How an array of that many dims is seen."""
        modes = tuple(self.modes.get(leaf.path, range(rank)))
        _require_permutation(f"modes of `{leaf.path}`", modes, rank)
        layout = self.layouts.get(leaf.path)
        if layout is not None:
            return View(modes, _fastest(leaf, layout, rank))
        if leaf.kind["strides"] is not None:
            return View(modes, tuple(reversed(range(rank))))
        return View(modes, tuple(modes[dim] for dim in wanted_order(leaf.kind, rank)))


def wanted_order(kind: Mapping[str, Any], rank: int) -> list[int]:
    """The dims of a compact tensor from the fastest, as its signature has them."""
    dims, order = kind["extents"], kind["order"]
    star = star_among(dims)
    if order is None:
        return list(reversed(range(rank)))
    if star is None:
        return list(order) if len(order) == rank else list(reversed(range(rank)))
    # A star's dims follow one another: row-major, in a column-major tensor column-major.
    count = rank - len(dims) + 1
    inside = list(range(star, star + count))
    if list(order) != list(range(len(dims))):
        inside.reverse()
    fastest: list[int] = []
    for dim in order:
        fastest += inside if dim == star else [dim if dim < star else dim + count - 1]
    return fastest


def _fastest(leaf: Leaf, layout: Layout, rank: int) -> tuple[int, ...]:
    if isinstance(layout, str):
        if layout not in ("row", "col"):
            raise ValueError(
                f"the layout of `{leaf.path}` is `row`, `col` or one rank a dim, got {layout!r}"
            )
        return tuple(range(rank)) if layout == "col" else tuple(reversed(range(rank)))
    _require_permutation(f"the layout of `{leaf.path}`", layout, rank)
    return tuple(sorted(range(rank), key=lambda dim: layout[dim]))


def _require_permutation(what: str, order: Sequence[int], rank: int) -> None:
    if sorted(order) != list(range(rank)):
        raise ValueError(f"{what}: expected a permutation of {rank} dims, got {tuple(order)}")


def spec_of_array(array: Any, view: View) -> Spec:
    """An array as the function sees it."""
    shape = list(array.shape)
    if jnp.dtype(array.dtype).name == "float4_e2m1fn" and shape:
        shape[view.fastest[0]] = -(-shape[view.fastest[0]] // 2)
    strides: list[Dim] = [1] * len(shape)
    step: Dim = 1
    for dim in view.fastest:
        strides[dim] = step
        step = step * shape[dim]
    seen = tuple(shape[dim] for dim in view.modes)
    return Spec(
        seen, _dtype(array), None if view.is_plain else tuple(strides[dim] for dim in view.modes)
    )


def _dtype(array: Any) -> str:
    name = jnp.dtype(array.dtype).name
    if name in ("int1", "int2", "int4", "uint1", "uint2", "uint4"):
        raise TypeError(f"JAX packs {name}, in a way that TVM-FFI has no dtype for")
    return dtype_name(array.dtype)


def array_of_spec(path: str, spec: Spec, view: View) -> jax.ShapeDtypeStruct:
    """What JAX has for a tensor of the function."""
    shape: list[Dim] = [0] * len(spec.shape)
    for dim, extent in zip(view.modes, spec.shape, strict=True):
        shape[dim] = extent
    name = spec.dtype
    if name == "float4_e2m1fnx2":
        name = "float4_e2m1fn"
        if shape:
            shape[view.fastest[0]] = 2 * shape[view.fastest[0]]
    require_width(path, name)
    return struct_of(tuple(shape), np.dtype(name))


def struct_of(shape: tuple[Dim, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    """The shape and the dtype of an array."""
    struct: jax.ShapeDtypeStruct = cast(Any, jax.ShapeDtypeStruct)(shape, dtype)
    return struct


def require_width(path: str, dtype: Any) -> None:
    """Refuses a dtype that JAX would make a narrower one of."""
    if jax.dtypes.canonicalize_dtype(dtype) != np.dtype(dtype):
        raise ValueError(
            f"`{path}` is {np.dtype(dtype).name}, which JAX has only with `jax_enable_x64`"
        )
