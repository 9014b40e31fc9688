# SPDX-License-Identifier: Apache-2.0
"""Signatures for calls of functions that have none: of the classes of arguments that a dispatcher
tells apart, and of annotations.

A tensor has a symbol for each extent, which nothing relates to another; an int is an int64, a float
a float32; texts, dtypes, None and what is annotated `kp.Constexpr` are constants. What is written,
returned and allocated, the compiler finds in the function's body. Not here: how arguments are
classed (`crates/python/src/dispatch/key.rs`).
"""

from __future__ import annotations

import dataclasses
import inspect
import struct
import sys
import types
import typing
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from . import _classes
from ._argument import is_dict
from ._captured import is_dtype
from ._dtype import NAMES, DType, dtype
from ._signature import SymInt, Type, fake_tensor, literal, mut, signature, sym_int, type_of


class Constexpr:
    """The annotation of a parameter whose value is part of the code: `width: kp.Constexpr`, or
    `kp.Constexpr[int]`. Each value is compiled for.
    """

    def __class_getitem__(cls, _: Any) -> type[Constexpr]:
        return cls


class Parameters(NamedTuple):
    """The parameters of a function, with their annotations."""

    names: tuple[str, ...]
    annotations: Mapping[str, Any]
    defaults: Mapping[str, Any]

    @staticmethod
    def of(function: types.FunctionType, n_bound: int) -> Parameters:
        """Those of a function, without the first ones, which an object gives."""
        given = list(inspect.signature(function).parameters.values())[n_bound:]
        for each in given:
            if each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
                is_keyword = each.kind == each.KEYWORD_ONLY
                shown = f"*, {each.name}" if is_keyword else str(each)
                instead = "write it without `*`" if is_keyword else "name each argument"
                raise TypeError(
                    f"`{function.__name__}` takes `{shown}`, which jit functions have not: {instead}"
                )
        annotations = {
            each.name: _evaluated(each.annotation, function)
            for each in given
            if each.annotation is not each.empty
        }
        defaults = {
            each.name: _default(each.default, annotations.get(each.name))
            for each in given
            if each.default is not each.empty
        }
        return Parameters(tuple(each.name for each in given), annotations, defaults)

    def with_defaults(self, values: Mapping[str, Any]) -> Parameters:
        """The same with other defaults, which stand last."""
        if not values.keys() & set(self.names):
            return self
        given = {
            name: _default(values[name], self.annotations.get(name))
            for name in self.names
            if name in values
        }
        defaults = {**self.defaults, **given}
        for first, name in zip(self.names, self.names[1:]):
            if first in defaults and name not in defaults:
                raise TypeError(
                    f"`{first}` is given, and `{name}` stands behind it, which has no default: "
                    "constants that are given stand last"
                )
        return self._replace(defaults=defaults)

    def is_constant(self, name: str) -> bool:
        """Whether a parameter is constant for the compiler."""
        return _is_constexpr(self.annotations.get(name))

    @property
    def constants(self) -> str:
        """`1` for each parameter that is constant, `0` for each other one."""
        return "".join(str(int(_is_constexpr(self.annotations.get(name)))) for name in self.names)


def _default(value: Any, annotation: Any) -> Any:
    """The default of a parameter. What names a dtype is that dtype, as it is of an argument."""
    is_name = isinstance(value, str) and value in NAMES
    is_ours = is_name or is_dtype(value)
    return dtype(value) if is_ours and not isinstance(annotation, Type) else value


