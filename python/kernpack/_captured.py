# SPDX-License-Identifier: Apache-2.0
"""Values that the functions of a program use by name: globals, closures, attributes of modules and
objects.

They are constants of the kernels. Each is looked up along its path, `config.tile.width`, as far as
that leads through modules, classes and objects of the program: what stands at its end is written
for the compiler, and watched. A call compares it by identity (`crates/call-type/src/watch.rs`), and
where that fails by value, so that only another value is another variant. Not here: texts
(`_source.py`), and what becomes of functions (`_program.py`).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import struct
import sys
import types
from typing import Any, Callable, Mapping, NamedTuple, Sequence, Tuple

from . import _native
from ._argument import fields_of, is_dataclass, is_dict
from ._dtype import NAMES, DType, dtype

Path = Sequence[str]
Json = Any
Function = Callable[[Any], Json]
"""Writes a function that is captured."""


class Watch(NamedTuple):
    """The object at the end of a path, as it was found."""

    root: Any
    """The dict of globals, or an object."""
    path: tuple[str, ...]
    """A key of the dict, or the first attribute; then attributes."""
    value: Any

    @property
    def binding(self) -> Binding | None:
        """Where the name stands that the path begins with; None where it begins at an object."""
        if is_dict(self.root) and self.path:
            return id(self.root), self.path[0]
        return (id(self.root), "") if isinstance(self.root, types.CellType) else None

    def again(self) -> Watch | None:
        """The object that is there now; None where nothing is."""
        found, has_keys = self.root, is_dict(self.root)
        try:
            for name in self.path:
                found, has_keys = found[name] if has_keys else getattr(found, name), False
        except (AttributeError, KeyError, ValueError):
            return None
        return self._replace(value=found)

    def lasting(self) -> Watch:
        """The same of a method of Python's, by what stays the same object: each look at it makes
        another one.
        """
        if not isinstance(self.value, types.MethodType) or not self.path:
            return self
        return Watch(self.root, (*self.path, "__func__"), self.value.__func__)


class Callee(NamedTuple):
    """A function that kernels and jit functions use: one of Python's, a kernel, or another jit
    function.
    """

    function: Any
    """It, a `types.FunctionType`."""
    owner: Any
    """The object that is its first argument; None where there is none."""
    role: str
    text: Any
    """Its text, where that was read."""
    given: Mapping[str, Any] = types.MappingProxyType({})
    """Other values for names that it captures."""

    @staticmethod
    def of(value: Any) -> Callee | None:
        """The one that a value is, below the decorators that wrap it; None where it is none."""
        for _ in range(_MOST_WRAPPED):
            kind: Any = value.__class__
            if hasattr(kind, "__kernpack_role__"):
                text, given = value.__kernpack_source__, value.__kernpack_given__
                return Callee(value.function, value.owner, value.__kernpack_role__, text, given)
            if isinstance(value, types.MethodType):
                return _bound_to(Callee.of(value.__func__), value.__self__)
            if isinstance(value, type) or not callable(value):
                return None
            inner = getattr(value, "__wrapped__", None)
            if inner is None:
                break
            value = inner
        return Callee(value, None, "device", None) if _is_function(value) else None


_MOST_WRAPPED = 64
"""How many decorators are looked below."""


def _is_function(value: Any) -> bool:
    return type(value) is types.FunctionType


def _bound_to(found: Callee | None, owner: Any) -> Callee | None:
    """A function that an object has, unless it is that of another one already."""
    return None if found is None or found.owner is not None else found._replace(owner=owner)


Binding = Tuple[int, str]
"""A cell by its id, or a name of a dict of globals, by the id of that."""


class Scope(NamedTuple):
    """Where the names of a function are looked for."""

    cells: Mapping[str, types.CellType]
    globals: dict[str, Any]
    bound: Mapping[str, Any]
    """Names that are given, such as `self` of a method."""

    @staticmethod
    def of(function: types.FunctionType, bound: Mapping[str, Any]) -> Scope:
        """The scope of a function."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        return Scope(cells, function.__globals__, bound)

    @staticmethod
    def of_class(owner: type) -> Scope:
        """The scope of the methods of a class."""
        cells: dict[str, types.CellType] = {}
        found: dict[str, Any] = {}
        for function in methods(owner):
            scope = Scope.of(function, {})
            cells.update(scope.cells)
            found = scope.globals
        return Scope(cells, found or vars(sys.modules[owner.__module__]), {})

    def binding(self, name: str) -> Binding | None:
        """Where a name has its value: a cell, or a dict of globals. None where it has none there."""
        if name in self.bound:
            return None
        if name in self.cells:
            return id(self.cells[name]), ""
        return (id(self.globals), name) if name in self.globals else None

    def find(self, path: Path) -> Watch | None:
        """The end of a path, with what is left of it cut off; None where a name is Python's own, or
        is not there.
        """
        name = path[0]
        if name in self.bound:
            return followed(self.bound[name], path[1:])
        if name in self.cells:
            cell = self.cells[name]
            try:
                return _followed(cell, ("cell_contents",), cell.cell_contents, path[1:])
            except ValueError:
                return None
        if name in self.globals:
            return _followed(self.globals, (name,), self.globals[name], path[1:])
        return None


