# SPDX-License-Identifier: Apache-2.0
"""What a fork must not find half done: a child has one thread, and a lock that another one held is
held there for ever. The import system has such locks, and the loader of libraries.
"""

from __future__ import annotations

import _thread

# Its lock is taken before a fork too, and modules take it as they are imported: what registers
# first is asked last.
import logging as logging
import os

LOCK = _thread.RLock()
"""Held wherever modules are imported late and libraries are loaded. A fork waits for it."""

_PATIENCE = 10.0
"""How many seconds a fork waits, should whoever has the lock wait for the one that forks."""

_is_held: list[bool] = []


def _before() -> None:
    _is_held.append(LOCK.acquire(timeout=_PATIENCE))


def _after() -> None:
    if _is_held.pop():
        LOCK.release()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
