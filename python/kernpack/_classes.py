# SPDX-License-Identifier: Apache-2.0
"""Classes of arguments as Python sees them: what a jit function without a signature is compiled for.

They are those of `crates/python/src/dispatch/key.rs`, and two more, of what TVM-FFI passes without:
`{"number": dtype}` is a scalar of NumPy, and a tuple may have `names`, those of a NamedTuple or a
dataclass. Not here: what signature they become (`_specialise.py`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Mapping, Sequence, cast

from . import _native
from ._argument import fields_of, is_dataclass
from ._dtype import NAMES

Names = Sequence["str | None"]
"""The name of each item of a tuple; None where it has none."""

_PYTHONS = {"bool": "bool", "int64": "int", "float32": "float"}
"""Numbers of Python, by the dtypes that they have in kernels."""


def of_arguments(args: Sequence[Any], constants: str) -> list[Any]:
    """The classes of arguments; `constants` has `1` for each whose value counts."""
    marks = constants.ljust(len(args), "0")
    return [class_of(arg, mark == "1") for arg, mark in zip(args, marks)]


def class_of(value: Any, is_constant: bool = False) -> Any:
    """The class of an argument."""
    items = None if isinstance(value, Mapping) else items_of(value)
    if items is not None:
        names, parts = items
        return tuple_class([class_of(part, is_constant) for part in parts], names)
    if is_scalar(value):
        number: Any = value
        name = str(number.dtype.name)
        if is_constant or name not in NAMES:
            return _native.classes([number.item()], str(int(is_constant)))[0]
        return _PYTHONS.get(name, {"number": name})
    return _native.classes([value], str(int(is_constant)))[0]


def items_of(value: Any) -> tuple[Names, Sequence[Any]] | None:
    """The names and the items of what is a tuple in kernels; None of anything else."""
    if is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)], fields_of(value)
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        names = sorted(named)
        return names, [named[name] for name in names]
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        return getattr(value, "_fields", [None] * len(items)), items
    return None


def tuple_class(classes: Sequence[Any], names: Names) -> dict[str, Any]:
    """The class of a tuple of items of these classes."""
    own = {} if any(name is None for name in names) or not names else {"names": list(names)}
    return {"tuple": list(classes), **own}


def is_scalar(value: Any) -> bool:
    """Whether it is a number of NumPy, or of a dtype that another library has given it."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def passed(value: Any) -> Any:
    """An argument as TVM-FFI passes it: numbers of NumPy are Python's, dataclasses their fields."""
    if is_scalar(value):
        return value.item()
    items = None if isinstance(value, Mapping) else items_of(value)
    return value if items is None else tuple(map(passed, items[1]))
