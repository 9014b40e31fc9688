# SPDX-License-Identifier: Apache-2.0
"""What the kernels of a function become, for who reads it: operations, LLVM's text, and the
resources that they take. Not here: PTX and machine code, which the package itself has.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from . import _errors, _native

if TYPE_CHECKING:
    from ._check import Request
    from ._function import Function


@dataclasses.dataclass(frozen=True)
class Resources:
    """What a kernel takes on one architecture, as the assembler reports it. A number that nothing
    tells is None.
    """

    kernel: str
    """The kernel's name in its image."""
    arch: str
    """The architecture."""
    threads: int | None
    """The threads of a block, where they are constant."""
    registers: int | None
    """Registers of a thread."""
    spilled_bytes: int | None
    """Bytes of a thread that are written to memory where registers do not suffice."""
    local_bytes: int | None
    """Local memory of a thread, with what is spilled."""
    shared_bytes: int
    """Shared memory of a block that the kernel asks for itself, where its size is constant."""
    barriers: int | None
    """Barriers of a block."""
    blocks_at_once: int | None
    """How many of its blocks a multiprocessor holds at once."""
    occupancy: float | None
    """The share of the threads that a multiprocessor can hold which these are, from 0 to 1."""


def ir(function: Function) -> str:
    """The operations of a function's kernels."""
    return "\n".join(part["text"] for part in _emitted(function, "ir"))


def llvm(function: Function) -> dict[str, str]:
    """LLVM's text of a function's kernels, by architecture."""
    return {part["arch"]: part["text"] for part in _emitted(function, "llvm")}


def resources(function: Function) -> list[Resources]:
    """The resources of each kernel of a function, on each architecture."""
    parts = _emitted(function, "resources")
    return [Resources(arch=part["arch"], **each) for part in parts for each in part["resources"]]


def accesses(function: Function, request: Request | None) -> list[dict[str, Any]]:
    """How wide the accesses of each line of a function's kernels became on the first architecture, as
    it was made of a request.
    """
    parts = _emitted(function, "accesses", request)
    first = {part["arch"] for part in parts[:1]}
    return [each for part in parts if part["arch"] in first for each in part["accesses"]]


def waits(function: Function, request: Request) -> list[dict[str, Any]]:
    """Where each kernel of a function waits, as it was made of a request."""
    return [each for part in _emitted(function, "waits", request) for each in part["waits"]]


def _emitted(function: Function, form: str, request: Request | None = None) -> list[dict[str, Any]]:
    request = function.package.request if request is None else request
    if request is None:
        raise TypeError(
            f"`{function.name}` does not show its `{form}`: the text of its kernels is not known, "
            f"as the package {function.package.path} was not built from it here"
        )
    answer = _native.emit(*request, form, function.name)
    error = answer.get("error")
    if error is not None:
        raise _errors.CompileError(error["text"].rstrip(), error["diagnostics"])
    kernels: list[dict[str, Any]] = answer["kernels"]
    return kernels
