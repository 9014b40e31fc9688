# SPDX-License-Identifier: Apache-2.0
"""A function of a running program with all that it uses, as the text of a package.

`Kernel` is what `@kp.kernel` makes. `Program` writes a jit function with the kernels, functions and
values that it reaches by name: `crates/package/src/program.rs` has the form. Not here: how texts
and values are found (`_source.py`, `_captured.py`), and what is compiled when (`_jit.py`).
"""

from __future__ import annotations

import functools
import json
import types
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    FrozenSet,
    Mapping,
    NamedTuple,
    Sequence,
    Tuple,
    cast,
)

from . import _bound, _captured, _source
from ._captured import Scope, Watch
from ._source import SourceText

if TYPE_CHECKING:
    from ._values import Launchable


class Kernel:
    """A kernel: what each thread of a launch runs. A jit function launches it,
    `k(x, y).launch(grid=…, block=…)`; Python itself cannot call it.
    """

    __kernpack_role__ = "kernel"
    __kernpack_given__: Mapping[str, Any] = types.MappingProxyType({})

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = _captured.unwrapped(function, "a kernel")
        self.__kernpack_source__ = _source.read_def(self.function, "a kernel")
        self.owner: Any = None
        functools.update_wrapper(self, self.function)

    def __get__(self, owner: Any, kind: type | None = None) -> Kernel:
        """The kernel of an object: its first parameter is that object, which is constant."""
        return self if owner is None else _bound.bound(self, owner, self._of)

    def _of(self, owner: Any) -> Kernel:
        bound = object.__new__(Kernel)
        bound.__dict__.update(self.__dict__)
        bound.owner = owner
        return bound

    def __call__(self, *_: Any, **__: Any) -> Launchable:
        raise TypeError(
            f"`{self.function.__name__}` is a kernel, which is launched by a function under "
            f"`@kp.jit`: `{self.function.__name__}(…).launch(grid=…, block=…)`"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        return self.function is other.function and self.owner is other.owner

    def __hash__(self) -> int:
        return hash((self.function, id(self.owner)))

    def __repr__(self) -> str:
        return f"<kernpack kernel {self.function.__qualname__}>"


def kernel(function: Callable[..., Any]) -> Kernel:
    """Makes a kernel of a function: `@kp.kernel`. Its text is read now, and compiled when a jit
    function launches it.
    """
    found = _captured.Callee.of(function)
    if found is not None and found.text is not None and found.role != "kernel":
        name = found.function.__name__
        raise TypeError(f"`{name}` is a jit function, which launches kernels: write one `def` each")
    return cast("Kernel", _bound.decorated(function, Kernel))


_DEEPEST = 64
"""How many functions may call each other in a row: the compiler takes fewer."""


_Key = Tuple[int, int, FrozenSet[Tuple[Any, int]]]


class _Given(NamedTuple):
    """Values that names have in place of what they are bound to."""

    values: dict[Any, Any]
    used: set[Any]


def bindings(function: Any, given: Mapping[str, Any]) -> dict[Any, Any]:
    """The values that are given for names that a function captures, by what these are bound to."""
    if not given:
        return {}
    scope, own = Scope.of(function, {}), parameters(function)
    found = {scope.binding(name): value for name, value in given.items() if name not in own}
    return {at: value for at, value in found.items() if at is not None}


def parameters(function: Any) -> Sequence[str]:
    """The names of a function's parameters."""
    return cast("Sequence[str]", function.__code__.co_varnames[: function.__code__.co_argcount])


class Said(NamedTuple):
    """What is said of a jit function beside its text."""

    signature: str
    workspaces: Mapping[str, str]
    is_made: bool
    """Whether the signature was made of a call's arguments."""
    is_strict: bool
    """Whether indices are refused that the extent of another tensor alone bounds."""


class Program:
    """The sources that a jit function needs, each before those that use it, and what they have
    captured.
    """

    def __init__(
        self,
        function: types.FunctionType,
        text: SourceText,
        owner: Any,
        given: Mapping[str, Any] = types.MappingProxyType({}),
    ) -> None:
        self._sources: list[dict[str, Any]] = []
        self.places: list[tuple[str, int]] = []
        self.watches: list[Watch] = []
        # Functions and objects by their ids: what is watched keeps them. Each is another one where
        # other values are given.
        self._known: dict[_Key, int] = {}
        self._within: list[_Key] = []
        self._given: list[_Given] = [_Given({}, set())]
        self.name = text.name
        self._add(function, text, owner, "packed", given)

    def text(self, said: Said) -> str:
        """The text of the package."""
        last = {
            **self._sources[-1],
            "signature": said.signature,
            "workspaces": list(map(list, said.workspaces.items())),
            "is_made": said.is_made,
            "is_strict": said.is_strict,
        }
        return json.dumps({"package": self.name, "sources": [*self._sources[:-1], last]})

    @property
    def identity(self) -> str:
        """Its text without a signature: other values give another one."""
        return json.dumps(self._sources)

    def _add(
        self,
        function: types.FunctionType,
        text: SourceText,
        owner: Any,
        role: str,
        given: Mapping[str, Any],
    ) -> int:
        key = self._key(function, owner, given)
        self._within.append(key)
        is_method = owner is not None
        bound = {function.__code__.co_varnames[0]: owner} if is_method else {}
        scope = Scope.of(function, bound)
        values = bindings(function, given)
        self._given.append(_Given({**self._given[-1].values, **values}, set()))
        names = self._names(text, scope, is_method)
        names.update(self._defaults(function))
        for name in parameters(function):
            if name in given:
                names[f"{name}="] = _captured.write(given[name], self._function)
        used = self._given.pop().used
        self._given[-1].used.update(used)
        unused = [name for name in given if scope.binding(name) in values.keys() - used]
        if unused:
            raise TypeError(
                f"`{text.name}` is given `{unused[0]}`, which nothing that it uses names"
            )
        return self._source(key, text, {"role": role, "names": names, "is_method": is_method})

    def _key(self, function: Any, owner: Any, given: Mapping[str, Any]) -> _Key:
        """What something is known by: values that are given for it make it another one."""
        values = {**self._given[-1].values, **bindings(function, given), **given}
        return id(function), id(owner), frozenset((at, id(value)) for at, value in values.items())

    def _names(self, text: SourceText, scope: Scope, is_method: bool) -> dict[str, Any]:
        """The values of the names that a text uses, which are watched."""
        names: dict[str, Any] = {}
        for path in _captured.paths(text.text, is_method):
            binding = scope.binding(path[0])
            is_given = binding in self._given[-1].values
            watch = self._find_given(binding, path) if is_given else scope.find(path)
            if watch is not None:
                # What is given is an object that stays, whatever becomes of what is in it.
                stays = is_given and not watch.path and not _captured.is_mutable(watch.value)
                if not stays and not _captured.is_ours(watch.value):
                    self.watches.append(watch.lasting())
                n_taken = len(watch.path) - (0 if is_given or path[0] in scope.bound else 1)
                _enter(names, path[: 1 + n_taken], _captured.write(watch.value, self._function))
        return names

    def _find_given(self, binding: Any, path: Sequence[str]) -> Watch:
        """The end of a path that begins at a value that is given."""
        given = self._given[-1]
        given.used.add(binding)
        return _captured.followed(given.values[binding], path[1:])

    def _defaults(self, function: types.FunctionType, of: str = "") -> dict[str, Any]:
        """What Python has evaluated, where it defined a function: the values of its defaults."""
        names: dict[str, Any] = {}
        for name, value in _captured.defaults(function).items():
            names[f"{of}{name}="] = _captured.write(value, self._function)
            if _captured.is_mutable(value):
                self.watches.append(Watch(value, (), value))
        return names

    def _source(self, key: _Key, text: SourceText, source: dict[str, Any]) -> int:
        """Adds a source, whose names are known."""
        self._within.pop()
        self._sources.append({"text": text.text, **source})
        self.places.append(text.place)
        number = self._known[key] = len(self._sources) - 1
        return number

    def _refused(self, key: _Key, *circle: str) -> dict[str, Any] | None:
        """Why something is no source: it is being read, which `circle` says, or is too deep."""
        if key in self._within:
            return {"unheld": list(circle)}
        if len(self._within) >= _DEEPEST:
            most = f"a function behind more than {_DEEPEST} others"
            return {"unheld": [most, "have fewer functions call each other"]}
        return None

    def _class(self, owner: type) -> dict[str, Any]:
        """A class that is captured, which becomes a source. Its methods may name it."""
        key = self._key(owner, None, {})
        refused = self._refused(
            key, "a class that is used by what it uses", "pass it as an argument"
        )
        if refused is not None:
            return refused
        number = self._known.get(key)
        if number is None:
            try:
                text = _source.read_class(owner, _captured.methods(owner))
            except TypeError as error:
                return {"unheld": ["a class without a text", str(error)]}
            self._within.append(key)
            names = self._names(text, Scope.of_class(owner), False)
            for name, value in _captured.constants(owner).items():
                names[f"{name}="] = _captured.write(value, self._function)
                self.watches.append(Watch(owner, (name,), value))
            for method in _captured.methods(owner):
                names.update(self._defaults(method, f"{method.__code__.co_name}."))
            number = self._source(key, text, {"role": "device", "names": names, "is_method": False})
        return {"function": [number, owner.__name__]}

    def _function(self, value: Any) -> dict[str, Any]:
        """A function or class that is captured, which becomes a source."""
        if isinstance(value, type):
            return self._class(value)
        found = _captured.Callee.of(value)
        assert found is not None
        function, owner, given = found.function, found.owner, found.given
        key = self._key(function, owner, given)
        refused = self._refused(key, "a function that calls itself", "write a loop")
        if refused is not None:
            return refused
        try:
            text = found.text or _source.read(function)
        except TypeError as error:
            return {"unheld": ["a function without a text", str(error)]}
        number = self._known.get(key)
        if number is None:
            number = self._add(function, text, owner, found.role, given)
        return {"function": [number, text.name]}


def _enter(names: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Puts a value at the end of a path into the names, records being what leads there."""
    if len(path) == 1:
        known = names.get(path[0])
        # What is used as a whole has all that is used of it.
        is_whole = not _is_record(known) or _is_record(value) or _is_source(value)
        names[path[0]] = value if is_whole else known
        return
    fields = names.setdefault(path[0], {"record": []})
    if not _is_record(fields):
        return
    of = dict(fields["record"])
    _enter(of, path[1:], value)
    fields["record"] = list(map(list, of.items()))


def _is_source(value: Any) -> bool:
    return isinstance(value, dict) and "function" in value


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and "record" in value
