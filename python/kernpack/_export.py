# SPDX-License-Identifier: Apache-2.0
"""Several functions, each built by itself, as the one package of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence, Union

from . import _kernel
from ._build import Package
from ._function import Function


def export(
    functions: Union[Function, Package, Sequence[Function]],
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
) -> None:
    """Writes functions as one package to a file; its ending says what: `.o`, `.so`, `.h` or `.pyi`.

    `name` is the package's; left out, the file's. Functions that were built here can be joined; one
    that was loaded from a file can only be exported alone.
    """
    if isinstance(functions, Package):
        if name not in (None, functions.name):
            raise ValueError(f"the package is called `{functions.name}`, and cannot be `{name}`")
        functions.export(path)
        return
    if isinstance(functions, Function) and name is None:
        functions.export(path)
        return
    several = [functions] if isinstance(functions, Function) else functions
    _kernel.joined(several, name or Path(path).stem).export(path)
