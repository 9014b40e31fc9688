# SPDX-License-Identifier: Apache-2.0
"""The libraries of operators, and what becomes of an operator that another one replaces.

PyTorch's objects for an operator stand in programs and in variables. They stay the same when the
operator is replaced: calls wait meanwhile, and go on to what has taken the name, or to a refusal
where nothing has. To take an operator away while a thread is in a call of it would end the process,
so that such calls are waited for: they are seen on the stacks of the threads, and cost nothing.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from types import FrameType
from typing import Any, Callable, Final, Sequence

import torch

from ._forks import LOCK

_untyped: Any = torch
_untyped_sys: Any = sys


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


_REPLACED: Final[dict[str, Any]] = {}
"""PyTorch's object for each operator that was ever replaced, by name."""

_ANCHORS: Final[list[Any]] = []
"""Libraries with a kernel for each of these, so that PyTorch never frees the entry of one, which
compiled code may point to.
"""

_NOBODYS_KEY: Final = "PrivateUse3"
"""The dispatch key of these kernels, which is that of no device: they are not called."""

_PATIENCE: Final = 10.0
"""How many seconds calls of an operator have to end before it is replaced."""


def take_away(library: Any) -> None:
    """Takes the operators of a library from PyTorch. Calls of its objects for them wait from then
    on, until whoever has `LOCK` gives it back.
    """
    names = sorted(library._op_defs)
    for name in names:
        if name not in _REPLACED:
            _REPLACED[name] = packet(name)
            namespace, base = name.split("::")
            _ANCHORS.append(new_library(namespace))
            _ANCHORS[-1].impl(base, _gone(name), _NOBODYS_KEY)
    packets = [_REPLACED[name] for name in names]
    objects = [*packets, *(each.default for each in packets)]
    gates = [_Gate(each, objects) for each in objects]
    try:
        _wait_for_calls(names[0], objects)
    except BaseException:
        for gate in gates:
            gate.open()
        raise
    drop(library)


def _wait_for_calls(name: str, objects: Sequence[Any]) -> None:
    end = time.monotonic() + _PATIENCE
    while _others_are_calling(objects):
        if time.monotonic() > end:
            raise RuntimeError(
                f"`{name}` cannot be replaced: a call of it or of its variants on another thread"
                f" has not ended for {_PATIENCE:.0f} s"
            )
        time.sleep(0.001)


class _Gate:
    """What an object of PyTorch calls while its operator is replaced."""

    def __init__(self, it: Any, objects: Sequence[Any]) -> None:
        self._it, self._before, self._objects = it, it._op, objects
        it._op = self

    def open(self) -> None:
        self._it._op = self._before

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if _is_calling(inspect.currentframe(), self._objects):
            # The call is a part of one that is waited for.
            return self._before(*args, **keywords)
        with LOCK:
            pass
        if self._it._op is self:
            raise RuntimeError(f"`{self._it}` is called while this thread replaces it")
        return self._it(*args, **keywords)


_CALLS: Final = (_untyped._ops.OpOverload.__call__, _untyped._ops.OpOverloadPacket.__call__)
_CALL_CODES: Final = tuple(call.__code__ for call in _CALLS)


def _others_are_calling(objects: Sequence[Any]) -> bool:
    own = threading.get_ident()
    frames: dict[int, FrameType] = _untyped_sys._current_frames()
    return any(thread != own and _is_calling(frame, objects) for thread, frame in frames.items())


def _is_calling(frame: FrameType | None, objects: Sequence[Any]) -> bool:
    """Whether a thread is in a call of one of these objects, and not just before a gate."""
    inner = None
    while frame is not None:
        if frame.f_code in _CALL_CODES and inner is not _Gate.__call__.__code__:
            called = frame.f_locals.get(frame.f_code.co_varnames[0])
            if any(called is each for each in objects):
                return True
        inner, frame = frame.f_code, frame.f_back
    return False


def lead() -> None:
    """Leads the objects of operators that were replaced to what has their names now."""
    for name, it in _REPLACED.items():
        namespace, base = name.split("::")
        operators = getattr(torch.ops, namespace)
        new = getattr(operators, base, None)
        if new is None:
            it.default._op = it._op = _gone(name)
        elif new is not it:
            overload = it.default
            overload.__dict__.update(new.default.__dict__, _overloadpacket=it)
            it.__dict__.update(new.__dict__, default=overload)
            setattr(operators, base, it)
    if "torch._dynamo" in sys.modules:
        # Programs that were compiled have the old one's shapes.
        _untyped.compiler.reset()


def _gone(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(
            f"`{name}` is gone: it came with an operator that was replaced by one without it"
        )

    return refuse
