# SPDX-License-Identifier: Apache-2.0
"""Calls that run on the interpreter: with `KERNPACK_INTERPRET=1` in the environment, when kernpack
is imported, those of every function with kernels.

Such a call takes arrays of the host in the place of a GPU's, writes what it would have written, and
raises what the interpreter finds; then nothing is written. Not here: the interpreter, and how it
gets the arguments (`_check.py`).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ._argument import is_of, leaves
from ._forks import importing

if TYPE_CHECKING:
    from ._function import Function

_SETTING = os.environ.get("KERNPACK_INTERPRET", "")
if _SETTING not in ("", "0", "1"):
    raise ValueError(f"KERNPACK_INTERPRET is `{_SETTING}`: expected `1`, `0`, or nothing")

IS_ON = _SETTING == "1"
"""Whether kernels run on the interpreter in this process."""


def call(function: Function, args: tuple[Any, ...]) -> Any:
    """Makes a call with these arguments, all of them in order, and gives what it returns."""
    with importing():
        from . import _check, _graphs
    if _graphs.is_capturing():
        raise RuntimeError(
            f"`{function.name}` is called while a CUDA graph is captured, and KERNPACK_INTERPRET=1 "
            "has its kernels run on the interpreter, which no graph holds: call it outside"
        )
    checked = _check.check(function, args, _check.Options(strict=True))
    for own, left in zip(leaves(args), leaves(checked.arguments)):
        if left is not own:
            _write(own, left)
    return checked.results


def _write(array: Any, content: Any) -> None:
    """Gives an array of the caller's other content."""
    if is_of(array, "torch"):
        with sys.modules["torch"].no_grad():
            array.copy_(content)
    elif is_of(array, "numpy"):
        array[...] = content
    else:
        import numpy as np

        np.from_dlpack(array)[...] = np.from_dlpack(content)


def refuse_program(function: Any) -> None:
    """Refuses a function with kernels where JAX would call its machine code."""
    if IS_ON and getattr(function, "device_type", None) == "cuda":
        raise TypeError(
            f"`{function.name}` cannot stand in programs of JAX: KERNPACK_INTERPRET=1 has its "
            "kernels run on the interpreter; call it by itself, or unset that"
        )
