# SPDX-License-Identifier: Apache-2.0
"""Dtypes by name, from whatever names one: PyTorch, NumPy, JAX, tvm_ffi, or a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._values import Num, Numeric

_FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
"""The bits of exponent and mantissa of the floats that kernels compute with."""


class DType(str):
    """A dtype: a text such as `float32`, which signatures take as it is. Kernels call it to convert;
    what it says of its numbers, it says to Python too.
    """

    __slots__ = ()

    def __call__(self, x: Numeric, rounding: str | None = None) -> Num:
        """The number as one of this type, in a kernel."""
        raise TypeError(
            f"`kp.{self}(…)` converts a number of a kernel: functions under `@kp.kernel` call it, "
            "which kernpack compiles and Python does not run"
        )

    @property
    def width(self) -> int:
        """How many bits a number has."""
        return 8 if self == "bool" else int(self._bits())

    @property
    def is_float(self) -> bool:
        """Whether it is a type of floats."""
        return self._bits() != "" and self in _FLOATS

    @property
    def is_integer(self) -> bool:
        """Whether it is a type of integers."""
        return self._bits() != "" and not self.is_float

    @property
    def signed(self) -> bool:
        """Whether it is a type of integers with a sign."""
        return self.is_integer and not self.startswith("u")

    @property
    def max(self) -> Any:
        """The largest number."""
        if not self.is_float:
            return True if self == "bool" else 2 ** (self.width - self.signed) - 1
        exponent, mantissa = _FLOATS[self]
        return (2.0 - 2.0**-mantissa) * 2.0 ** (2 ** (exponent - 1) - 1)

    @property
    def min(self) -> Any:
        """The least number: of floats, the largest with a minus."""
        if self.is_float:
            return -self.max
        return False if self == "bool" else -(2 ** (self.width - 1)) if self.signed else 0

    @property
    def inf(self) -> Any:
        """Infinity, of a type of floats."""
        return self._special("inf")

    @property
    def nan(self) -> Any:
        """What is no number, of a type of floats."""
        return self._special("nan")

    def _bits(self) -> str:
        """The digits of its name; an AttributeError of a type that kernels do not compute with."""
        found = re.fullmatch("bool|u?int(8|16|32|64)", self)
        if found is None and self not in _FLOATS:
            raise AttributeError(f"kernels do not compute with `kp.{self}`: convert it")
        return self.lstrip("abfilnotu")

    def _special(self, name: str) -> float:
        if not self.is_float:
            raise AttributeError(f"`kp.{self}` has no `{name}`")
        return float(name)

    def __repr__(self) -> str:
        return f"kernpack.{self}"


bool_ = DType("bool")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
int4 = DType("int4")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = DType("float64")
complex64 = DType("complex64")
complex128 = DType("complex128")
float8_e3m4 = DType("float8_e3m4")
float8_e4m3 = DType("float8_e4m3")
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz")
float8_e4m3fn = DType("float8_e4m3fn")
float8_e4m3fnuz = DType("float8_e4m3fnuz")
float8_e5m2 = DType("float8_e5m2")
float8_e5m2fnuz = DType("float8_e5m2fnuz")
float8_e8m0fnu = DType("float8_e8m0fnu")
float6_e2m3fn = DType("float6_e2m3fn")
float6_e3m2fn = DType("float6_e3m2fn")
float4_e2m1fn = DType("float4_e2m1fn")
float4_e2m1fnx2 = DType("float4_e2m1fnx2")

NAMES = tuple(value for value in list(globals().values()) if isinstance(value, DType))
"""Every dtype that signatures know."""

_OTHERS = {
    "float4_e2m1fn_x2": "float4_e2m1fnx2",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}


def dtype(value: Any) -> DType:
    """The dtype that a value names: one of PyTorch, NumPy, JAX or tvm_ffi, a scalar type of theirs,
    or a text.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        name = value
    elif isinstance(value, type):
        name = {bool: "bool", int: "int64", float: "float32"}.get(value, value.__name__)
    else:
        # `torch.float32`, `dtype('float32')`, `float32`
        name = str(getattr(value, "name", None) or value).rpartition(".")[2]
    name = _OTHERS.get(name, name)
    if name not in NAMES:
        raise TypeError(f"{value!r} names no dtype; there are {', '.join(NAMES)}")
    return DType(name)
