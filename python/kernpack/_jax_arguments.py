# SPDX-License-Identifier: Apache-2.0
"""What a function takes when JAX calls it: which parameters are arrays, which are static, which
come back.

A program of JAX has operands and results, a signature parameters in any order, nested, with scalars
among them. A `Surface` says of each parameter what it is for; `gather` finds the arrays in the
arguments of one call, and leaves a `Tree` for each parameter in which every array is a number. Not
here: shapes, plans, transformations.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from kernpack._description import passed_params, paths_of
from kernpack._dtype import NAMES
from kernpack._function import written
from kernpack._shape import untyped


class Role(Enum):
    """What a parameter, or an element of one, is for."""

    OPERAND = "operand"
    """An array that is read."""
    RESULT = "result"
    """An array that is written, and comes back."""
    BOTH = "both"
    """An array that is read and written: it is passed, and comes back in its place."""
    STATIC = "static"
    """A number, text or dtype, which becomes part of the program."""
    STREAM = "stream"
    """The stream of the program."""


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""A parameter has no default, or an argument was left out."""


@dataclass(frozen=True)
class Leaf:
    """A parameter that is no tuple, or an element of a tuple that is none."""

    path: str
    """Its name; of an element `p.a` or `p[0]`, as messages have it."""
    kind: Mapping[str, Any]
    """Its type, as the description of a signature has it, without `Optional`."""
    role: Role
    is_optional: bool


@dataclass(frozen=True)
class Branch:
    """A tuple."""

    path: str
    names: tuple[str | None, ...]
    fields: tuple[Leaf | Branch, ...]
    is_optional: bool


Node = Leaf | Branch


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function that is called: with results, its variant that takes them."""

    name: str
    node: Node
    default: Any
    """`MISSING` where there is none."""


class Operand(NamedTuple):
    """An array that was passed."""

    at: int


class Result(NamedTuple):
    """An array that comes back."""

    at: int
    """Among those that come back."""
    operand: int | None
    """The operand whose place it takes."""


Tree = Any
"""`Operand`, `Result`, a tuple of trees, or a static value."""


@dataclass
class Gathered:
    """The arguments of one call."""

    trees: list[Tree]
    operands: list[Any]
    operand_leaves: list[Leaf]
    result_leaves: list[Leaf]


def trees_in(tree: Tree) -> tuple[Tree, ...]:
    """The trees of a tuple's elements."""
    found: tuple[Tree, ...] = tree
    return found


def leaves(node: Node) -> Iterator[Leaf]:
    """Every leaf below a node."""
    if isinstance(node, Leaf):
        yield node
    else:
        for part in node.fields:
            yield from leaves(part)


@dataclass(frozen=True)
class Surface:
    """All that a function takes."""

    name: str
    parameters: tuple[Parameter, ...]

    def leaves(self) -> list[Leaf]:
        """Every leaf of every parameter."""
        return [leaf for parameter in self.parameters for leaf in leaves(parameter.node)]

    def taken(self) -> list[Parameter]:
        """The parameters that a caller has a say in, in order."""
        return [parameter for parameter in self.parameters if _is_taken(parameter.node)]

    def gather(
        self, args: Sequence[Any], named: Mapping[str, Any], wanted: frozenset[str]
    ) -> Gathered:
        """Finds the arrays in the arguments of a call.

        `wanted` are the paths of `Optional` results that shall come back.
        """
        values = self.bind(args, named)
        gathered = Gathered([], [], [], [])
        for parameter in self.parameters:
            value = values.get(parameter.name, parameter.default)
            gathered.trees.append(_gather(parameter.node, value, gathered, wanted))
        return gathered

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by parameter, with Python's words for what is wrong with them."""
        taken = self.taken()
        if len(args) > len(taken):
            count = f"{len(taken)} positional argument{'' if len(taken) == 1 else 's'}"
            was = "was" if len(args) == 1 else "were"
            raise TypeError(f"{self.name}() takes {count} but {len(args)} {was} given")
        values = {parameter.name: value for parameter, value in zip(taken, args, strict=False)}
        known = {written(parameter.name): parameter.name for parameter in taken}
        known.update((parameter.name, parameter.name) for parameter in taken)
        for name, value in named.items():
            if name not in known:
                raise TypeError(f"{self.name}() got an unexpected keyword argument {name!r}")
            if known[name] in values:
                raise TypeError(f"{self.name}() got multiple values for argument {name!r}")
            values[known[name]] = value
        missing = [
            each.name for each in taken if each.name not in values and each.default is MISSING
        ]
        missing = [name for name in missing if not self._is_found(name)]
        if missing:
            names = ", ".join(map(repr, missing))
            count = f"{len(missing)} required argument{'' if len(missing) == 1 else 's'}"
            raise TypeError(f"{self.name}() missing {count}: {names}")
        return values

    def _is_found(self, name: str) -> bool:
        """Whether an integer may be left out because a dim says what it is."""
        (node,) = (each.node for each in self.parameters if each.name == name)
        if not isinstance(node, Leaf) or node.kind["kind"] != "int":
            return False
        arrays = [leaf.kind for leaf in self.leaves() if leaf.role in (Role.OPERAND, Role.BOTH)]
        return any(name in kind["extents"] for kind in arrays)


