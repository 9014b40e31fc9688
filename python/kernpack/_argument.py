# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls as Python has them: what is in tuples and dataclasses, and whose arrays stand
there.

No framework is imported: what is asked of one is asked where somebody has passed something of it.
Not here: what a signature wants in their place.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Iterable, Iterator, Sequence, cast

from ._tvm_ffi import tvm_ffi

CUDA = 2
"""DLPack's `kDLCUDA`"""


def is_dataclass(value: Any) -> bool:
    """Whether it is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def is_dict(value: Any) -> bool:
    """Whether it is a dict, of which checkers of types are told nothing else."""
    return isinstance(value, dict)


def is_list(value: Any) -> bool:
    """Whether it is a list, of which checkers of types are told nothing else."""
    return isinstance(value, list)


def fields_of(value: Any) -> tuple[Any, ...]:
    """The fields of a dataclass."""
    return tuple(getattr(value, field.name) for field in dataclasses.fields(value))


def parts_of(value: Any) -> tuple[Any, ...] | None:
    """What a tuple, a list or a dataclass has; None of anything else."""
    if isinstance(value, (tuple, list)):
        return tuple(cast("Sequence[Any]", value))
    return fields_of(value) if is_dataclass(value) else None


def has_dataclass(value: Any) -> bool:
    """Whether it is a dataclass, or has one in it."""
    return is_dataclass(value) or any(map(has_dataclass, parts_of(value) or ()))


def leaves(values: Iterable[Any]) -> Iterator[Any]:
    """What is in arguments, through tuples, lists and dataclasses."""
    for value in values:
        parts = parts_of(value)
        if parts is None:
            yield value
        else:
            yield from leaves(parts)


def unpacked(value: Any) -> Any:
    """The value with its fields in place of each dataclass."""
    parts = parts_of(value)
    return value if parts is None else tuple(map(unpacked, parts))


def is_of(value: Any, *frameworks: str) -> bool:
    """Whether it is an array of one of these. A class that is derived from theirs stands in a module
    of its own.
    """
    modules = [kind.__module__.partition(".")[0] for kind in type(value).__mro__]
    return any(framework in modules for framework in frameworks)


def is_immutable(value: Any) -> bool:
    """Whether it is an array of JAX, which the rest of a program takes for what it was."""
    array = getattr(sys.modules.get("jax"), "Array", None)
    return array is not None and isinstance(value, array)


def converted(framework: Any, result: Any) -> Any:
    """A tensor of tvm_ffi's as an array of a framework; where that has no such dtype, as NumPy has
    no bfloat16, it stays what it is, as does anything else.
    """
    if type(result) is not tvm_ffi.Tensor:
        return result
    try:
        return framework.from_dlpack(result)
    except RuntimeError as error:
        if "dtype" not in str(error):
            raise
        return result
