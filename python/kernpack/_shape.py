# SPDX-License-Identifier: Apache-2.0
"""Extents of tensors: which symbols arguments bind, and what expressions over them are.

A signature says that `y` is a `Tensor([ceildiv(m, 4), *b], T)`. `solve` takes the description of a
signature and what is known of a call's arguments, and answers a `Binding`: what `m`, `b` and `T`
are. `evaluate` and `spec_of` then say what follows for anything else in the signature, such as
results and workspaces.

Values are whatever adds, multiplies and divides as an int does: ints, `torch.SymInt`, symbolic dims
of JAX. `min` and `max` of those need the framework's own functions, which `Operations` names.

Texts are parsed, never run as Python: expressions become closures over the nodes that the signature
language has, once each. Nothing is checked here but the number of dims, without which nothing could
be solved: what a call must satisfy is checked by the library, and by the package itself.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

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
    """The elements of a `Tuple`, with the names that the signature gives them."""

    names: tuple[str | None, ...]
    items: tuple[Any, ...]

    def named(self, name: str) -> Any:
        """The element of that name."""
        if name not in self.names:
            raise Unsolved(name)
        return self.items[self.names.index(name)]


@dataclass
class Binding:
    """What the arguments of a call say of the names in its signature."""

    operations: Operations = Operations()
    symbols: dict[str, Dim] = field(default_factory=dict[str, Dim])
    stars: dict[str, tuple[Dim, ...]] = field(default_factory=dict[str, "tuple[Dim, ...]"])
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """The arguments by name: `Spec`, `Group`, tuples of dims, numbers, None."""

    def named(self, name: str) -> Any:
        """A symbol's value, a star's dims, or an argument."""
        for names in (self.symbols, self.stars, self.values):
            if name in names:
                return names[name]
        raise Unsolved(name)

    def shape(self, dims: Sequence[str]) -> tuple[Dim, ...]:
        """The extents that a tensor with these dims has."""
        extents: list[Dim] = []
        for text in dims:
            if not text.startswith("*"):
                extents.append(evaluate(text, self))
            elif text[1:] in self.stars:
                extents.extend(self.stars[text[1:]])
            else:
                raise Unsolved(text)
        return tuple(extents)

    def dtype(self, text: str) -> str:
        """The dtype of that name, or that a variable of that name stands for."""
        if text in self.dtypes:
            return self.dtypes[text]
        if text not in DTYPE_BITS:
            raise Unsolved(text)
        return text


def _bits(dtype: str) -> int:
    """The bits of an element: those of a number, or of two where the name ends in `x2`."""
    if dtype == "bool":
        return 8
    digits = re.search(r"\d+", dtype)
    assert digits is not None
    return int(digits[0]) * (2 if dtype.endswith("x2") else 1)


DTYPE_BITS: Final[Mapping[str, int]] = {str(dtype): _bits(dtype) for dtype in NAMES}
"""The bits of one element, for each dtype of the signature language."""


def spec_of(tensor: Mapping[str, Any], binding: Binding) -> Spec:
    """What a tensor of the description is, where the binding says all that it names."""
    return Spec(binding.shape(tensor["dims"]), binding.dtype(tensor["dtype"]))


def byte_count(spec: Spec) -> Dim:
    """The bytes of a compact tensor."""
    count = math.prod(spec.shape)
    return -(-(count * DTYPE_BITS[spec.dtype]) // 8)


# Expressions

_Closure = Callable[[Binding], Any]
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Dim, Dim], Dim]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda above, below: above // below,
    ast.Mod: operator.mod,
}


class Expression(NamedTuple):
    """An expression of the signature language, ready to be evaluated."""

    closure: _Closure
    names: frozenset[str]
    """The names in it: symbols, stars and parameters."""


def evaluate(text: str, binding: Binding) -> Dim:
    """The value of an expression. `Unsolved` where it names what has none."""
    return parse(text).closure(binding)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Reads an expression. `ValueError` where it is none."""
    # A symbol may be called `lambda`: behind an underscore no name is a keyword of Python's.
    try:
        tree = ast.parse(_NAME.sub(r"_\g<0>", text), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"`{text}` is not an expression") from error
    names: set[str] = set()
    return Expression(_closure(tree.body, text, names), frozenset(names))


