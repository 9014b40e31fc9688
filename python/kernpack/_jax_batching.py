# SPDX-License-Identifier: Apache-2.0
"""`jax.vmap` by folding: a batch of calls as one call with a longer dim.

A function whose rows are independent, `norm(x: Tensor([m, d], T), y: Tensor([m, d], T, mut))`, does
a batch of `m` rows by doing `batch * m` rows; one that takes `[*b, d]` takes another dim in front.
Whether rows are independent no signature says: the user does, by asking for it. Where an array that
has the batch lacks the dim, the calls are made one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from kernpack._jax_arguments import Leaf, Role, Surface
from kernpack._jax_layout import Views
from kernpack._shape import Tree, is_star, names_in, star_among, untyped


def batch_dim(surface: Surface, views: Views, wanted: str) -> str:
    """The dim that a batch is folded into: the one that is wanted, or the first that can be."""
    arrays = [leaf for leaf in surface.leaves() if leaf.kind["kind"] == "tensor"]
    results = [leaf for leaf in arrays if leaf.role is not Role.OPERAND]
    if wanted == "fold":
        dims = [pair for leaf in arrays for pair in _dims(leaf.kind)]
        stars = [text for text, tree in dims if is_star(tree) and tree["star"]]
        candidates = [*stars, *(text for text, tree in dims if isinstance(tree, str))]
    else:
        candidates = [wanted]
    for dim in candidates:
        if _can_fold(arrays, results, views, dim):
            return dim
    named = "no dim" if wanted == "fold" else f"`{wanted}`"
    raise ValueError(
        f"{named} of `{surface.name}` can have a batch folded into it: that takes one which every "
        "result has once, by itself, and which stands in no expression; "
        '`vmap="sequential"` always works'
    )


def _can_fold(arrays: Sequence[Leaf], results: Sequence[Leaf], views: Views, dim: str) -> bool:
    if not results or any(leaf.kind["dims"].count(dim) != 1 for leaf in results):
        return False
    if _is_star(results[0].kind, dim) and any(
        leaf.path in views.modes or _has_ranks(views, leaf) for leaf in arrays
    ):
        # Both say how many dims there are, and there would be one more.
        return False
    names = names_in(dict(_dims(results[0].kind))[dim])
    for leaf in arrays:
        others = [tree for text, tree in _dims(leaf.kind) if text != dim]
        if leaf.kind["dims"].count(dim) > 1 or any(names & names_in(tree) for tree in others):
            return False
    return True


def _dims(kind: Mapping[str, Any]) -> list[tuple[str, Tree]]:
    """The dims of a tensor, by which they are told apart, and what they are."""
    return list(zip(kind["dims"], kind["extents"], strict=True))


def _is_star(kind: Mapping[str, Any], dim: str) -> bool:
    """Whether that dim of a tensor is any number of dims."""
    return is_star(kind["extents"][kind["dims"].index(dim)])


def _has_ranks(views: Views, leaf: Leaf) -> bool:
    return not isinstance(views.layouts.get(leaf.path, "row"), str)


def folding(
    flat: Callable[..., tuple[Any, ...]],
    operands: Sequence[Leaf],
    results: Sequence[Leaf],
    views: Views,
    dim: str,
) -> Callable[..., tuple[Any, ...]]:
    """`flat`, whose batches become longer calls of it."""
    wrapped = jax.custom_batching.custom_vmap(flat)

    @wrapped.def_vmap
    def rule(size: int, is_batched: Sequence[bool], *arrays: Any) -> tuple[Any, tuple[bool, ...]]:
        pairs = list(zip(operands, arrays, is_batched, strict=True))
        is_shared = any(batched and dim not in leaf.kind["dims"] for leaf, _, batched in pairs)
        # Of a batch of none, a longer call does not say how long the parts are.
        if is_shared or size == 0:
            outs = _in_sequence(flat, arrays, is_batched)
        else:
            folded = [
                _fold(leaf, array, batched, size, views, dim) for leaf, array, batched in pairs
            ]
            # The wrapped function: a batch of batches is one call too.
            outs = tuple(
                _unfold(leaf, out, size, views, dim)
                for leaf, out in zip(results, wrapped(*folded), strict=True)
            )
        return outs, tuple(True for _ in outs)

    del rule
    return wrapped


def _in_sequence(
    flat: Callable[..., tuple[Any, ...]], arrays: Sequence[Any], is_batched: Sequence[bool]
) -> tuple[Any, ...]:
    batched = [array for array, batched in zip(arrays, is_batched, strict=True) if batched]

    def one(rows: Sequence[Any]) -> tuple[Any, ...]:
        rest = iter(rows)
        mixed = zip(arrays, is_batched, strict=True)
        return flat(*[next(rest) if batched else array for array, batched in mixed])

    return tuple(untyped(jax.lax).map(one, batched))


def _place(kind: Mapping[str, Any], rank: int, dim: str) -> int:
    """Which dim of a tensor that is; of a star, the first."""
    dims: list[str] = kind["dims"]
    at = dims.index(dim)
    star = star_among(kind["extents"])
    return at if star is None or at <= star else at + rank - len(dims)


def _axis(leaf: Leaf, rank: int, views: Views, dim: str) -> int:
    """Which dim of the array it is."""
    return views.of(leaf, rank).modes[_place(leaf.kind, rank, dim)]


def _fold(leaf: Leaf, array: Any, is_batched: bool, size: int, views: Views, dim: str) -> Any:
    if dim not in leaf.kind["dims"]:
        return array
    if not is_batched:
        array = jnp.broadcast_to(array, (size, *array.shape))
    axis = _axis(leaf, array.ndim - 1, views, dim)
    array = jnp.moveaxis(array, 0, axis)
    if _is_star(leaf.kind, dim):
        return array
    shape = array.shape
    return array.reshape(*shape[:axis], math.prod(shape[axis : axis + 2]), *shape[axis + 2 :])


def _unfold(leaf: Leaf, array: Any, size: int, views: Views, dim: str) -> Any:
    if _is_star(leaf.kind, dim):
        return jnp.moveaxis(array, _axis(leaf, array.ndim, views, dim), 0)
    axis = _axis(leaf, array.ndim, views, dim)
    shape = array.shape
    array = array.reshape(*shape[:axis], size, shape[axis] // size, *shape[axis + 1 :])
    return jnp.moveaxis(array, axis, 0)