def surface_of(
    description: Mapping[str, Any],
    defaults: Mapping[str, Any],
    aliased: frozenset[str],
) -> Surface:
    """What the parameters of a description are for."""
    parameters: list[Parameter] = []
    for param in passed_params(description):
        node = _node(param["name"], param["type"], aliased, is_optional=False)
        default = defaults.get(param["name"], MISSING)
        if default is MISSING and param["type"]["kind"] == "literal":
            default = param["type"]["value"]
        parameters.append(Parameter(param["name"], node, default))
    return Surface(description["name"], tuple(parameters))


def _node(
    path: str, kind: Mapping[str, Any], aliased: frozenset[str], *, is_optional: bool
) -> Node:
    if kind["kind"] == "optional":
        return _node(path, kind["type"], aliased, is_optional=True)
    if kind["kind"] != "tuple":
        return Leaf(path, kind, _role(path, kind, aliased), is_optional)
    names = tuple(part["name"] for part in kind["fields"])
    fields = [
        _node(own, part["type"], aliased, is_optional=False)
        for own, part in zip(paths_of(path, kind["fields"]), kind["fields"], strict=True)
    ]
    return Branch(path, names, tuple(fields), is_optional)


def _role(path: str, kind: Mapping[str, Any], aliased: frozenset[str]) -> Role:
    if kind["kind"] == "stream":
        return Role.STREAM
    if kind["kind"] != "tensor":
        return Role.STATIC
    if not kind["mutable"]:
        return Role.OPERAND
    return Role.BOTH if path in aliased else Role.RESULT


def _is_taken(node: Node) -> bool:
    return any(leaf.role not in (Role.RESULT, Role.STREAM) for leaf in leaves(node)) or (
        isinstance(node, Branch) and not node.fields
    )


def _gather(node: Node, value: Any, gathered: Gathered, wanted: frozenset[str]) -> Tree:
    if isinstance(node, Branch):
        return _gather_tuple(node, value, gathered, wanted)
    match node.role:
        case Role.STREAM:
            return None
        case Role.RESULT:
            return (
                None
                if node.is_optional and node.path not in wanted
                else _result(node, None, gathered)
            )
        case Role.STATIC:
            # An integer that was left out is what a dim is.
            return MISSING if value is MISSING else _static(node, value)
        case Role.OPERAND | Role.BOTH:
            if value is None:
                return _absent(node)
            operand = _operand(node, value, gathered)
            return operand if node.role is Role.OPERAND else _result(node, operand.at, gathered)


def _absent(node: Node) -> None:
    if not node.is_optional:
        raise TypeError(f"`{node.path}` is not Optional: it takes an array, and no None")


def _operand(leaf: Leaf, value: Any, gathered: Gathered) -> Operand:
    if not isinstance(value, (jax.Array, np.ndarray, np.generic, bool, int, float, complex)):
        raise TypeError(f"`{leaf.path}` takes an array, got {type(value).__name__}")
    gathered.operands.append(untyped(jnp).asarray(value))
    gathered.operand_leaves.append(leaf)
    return Operand(len(gathered.operands) - 1)


