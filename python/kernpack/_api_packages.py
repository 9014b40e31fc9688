# SPDX-License-Identifier: Apache-2.0
"""What makes packages and signatures, by the names that users know. Not here: what kernels in Python
need beside that (`_api_programs.py`), which takes longer to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _kernel
from ._build import Package, load, precompile
from ._dtype import (
    DType,
    bfloat16,
    complex128,
    complex64,
    dtype,
    float16,
    float32,
    float4_e2m1fn,
    float4_e2m1fnx2,
    float64,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    int16,
    int32,
    int4,
    int64,
    int8,
    uint16,
    uint32,
    uint64,
    uint8,
)
from ._dtype import bool_ as bool
from ._errors import CompileError, CompileForbidden, CompileWarning, TuneWarning
from ._export import export
from ._function import Function
from ._kernel import cubin, cuda, fatbin, host
from ._module import Module, find_runtime_libraries, inspect, load_module, synchronize
from ._package import Definition, Launch, Source
from ._signature import (
    SymInt,
    fake_compact_tensor,
    fake_stream,
    fake_tensor,
    mut,
    optional,
    pointer,
    signature,
    sym_int,
)

if TYPE_CHECKING:
    from ._values import Ptx

    ptx = Ptx(_kernel.ptx)
else:
    from ._kernel import ptx

__all__ = [
    "CompileError",
    "CompileForbidden",
    "CompileWarning",
    "DType",
    "Definition",
    "Function",
    "Launch",
    "Module",
    "Package",
    "Source",
    "SymInt",
    "TuneWarning",
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "cubin",
    "cuda",
    "dtype",
    "export",
    "fake_compact_tensor",
    "fake_stream",
    "fake_tensor",
    "fatbin",
    "find_runtime_libraries",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float4_e2m1fnx2",
    "float64",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "host",
    "inspect",
    "int16",
    "int32",
    "int4",
    "int64",
    "int8",
    "load",
    "load_module",
    "mut",
    "optional",
    "pointer",
    "precompile",
    "ptx",
    "signature",
    "sym_int",
    "synchronize",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