def _evaluated(annotation: Any, function: types.FunctionType) -> Any:
    """An annotation that is a text, as `from __future__ import annotations` makes them, as what it
    stands for; None where that is not there.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    names = {name: cell.cell_contents for name, cell in cells.items()}
    return _of_compiler(_of_text(annotation, function.__globals__, names))


def _of_text(annotation: Any, scope: dict[str, Any], names: Mapping[str, Any]) -> Any:
    text = getattr(annotation, "__forward_arg__", annotation)
    # A dtype is a text too, and stands for itself.
    if not isinstance(text, str) or is_dtype(text):
        return text
    try:
        return eval(text, scope, dict(names))
    except Exception:
        # What only type checkers know says nothing here.
        return None


def _of_compiler(annotation: Any) -> Any:
    """What an annotation says to the compiler: of `Annotated`, what stands behind the type."""
    for told in getattr(annotation, "__metadata__", ()):
        if isinstance(told, Type) or told is mut or is_dtype(told):
            return told
    return annotation


def _is_constexpr(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Constexpr)


Teller = Callable[[Any], bool]
"""Whether an argument says something that is not passed, and that no annotation says."""


def tellers(parameters: Parameters) -> tuple[Teller, ...]:
    """One for each parameter."""
    return tuple(_teller(parameters.annotations.get(name)) for name in parameters.names)


def _teller(annotation: Any) -> Teller:
    if _said(annotation) is not None:
        return _tells_nothing
    return _classes.tells if _names_of(annotation) is None else _classes.items_tell


def _tells_nothing(_: Any) -> bool:
    return False


def made(name: str, parameters: Parameters, classes: Sequence[Any], where: Sequence[str]) -> str:
    """The signature for arguments of these classes, or types; parameters behind them have their
    defaults.
    """
    _check_count(name, parameters, len(classes))
    classes = list(map(_named, classes))
    typed: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for number, parameter in enumerate(parameters.names):
        annotation = parameters.annotations.get(parameter)
        if number < len(classes):
            typed[parameter] = _type(classes[number], annotation, parameter)
        else:
            typed[parameter] = _of_default(parameters.defaults[parameter], annotation)
            defaults[parameter] = parameters.defaults[parameter]
    named = zip(parameters.names, classes)
    dtypes = [(each, of["dtype"]) for each, of in named if _is_of(of, "dtype")]
    dtypes += [(each, of) for each, of in defaults.items() if isinstance(of, DType)]
    rules = [*where, *(_rule(each, of) for each, of in dtypes)]
    # Trailing parameters alone have defaults.
    for parameter in reversed(parameters.names[: len(classes)]):
        if not _is_default(typed[parameter], parameters.defaults.get(parameter)):
            break
        defaults[parameter] = parameters.defaults[parameter]
    return signature(name, typed, where=rules, defaults=defaults)


def _check_count(name: str, parameters: Parameters, count: int) -> None:
    names, least = parameters.names, len(parameters.names) - len(parameters.defaults)
    if not least <= count <= len(names):
        expected = str(least) if least == len(names) else f"{least} to {len(names)}"
        raise TypeError(
            f"Expected {expected} arguments when calling: `{name}({', '.join(names)})`, got {count}"
        )


def annotated(name: str, parameters: Parameters) -> list[Type]:
    """The types of the parameters that have no default, as annotations say them."""
    names = [each for each in parameters.names if each not in parameters.defaults]
    found = {each: _said(parameters.annotations.get(each)) for each in names}
    unknown = [f"`{each}`" for each, type_ in found.items() if type_ is None]
    if unknown:
        raise TypeError(
            f"`{name}` does not say what {' and '.join(unknown)} {'is' if len(unknown) == 1 else 'are'}"
            f": annotate {'it' if len(unknown) == 1 else 'them'}, as by "
            "`kp.fake_tensor(kp.float32, (n,))` and `kp.float32`, write a signature, or pass what "
            f"`kp.compile({name}, …)` gives"
        )
    return [type_ for type_ in found.values() if type_ is not None]


def _said(annotation: Any) -> Type | None:
    """The type that an annotation says; None where it says none."""
    if isinstance(annotation, Type):
        return annotation
    if annotation is not None and is_dtype(annotation):
        return Type(str(dtype(annotation)))
    count = len(_names_of(annotation) or typing.get_args(annotation))
    fields = [(own, _said(inner)) for own, inner in _fields(annotation, count)]
    parts = [(own, of) for own, of in fields if of is not None]
    return _tuple_of(parts) if parts and len(parts) == len(fields) else None


_SCALARS = {"bool": "bool", "int": "int64", "float": "float32"}


def _named(of: Any) -> Any:
    """The class of an argument: a text that names a dtype, as ours do, is that dtype."""
    return {"dtype": of["text"]} if _is_of(of, "text") and of["text"] in NAMES else of


def _is_of(of: Any, kind: str) -> bool:
    return is_dict(of) and kind in of


def _rule(parameter: str, dtype_: str) -> str:
    """That a dtype is this one: in signatures a dtype by itself is a number of that type."""
    return f"{parameter} in {{{dtype_}}}"


def _is_default(type_: Type, value: Any) -> bool:
    """Whether a call may leave out a scalar of that type for its default."""
    if isinstance(value, bool):
        return type_.text == "bool"
    if isinstance(value, int):
        return type_.text.startswith(("int", "uint"))
    return isinstance(value, float) and type_.text.startswith(("float", "bfloat"))


def _type(of: Any, annotation: Any, name: str) -> Type:
    """The type of a parameter that is given an argument of a class, or a type."""
    if isinstance(of, Type):
        return of
    # None is no argument of that type, but a pointer that leads nowhere.
    if isinstance(annotation, Type) and (of != "none" or annotation.text.startswith("Pointer")):
        return annotation
    if isinstance(of, str):
        return _plain(of, annotation)
    kind, value = next(iter(of.items()))
    if kind == "tensor":
        tensor = _tensor(value)
        return mut(tensor) if annotation is mut else tensor
    if kind == "tuple":
        return _tuple(value, of.get("names"), annotation, name)
    if kind == "number":
        return Type(value if annotation is None else str(dtype(annotation)))
    if kind == "shape":
        return type_of(Type(f"Shape([{', '.join(chr(0) * value)}])", _symbols(value)))
    if kind == "dtype":
        return Type("DataType")
    if kind == "other":
        raise TypeError(
            f"`{name}` is given {value}, which functions without a signature do not take"
        )
    return Type(literal(_constant(kind, value)))


def _plain(of: str, annotation: Any) -> Type:
    if of == "none":
        return Type("None")
    if of == "pointer":
        return Type("Stream")
    if annotation is not None and is_dtype(annotation):
        # Python's `float` says no more than that it is one.
        return Type(str(dtype(annotation)))
    return Type(_SCALARS[of])


def _symbols(count: int) -> tuple[SymInt, ...]:
    return tuple(sym_int() for _ in range(count))


def _tensor(of: Mapping[str, Any]) -> Type:
    shape = _symbols(of["ndim"])
    order = of["order"]
    if order == "row":
        return fake_tensor(of["dtype"], shape)
    if order == "col":
        return fake_tensor(of["dtype"], shape, order="col")
    if order == "any":
        return fake_tensor(of["dtype"], shape, strides="any")
    strides: list[int | str | SymInt] = [*_symbols(of["ndim"] - (order == "inner"))]
    strides += [1] * (order == "inner")
    return fake_tensor(of["dtype"], shape, strides=strides)


def _tuple(items: Sequence[Any], names: Sequence[str] | None, annotation: Any, name: str) -> Type:
    """A tuple, whose fields have the names that a NamedTuple or a dataclass gives them."""
    fields = _fields(annotation, len(items))
    if names is not None:
        fields = [(own or other, inner) for (own, inner), other in zip(fields, names)]
    return _tuple_of(
        [(own, _type(each, inner, own or name)) for each, (own, inner) in zip(items, fields)]
    )


def _tuple_of(parts: Sequence[tuple[str | None, Type]]) -> Type:
    """A tuple of fields, which may have names."""
    texts = [part.text if own is None else f"{own}: {part.text}" for own, part in parts]
    symbols = tuple(symbol for _, part in parts for symbol in part.symbols)
    return Type(f"Tuple({', '.join(texts)})", symbols)


def canonical(of: Any, annotation: Any) -> Any:
    """The class of an argument, the same for all that one signature is made of: a tuple has no names
    but those that its annotation does not say, and a text that names a dtype is the dtype.
    """
    if not _is_of(of, "tuple"):
        return _named(of)
    items: Sequence[Any] = of["tuple"]
    fields = _fields(annotation, len(items))
    parts = [canonical(each, inner) for each, (_, inner) in zip(items, fields)]
    is_said = all(name is not None for name, _ in fields)
    return {"tuple": parts, **({"names": of["names"]} if "names" in of and not is_said else {})}


def _names_of(annotation: Any) -> Sequence[str] | None:
    """The names that a NamedTuple or a dataclass gives its items; None of anything else."""
    if dataclasses.is_dataclass(annotation):
        return [field.name for field in dataclasses.fields(annotation)]
    names: Sequence[str] | None = getattr(annotation, "_fields", None)
    return names


def _fields(annotation: Any, count: int) -> list[tuple[str | None, Any]]:
    """The name and the annotation of each item of a tuple."""
    names = _names_of(annotation)
    if names is not None and len(names) == count:
        hints = getattr(annotation, "__annotations__", {})
        scope = getattr(sys.modules.get(annotation.__module__), "__dict__", {})
        return [(name, _of_compiler(_of_text(hints.get(name), scope, {}))) for name in names]
    # Of a text, as dtypes are, `typing` makes what stands for the type of that name.
    inner = [_of_compiler(_of_text(each, {}, {})) for each in typing.get_args(annotation)]
    return [(None, inner[at] if at < len(inner) else None) for at in range(count)]


def _constant(kind: str, value: Any) -> Any:
    """The value of a class of constants: floats come by their bits."""
    if kind == "constant_float":
        return struct.unpack("<d", struct.pack("<Q", value))[0]
    return value


def _of_default(value: Any, annotation: Any) -> Type:
    """The type of a parameter that a call leaves out."""
    if isinstance(annotation, Type):
        return annotation
    if isinstance(value, DType):
        return Type("DataType")
    if value is None or _is_constexpr(annotation) or isinstance(value, str):
        if isinstance(value, (str, bool, int, float)) or value is None:
            return Type(literal(value))
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float")):
        if isinstance(value, kind):
            return _plain(name, annotation)
    raise TypeError(
        f"the default {value!r} is none of functions without a signature: use numbers, bools, "
        "texts, dtypes or None"
    )
