# SPDX-License-Identifier: Apache-2.0
"""Dtypes by name, from whatever names one: PyTorch, NumPy, JAX, tvm_ffi, or a text."""

from __future__ import annotations

from typing import Any


class DType(str):
    """A dtype: a text such as `float32`, which signatures take as it is."""

    __slots__ = ()

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