def methods(owner: type) -> list[types.FunctionType]:
    """The functions that stand in a class."""
    values = [getattr(value, "__func__", value) for value in vars(owner).values()]
    return [value for value in values if _is_function(value)]


def constants(owner: type) -> dict[str, Any]:
    """What stands in a class beside functions, which Python has evaluated."""
    kinds = (types.FunctionType, staticmethod, classmethod, property, types.MemberDescriptorType)
    values = vars(owner).items()
    return {
        name: value
        for name, value in values
        if not (name.startswith("__") or isinstance(value, kinds))
    }


def followed(value: Any, rest: Path) -> Watch:
    """The end of a path of attributes that begins at a value."""
    return _followed(value, (), value, rest)


def _followed(root: Any, taken: tuple[str, ...], value: Any, rest: Path) -> Watch:
    """Goes along attributes, while there are some and they lead through objects of the program."""
    for name in rest:
        if not _leads_on(value):
            break
        try:
            value = getattr(value, name)
        except AttributeError:
            break
        taken += (name,)
    return Watch(root, taken, value)


def is_ours(value: Any) -> bool:
    """Whether it is kernpack itself, which is always the same."""
    return value is sys.modules["kernpack"]


def _leads_on(value: Any) -> bool:
    """Whether attributes of a value are the program's: the language has none of its own there."""
    if isinstance(value, types.ModuleType):
        return not is_ours(value)
    if isinstance(value, enum.Enum) or is_dataclass(value):
        return True
    return not (_is_native(value) or is_dtype(value) or callable(value)) or isinstance(value, type)


def _is_native(value: Any) -> bool:
    """Whether the language has values of this type."""
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, dict)):
        return True
    return _has_text(value)


def _has_text(value: Any) -> bool:
    """Whether it is a layout or a swizzle; their types are no values."""
    return hasattr(value, "__kernpack_text__") and not isinstance(value, type)


def is_dtype(value: Any) -> bool:
    """Whether it names a dtype: one of PyTorch, NumPy, JAX, tvm_ffi or ours."""
    if isinstance(value, DType):
        return True
    if isinstance(value, type):
        return value in (bool, int, float) or (
            value.__module__.partition(".")[0] in ("numpy", "jax", "ml_dtypes")
            and value.__name__ in NAMES
        )
    name = type(value).__module__.partition(".")[0]
    return type(value).__name__.lower().endswith("dtype") and name in ("torch", "numpy", "tvm_ffi")


def is_class(value: Any) -> bool:
    """Whether it is a class that is written in Python, as kernels have classes too."""
    return isinstance(value, type) and not is_dtype(value) and bool(value.__flags__ & _HEAP_TYPE)


_HEAP_TYPE = 1 << 9
"""The flag of types that a program makes: `Py_TPFLAGS_HEAPTYPE`."""


def write(value: Any, function: Function) -> Json:
    """A value as the compiler reads it: `crates/package/src/program.rs` has the forms."""
    return _TOO_DEEP if _is_deep(value, _DEEPEST) else _written(value, function)


_DEEPEST = 16
"""How deep values are within each other, as in the classes of arguments."""
_TOO_DEEP = {
    "unheld": [
        f"a value within more than {_DEEPEST} others, or within itself",
        "capture the part that is needed",
    ]
}


def _is_deep(value: Any, left: int) -> bool:
    """Whether there are parts within parts, further down than so many levels."""
    parts: Any = value
    if is_dict(value):
        parts = value.values()
    elif is_dataclass(value):
        parts = fields_of(value)
    elif not isinstance(value, (tuple, list)):
        return False
    return left == 0 or any(_is_deep(each, left - 1) for each in parts)


def _written(value: Any, function: Function) -> Json:
    if value is None or isinstance(value, bool):
        return value
    for kind, writer in _WRITERS:
        if isinstance(value, kind):
            return writer(value, function)
    return _other(value, function)


def _other(value: Any, function: Function) -> Json:
    """A value of a type that is known by what it is like."""
    foreign = _of_cute(value)
    if foreign is not None:
        return foreign
    if _has_text(value):
        kind, written = value.__kernpack_text__()
        return {kind: written} if _is_constant(written) else _UNKNOWN_LAYOUT
    if is_dtype(value):
        return _dtype(value)
    if is_ours(value):
        return {"kernpack": None}
    if is_class(value):
        return function(value)
    if is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return _record(zip(names, fields_of(value)), function)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return _written(value.item(), function) if value.ndim == 0 else _unheld(value)
    if isinstance(value, types.FunctionType) and _is_kernpacks(value):
        return _of_kernpack(value)
    return _unheld(value) if Callee.of(value) is None else function(value)


def _of_cute(value: Any) -> Json | None:
    """Something of CuTe DSL's, with what it is called here; None of anything else."""
    name = getattr(value, "__name__", type(value).__name__)
    module = name if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] != "cutlass":
        return None
    path = module if module == name else f"{module}.{name}"
    instead = _native.foreign_help(path) or "see the reference for what there is"
    return {"unheld": [f"`{path}` of CuTe DSL's", instead]}


