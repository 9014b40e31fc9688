# SPDX-License-Identifier: Apache-2.0
"""Kernels and jit functions of objects: `obj.f`, whose first parameter is that object.

Each object has one for each of its methods, which knows what was compiled for it. The object keeps
it, so that both are gone together: in its `__dict__`, from where it does not come into copies and
pickles. An object that has no such dict cannot keep anything, and those that were used last are
kept for it. Not here: what binding to an object makes (`_jit.py`, `_program.py`).
"""

from __future__ import annotations

import collections
import contextlib
from typing import Any, Callable, Dict, Tuple, TypeVar, cast

_KEY = "__kernpack_bound__"
_MOST = 16
"""How many are kept for objects that keep nothing: as many such objects are kept alive."""

_Made = TypeVar("_Made")


class _Methods(Dict[int, Any]):
    """The bound methods that an object keeps, each behind what it is made of, by the id of that.
    Copied or pickled, there are none.
    """

    def __reduce__(self) -> Any:
        return _Methods, ()


_recent: collections.OrderedDict[Tuple[int, int], Any] = collections.OrderedDict()


def bound(of: Any, owner: Any, make: Callable[[Any], _Made]) -> _Made:
    """The method of an object, made by `make` where there is none; it keeps its `owner`."""
    try:
        kept: Any = owner.__dict__.get(_KEY)
    except AttributeError:
        return _of_recent(of, owner, make)
    known = None if kept is None else kept.get(id(of))
    if known is not None and known[1].owner is owner:
        found: _Made = known[1]
        return found
    return _keep(of, owner, kept, make(owner))


def _keep(of: Any, owner: Any, kept: Any, made: _Made) -> _Made:
    """Has an object keep a method; gives the one that another thread has made by now, if any."""
    others = () if kept is None else tuple(kept.values())
    if kept is None or any(each.owner is not owner for _, each in others):
        # It is the first one, or the dict is that of the object that this one is a copy of.
        kept = _Methods()
        if isinstance(owner, type):
            setattr(owner, _KEY, kept)
        else:
            owner.__dict__[_KEY] = kept
    found: _Made = kept.setdefault(id(of), (of, made))[1]
    return found


def _of_recent(of: Any, owner: Any, make: Callable[[Any], _Made]) -> _Made:
    key = (id(of), id(owner))
    found: Any = _recent.pop(key, None) or (of, make(owner))
    _recent[key] = found
    while len(_recent) > _MOST:
        # Another thread may have done so by now.
        with contextlib.suppress(KeyError):
            _recent.popitem(last=False)
    made: _Made = found[1]
    return made


class _OfClass:
    """A kernel or a jit function of a class, whose first parameter is the class that it is asked
    of: what `classmethod` makes of Python's functions.
    """

    def __init__(self, of: Any) -> None:
        self.of = of

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self.of.__get__(type(owner) if kind is None else kind)


def decorated(function: Any, make: Callable[[Any], Any]) -> Any:
    """What a decorator makes of a function, or of one that is a static method or that of a class."""
    if isinstance(function, staticmethod):
        return staticmethod(make(function.__func__))
    if isinstance(function, classmethod):
        inner: Any = cast("Any", function).__func__
        return _OfClass(make(inner))
    return make(function)
