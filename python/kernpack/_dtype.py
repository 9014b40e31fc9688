# SPDX-License-Identifier: Apache-2.0
"""Dtypes by name, from whatever names one: PyTorch, NumPy, JAX, tvm_ffi, or a text."""

from __future__ import annotations

from typing import Any

NAMES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("int4", "uint4", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "float4_e2m1fnx2"),
)

_OTHERS = {"float4_e2m1fn_x2": "float4_e2m1fnx2", "half": "float16", "float": "float32", "double": "float64"}


class DType(str):
    """A dtype: a text such as `float32`, which signatures take as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"kernpack.{self}"


def dtype(value: Any) -> DType:
    """The dtype that a value names: one of PyTorch, NumPy, JAX or tvm_ffi, a scalar type of theirs, or a text."""
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
