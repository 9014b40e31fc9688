# SPDX-License-Identifier: Apache-2.0
"""What a fork must not find half done: a child has one thread, and a lock that another one held is
held there for ever. The import system has such locks, and the loader of libraries.

Late imports are counted (`importing`), and a fork waits until no other thread is about one. They
hold no lock: a module that is imported may wait for what another thread has. Libraries are loaded
under `LOCK`, under which none of our modules is imported.
"""

from __future__ import annotations

import _thread
import contextlib

# Its lock is taken before a fork too, and modules take it as they are imported: what registers
# first is asked last.
import logging as logging
import os
import threading
import time
from typing import Any, Callable, Generator, Generic, TypeVar

LOCK: Any = _thread.RLock()
"""Held wherever libraries are loaded, and what is known of them changes. A fork waits for it."""

_PATIENCE = 10.0
"""How many seconds a fork waits, should whoever has the lock wait for the one that forks."""

_importers: list[int] = []
"""The threads that import something late, each once for each import."""

_IMPORTERS_CHANGED = threading.Condition()
"""A fork keeps its lock, so that no import begins meanwhile."""

_is_held: list[bool] = []


@contextlib.contextmanager
def importing() -> Generator[None, None, None]:
    """Imports late inside of this, so that no other thread forks meanwhile."""
    thread = _thread.get_ident()
    with _IMPORTERS_CHANGED:
        _importers.append(thread)
    try:
        yield
    finally:
        with _IMPORTERS_CHANGED:
            _importers.remove(thread)
            _IMPORTERS_CHANGED.notify_all()


def _before() -> None:
    end = time.monotonic() + _PATIENCE
    _IMPORTERS_CHANGED.acquire()
    _is_held.append(False)  # Ctrl-C ends the waiting.
    own = {_thread.get_ident()}
    _IMPORTERS_CHANGED.wait_for(lambda: own.issuperset(_importers), _PATIENCE)
    _is_held[-1] = LOCK.acquire(timeout=max(0.0, end - time.monotonic()))


def _after() -> None:
    if _is_held.pop():
        LOCK.release()
    _IMPORTERS_CHANGED.release()


def _in_child() -> None:
    own = _thread.get_ident()
    _importers[:] = [thread for thread in _importers if thread == own]
    if not _is_held[-1]:
        LOCK._at_fork_reinit()
    _after()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)

_Value = TypeVar("_Value")


class cached_property(Generic[_Value]):
    """`functools.cached_property` without its lock: before Python 3.12 that is one for all objects,
    which a child may find held.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, it: Any, owner: type) -> _Value:
        if it is None:
            return self  # type: ignore[return-value]
        found: _Value = it.__dict__.setdefault(self._name, self._compute(it))
        return found
