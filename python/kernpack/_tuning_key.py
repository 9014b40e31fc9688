# SPDX-License-Identifier: Apache-2.0
"""What a tuned function is tuned for: extents, dtypes and numbers of its arguments, and what functions
make of these.

Each item says what the dispatcher looks at (`crates/python/src/dispatch/pick.rs`), and how its value
is read from arguments. Not here: what becomes of a key.
"""

from __future__ import annotations

import inspect
import re
import types
from typing import Any, Callable, Dict, Mapping, NamedTuple, Sequence, Union

from ._argument import parts_of
from ._captured import is_dtype
from ._description import passed_params
from ._dtype import dtype

Said = Union[str, Callable[..., Any]]
"""An item as the decorator has it."""
Key = Dict[str, Any]
"""The value of each item, by its name: what JSON has."""

_OF_TENSOR = re.compile(r"(\w+)\.(?:shape\[(-?\d+)\]|(dtype))")


class _Item(NamedTuple):
    name: str
    picks: Sequence[Mapping[str, Any]]
    """What the dispatcher looks at."""
    read: Callable[[Sequence[Any]], Any]
    """Its value, of the arguments of a call."""
    text: str
    """The same in a jit function."""
    is_dtype: bool = False


class Known(NamedTuple):
    """What items may name."""

    function: str
    names: Sequence[str]
    """The parameters."""
    defaults: Mapping[str, Any]
    description: Mapping[str, Any] | None
    """The signature as data, where the function has one."""


class Items:
    """The items of a key."""

    def __init__(self, said: Sequence[Said], known: Known) -> None:
        self._items = [
            _function(each, known) if callable(each) else _named(each, known) for each in said
        ]
        names = [item.name for item in self._items]
        for name in names:
            if names.count(name) > 1:
                raise TypeError(f"`{known.function}` has two items of its key by the name `{name}`")

        self.functions = {_name_of(each): each for each in said if callable(each)}
        """The functions among them, by their names."""

    @property
    def picks(self) -> list[Mapping[str, Any]]:
        """What the dispatcher looks at."""
        found: list[Mapping[str, Any]] = []
        for item in self._items:
            found += [pick for pick in item.picks if pick not in found]
        return found

    def of(self, args: Sequence[Any]) -> Key:
        """The key of a call with these arguments."""
        return {item.name: plain(item.name, item.read(args)) for item in self._items}

    def condition(self, key: Key) -> str:
        """Whether a call has a key, in a jit function."""
        known = [_condition(item, key[item.name]) for item in self._items if item.name in key]
        return " and ".join(known) or "True"


def shown(key: Mapping[str, Any]) -> str:
    """A key, for people."""
    return ", ".join(f"{name}={value}" for name, value in key.items())


def _condition(item: _Item, value: Any) -> str:
    if value == NONE:
        return f"{item.text.partition('.')[0]} is None"
    if isinstance(value, list):
        raise TypeError(
            f"`{item.name}` of the key is a tuple, which conditions of a package do not compare: "
            "write an item for each part"
        )
    return f"{item.text} == {f'kp.{value}' if item.is_dtype else repr(value)}"


def plain(name: str, value: Any) -> Any:
    """A value as JSON and TOML have it: dtypes by their names, tuples as lists."""
    if isinstance(value, (bool, int, float)) or (isinstance(value, str) and not is_dtype(value)):
        return value
    if is_dtype(value):
        return str(dtype(value))
    parts = parts_of(value)
    if parts is not None:
        return [plain(name, each) for each in parts]
    raise TypeError(
        f"`{name}` is {value!r}: expected a number, a text, a dtype, or a tuple of such values"
    )


def _named(text: str, known: Known) -> _Item:
    """What a text names: a parameter, a symbol, or something of a tensor."""
    of_tensor = _OF_TENSOR.fullmatch(text)
    if of_tensor is not None:
        tensor, dim, is_dtype_ = of_tensor.groups()
        at = _place(tensor, text, known)
        if is_dtype_:
            return _dtype(text, tensor, at)
        return _extent(text, tensor, at, int(dim))
    if text in known.names:
        return _number(text, known)
    for symbol in (known.description or {}).get("symbols", ()):
        if symbol["name"] == text:
            return _symbol(symbol, known)
    for of in (known.description or {}).get("dtypes", ()):
        if of["name"] == text and of["path"] in known.names:
            return _dtype(text, of["path"], known.names.index(of["path"]))
    raise TypeError(
        f"`{known.function}` has no `{text}` to be tuned for: expected a symbol of its signature, a "
        "number among its parameters, `x.shape[i]`, `x.dtype`, or a function of such items"
    )


