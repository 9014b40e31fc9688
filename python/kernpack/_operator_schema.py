# SPDX-License-Identifier: Apache-2.0
"""Signatures as operators of PyTorch have them: flat, with a letter for whatever they write.

A `Schema` is what the description of a function comes to: its operands, each a type that operators
know, and how the function's own arguments are made of them. Tuples are flattened into operands of
their own, `p_x` for the element `x` of `p` and `p_0` for its first one; literals are no operands.

PyTorch itself is not needed here.
"""

from __future__ import annotations

import json
import string
from dataclasses import dataclass, field
from typing import Any, Final, Iterator, Mapping, NamedTuple, Sequence, Tuple, Union

from ._description import passed_params

Type = Mapping[str, Any]
"""A type of a description."""


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""The default of an operand that has none."""


class Constant(NamedTuple):
    """An argument that is no operand: always that value."""

    value: Any


Argument = Union[int, Constant, Tuple["Argument", ...]]
"""An argument of the function: the operand of a number, a constant, or a tuple of such."""


@dataclass(frozen=True)
class Operand:
    """An argument of the operator."""

    name: str
    type: Type
    """Without the `Optional` around it."""
    is_optional: bool = False
    default: Any = MISSING
    """As a description has it: a dtype is its name."""
    letter: str | None = None
    """What marks a tensor that the function writes."""

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor."""
        return bool(self.type["kind"] == "tensor")

    @property
    def is_defaulted_dtype(self) -> bool:
        """Whether it is a dtype that may be left out, for which None stands in the schema."""
        return self.type["kind"] == "dtype" and self.default is not MISSING

    def text(self) -> str:
        """The operand as a schema has it: `Tensor(a!)? y=None`."""
        kind = _TYPES[self.type["kind"]] + (f"({self.letter}!)" if self.letter else "")
        kind += "?" if self.is_optional or self.is_defaulted_dtype else ""
        default = "" if self.default is MISSING else f"={self._default_text()}"
        return f"{kind} {self.name}{default}"

    def _default_text(self) -> str:
        if self.default is None or self.is_defaulted_dtype:
            return "None"
        if isinstance(self.default, str):
            return json.dumps(self.default, ensure_ascii=False)
        return repr(float(self.default) if self.type["kind"] == "float" else self.default)


@dataclass
class Schema:
    """What the signature of a function is for an operator."""

    description: Mapping[str, Any]
    operands: list[Operand] = field(default_factory=list[Operand])
    arguments: list[Argument] = field(default_factory=list[Argument])
    """The function's arguments, made of operands."""

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        """The results of the function, as its description has them."""
        results: Sequence[Mapping[str, Any]] = self.description["results"]
        return results

    @property
    def written(self) -> list[int]:
        """The numbers of the operands that the function writes."""
        return [number for number, operand in enumerate(self.operands) if operand.letter]

    @property
    def tensors(self) -> list[int]:
        """The numbers of the operands that are tensors."""
        return [number for number, operand in enumerate(self.operands) if operand.is_tensor]

    @property
    def always_has_tensor(self) -> bool:
        """Whether a call has a tensor, whatever is left out."""
        return any(not self.operands[number].is_optional for number in self.tensors)

    @property
    def is_plain(self) -> bool:
        """Whether the operands are the function's arguments, as they are."""
        is_dtype = any(operand.is_defaulted_dtype for operand in self.operands)
        return self.arguments == list(range(len(self.operands))) and not is_dtype

    def text(self, *, returns_written: bool = False) -> str:
        """The operands and what is returned: `(Tensor x, float alpha=1.0) -> Tensor`.

        With `returns_written`, nothing is written, and what would be is returned.
        """
        operands = self.operands
        returns = ["Tensor"] * len(self.results)
        if returns_written:
            returns = ["Tensor"] * len(self.written) + returns
            operands = [Operand(it.name, it.type, it.is_optional, it.default) for it in operands]
        text = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
        return f"({', '.join(operand.text() for operand in operands)}) -> {text}"


_TYPES: Final[Mapping[str, str]] = {
    "tensor": "Tensor",
    "int": "SymInt",
    "bool": "bool",
    "float": "float",
    "shape": "SymInt[]",
    "string": "str",
    "dtype": "ScalarType",
}
"""What schemas call the kinds that operators can take."""

_HELP: Final[Mapping[str, str]] = {
    "pointer": "pass a tensor in its place",
    "stream": "leave it out: an operator launches on PyTorch's current stream",
    "tuple": "give each of its elements a parameter of its own",
    "literal": "remove the parameter, or the Optional around it",
}
"""What to do about the kinds that they cannot take."""


def schema_of(description: Mapping[str, Any]) -> Schema:
    """The schema of a function. `TypeError` where an operator cannot take what it takes."""
    schema = Schema(description)
    letters = _letters()
    for param in passed_params(description):
        default = param.get("default", MISSING)
        argument = _add(schema, param["name"], param["type"], default, letters)
        schema.arguments.append(argument)
    names = [operand.name for operand in schema.operands]
    for name in names:
        if names.count(name) > 1:
            raise TypeError(
                f"`{description['short']}` cannot be an operator: two of its arguments would be"
                f" `{name}`, of which one is an element of a tuple; rename the other one"
            )
    return schema


def _letters() -> Iterator[str]:
    """`a`, `b` … `z`, `aa`, `ab` …"""
    for first in ["", *string.ascii_lowercase]:
        for letter in string.ascii_lowercase:
            yield first + letter


def _add(schema: Schema, name: str, kind: Type, default: Any, letters: Iterator[str]) -> Argument:
    """Adds the operands of a parameter, and answers what it is made of."""
    if kind["kind"] == "tuple":
        return tuple(
            _add(schema, f"{name}_{part['name'] or place}", part["type"], MISSING, letters)
            for place, part in enumerate(kind["fields"])
        )
    if kind["kind"] == "literal":
        return Constant(kind["value"])
    is_optional = kind["kind"] == "optional"
    inner: Type = kind["type"] if is_optional else kind
    if inner["kind"] not in _TYPES:
        what = f"an optional {inner['kind']}" if is_optional else f"a {inner['kind']}"
        raise TypeError(
            f"`{schema.description['short']}` cannot be an operator: `{name}` is {what};"
            f" {_HELP[inner['kind']]}"
        )
    is_written = inner["kind"] == "tensor" and inner["mutable"]
    letter = next(letters) if is_written else None
    schema.operands.append(Operand(name, inner, is_optional, default, letter))
    return len(schema.operands) - 1
