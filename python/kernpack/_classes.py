# SPDX-License-Identifier: Apache-2.0
"""Classes of arguments as Python sees them: what a jit function without a signature is compiled for.

They are those of `crates/python/src/dispatch/key.rs`, and two more, of what TVM-FFI passes without:
`{"number": dtype}` is a scalar of NumPy, and a tuple may have `names`, those of a NamedTuple or a
dataclass. Not here: what signature they become (`_specialise.py`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Iterator, Sequence, Tuple, Union

from . import _native
from ._argument import fields_of, is_dataclass, parts_of
from ._dtype import NAMES

Names = Sequence[Union[str, None]]
"""The name of each item of a tuple; None where it has none."""

_PYTHONS = ("bool", "int64", "float32")
"""The dtypes that numbers of Python have in kernels."""


def of_arguments(args: Sequence[Any], constants: str) -> list[Any]:
    """The classes of arguments; `constants` has `1` for each whose value counts."""
    plain: list[Any] = []
    marks: list[str] = []

    def told(value: Any, mark: str) -> _Told:
        items = items_of(value)
        if items is not None:
            names, parts = items
            return names, [told(part, mark) for part in parts]
        dtype = str(value.dtype.name) if is_scalar(value) else ""
        plain.append(value.item() if dtype else value)
        marks.append(mark)
        return dtype if mark == "0" and dtype in NAMES and dtype not in _PYTHONS else ""

    # Those that TVM-FFI passes are classed at once: to ask for each one takes its time.
    shown = [told(arg, mark) for arg, mark in zip(args, constants.ljust(len(args), "0"))]
    found = iter(_native.classes(plain, "".join(marks)))
    return [_class_of(each, found) for each in shown]


_Told = Union[str, Tuple[Names, Sequence["_Told"]]]
"""What an argument says beyond what is passed: a dtype, or the names of its items."""


def _class_of(told: _Told, found: Iterator[Any]) -> Any:
    if not isinstance(told, str):
        names, parts = told
        return tuple_class([_class_of(part, found) for part in parts], names)
    plain = next(found)
    return {"number": told} if told else plain


def class_of(value: Any, is_constant: bool) -> Any:
    """The class of an argument."""
    return of_arguments([value], str(int(is_constant)))[0]


def items_of(value: Any) -> tuple[Names, Sequence[Any]] | None:
    """The names and the items of what is a tuple in kernels; None of anything else."""
    if is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)], fields_of(value)
    if type(value) in (tuple, list):
        return [None] * len(value), value
    # Other tuples, such as a Shape, are what TVM-FFI makes of them.
    named: Names | None = getattr(value, "_fields", None)
    return None if named is None or not is_tuple(value) else (named, value)


def is_tuple(value: Any) -> bool:
    """Whether it is a tuple, of which checkers of types are told nothing else."""
    return isinstance(value, tuple)


def tuple_class(classes: Sequence[Any], names: Names) -> dict[str, Any]:
    """The class of a tuple of items of these classes."""
    own = {} if any(name is None for name in names) or not names else {"names": list(names)}
    return {"tuple": list(classes), **own}


def is_telling(value: Any) -> bool:
    """Whether it says more than what TVM-FFI passes of it: names of items, or the dtype of a number."""
    return is_scalar(value) or hasattr(value, "_fields") or is_dataclass(value)


def tells(value: Any) -> bool:
    """Whether it, or something in it, does."""
    return is_telling(value) or items_tell(value)


def items_tell(value: Any) -> bool:
    """Whether something in a tuple, a list or a dataclass does."""
    return any(map(tells, parts_of(value) or ()))


def is_scalar(value: Any) -> bool:
    """Whether it is a number of NumPy, or of a dtype that another library has given it."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def passed(value: Any) -> Any:
    """An argument as TVM-FFI passes it: numbers of NumPy are Python's, dataclasses their fields."""
    if is_scalar(value):
        return value.item()
    items = items_of(value)
    return value if items is None else tuple(map(passed, items[1]))
