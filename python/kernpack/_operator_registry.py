# SPDX-License-Identifier: Apache-2.0
"""The libraries of operators, and what becomes of an operator that another one replaces.

PyTorch's objects for an operator that is gone are not to be touched: a call of one ends the
process. They stand in programs and in variables, so that they are led to the operator that has
taken the name, or to a refusal where none has.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Mapping

import torch

_untyped: Any = torch


def new_library(namespace: str) -> Any:
    """A library for operators of a namespace."""
    return _untyped.library.Library(namespace, "FRAGMENT")


def packet(name: str) -> Any:
    """The operator `ns::name`, as `torch.ops` has it."""
    namespace, base = name.split("::")
    return getattr(getattr(torch.ops, namespace), base)


def drop(library: Any) -> None:
    """Takes the operators of a library from PyTorch."""
    library._destroy()
    # What is forgotten twice would be forgotten of the operators that come next.
    library._op_defs.clear()
    library._op_impls.clear()


def take_away(library: Any) -> dict[str, Any]:
    """Takes the operators of a library from PyTorch, and returns its objects for them by name."""
    taken = {name: packet(name) for name in sorted(library._op_defs)}
    for gone in taken.values():
        # The object is made when it is first asked for, which would be too late.
        assert gone.default is not None
    drop(library)
    return taken


def lead(taken: Mapping[str, Any]) -> None:
    """Leads the objects of operators that are gone to those which have their names now."""
    for name, old in taken.items():
        namespace, base = name.split("::")
        new = getattr(getattr(torch.ops, namespace), base, None)
        overload = None if new is None else new.default
        call = _gone(name) if overload is None else overload
        old.default.__dict__.update(_op=call, _handle=getattr(overload, "_handle", None))
        old.__dict__.update(_op=call if new is None else new)
    if "torch._dynamo" in sys.modules:
        # Programs that were compiled have the old one's shapes.
        _untyped.compiler.reset()


def _gone(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(
            f"`{name}` is gone: it came with an operator that was replaced by one without it"
        )

    return refuse