def _place(tensor: str, text: str, known: Known) -> int:
    if tensor not in known.names:
        raise TypeError(f"`{known.function}` has no parameter `{tensor}`, which `{text}` names")
    return known.names.index(tensor)


def _symbol(symbol: Mapping[str, Any], known: Known) -> _Item:
    """An extent that a signature names, which may be a multiple of it and something."""
    name, path = symbol["name"], symbol["path"]
    of_tensor = _OF_TENSOR.fullmatch(path)
    if of_tensor is None or of_tensor.group(1) not in known.names:
        raise TypeError(
            f"`{known.function}` is not tuned for `{name}`, which is `{path}`: expected an extent of "
            "an argument that is a tensor"
        )
    scale, offset = symbol["scale"], symbol["offset"]
    tensor = of_tensor.group(1)
    of = _extent(name, tensor, known.names.index(tensor), int(of_tensor.group(2)))

    def read(args: Sequence[Any]) -> Any:
        extent = of.read(args)
        return (extent - offset) // scale if isinstance(extent, int) else extent

    text = of.text if (scale, offset) == (1, 0) else f"({of.text} - {offset}) // {scale}"
    return of._replace(read=read, text=text)


NONE = "none"
"""What there is of an argument that is None."""


def _extent(name: str, tensor: str, at: int, dim: int) -> _Item:
    def read(args: Sequence[Any]) -> Any:
        if args[at] is None:
            return NONE
        shape = args[at].shape
        if not -len(shape) <= dim < len(shape):
            raise ValueError(f"argument #{at} has {len(shape)} dims, and is tuned for `{name}`")
        return int(shape[dim])

    return _Item(name, [{"extent": [at, dim]}], read, f"{tensor}.shape[{dim}]")


def _dtype(name: str, tensor: str, at: int) -> _Item:
    def read(args: Sequence[Any]) -> Any:
        return NONE if args[at] is None else str(dtype(args[at].dtype))

    return _Item(name, [{"dtype": at}], read, f"{tensor}.element_type", True)


def _number(name: str, known: Known) -> _Item:
    at = known.names.index(name)

    def read(args: Sequence[Any]) -> Any:
        value = args[at] if at < len(args) else known.defaults[name]
        if value is None:
            return NONE
        if not isinstance(value, (bool, int, float, str)) and not is_dtype(value):
            kind = type(value).__name__
            raise TypeError(
                f"`{known.function}` is tuned for `{name}`, which is a {kind}: expected a number, or "
                f"`{name}.shape[i]` or `{name}.dtype` in the key"
            )
        return value

    return _Item(name, [{"number": at}], read, name)


def _function(function: Callable[..., Any], known: Known) -> _Item:
    """What a function makes of items that its parameters name, or of tensors."""
    parts = [_part(name, known) for name in inspect.signature(function).parameters]
    name = _name_of(function)
    picks = [pick for part in parts for pick in part.picks]
    text = f"{name}({', '.join(part.text for part in parts)})"

    def read(args: Sequence[Any]) -> Any:
        return function(*(part.read(args) for part in parts))

    return _Item(name, picks, read, text)


def _name_of(function: Callable[..., Any]) -> str:
    # A lambda's name is `<lambda>`, which no text can have.
    return str(getattr(function, "__name__", type(function).__name__)).replace("<lambda>", "bucket")


def _part(name: str, known: Known) -> _Item:
    params = passed_params(known.description) if known.description is not None else ()
    kinds = {each["name"]: each["type"]["kind"] for each in params}
    if name not in known.names or kinds.get(name, "tensor") != "tensor":
        return _named(name, known)
    at = known.names.index(name)

    def read(args: Sequence[Any]) -> Any:
        value = args[at] if at < len(args) else known.defaults[name]
        if not hasattr(value, "shape"):
            return value
        return types.SimpleNamespace(shape=tuple(map(int, value.shape)), dtype=dtype(value.dtype))

    # Without a signature only a call tells whether it is a tensor.
    picks = [{"shape": at}, {"dtype": at}, {"number": at}][: 3 - bool(kinds)]
    return _Item(name, picks, read, name)
