# SPDX-License-Identifier: Apache-2.0
"""Signatures from objects: each becomes a piece of the signature's text, and nothing else is known
of it.

    n = kp.sym_int("n", divisibility=16)
    a = kp.fake_tensor(kp.float32, (n,))
    kp.signature("add_one", a=a, b=kp.mut(a))
    # add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut)) where n % 16 == 0
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Sequence, Union

from ._dtype import DType, dtype

if TYPE_CHECKING:
    from typing_extensions import TypeGuard


@dataclasses.dataclass(frozen=True, eq=False)
class SymInt:
    """A symbol: wherever it stands, it is the same number. `sym_int` makes one. One without a name
    is like no other.
    """

    name: str | None = None
    divisibility: int = 1

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, SymInt) or self.name is None:
            return self is other
        return (self.name, self.divisibility) == (other.name, other.divisibility)

    def __hash__(self) -> int:
        return object.__hash__(self) if self.name is None else hash(self.name)


Dim = Union[int, str, SymInt]


def sym_int(name: str | None = None, *, divisibility: int = 1) -> SymInt:
    """A new symbol for an extent or a stride. Without a name it gets one in each signature: `n0`,
    `n1`, …
    """
    return SymInt(name, divisibility)


class Type(NamedTuple):
    """A type of a parameter: its text, in which a NUL stands for each symbol."""

    text: str
    symbols: tuple[SymInt, ...] = ()


def _type(pieces: Iterable[Dim]) -> Type:
    """Dims, with a mark for each symbol, whose name the signature gives."""
    texts: list[str] = []
    symbols: list[SymInt] = []
    for piece in pieces:
        if isinstance(piece, SymInt):
            symbols.append(piece)
            texts.append("\0")
        else:
            texts.append(str(piece))
    return Type(f"[{', '.join(texts)}]", tuple(symbols))


def fake_tensor(
    dtype_: Any,
    shape: Sequence[Dim],
    *,
    strides: Sequence[Dim] | str | None = None,
    order: str | Sequence[int] | None = None,
    align: int | None = None,
    device: str | None = None,
    mut: bool = False,
) -> Type:
    """A tensor of that dtype and shape: row-major unless `order` or `strides` (in elements, or
    `"any"`) say otherwise.

    `dtype_` may be the name of a dtype variable. `align` is in bytes.
    """
    dims = _type(shape)
    options: list[str] = []
    symbols = list(dims.symbols)
    if order is not None:
        options.append(
            "order=" + (order if isinstance(order, str) else f"({', '.join(map(str, order))})")
        )
    if isinstance(strides, str):
        options.append(f"strides={strides}")
    elif strides is not None:
        written = _type(strides)
        options.append(f"strides={written.text}")
        symbols += written.symbols
    options += (
        [f"align={align}"] * (align is not None)
        + [f"device={device}"] * (device is not None)
        + ["mut"] * mut
    )
    return Type(
        f"Tensor({', '.join([dims.text, _dtype_or_variable(dtype_), *options])})", tuple(symbols)
    )


def fake_compact_tensor(
    dtype_: Any,
    shape: Sequence[Dim],
    *,
    stride_order: Sequence[int] | None = None,
    align: int | None = None,
    device: str | None = None,
    mut: bool = False,
) -> Type:
    """A tensor without gaps, whose dims are in the order of `stride_order`: 0 is the fastest.
    Column-major if left out.
    """
    order = "col" if stride_order is None else tuple(stride_order)
    return fake_tensor(dtype_, shape, order=order, align=align, device=device, mut=mut)


def mut(tensor: Type) -> Type:
    """The same tensor, as one that is written."""
    if tensor.text.startswith("Optional["):
        return optional(mut(Type(tensor.text[len("Optional[") : -1], tensor.symbols)))
    return Type(tensor.text[:-1] + ", mut)", tensor.symbols)


def fake_stream(*, env: bool = False) -> Type:
    """A stream that callers pass; with `env`, the environment's, which no caller passes."""
    return Type("EnvStream" if env else "Stream")


