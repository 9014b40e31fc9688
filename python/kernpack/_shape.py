# SPDX-License-Identifier: Apache-2.0
"""Extents of tensors: what arguments say of the names in a signature, and what expressions over
these names are.

A signature says that `y` is a `Tensor([ceildiv(m, 4), *b], T)`. `solve` takes the description of a
signature and what is known of a call's arguments, and answers a `Binding`: what `m`, `b` and `T`
are. `evaluate` and `spec_of` then say what follows for anything else in the signature, such as
results and workspaces.

Values are whatever adds, multiplies and divides as an int does: ints, `torch.SymInt`, symbolic dims
of JAX. `min` and `max` of those need the framework's own functions, which `Operations` names.

The library has read the texts: where a name is found, its description says under `solution`, and
expressions come as trees. Nothing is checked here but the number of dims, without which nothing
could be found: what a call must satisfy is checked by the library, and by the package itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from . import _native
from ._description import passed_params, paths_of
from ._dtype import NAMES

Dim = Any
"""An int, or what a framework has in place of one while it traces."""


class Spec(NamedTuple):
    """What is known of a tensor: its extents, its dtype by kernpack's name, and its strides."""

    shape: tuple[Dim, ...]
    dtype: str
    strides: tuple[Dim, ...] | None = None
    """In elements; None: compact and row-major."""


def untyped(value: Any) -> Any:
    """The value, of whose elements the type says nothing."""
    return value


class _Unknown:
    """The type of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""An argument that binds nothing, because it is yet to be made."""


class Unsolved(LookupError):
    """An expression names what no argument says."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no argument says what `{name}` is")
        self.name = name


class Mismatch(ValueError):
    """An argument has another number of dims than its parameter."""


def _smallest(values: Sequence[Dim]) -> Dim:
    return min(values)


def _largest(values: Sequence[Dim]) -> Dim:
    return max(values)


@dataclass(frozen=True)
class Operations:
    """What Python's own functions cannot do with a framework's symbolic dims."""

    minimum: Callable[[Sequence[Dim]], Dim] = _smallest
    maximum: Callable[[Sequence[Dim]], Dim] = _largest


@dataclass
class Group:
    """The elements of a `Tuple`."""

    items: tuple[Any, ...]


@dataclass
class Binding:
    """What the arguments of a call say of the names in its signature."""

    operations: Operations = Operations()
    symbols: dict[str, Dim] = field(default_factory=dict[str, Dim])
    stars: dict[str, tuple[Dim, ...]] = field(default_factory=dict[str, "tuple[Dim, ...]"])
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """The arguments and their elements by path, `p` and `p.x`: `Spec`, `Group`, tuples of dims,
    numbers, None.
    """

    def named(self, name: str) -> Any:
        """A symbol's value, a star's dims, or an argument."""
        for names in (self.symbols, self.stars, self.values):
            if name in names:
                return names[name]
        raise Unsolved(name)

    def shape(self, extents: Sequence[Tree]) -> tuple[Dim, ...]:
        """The extents that a tensor with these dims has."""
        found: list[Dim] = []
        for tree in extents:
            if is_star(tree):
                if tree["star"] not in self.stars:
                    raise Unsolved(f"*{tree['star']}")
                found.extend(self.stars[tree["star"]])
            else:
                found.append(evaluate(tree, self))
        return tuple(found)

    def dtype(self, text: str) -> str:
        """The dtype of that name, or that a variable of that name stands for."""
        if text in self.dtypes:
            return self.dtypes[text]
        if text not in NAMES:
            raise Unsolved(text)
        return text


def spec_of(tensor: Mapping[str, Any], binding: Binding) -> Spec:
    """What a tensor of the description is, where the binding says all that it names."""
    return Spec(binding.shape(tensor["extents"]), binding.dtype(tensor["dtype"]))


def byte_count(spec: Spec) -> Dim:
    """The bytes of a compact tensor."""
    count = math.prod(spec.shape)
    return -(-(count * _native.dtypes()[spec.dtype]) // 8)


# Expressions

Tree = Any
"""A number, the name of a symbol, `["+", tree, tree]`, or an object that names a field of an
argument; of dims also None for `_`, and `{"star": name}`.
"""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda above, below: above // below,
    "%": operator.mod,
    "ceildiv": lambda above, below: -(-above // below),
}


def is_star(tree: Tree) -> bool:
    """Whether it stands for any number of dims."""
    return isinstance(tree, dict) and "star" in tree


def star_among(extents: Sequence[Tree]) -> int | None:
    """Where the star stands among dims."""
    return next((at for at, tree in enumerate(extents) if is_star(tree)), None)


def names_in(tree: Tree) -> set[str]:
    """The symbols and stars in an expression."""
    if isinstance(tree, str):
        return {tree}
    if isinstance(tree, list):
        _, first, second = untyped(tree)
        return names_in(first) | names_in(second)
    if isinstance(tree, dict):
        return {name for name in (untyped(tree).get("star"), untyped(tree).get("of")) if name}
    return set()


def evaluate(tree: Tree, binding: Binding) -> Dim:
    """The value of an expression. `Unsolved` where it names what has none."""
    if isinstance(tree, str):
        return binding.named(tree)
    if isinstance(tree, list):
        word, *trees = untyped(tree)
        operands = [evaluate(each, binding) for each in trees]
        if word == "min":
            return binding.operations.minimum(operands)
        if word == "max":
            return binding.operations.maximum(operands)
        return untyped(_OPERATORS[word])(*operands)
    if isinstance(tree, dict):
        place: Mapping[str, Any] = untyped(tree)
        return _at(binding.named(place["of"]), place)
    return untyped(tree)


def _at(value: Any, place: Mapping[str, Any]) -> Any:
    """`x.shape[-1]`, `b.numel`, `s[0]`: a field of an argument, or of a star."""
    word, index = place.get("field"), place.get("index", 0)
    if word == "given":
        return int(value is not None)
    dims: tuple[Dim, ...] = ()
    if isinstance(value, Spec):
        dims = strides_of(value) if word == "strides" else value.shape
    elif isinstance(value, tuple):
        dims = untyped(value)
    if word == "numel":
        return math.prod(dims)
    if word == "ndim":
        return len(dims)
    if not -len(dims) <= index < len(dims):
        raise Unsolved(place["of"])
    return dims[index]


def strides_of(spec: Spec) -> tuple[Dim, ...]:
    """The strides of a tensor; row-major ones where it says none."""
    if spec.strides is not None:
        return spec.strides
    strides: list[Dim] = []
    step: Dim = 1
    for extent in reversed(spec.shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


# Solving


def solve(
    description: Mapping[str, Any],
    args: Sequence[Any] | Mapping[str, Any],
    operations: Operations = Operations(),
) -> Binding:
    """What arguments say of the names in a signature.

    `args` are those of a call, in order (`EnvStream` parameters take none), or by parameter name,
    where left out means `UNKNOWN`. A tensor is a `Spec`, a `Tuple` a sequence or mapping of its
    elements, a Shape a sequence, a dtype its name, an absent `Optional` None.
    """
    params = passed_params(description)
    if not isinstance(args, Mapping):
        args = {param["name"]: arg for param, arg in zip(params, args)}
    binding = Binding(operations)
    for index, param in enumerate(params):
        value = args.get(param["name"], UNKNOWN)
        place = f"on argument #{index} when calling: `{description['short']}`"
        _walk(param["name"], param["type"], value, binding, place)
    solution = description.get("solution", {})
    for star in solution.get("stars", ()):
        _bind_star(star, binding)
    for dtype in solution.get("dtypes", ()):
        _bind_dtype(dtype, binding)
    for symbol in solution.get("symbols", ()):
        _bind_symbol(symbol, binding)
    return binding


def _walk(path: str, kind: Mapping[str, Any], value: Any, binding: Binding, place: str) -> None:
    """Knows an argument and its elements by their paths, as expressions see them."""
    word = kind["kind"]
    if value is UNKNOWN:
        return
    if word == "optional":
        _walk(path, kind["type"], value, binding, place)
    elif word == "tuple" and value is None:
        binding.values[path] = None
        for part, own in zip(kind["fields"], paths_of(path, kind["fields"])):
            _walk(own, part["type"], None, binding, place)
    elif word == "tuple":
        items = elements(kind["fields"], value)
        if len(items) != len(kind["fields"]):
            raise Mismatch(
                f"Mismatched tuple size {place}, expected tuple size={len(kind['fields'])}, "
                f"got {len(items)}"
            )
        binding.values[path] = Group(items)
        for part, own, item in zip(kind["fields"], paths_of(path, kind["fields"]), items):
            _walk(own, part["type"], item, binding, place)
    else:
        if word == "tensor" and value is not None:
            _require_rank(kind, value.shape, f"Mismatched Tensor {place}", "ndim")
        elif word == "shape" and value is not None:
            value = tuple(untyped(value))
            _require_rank(kind, value, f"Mismatched Shape {place}", "shape size")
            for at in range(-len(value), len(value)):
                binding.values[f"{path}[{at}]"] = value[at]
        binding.values[path] = untyped(value)


def elements(fields: Sequence[Mapping[str, Any]], value: Any) -> tuple[Any, ...]:
    """The elements of a `Tuple`'s argument, in its own order; a mapping has them by name."""
    if isinstance(value, Mapping):
        by_name: Mapping[str, Any] = untyped(value)
        return tuple(by_name[part["name"]] for part in fields)
    return tuple(value)


