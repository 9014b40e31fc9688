# SPDX-License-Identifier: Apache-2.0
"""What differs from device to device under `shard_map`.

JAX knows of each array there over which axes of the mesh it varies. A call's results vary where any
of its operands does. JAX since 0.9 believes what a custom call says of its results, so that it has
to be said; before, it finds that out by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import jax

from kernpack._shape import untyped

_PARAMETERS: Final = frozenset(inspect.signature(jax.ShapeDtypeStruct).parameters)


class Varying(NamedTuple):
    """Over what an array varies."""

    axes: frozenset[Any]
    """The names of axes."""
    mesh: Any
    """The mesh that has them; None where there are none."""


def varying_of(arrays: Iterable[Any]) -> Varying:
    """Over what any of the arrays varies."""
    axes = frozenset[Any]().union(*map(_axes, arrays))
    return Varying(axes, untyped(jax.sharding).get_abstract_mesh() if axes else None)


def _axes(array: Any) -> frozenset[Any]:
    kind = untyped(jax).typeof(array)
    manual = getattr(kind, "manual_axis_type", None)
    found: frozenset[Any] = getattr(kind, "vma", frozenset()) if manual is None else manual.varying
    return found


def varying_struct(struct: jax.ShapeDtypeStruct, varying: Varying) -> jax.ShapeDtypeStruct:
    """The shape and the dtype of an array that varies so."""
    if not varying.axes:
        return struct
    said: dict[str, Any] = {}
    if "manual_axis_type" in _PARAMETERS:
        said["manual_axis_type"] = untyped(jax.sharding).ManualAxisType(varying=varying.axes)
    elif "vma" in _PARAMETERS:
        said["vma"] = varying.axes
    sharding = untyped(jax.sharding)
    place = sharding.NamedSharding(varying.mesh, sharding.PartitionSpec())
    made: jax.ShapeDtypeStruct = untyped(jax).ShapeDtypeStruct(
        struct.shape, struct.dtype, sharding=place, **said
    )
    return made


def alike(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, all of which vary where any of them does: the derivative for one that does not
    is the sum of all devices' then.
    """
    axes = varying_of(arrays).axes
    return [_varying(array, axes - _axes(array)) for array in arrays]


def _varying(array: Any, axes: frozenset[Any]) -> Any:
    if not axes:
        return array
    lax = untyped(jax.lax)
    if hasattr(lax, "pcast"):
        return lax.pcast(array, tuple(axes), to="varying")
    return lax.pvary(array, tuple(axes))
