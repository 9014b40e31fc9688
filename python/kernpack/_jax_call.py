# SPDX-License-Identifier: Apache-2.0
"""Calls of one function in programs of JAX: `Call`, which binds arguments and makes a program of them.

What a call is told stands in `Options`, and what it becomes in `_jax_program`. Not here: functions
that are compiled for their arguments (`_jax_jit`), and what users ask for (`jax`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import jax
import numpy as np

from kernpack import _interpreted
from kernpack._jax_arguments import MISSING, Leaf, Parameter, Role, Surface, surface_of
from kernpack._jax_batching import batch_dim
from kernpack._jax_program import IN_SEQUENCE, Callee, Options, Program


class Call:
    """A function over arrays of JAX, made by `call`."""

    def __init__(self, function: Any, options: Options) -> None:
        _interpreted.refuse_program(function)
        self._made_of = function, options
        description = getattr(function, "description", None)
        self._options = options
        self._surface: Surface | None = None
        self._description: Mapping[str, Any] = {}
        self._callee = Callee(function, function, None, {})
        self.__name__ = str(getattr(function, "__name__", "function"))
        self.__doc__ = None
        is_folding = options.vmap not in (None, *IN_SEQUENCE)
        if description:
            self._read(description)
        elif is_folding:
            raise ValueError(
                f"vmap={options.vmap!r}: a dim of a signature, which the function lacks"
            )
        if self._surface and is_folding:
            dim = batch_dim(self._surface, options.views, cast(str, options.vmap))
            self._callee = self._callee._replace(vmap_dim=dim)
        self._require_names()

    def _read(self, description: Mapping[str, Any]) -> None:
        """Learns what the signature says."""
        function, options = self._callee.function, self._options
        called = getattr(function, "out", None) or function
        self._callee = Callee(function, called, None, {})
        self.__name__, self.__doc__ = str(description["name"]), str(description["text"])
        # Messages are about the function that the user has, and not about its variant.
        names = {"name": description["name"], "short": description["short"]}
        self._description = {**called.description, **names}
        # That variant has no defaults.
        rows = [row for row in description["params"] if "default" in row]
        defaults = {row["name"]: row["default"] for row in rows} | dict(options.static)
        own = frozenset(name for name, result in options.aliases.items() if name == result)
        self._surface = surface_of(self._description, defaults, own)
        self._require_aliases(self._surface)

    @property
    def vmap_dim(self) -> str | None:
        """The dim that a batch is folded into, of a call that folds."""
        return self._callee.vmap_dim

    @property
    def parameters(self) -> Sequence[Parameter]:
        """The parameters of the signature, where there is one."""
        return () if self._surface is None else self._surface.parameters

    def _require_names(self) -> None:
        """Refuses options for parameters that are not there."""
        views, static = self._options.views, self._options.static
        options = {"layouts": views.layouts, "modes": views.modes, "static": static}
        given = {word: names for word, names in options.items() if names}
        if self._surface is None:
            if given:
                word = next(iter(given))
                raise ValueError(f"{word}: parameters of a signature, which the function lacks")
            return
        paths = {leaf.path for leaf in self._surface.leaves()}
        arrays = {leaf.path for leaf in self._surface.leaves() if leaf.kind["kind"] == "tensor"}
        every = {each.name for each in self._surface.parameters}
        for word, names in given.items():
            for name in names:
                if name not in (every if word == "static" else arrays):
                    known = "no array" if name in paths else "no parameter"
                    raise ValueError(f"{word}: `{name}` is {known} of `{self._surface.name}`")

    def _require_aliases(self, surface: Surface) -> None:
        roles = {leaf.path: leaf.role for leaf in surface.leaves()}
        for name, result in self._options.aliases.items():
            wanted = Role.BOTH if name == result else Role.OPERAND
            if roles.get(name) is not wanted or roles.get(result) not in (Role.BOTH, Role.RESULT):
                says = f"`{name}`" if name == result else f"`{name}` and `{result}`"
                raise ValueError(f"aliases: {says} of `{surface.name}` is no array that it writes")

    def __reduce__(self) -> tuple[Any, ...]:
        """By its function, whose package goes along, and its options."""
        return Call, self._made_of

    def __repr__(self) -> str:
        return f"<kernpack.jax.Call {self._description.get('short', self.__name__)}>"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Calls the function; see `call`."""
        output = self._options.output
        surface, description = self._surface, self._description
        if surface is None:
            surface = _surface_of_arguments(self.__name__, args, named, output)
            description = _description_of(surface)
        asked: Iterable[str] = (
            cast("Mapping[str, Any]", output) if isinstance(output, Mapping) else ()
        )
        wanted = frozenset([*asked, *self._options.aliases.values()])
        gathered = surface.gather(args, named, wanted)
        program = Program(self._callee, self._options, surface, description, gathered)
        return program.returned(program.run(gathered.operands))


# Functions without a signature


def _surface_of_arguments(
    name: str, args: Sequence[Any], named: Mapping[str, Any], output: Any
) -> Surface:
    """What the arguments of a call themselves say, and what comes back."""
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(named))!r}")
    if output is None:
        raise ValueError(
            f"`{name}` has no signature that says what comes back: say it by `output=`"
        )
    parameters = [_parameter_of(f"arg{at}", arg) for at, arg in enumerate(args)]
    for at in range(len(jax.tree.leaves(output))):
        leaf = Leaf(f"out{at}", _any_tensor(), Role.RESULT, is_optional=False)
        parameters.append(Parameter(leaf.path, leaf, MISSING))
    return Surface(name, tuple(parameters))


def _any_tensor() -> dict[str, Any]:
    return {
        "kind": "tensor",
        "dims": ["*_"],
        "extents": [{"star": None}],
        "dtype": "_",
        "order": None,
        "strides": None,
    }


def _parameter_of(name: str, value: Any) -> Parameter:
    match value:
        case None:
            kind: dict[str, Any] = {"kind": "literal", "value": None}
        case bool():
            kind = {"kind": "bool"}
        case int():
            kind = {"kind": "int"}
        case float():
            kind = {"kind": "float"}
        case str():
            kind = {"kind": "string"}
        case np.dtype() | type():
            kind = {"kind": "dtype"}
        case tuple():
            kind = {"kind": "shape"}
        case _:
            kind = _any_tensor()
    role = Role.OPERAND if kind["kind"] == "tensor" else Role.STATIC
    return Parameter(name, Leaf(name, kind, role, is_optional=False), MISSING)


def _description_of(surface: Surface) -> Mapping[str, Any]:
    """A description that says nothing of shapes."""
    return {"name": surface.name, "short": surface.name, "params": [], "symbols": []}