def _require_rank(kind: Mapping[str, Any], dims: Sequence[Dim], wrong: str, word: str) -> None:
    expected, got = len(kind["extents"]), len(dims)
    if star_among(kind["extents"]) is None:
        if got != expected:
            raise Mismatch(f"{wrong}, expected {word}={expected}, got {got}")
    elif got < expected - 1:
        raise Mismatch(f"{wrong}, expected {word}>={expected - 1}, got {got}")


def _bind_star(star: Mapping[str, Any], binding: Binding) -> None:
    """The dims of the first tensor or Shape that is known, but for those around them."""
    for use in star["uses"]:
        value = binding.values.get(use["of"])
        if value is not None:
            dims: tuple[Dim, ...] = value.shape if isinstance(value, Spec) else value
            binding.stars[star["name"]] = dims[use["before"] : len(dims) - use["behind"]]
            return


def _bind_dtype(variable: Mapping[str, Any], binding: Binding) -> None:
    """The dtype of the first tensor that is known, or the one that is an argument."""
    for path in variable["uses"]:
        value = binding.values.get(path)
        if value is not None:
            binding.dtypes[variable["name"]] = value.dtype if isinstance(value, Spec) else value
            return


def _bind_symbol(symbol: Mapping[str, Any], binding: Binding) -> None:
    """What the first known use says; 0 where each of them is absent."""
    for use in symbol["uses"]:
        value = binding.values.get(use["of"])
        if value is not None:
            found = _at(value, use) if "field" in use else value
            is_bare = use["scale"] == 1 and use["offset"] == 0
            binding.symbols[symbol["name"]] = (
                found if is_bare else (found - use["offset"]) // use["scale"]
            )
            return
    if all(use["of"] in binding.values for use in symbol["uses"]):
        binding.symbols[symbol["name"]] = 0
