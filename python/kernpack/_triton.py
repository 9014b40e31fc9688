# SPDX-License-Identifier: Apache-2.0
"""Kernels in Triton: compiled by the Triton that is installed, with or without a GPU, and packaged
as what it wrote.

The types of the kernel's arguments follow from the signature, and so does what Triton is told of
them: a tensor with `align=16`, or an integer that a rule makes divisible by 16, is declared so, as
the checks see to it. Where the signature has dtype variables, the kernel is compiled for each
combination that its rules allow.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from . import _arch, _errors, _kernel, _native
from ._forks import importing
from ._function import Function
from ._package import Definition, Launch, Numbers, Source

_TYPES = {
    **{"bool": "i1", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{"float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3b11fnuz": "fp8e4b15"},
}
_ALIGNED = [["tt.divisibility", 16]]


def triton(
    kernel: Any,
    signature: str,
    *,
    grid: Numbers,
    constexprs: Mapping[str, Any] | None = None,
    args: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    arch: _arch.Archs = None,
    attrs: Mapping[str, Any] | None = None,
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    submit: str | None = None,
    name: str | None = None,
) -> Function:
    """A kernel in Triton: a `@triton.jit` function, or what `triton.compile` returned.

    `constexprs` are the values of its `constexpr` parameters, `options` Triton's, such as
    `num_warps`. `args` are the kernel's other arguments with their types, `["x", "y", "d: int32"]`;
    left out, they are what the signature has under the kernel's own names. `arch` names GPUs,
    `sm_90`, for which code is made; left out, KERNPACK_ARCH, else the GPUs that are visible. `grid`
    counts as Triton does.
    """
    if hasattr(kernel, "asm"):
        launches = [Launch(_source(kernel), args=args, grid=grid, attrs=attrs)]
    else:
        launches = _Compilation(
            kernel, signature, constexprs or {}, args, options or {}, arch
        ).launches(grid, attrs)
    return _kernel.one(Definition(signature, launches, doc, workspace, submit), name, None)


def _source(compiled: Any) -> Source:
    """What Triton compiled, with the JSON that it wrote."""
    written = [
        Path(path)
        for path in getattr(compiled, "metadata_group", {}).values()
        if str(path).endswith(".json")
    ]
    if written:
        return Source.triton(compiled.asm["cubin"], json=written[0].read_bytes())
    said = dict(compiled.metadata._asdict())
    target = said["target"]
    said["target"] = {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size}
    return Source.triton(compiled.asm["cubin"], json=json.dumps(said).encode())


class _Compilation:
    """A kernel with all that is known of its arguments."""

    def __init__(
        self,
        kernel: Any,
        signature: str,
        constexprs: Mapping[str, Any],
        args: Sequence[str] | None,
        options: Mapping[str, Any],
        arch: _arch.Archs,
    ) -> None:
        self.kernel, self.constexprs, self.options = kernel, dict(constexprs), dict(options)
        self.described = _native.describe(signature)
        self.params: dict[str, dict[str, Any]] = {
            slot["name"]: slot["type"]
            for slot in [*self.described["params"], *self.described["results"]]
        }
        self.names = [name for name in kernel.arg_names if name not in self.constexprs]
        self.args = list(args) if args is not None else self.names
        if len(self.args) != len(self.names):
            raise TypeError(
                f"`{kernel.__name__}` takes {', '.join(self.names)}, but `args` has "
                f"{len(self.args)} of these {len(self.names)}; name compile-time values in "
                "`constexprs`"
            )
        self.archs = _capabilities(arch, kernel.__name__)

    def launches(self, grid: Numbers, attrs: Mapping[str, Any] | None) -> list[Launch]:
        """A launch for each combination of dtypes that the arguments can have."""
        used = {self._tensor(arg)["dtype"] for arg in self.args if self._tensor(arg)}
        names = [variable["name"] for variable in self.described["dtypes"]]
        rows = [dict(zip(names, row)) for row in self.described["combinations"] or [()]]
        launches: list[Launch] = []
        for dtypes in _distinct(
            {name: row[name] for name in names if name in used} for row in rows
        ):
            when = " and ".join(f"{name} == {dtype}" for name, dtype in dtypes.items()) or None
            sources = [_source(self._compile(dtypes, capability)) for capability in self.archs]
            launches.append(Launch(sources, args=self.args, grid=grid, attrs=attrs, when=when))
        return launches

    def _compile(self, dtypes: Mapping[str, str], capability: int) -> Any:
        triton_ = _installed()
        with importing():
            from triton.backends.compiler import GPUTarget  # type: ignore[import-untyped, unused-ignore]

        types = {name: self._type(arg, dtypes) for name, arg in zip(self.names, self.args)}
        types.update({name: "constexpr" for name in self.constexprs})
        order = {name: types[name] for name in self.kernel.arg_names}
        aligned = {
            (self.kernel.arg_names.index(name),): _ALIGNED
            for name, arg in zip(self.names, self.args)
            if self._is_aligned(arg)
        }
        source = triton_.compiler.ASTSource(self.kernel, order, self.constexprs, aligned or None)
        if os.environ.get("KERNPACK_JIT") == "forbid":
            # Triton calls it where its own cache has not what is wanted.
            source.make_ir = self._forbidden
        return triton_.compile(
            source, target=GPUTarget("cuda", capability, 32), options=self.options
        )

    def _forbidden(self, *args: Any, **options: Any) -> Any:
        raise _errors.CompileForbidden(
            f"Triton would have to compile `{self.kernel.__name__}`, which is not in its cache, and "
            "KERNPACK_JIT=forbid forbids it; fill TRITON_CACHE_DIR beforehand, or compile the "
            "package and load it with kernpack.load_module"
        )

    def _tensor(self, arg: str) -> dict[str, Any]:
        """The type of the tensor that an argument is; empty where it is none."""
        of = self.params.get(arg.partition(":")[0].strip(), {})
        of = of.get("type", {}) if of.get("kind") == "optional" else of
        return of if of.get("kind") == "tensor" else {}

    def _type(self, arg: str, dtypes: Mapping[str, str]) -> str:
        value, _, written = (part.strip() for part in arg.partition(":"))
        tensor = self._tensor(arg)
        own = self.params.get(value, {}).get("dtype", "int64")
        dtype = tensor.get("dtype") or written or own
        dtype = dtypes.get(dtype, dtype)
        if dtype not in _TYPES:
            raise TypeError(
                f"Triton has no type for the argument `{arg}` of `{self.kernel.__name__}`, "
                f"which is {dtype}"
            )
        return ("*" if tensor else "") + _TYPES[dtype]

    def _is_aligned(self, arg: str) -> bool:
        """Whether every accepted call passes a multiple of 16."""
        tensor = self._tensor(arg)
        if tensor:
            return (tensor.get("align") or 1) % 16 == 0
        value = arg.partition(":")[0].strip()
        multiples = self.described["solution"]["multiples"]
        return any(each["name"] == value and each["of"] % 16 == 0 for each in multiples)


def _distinct(rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Each row once, in their order."""
    return list({tuple(row.items()): row for row in rows}.values())


def _capabilities(arch: _arch.Archs, name: str) -> list[int]:
    """The GPUs to compile for, as Triton numbers them."""
    wanted = _arch.wanted(arch)
    archs: list[str] = wanted.get("archs") or wanted.get("devices") or []
    if not archs:
        raise _errors.CompileError(
            f"`{name}` cannot be compiled for the GPU that is here, as none is: name one, "
            "arch='sm_90', or set KERNPACK_ARCH"
        )
    numbers = [re.fullmatch(r"sm_(\d+)[af]?", each) for each in archs]
    if not all(numbers):
        raise _errors.CompileError(
            f"Triton compiles for GPUs such as sm_90, not for {', '.join(archs)}"
        )
    return [int(number[1]) for number in numbers if number is not None]


def _installed() -> Any:
    try:
        with importing():
            import triton as installed  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise _errors.CompileError(
            f"Triton is not installed: {error}; pip install triton"
        ) from None
    return installed
