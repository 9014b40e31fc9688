# SPDX-License-Identifier: Apache-2.0
"""kernpack: a kernel and one line of signature become a function that checks its arguments.

    import kernpack as kp

    add_one = kp.host(
        "void add_one(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] + 1; }",
        "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))",
        args=["a", "b", "n"],
    )

Kernels come from CUDA C++ (`cuda`), PTX, cubins, fatbins, Triton, C functions (`host`), package
files (`load`), or several at once (`Package`). What was compiled is kept in a cache, and exported
by `f.export("add_one.so")`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._forks import importing

if TYPE_CHECKING:
    from . import jax as jax
    from . import torch as torch
    from ._api_packages import *
    from ._api_programs import *

    # What Python and kernels both have, with the types that it has for both.
    from ._language import *
    from ._triton import triton as triton

__version__ = "0.1.0"


if not TYPE_CHECKING:  # Checkers would take any name for one that is here.

    def __getattr__(name: str) -> Any:
        """Imports what is asked for: the command line tool, for one, needs nothing of it."""
        if name in ("jax", "torch"):
            return _imported(name)
        if name == "triton":
            found = _imported("_triton").triton
        elif name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        else:
            found = _found(name)
        globals()[name] = found
        return found


_APIS = ("_api_packages", "_api_programs")
"""The modules with what users see. The first is imported where it has what is asked for."""


def _found(name: str) -> Any:
    """What is known by a name: to Python, or to kernels alone."""
    for each in _APIS:
        api = _imported(each)
        if name in api.__all__:
            return getattr(api, name)
    language = _imported("_language").names()
    if name not in language:
        # What users of CuTe DSL look for is told by the compiler's library.
        help_ = _imported("_native").foreign_help(name)
        hint = "" if help_ is None else f": {help_}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    return language[name]


def __dir__() -> list[str]:
    names = set(_imported("_language").names()).union(*(_imported(api).__all__ for api in _APIS))
    return [*sorted(names), "jax", "torch", "triton"]


def _imported(name: str) -> Any:
    with importing():
        return importlib.import_module(f"{__name__}.{name}")