def shape(dims: Sequence[Dim]) -> Type:
    """Integers that are passed as a `Shape` or a tuple."""
    dims_ = _type(dims)
    return Type(f"Shape({dims_.text})", dims_.symbols)


def optional(inner: Any) -> Type:
    """The type, or None."""
    of = type_of(inner)
    return Type(f"Optional[{of.text}]", of.symbols)


def pointer(dtype_: Any = None, *, nonnull: bool = False, align: int | None = None) -> Type:
    """A raw pointer."""
    options = [] if dtype_ is None else [_dtype_or_variable(dtype_)]
    options += ["nonnull"] * nonnull + [f"align={align}"] * (align is not None)
    return Type(f"Pointer({', '.join(options)})" if options else "Pointer")


def type_of(value: Any) -> Type:
    """A type from what stands for one: itself, a tuple of some, a dtype for a scalar, None, or a
    text.
    """
    if isinstance(value, Type):
        return value
    if value is None or isinstance(value, bool):
        return Type(repr(value))
    if _is_tuple(value):
        names: Sequence[str | None] = getattr(value, "_fields", (None,) * len(value))
        parts = [(name, type_of(each)) for name, each in zip(names, value)]
        fields = [part.text if name is None else f"{name}: {part.text}" for name, part in parts]
        return Type(
            f"Tuple({', '.join(fields)})",
            tuple(symbol for _, part in parts for symbol in part.symbols),
        )
    if isinstance(value, str) and not isinstance(value, DType):
        return Type(value)
    return Type(str(dtype(value)))


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def signature(
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    results: Mapping[str, Any] | None = None,
    where: str | Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    **more: Any,
) -> str:
    """The text of a signature from its parameters, by name; each is what `type_of` takes.

    A parameter whose name is taken here, such as `where`, goes into `params`.
    """
    named = {each: type_of(value) for each, value in {**(params or {}), **more}.items()}
    returned = {each: type_of(value) for each, value in (results or {}).items()}
    symbols = list(
        dict.fromkeys(
            symbol for of in [*named.values(), *returned.values()] for symbol in of.symbols
        )
    )
    texts = [of.text for of in [*named.values(), *returned.values()]]
    names = _names(symbols, [*named, *returned, *re.findall(r"[^\W\d]\w*", " ".join(texts))])
    defaults = defaults or {}

    def piece(each: str, of: Type) -> str:
        texts = of.text.split("\0")
        text = texts[0] + "".join(
            names[symbol] + rest for symbol, rest in zip(of.symbols, texts[1:])
        )
        return f"{each}: {text}" + (f" = {literal(defaults[each])}" if each in defaults else "")

    text = f"{name}({', '.join(piece(each, of) for each, of in named.items())})"
    if returned:
        text += f" -> {', '.join(piece(each, of) for each, of in returned.items())}"
    rules = [
        f"{names[symbol]} % {symbol.divisibility} == 0"
        for symbol in symbols
        if symbol.divisibility != 1
    ]
    rules += [where] if isinstance(where, str) else list(where)
    return text + (f" where {', '.join(rules)}" if rules else "")


def _names(symbols: Sequence[SymInt], taken: Sequence[str]) -> dict[SymInt, str]:
    used = {*taken, *(symbol.name for symbol in symbols)}
    free = (name for name in (f"n{number}" for number in itertools.count()) if name not in used)
    return {symbol: symbol.name or next(free) for symbol in symbols}


def _dtype_or_variable(value: Any) -> str:
    """A dtype, or a text that names a variable."""
    if isinstance(value, str) and value.isidentifier():
        return value
    return str(dtype(value))


def literal(value: Any) -> str:
    """A value as signatures write it."""
    if isinstance(value, str) and not isinstance(value, DType):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
