# SPDX-License-Identifier: Apache-2.0
"""Several functions, each built by itself, as the one package of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence, Union

from . import _build, _kernel
from ._build import Package
from ._forks import importing
from ._function import Function
from ._module import Module


def export(
    functions: Union[Function, Package, Sequence[Function]],
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
) -> None:
    """Writes functions as one package to a file; its ending says what: `.o`, `.so`, `.h`, `.pyi` or `.rs`.

    `name` is the package's; left out, the file's. Functions that were built here can be joined; one
    that was loaded from a file can only be exported alone. A jit function is what it was compiled
    to, where that is one function.
    """
    if isinstance(functions, Package):
        if name not in (None, functions.name):
            raise ValueError(f"the package is called `{functions.name}`, and cannot be `{name}`")
        functions.export(path)
        return
    if isinstance(functions, Function) and name is None:
        functions.export(path)
        return
    with importing():
        from ._jit import alone
    several = [functions] if isinstance(functions, Function) else functions
    _joined([alone(each) for each in several], name or Path(path).stem).export(path)


def _joined(functions: Sequence[Function], name: str) -> Package | Module:
    of_program = [_build.is_of_program(each.package) for each in functions]
    if not any(of_program):
        return _kernel.joined(functions, name)
    if not all(of_program):
        raise ValueError(
            "functions of `@kp.jit` are joined with others of `@kp.jit` alone: export them and the "
            "rest to a file each"
        )
    return _build.joined_programs(name, [each.package for each in functions])