def _closure(node: ast.expr, text: str, names: set[str]) -> _Closure:
    """What evaluates a node; adds the names below it."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
        return lambda _: value
    if isinstance(node, ast.Name):
        names.add(node.id[1:])
        return functools.partial(_named, name=node.id[1:])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _closure(node.operand, text, names)
        return lambda binding: -operand(binding)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        combine: Callable[[Dim, Dim], Dim] = untyped(_OPERATORS[type(node.op)])
        first, second = _closure(node.left, text, names), _closure(node.right, text, names)
        return lambda binding: combine(first(binding), second(binding))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node.func.id[1:], [_closure(arg, text, names) for arg in node.args], text)
    if isinstance(node, ast.Attribute):
        inner, attr = _closure(node.value, text, names), node.attr[1:]
        return lambda binding: _attribute(inner(binding), attr)
    if isinstance(node, ast.Subscript):
        items, at = _closure(node.value, text, names), _closure(node.slice, text, names)
        return lambda binding: _element(items(binding), at(binding))
    raise ValueError(f"`{text}` is not an expression")


def _named(binding: Binding, name: str) -> Any:
    return binding.named(name)


def _call(name: str, args: list[_Closure], text: str) -> _Closure:
    if name == "ceildiv" and len(args) == 2:
        above, below = args
        return lambda binding: -(-above(binding) // below(binding))
    if name == "min" and args:
        return lambda binding: binding.operations.minimum([arg(binding) for arg in args])
    if name == "max" and args:
        return lambda binding: binding.operations.maximum([arg(binding) for arg in args])
    raise ValueError(f"`{text}` is not an expression")


def _attribute(value: Any, name: str) -> Any:
    """`x.shape`, `b.numel`, `p.x`: what stands behind a dot."""
    if name == "given":
        return int(value is not None)
    if isinstance(value, Group):
        return value.named(name)
    if isinstance(value, Spec):
        of_spec: dict[str, Callable[[Spec], Any]] = {
            "shape": lambda spec: spec.shape,
            "strides": strides_of,
            "numel": lambda spec: math.prod(spec.shape),
        }
        if name in of_spec:
            return of_spec[name](value)
    elif isinstance(value, tuple) and name in ("numel", "ndim"):
        star: tuple[Dim, ...] = untyped(value)
        return math.prod(star) if name == "numel" else len(star)
    raise Unsolved(name)


def _element(value: Any, index: int) -> Any:
    """`x.shape[-1]`, `s[0]`, `p[1]`."""
    items = value.items if isinstance(value, Group) else value
    if not isinstance(items, tuple):
        raise Unsolved(f"[{index}]")
    elements: tuple[Any, ...] = untyped(items)
    if not -len(elements) <= index < len(elements):
        raise Unsolved(f"[{index}]")
    return elements[index]


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


class _Use(NamedTuple):
    """An extent or a stride, and what the signature says that it is."""

    text: str
    value: Dim


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
    params = [param for param in description["params"] if param["type"]["kind"] != "env_stream"]
    if not isinstance(args, Mapping):
        args = {param["name"]: arg for param, arg in zip(params, args)}
    binding = Binding(operations)
    uses: list[_Use] = []
    for index, param in enumerate(params):
        value = args.get(param["name"], UNKNOWN)
        place = f"on argument #{index} when calling: `{description['short']}`"
        known = _walk(param["name"], param["type"], value, binding, uses, place)
        if known is not UNKNOWN:
            binding.values[param["name"]] = known
    _bind_bare(uses, binding)
    _bind_affine(uses, binding)
    _bind_absent(description, binding)
    return binding


def _walk(
    name: str, kind: Mapping[str, Any], value: Any, binding: Binding, uses: list[_Use], place: str
) -> Any:
    """Lists the uses of names in an argument, and answers it as expressions see it."""
    if value is UNKNOWN or (value is None and kind["kind"] != "tuple"):
        return untyped(value)
    word, value = kind["kind"], untyped(value)
    if word == "optional":
        return _walk(name, kind["type"], value, binding, uses, place)
    if word == "tuple":
        return _walk_tuple(name, kind["fields"], value, binding, uses, place)
    if word == "tensor":
        _walk_tensor(kind, value, binding, uses, place)
    elif word == "shape":
        value = tuple(value)
        uses.extend(_dims(kind["dims"], value, binding, f"Mismatched Shape {place}", "shape size"))
    elif word == "int":
        binding.symbols.setdefault(name, value)
    elif word == "dtype":
        binding.dtypes.setdefault(name, value)
    return value


def _walk_tensor(
    kind: Mapping[str, Any], spec: Spec, binding: Binding, uses: list[_Use], place: str
) -> None:
    uses.extend(_dims(kind["dims"], spec.shape, binding, f"Mismatched Tensor {place}", "ndim"))
    if kind["dtype"] not in DTYPE_BITS:
        binding.dtypes.setdefault(kind["dtype"], spec.dtype)
    if isinstance(kind["strides"], list):
        texts: list[str] = untyped(kind["strides"])
        if len(texts) == len(spec.shape):
            uses.extend(map(_Use, texts, strides_of(spec)))


def _walk_tuple(
    name: str,
    fields: Sequence[Mapping[str, Any]],
    value: Any,
    binding: Binding,
    uses: list[_Use],
    place: str,
) -> Group:
    items = elements(fields, value)
    if len(items) != len(fields):
        raise Mismatch(
            f"Mismatched tuple size {place}, expected tuple size={len(fields)}, got {len(items)}"
        )
    known = [
        _walk(f"{name}.{part['name']}", part["type"], item, binding, uses, place)
        for part, item in zip(fields, items)
    ]
    return Group(tuple(part["name"] for part in fields), tuple(known))


def elements(fields: Sequence[Mapping[str, Any]], value: Any) -> tuple[Any, ...]:
    """The elements of a `Tuple`'s argument, in its own order; a mapping has them by name."""
    if isinstance(value, Mapping):
        by_name: Mapping[str, Any] = untyped(value)
        return tuple(by_name[part["name"]] for part in fields)
    return tuple(value)