def _is_kernpacks(value: types.FunctionType) -> bool:
    return (value.__module__ or "").partition(".")[0] == "kernpack"


def _of_kernpack(value: types.FunctionType) -> Json:
    """A function of kernpack's, which is known behind `kp.` alone."""
    return {"unheld": ["a function of kernpack's by another name", f"write `kp.{value.__name__}`"]}


_UNKNOWN_LAYOUT = {
    "unheld": [
        "a layout with an offset, or with numbers that are not known",
        "capture its `inner`, or make the layout in the jit function",
    ]
}


def _is_constant(layout: str) -> bool:
    """Whether all of a layout is known, and it begins at its first index."""
    rest = layout.replace(" o ", " ").replace("S<", "<")
    return " at " not in layout and not any(each.isalpha() or each in "?_" for each in rest)


def _dtype(value: Any) -> Json:
    try:
        return {"dtype": str(dtype(value))}
    except TypeError:
        return _unheld(value)


def _int(value: int, _: Function) -> Json:
    return {"int": str(int(value))}


def _float(value: float, _: Function) -> Json:
    return {"float": str(struct.unpack("<Q", struct.pack("<d", value))[0])}


def _str(value: str, _: Function) -> Json:
    return {"dtype": str(value)} if isinstance(value, DType) else str(value)


def _enum(value: enum.Enum, function: Function) -> Json:
    """A member of an enum that is a number or a text is that, and of another one its name."""
    if isinstance(value, (int, float, str)):
        return _written(value.value, function)
    return f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"


def _tuple(value: Sequence[Any], function: Function) -> Json:
    names = getattr(value, "_fields", None)
    if names is not None:
        return _record(zip(names, value), function)
    return [_written(each, function) for each in value]


def _dict(value: Mapping[Any, Any], function: Function) -> Json:
    if not all(isinstance(key, str) for key in value):
        return {"unheld": ["a dict with keys that are no texts", "use texts for its keys"]}
    return _record(value.items(), function)


def _record(fields: Any, function: Function) -> Json:
    return {"record": [[str(name), _written(each, function)] for name, each in fields]}


_WRITERS: tuple[tuple[type, Callable[[Any, Function], Json]], ...] = (
    (enum.Enum, _enum),
    (int, _int),
    (float, _float),
    (str, _str),
    (tuple, _tuple),
    (list, _tuple),
    (dict, _dict),
)


def _unheld(value: Any) -> Json:
    name, module = type(value).__qualname__, type(value).__module__
    if module not in ("builtins", "__main__"):
        name = f"{module}.{name}"
    if isinstance(value, types.ModuleType):
        return {"unheld": [f"the module {value.__name__}", "name what is needed of it"]}
    article = "an" if name[:1].lower() in "aeiou" else "a"
    if hasattr(value, "__dlpack__"):
        instead = "pass it as an argument"
    else:
        instead = "call what it calls" if isinstance(value, functools.partial) else _INSTEAD
    return {"unheld": [f"{article} {name}", instead]}


_INSTEAD = "capture numbers, bools, texts, None, dtypes, tuples, layouts, functions and classes"


def is_mutable(value: Any) -> bool:
    """Whether a value can become another one and stay the same object."""
    if isinstance(value, (list, dict)) or _is_deep(value, _DEEPEST):
        return True
    items: Any = value
    if isinstance(value, tuple):
        return any(map(is_mutable, items))
    if is_dataclass(value):
        params = getattr(value, "__dataclass_params__", None)
        return not getattr(params, "frozen", False) or any(map(is_mutable, fields_of(value)))
    return False


def frozen(value: Any) -> Any:
    """A copy of a value: it is equal to that of another one where both are the same for the compiler,
    by types, and floats by bits. Functions are compared as such, and what no kernel can hold by
    identity.
    """
    written = write(value, _Function)
    is_unheld = is_dict(written) and "unheld" in written
    return ("unheld", id(value)) if is_unheld else written


class _Function(NamedTuple):
    """A function that is captured."""

    of: Any


@functools.lru_cache(maxsize=4096)
def paths(text: str, is_method: bool) -> tuple[tuple[str, ...], ...]:
    """The names that a text uses, with the attributes behind them."""
    return tuple(map(tuple, _native.names(text, is_method)))


def defaults(function: types.FunctionType) -> dict[str, Any]:
    """The defaults of a function's parameters, which Python has evaluated."""
    code, given = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(given) :]
    return {**dict(zip(names, given)), **(function.__kwdefaults__ or {})}


def unwrapped(function: Any, what: str) -> types.FunctionType:
    """The function that decorators wrap, of which something is made."""
    found = Callee.of(function)
    if found is None:
        kind = type(function).__name__
        raise TypeError(
            f"expected a function that is written in Python, got {kind}: {function!r}; write {what} "
            "as a `def` of a module that Python reads, as the text of compiled ones is gone"
        )
    plain: types.FunctionType = found.function
    return plain
