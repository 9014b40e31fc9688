# SPDX-License-Identifier: Apache-2.0
"""Functions of packages as Python calls them: keywords, defaults, results, and what they know of
themselves.

A `Function` is a `tvm_ffi.Function`, and costs what that costs: its call slot is that of
`libkernpack_call.so`, which leaves calls without keywords alone. Functions with results are of a
second type, which hands them to `_finish`, and functions that take tuples of a third, which also
hands failures to `_retry`. Arguments that may be written are shown to `_meet_written` where one has
a type that it has not seen. What a function is comes from the metadata in its package, so that one
that was built just now and one that was loaded from a file are alike. Not here: how packages are
loaded (`_module.py`) and built (`_build.py`).
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import json
import keyword
import operator
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, cast

from . import _classes, _interpreted, _native
from ._argument import (
    converted,
    fields_of,
    has_dataclass,
    is_dataclass,
    is_immutable,
    is_of,
    leaves,
    parts_of,
    unpacked,
)
from ._description import passed_params, paths_of
from ._forks import cached_property, importing
from ._tvm_ffi import tvm_ffi

if TYPE_CHECKING:
    import os

    from ._build import Package
    from ._check import Checked, Request
    from ._emitted import Resources
    from ._module import Module
    from ._timeline import Timeline


_LAST_BIT = 63
"""Of the word of `libkernpack_call.so` that says which arguments are written: all that follow."""


class _Methods(tvm_ffi.Function):
    """A function of a package, which checks its arguments and then runs its kernels.

    It is called with positional arguments or keywords; those with defaults may be left out. An
    argument that does not fit is a `TypeError` or a `ValueError`, which says what was expected and
    what arrived, and a failure of CUDA a `RuntimeError`. The interpreter lock is released during a
    call.
    """

    package: Module
    """The package that the function is in."""
    metadata: dict[str, Any]
    """What the package says of the function: the keys are those of `kernpack inspect --json`."""
    origin: Package | None = None
    """What the package was made of, where it has this function alone and was built here."""
    _keywords: tuple[tuple[str, ...], tuple[Any, ...], Callable[..., tuple[Any, ...]]]
    _written: tuple[bool, ...]
    # Whether these are the ones that the signature says, and not all that may be.
    _is_exact = False
    __signature__: inspect.Signature
    __name__: str

    def know_keywords(
        self,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
        bind: Callable[..., tuple[Any, ...]],
    ) -> None:
        """Tells the call slot the parameters: a name that has no default has `bind` for one."""
        self._keywords = (names, defaults, bind)

    @property
    def name(self) -> str:
        """The name in the signature."""
        return str(self.metadata["name"])

    @property
    def signature(self) -> str:
        """The whole signature, which parses back."""
        return str(self.metadata["signature"])

    @property
    def workspaces(self) -> list[str]:
        """The memory that a call allocates, each with its type: `ws: Tensor([m], uint8)`."""
        return list(self.metadata["workspaces"])

    @cached_property
    def description(self) -> dict[str, Any]:
        """The signature as data, for those who write bridges to other frameworks."""
        return _native.describe(self.signature, self.workspaces)

    @property
    def device_type(self) -> str:
        """Where its kernels run: `cpu` or `cuda`."""
        return "cuda" if _has_kernels(self.metadata) else "cpu"

    @property
    def plan(self) -> str:
        """The checks of a call, in order, as `kernpack plan` prints them."""
        return str(_native.command("plan", self.signature, "--device", self.device_type)["text"])

    @property
    def ir(self) -> str:
        """The operations that its kernels become, as `kernpack emit` shows them.

        That, `llvm` and `resources` are a `TypeError` of a package that was not built here, and a
        `CompileError` of kernels that are not written in kernpack.
        """
        with importing():
            from . import _emitted
        return _emitted.ir(cast("Function", self))

    @property
    def llvm(self) -> dict[str, str]:
        """LLVM's text of its kernels before any pass, by architecture."""
        with importing():
            from . import _emitted
        return _emitted.llvm(cast("Function", self))

    @property
    def resources(self) -> list[Resources]:
        """Registers, spills, memory and occupancy of each of its kernels, on each architecture; they
        are assembled for that.
        """
        with importing():
            from . import _emitted
        return _emitted.resources(cast("Function", self))

    @property
    def ptx(self) -> dict[str, str]:
        """The PTX in its package, by architecture: `{"compute_80": ".version …"}`."""
        return self.package.ptx()

    @property
    def sass(self) -> dict[str, str]:
        """The machine code in its package, by architecture, as NVIDIA's disassembler prints it."""
        return self.package.sass()

    @cached_property
    def raw(self) -> tvm_ffi.Function:
        """The same as a plain `tvm_ffi.Function`, which knows no keywords."""
        return self.package.raw_function(self.name)

    @property
    def out(self) -> Function | None:
        """The variant that takes the results as trailing arguments; None where there are no
        results.
        """
        return self.package.find(f"{self.name}_out") if self.metadata["results"] else None

    def prepare(self, /, *args: Any, **keywords: Any) -> Callable[[], Any]:
        """Checks a call once, and returns a function of no arguments that only launches.

        It holds its arguments. What was prepared from PyTorch's tensors runs on PyTorch's current
        stream. A function whose kernels run on the CPU is not checked ahead: what is returned calls
        it as usual.
        """
        bound = self.__signature__.bind(*args, **keywords)
        bound.apply_defaults()
        self._meet_written(bound.args)
        return self.package.prepare(cast("Function", self), unpacked(bound.args))

    def check(
        self,
        /,
        *args: Any,
        seed: int = 0,
        strict: bool = False,
        device: Mapping[str, int] | None = None,
        count: bool = False,
        **keywords: Any,
    ) -> Checked:
        """Makes the call on the interpreter, which says what is wrong with the kernels, and writes
        nothing: see `docs/debugging.md`.

        A call that is refused raises the same as the call itself. `seed` changes the order in which
        warps and blocks run; with `strict`, what is found is raised as a `CheckError`.
        `device` says what GPU launches find that ask, as `{"sm_count": 4}`: else an H200. `count`
        has the accesses of each line counted, and what they take of memory: `traffic`. It is a
        `TypeError` for a function whose kernels are not written in kernpack, or whose package was
        not built here.
        """
        with importing():
            from . import _check
        return _check.check(
            cast("Function", self),
            self._in_order(args, keywords),
            _check.Options(seed, strict, device, count),
        )

    def check_ranks(
        self,
        ranks: Sequence[tuple[Any, ...]],
        /,
        *,
        seed: int = 0,
        strict: bool = False,
        device: Mapping[str, int] | None = None,
        count: bool = False,
    ) -> Checked:
        """Makes calls on the interpreter as `check` does, one with the arguments of each rank: they
        run at the same time, each on a device of its own, and share the arrays that several pass.

        Only what is of system scope orders one of them behind another. `results` and `arguments` have
        an entry for each rank.
        """
        with importing():
            from . import _check
        calls = [self._in_order(args, {}) for args in ranks]
        options = _check.Options(seed, strict, device, count)
        return _check.check_ranks(cast("Function", self), calls, options)

    def timeline(
        self, /, *args: Any, events: int = 1024, warps: int = 2048, **keywords: Any
    ) -> Timeline:
        """Makes the call with kernels that write down what each of their warps waits for, and when:
        see `docs/debugging.md`. `print` draws what comes of it, and `save` writes it for Perfetto.

        There is room for so many `events` of each of so many `warps`, those that begin first. It is
        a `RuntimeError` where there is no GPU, and a `TypeError` for a function whose kernels are
        not written in kernpack, or whose package was not built here.
        """
        with importing():
            from . import _timeline
        in_order = self._in_order(args, keywords)
        return _timeline.record(cast("Function", self), in_order, events, warps)

    def interpretable(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[Function, tuple[Any, ...], Request | None]:
        """The function that a call on the interpreter is of, its arguments in order, and what it was
        made of where that is not what its package is.
        """
        return cast("Function", self), self._in_order(args, keywords), None

    def _in_order(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call on the interpreter, in order."""
        bound = args
        try:
            bound = self._keywords[2](*args, **keywords)
        except TypeError:
            # Too few or too many without keywords are what the checks refuse.
            if keywords:
                raise
        return tuple(map(unpacked, bound))

    def explain(self, error: BaseException | str) -> str:
        """What an error of a call means and what to do about it, as of `kernpack explain`."""
        answer = _native.command("explain", str(error))
        if answer["code"] != 0:
            raise ValueError(answer["text"])
        return str(answer["text"])

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the function's package to a file; its ending says what: `.o`, `.so`, `.h`,
        `.pyi` or `.rs`.

        The other functions of the package are in it too.
        """
        self.package.export(path)

    def _meet(self, value: Any) -> bool:
        """Has TVM-FFI pass dataclasses of this one's class as their fields; answers whether its class
        says more than what is passed.
        """
        kind = cast("Any", type(value))
        if is_dataclass(value) and not hasattr(kind, "__tvm_ffi_value__"):
            names = [field.name for field in dataclasses.fields(value)]
            get = operator.attrgetter(*names) if len(names) > 1 else fields_of

            def fields(self: Any) -> Any:
                # A class that is derived from it has fields of its own, and this method.
                return get(self) if type(self) is kind else fields_of(self)

            kind.__tvm_ffi_value__ = fields
            for field in fields_of(value):
                self._meet(field)
        return _classes.is_telling(value)

    def _retry(
        self, error: type, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """Other arguments for a call that failed: fields for dataclasses that TVM-FFI met before we
        did.
        """
        bound = self._bind(args, keywords)
        if bound is None or not issubclass(error, TypeError) or not any(map(has_dataclass, bound)):
            return None
        return tuple(map(unpacked, bound))

    def _bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The arguments in order; None where the call does not fit."""
        try:
            return self._keywords[2](*args, **dict(keywords)) if keywords else tuple(args)
        except TypeError:
            return None

    def know_written(self, written: Sequence[bool]) -> None:
        """Tells the call slot which arguments the function may write."""
        self._written = tuple(written)
        bits = {min(at, _LAST_BIT) for at, is_written in enumerate(written) if is_written}
        _native.call_types().kernpack_know_written(self, sum(1 << bit for bit in bits))

    def _meet_written(self, args: Sequence[Any]) -> tuple[type, ...]:
        """Refuses what must stay as it is in a place that the function writes; answers the types of
        which anything may stand there, in calls of other functions too.
        """
        seen = [arg for arg, is_written in zip(args, self._written) if is_written]
        has_immutable = any(map(is_immutable, leaves(seen)))
        if has_immutable or (_native.has_compiler() and not self._is_exact):
            params = passed_params(self.description)
            # So far, every tensor may have been written.
            if not self._is_exact:
                self.know_written([_writes(param["type"]) for param in params])
                self._is_exact = True
            for number, (param, arg) in enumerate(zip(params, args)):
                path = _path_of_immutable(param["name"], param["type"], arg)
                if path is not None:
                    raise TypeError(self._cannot_write(number, param["name"], path))
        return writable_types(seen)

    def _cannot_write(self, number: int, name: str, path: str) -> str:
        place = f"argument #{number}" + (f" ({name})" if number >= 10 and path == name else "")
        place = place if path == name else f"{path} in {place}"
        return (
            f"Mismatched type on {place} when calling: `{self.metadata['short']}`, expected a"
            " tensor that can be written, got a jax.Array, which is immutable: `kernpack.jax.call`"
            " returns what is written, or pass a copy, of NumPy or PyTorch"
        )

    def _finish(self, result: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What the caller gets for what no framework has made its own."""
        convert = _converter([*args, *dict(keywords).values()])
        if self._results is None:
            return convert(result)
        return self._results([convert(item) for item in result])

    def returned(self, results: Sequence[Any], args: Sequence[Any]) -> Any:
        """What a call with these arguments returns that has these results."""
        if not results:
            return None
        return self._finish(results[0] if len(results) == 1 else results, args, {})

    @cached_property
    def _results(self) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None:
        """Makes a NamedTuple of several results."""
        if len(self.metadata["results"]) < 2:
            return None
        names = [result["name"] for result in self.description["results"]]
        make: Callable[[Sequence[Any]], tuple[Any, ...]] = _named(self.name, *names)._make
        return make

    def __reduce__(self) -> tuple[Any, ...]:
        """By its package, which goes along."""
        return operator.getitem, (self.package, self.name)

    def __copy__(self) -> _Methods:
        """Itself, as of Python's own functions."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Methods:
        return self

    def __repr__(self) -> str:
        return f"<kernpack.Function {self.metadata['short']}>"


if TYPE_CHECKING:

    class Function(_Methods):
        """See `_Methods`; at run time this is made by `libkernpack_call.so`."""

        def __call__(self, *args: Any, **keywords: Any) -> Any:
            """Calls the function; see `_Methods`."""

    class ResultFunction(Function):
        """A function with results."""

    class TupleFunction(Function):
        """A function that takes tuples."""

    class InterpretedFunction(Function):
        """A function whose calls run on the interpreter."""

else:
    Function = _native.call_types().kernpack_function_type(_Methods)
    Function.__module__, Function.__doc__ = "kernpack", _Methods.__doc__

    class _Derived(Function):
        pass

    ResultFunction = _native.call_types().kernpack_result_type(
        _Derived, tvm_ffi.Tensor, tvm_ffi.Array
    )
    TupleFunction = _native.call_types().kernpack_tuple_type(_Derived)

    class InterpretedFunction(Function):
        def __call__(self, *args: Any, **keywords: Any) -> Any:
            in_order = self._in_order(args, keywords)
            self._meet_written(in_order)
            return _interpreted.call(self, in_order)


def adopt(raw: tvm_ffi.Function, metadata: dict[str, Any], package: Module) -> Function:
    """The function whose metadata these are; `raw` is empty afterwards."""
    own: dict[str, Any] = metadata["kernpack"]
    types: list[dict[str, Any]] = json.loads(metadata["type_schema"])["named_args"]["params"]
    kind = _kind(own, types)
    function = kind.__new__(kind)
    function.__move_handle_from__(raw)
    if own["results"] or own["workspaces"]:
        _native.install_allocator()
    signature = _signature(own)
    bind = binder(own["name"], signature)
    defaults = tuple(
        bind if p.default is p.empty else p.default for p in signature.parameters.values()
    )
    function.package, function.metadata = package, own
    function.__signature__, function.__name__ = signature, own["name"]
    function.__doc__ = "\n\n".join(part for part in (own["doc"], own["signature"]) if part)
    function.know_keywords(tuple(signature.parameters), defaults, bind)
    # Which of the tensors are written, the signature says; it is read where that counts.
    function.know_written([_has_type("ffi.Tensor", each) for each in types])
    return function


def _kind(own: dict[str, Any], types: Sequence[dict[str, Any]]) -> type[Function]:
    """The type of a function: only those with results or tuples pay for them."""
    if _interpreted.IS_ON and _has_kernels(own):
        return InterpretedFunction
    if any(_has_type("Tuple", each) for each in types):
        return TupleFunction
    return ResultFunction if own["results"] else Function


def _has_kernels(own: Mapping[str, Any]) -> bool:
    """Whether a function launches any, by what its package says of it."""
    return any(launch.get("layout") for launch in own["launches"])


def _has_type(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a type of TVM-FFI's is of that name, or has one in it."""
    return schema["type"] == name or any(_has_type(name, each) for each in schema.get("args", ()))


def written(name: str) -> str:
    """A name of a signature's as Python can write it: `lambda_` for `lambda`."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _signature(own: dict[str, Any]) -> inspect.Signature:
    """The parameters, under names that Python can write."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters: list[inspect.Parameter] = []
    for name in own["args"]:
        default = own["defaults"].get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(written(name), kind, default=default))
    return inspect.Signature(parameters)


def binder(name: str, signature: inspect.Signature) -> Callable[..., tuple[Any, ...]]:
    """A function that returns its arguments in order: Python itself words what is wrong with a
    call.
    """
    names = list(signature.parameters)
    scope: dict[str, Any] = {}
    head = ", ".join(
        name if parameter.default is parameter.empty else f"{name}=None"
        for name, parameter in signature.parameters.items()
    )
    # Names come from a signature that was parsed: identifiers, none of them a keyword.
    assert all(each.isidentifier() and not keyword.iskeyword(each) for each in names)
    name = written(name)
    exec(f"def {name}({head}): return ({''.join(each + ', ' for each in names)})", scope)
    bind = scope[name]
    bind.__defaults__ = (
        tuple(p.default for p in signature.parameters.values() if p.default is not p.empty) or None
    )
    return cast("Callable[..., tuple[Any, ...]]", bind)


@functools.lru_cache(maxsize=None)
def _named(function: str, *names: str) -> Any:
    """The NamedTuple of a function's results."""

    def reduce(results: Any) -> tuple[Any, ...]:
        return _restored, ((function, *names), tuple(results))

    make: Any = collections.namedtuple
    of_results = make(written(function), list(map(written, names)), rename=True)
    of_results.__module__ = "kernpack"
    of_results.__reduce__ = reduce
    return of_results


def _restored(named: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Results that were pickled: their class stands in no module."""
    return _named(*named)._make(values)


def writable_types(args: Iterable[Any]) -> tuple[type, ...]:
    """The types of what is in arguments, but for those that must stay as they are."""
    types: set[type] = {type(leaf) for leaf in leaves(args) if not is_immutable(leaf)}
    return tuple(types)


def _writes(kind: Mapping[str, Any]) -> bool:
    """Whether the function writes a parameter, or a part of it."""
    if kind["kind"] == "optional":
        return _writes(kind["type"])
    if kind["kind"] == "tuple":
        return any(_writes(field["type"]) for field in kind["fields"])
    return bool(kind.get("mutable"))


def _path_of_immutable(path: str, kind: Mapping[str, Any], value: Any) -> str | None:
    """Where an immutable array stands that the function would write."""
    if kind["kind"] == "optional":
        return _path_of_immutable(path, kind["type"], value)
    if kind["kind"] == "tuple":
        fields = kind["fields"]
        for own, field, part in zip(paths_of(path, fields), fields, parts_of(value) or ()):
            found = _path_of_immutable(own, field["type"], part)
            if found is not None:
                return found
    return path if kind.get("mutable") and is_immutable(value) else None


def _converter(args: Iterable[Any]) -> Callable[[Any], Any]:
    """Makes of a tensor what the call's own arrays are: of NumPy or PyTorch, else it stays as it
    is.
    """
    for arg in leaves(args):
        if hasattr(arg, "__dlpack__"):
            for framework in ("numpy", "torch"):
                if is_of(arg, framework):
                    return functools.partial(converted, sys.modules[framework])
    return _unchanged


def _unchanged(result: Any) -> Any:
    return result