def _dims(
    texts: Sequence[str], extents: Sequence[Dim], binding: Binding, wrong: str, word: str
) -> Iterator[_Use]:
    """Pairs dims with extents, and binds the star among them."""
    star = next((at for at, text in enumerate(texts) if text.startswith("*")), None)
    if star is None:
        if len(texts) != len(extents):
            raise Mismatch(f"{wrong}, expected {word}={len(texts)}, got {len(extents)}")
        return map(_Use, texts, extents)
    behind = len(texts) - star - 1
    end = len(extents) - behind
    if end < star:
        raise Mismatch(f"{wrong}, expected {word}>={len(texts) - 1}, got {len(extents)}")
    if texts[star] != "*_":
        binding.stars.setdefault(texts[star][1:], tuple(extents[star:end]))
    return map(_Use, [*texts[:star], *texts[star + 1 :]], [*extents[:star], *extents[end:]])


def _bind_bare(uses: Sequence[_Use], binding: Binding) -> None:
    """A symbol that stands alone is what stands there, the first time that it does."""
    for text, value in uses:
        if text != "_" and _NAME.fullmatch(text):
            binding.symbols.setdefault(text, value)


def _bind_affine(uses: Sequence[_Use], binding: Binding) -> None:
    """Where a symbol never stands alone, `2*n + 1` is solved for it."""
    for text, value in uses:
        if text in ("_", "*_"):
            continue
        expression = parse(text)
        unbound = (
            expression.names - binding.symbols.keys() - binding.stars.keys() - binding.values.keys()
        )
        if len(unbound) != 1 or len(expression.names) != 1:
            continue
        (name,) = unbound
        line = _line(expression, name)
        if line is not None:
            scale, offset = line
            binding.symbols[name] = (value - offset) // scale


def _line(expression: Expression, name: str) -> tuple[int, int] | None:
    """The factor and the constant of an expression that is a line in that symbol."""

    def at(value: int) -> int:
        found: int = expression.closure(Binding(symbols={name: value}))
        return found

    # Three points far apart, of which none could be met by the roundings of `//` and `%`.
    first, second, third = at(0), at(1 << 20), at((1 << 41) + 1)
    scale = (second - first) >> 20
    if scale <= 0 or first + (scale << 20) != second or first + scale * ((1 << 41) + 1) != third:
        return None
    return scale, first


def _bind_absent(description: Mapping[str, Any], binding: Binding) -> None:
    """A symbol of `Optional`s is 0 where none of them is given."""
    for symbol in description["symbols"]:
        if symbol["name"] in binding.symbols:
            continue
        paths: Sequence[str] = symbol.get("shared") or [symbol["path"]]
        roots = [re.split(r"[.\[]", path, maxsplit=1)[0] for path in paths]
        if all(root in binding.values and binding.values[root] is None for root in roots):
            binding.symbols[symbol["name"]] = 0