def _result(leaf: Leaf, operand: int | None, gathered: Gathered) -> Result:
    gathered.result_leaves.append(leaf)
    return Result(len(gathered.result_leaves) - 1, operand)


def _gather_tuple(branch: Branch, value: Any, gathered: Gathered, wanted: frozenset[str]) -> Tree:
    if not _is_taken(branch):
        return tuple(_gather(part, MISSING, gathered, wanted) for part in branch.fields)
    if value is None:
        return _absent(branch)
    taken = [_is_taken(part) for part in branch.fields]
    items = iter(_items(branch, value, taken))
    return tuple(
        _gather(part, next(items) if is_taken else MISSING, gathered, wanted)
        for part, is_taken in zip(branch.fields, taken, strict=True)
    )


def _items(branch: Branch, value: Any, taken: Sequence[bool]) -> tuple[Any, ...]:
    """The elements that a caller passes for a tuple: those that only come back are left out."""
    names = [name for name, is_taken in zip(branch.names, taken, strict=True) if is_taken]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = tuple(getattr(value, each.name) for each in dataclasses.fields(value))
    elif isinstance(value, Mapping):
        by_name = cast("Mapping[str, Any]", value)
        if set(by_name) != set(names):
            raise TypeError(f"`{branch.path}` has the elements {names}, got {sorted(by_name)}")
        items = tuple(by_name[cast(str, name)] for name in names)
    elif isinstance(value, (tuple, list)):
        items = tuple(cast("Sequence[Any]", value))
    else:
        raise TypeError(f"`{branch.path}` takes a tuple, got {type(value).__name__}")
    if len(items) != len(names):
        raise ValueError(f"`{branch.path}` has {len(names)} elements to pass, got {len(items)}")
    return items


def require_untraced(path: str, value: Any) -> None:
    """Refuses a value of which a program that is traced knows only the type."""
    if isinstance(value, untyped(jax).core.Tracer):
        raise TypeError(
            f"`{path}` is static: it becomes part of the program, so it cannot be traced; "
            "pass a Python value, and name it in `static_argnames` where `jax.jit` gets it"
        )


def _static(leaf: Leaf, value: Any) -> Any:
    """A static value as the function gets it."""
    require_untraced(leaf.path, value)
    if value is None and (leaf.is_optional or leaf.kind["kind"] == "pointer"):
        return None
    kind = leaf.kind["kind"]
    if kind == "literal":
        return _literal(leaf, value)
    try:
        return _CONVERTERS[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"`{leaf.path}` takes {_WORDS[kind]}, got {value!r}") from error


def _literal(leaf: Leaf, value: Any) -> Any:
    wanted = leaf.kind["value"]
    if value != wanted:
        raise ValueError(f"`{leaf.path}` is {wanted!r}, got {value!r}")
    return wanted


def _integer(value: Any) -> int:
    number = operator.index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError
    return number


def _truth(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


def _floating(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise TypeError
    return value


def dtype_name(value: Any) -> str:
    """The name of a dtype: of JAX, NumPy, or a text."""
    name = value if isinstance(value, str) else jnp.dtype(value).name
    if name == "float4_e2m1fn":
        # A byte has two, and a dtype of TVM-FFI is what an element has.
        return "float4_e2m1fnx2"
    if name not in NAMES:
        raise TypeError(f"{value!r} is no dtype of a signature")
    return name


def _extents(value: Any) -> tuple[int, ...]:
    return tuple(map(_integer, value))


_CONVERTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "int": _integer,
    "bool": _truth,
    "float": _floating,
    "string": _text,
    "dtype": dtype_name,
    "shape": _extents,
    "pointer": _integer,
}

_WORDS: Final = {
    "int": "an integer of 64 bits",
    "bool": "True or False",
    "float": "a number",
    "string": "a text without NUL",
    "dtype": "a dtype",
    "shape": "integers",
    "pointer": "an address or None",
}
