# SPDX-License-Identifier: Apache-2.0
"""kernpack: a kernel and one line of signature become a function that checks its arguments.

    import kernpack as kp

    add_one = kp.host(
        "void add_one(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] + 1; }",
        "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))",
        args=["a", "b", "n"],
    )

Kernels come from CUDA C++ (`cuda`), PTX, cubins, fatbins, Triton, C functions (`host`), package files (`load`), or several at
once (`Package`). What was compiled is kept in a cache, and exported by `f.export("add_one.so")`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from ._errors import CompileError, CompileForbidden, CompileWarning

from ._export import export
from ._function import Function
from ._kernel import cubin, cuda, fatbin, host, ptx
from ._module import Module, find_runtime_libraries, inspect, load_module
from ._package import Definition, Launch, Source
from ._signature import (
    SymInt,
    fake_compact_tensor,
    fake_stream,
    fake_tensor,
    mut,
    optional,
    pointer,
    shape,
    signature,
    sym_int,
)

if TYPE_CHECKING:
    from . import jax as jax
    from . import torch as torch
    from ._triton import triton as triton

__version__ = "0.1.0"

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
    "shape",
    "signature",
    "sym_int",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

# What users of CuTe DSL look for.
_ELSEWHERE = {
    "compile": "bring the kernel: kp.cuda, kp.ptx, kp.cubin, kp.triton or kp.host",
    "make_fake_tensor": "kp.fake_tensor",
    "make_fake_compact_tensor": "kp.fake_compact_tensor",
    "make_fake_stream": "kp.fake_stream",
    "from_dlpack": "pass the tensor itself",
    "export_to_c": 'f.export("f.o")',
    "sym_int32": "kp.sym_int",
    "sym_int64": "kp.sym_int",
}


def __getattr__(name: str) -> Any:
    if name in ("torch", "jax"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "triton":
        return importlib.import_module(f"{__name__}._triton").triton
    hint = f"; here: {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
