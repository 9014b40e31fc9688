# SPDX-License-Identifier: Apache-2.0
"""Functions of a running program that launch its kernels: `@kp.jit`, and `kp.compile`.

A `JitFunction` is a `tvm_ffi.Function`, whose call goes to a dispatcher of the compiler's library:
that finds the variant for what the arguments are, and one that is not there yet is compiled, or
found in the cache. Values that the function has captured are watched by the call slot; where one of
them is another value, other variants are called. Not here: how texts and values are found
(`_source.py`, `_captured.py`, `_program.py`), and signatures of calls (`_specialise.py`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import json
import os
import sys
import threading
import time
import types
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Callable, Generator, Mapping, Sequence, cast, overload

from . import (
    _arch,
    _bound,
    _build,
    _captured,
    _check,
    _classes,
    _dynamo,
    _emitted,
    _errors,
    _function,
    _graphs,
    _interpreted,
    _native,
    _source,
    _specialise,
)
from ._argument import is_dict, is_immutable, leaves, parts_of
from ._captured import Watch
from ._forks import cached_property, importing
from ._function import Function
from ._program import Program, Said, bindings
from ._signature import Type, type_of
from ._tvm_ffi import tvm_ffi

if TYPE_CHECKING:
    from ._timeline import Timeline

MOST_VARIANTS = 64
CALLED = "a call"
"""Why a variant is compiled that nobody asked for ahead."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """What a jit function was compiled to for calls of one kind."""

    signature: str
    """The signature of these calls."""
    function: Function
    """The compiled function."""
    why: str
    """Why it was compiled."""
    seconds: float
    """How long that took."""
    is_cached: bool
    """Whether the cache had it."""
    request: _check.Request = dataclasses.field(compare=False)
    """What it was compiled from, for `check`."""

    @property
    def ir(self) -> str:
        """The operations of its kernels."""
        return self.function.ir

    @property
    def llvm(self) -> dict[str, str]:
        """LLVM's text of its kernels, by architecture."""
        return self.function.llvm

    @cached_property
    def resources(self) -> list[_emitted.Resources]:
        """Registers, spills, memory and occupancy of each of its kernels, by architecture."""
        return self.function.resources

    @property
    def ptx(self) -> dict[str, str]:
        """The PTX, by architecture."""
        return self.function.ptx

    @property
    def sass(self) -> dict[str, str]:
        """The machine code, by architecture, as NVIDIA's disassembler prints it."""
        return self.function.sass

    def __repr__(self) -> str:
        how = "cached" if self.is_cached else f"{self.seconds * 1e3:.1f} ms"
        return f"<kernpack variant {self.signature}: {self.why}, {how}>"


@dataclasses.dataclass
class _Options:
    """What a decorator says."""

    signature: str | None
    workspace: Mapping[str, str]
    where: Sequence[str]
    strict: bool
    arch: _arch.Archs
    asserts: bool
    checked: bool
    max_variants: int
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    """Other values for its constants and for names that it captures."""


class _JitMethods(Function):
    """A function that launches kernels of a running program.

    It is compiled at its first call for what the arguments are, or once for its signature, and
    costs then what a function of a package costs. `variants` are what it was compiled to.
    """

    __kernpack_role__ = "jit"

    def begin(
        self, function: types.FunctionType, text: _source.SourceText, options: _Options, owner: Any
    ) -> None:
        """Makes it the jit function of a function, and of an object where that is a method."""
        self.function, self.owner = function, owner
        self.__kernpack_source__ = text
        self.options = options
        self.__kernpack_given__ = options.given
        self._lock = threading.RLock()
        self._programs: list[Program] = []
        self._numbers: dict[str, int] = {}
        self._number = 0
        # Whether what was captured has to be looked at again, whatever is watched.
        self._is_stale = False
        # What was captured, a copy of each value, and what the call slot has of it.
        self._watches: Sequence[Watch] = ()
        self._values: list[Any] = []
        self._watched: Any = None
        self._table: dict[tuple[int, str], Variant] = {}
        self._raised: dict[int, BaseException] = {}
        self.parameters = self._parameters_of(options)
        constants = None if options.signature is not None else self.parameters.constants
        self._control = self._dispatcher(constants)
        self.__move_handle_from__(self._control("function"))
        self._know_parameters()
        self._tellers = () if self.is_signed else _specialise.tellers(self.parameters)
        _native.call_types().kernpack_know_wants_told(self, bool(self._tellers))
        # Any, as far as is known before there is a variant for a call.
        self.know_written([True] * len(self.parameters.names))
        _alive_ones.add(self)

    def _parameters_of(self, options: _Options) -> _specialise.Parameters:
        """The parameters that callers know."""
        name = self.__kernpack_source__.name
        return _parameters(name, self.function, options, self.owner)

    def _dispatcher(self, constants: str | None) -> tvm_ffi.Function:
        """The control of its dispatcher, which does not keep the function alive."""
        mine = weakref.ref(self)

        def miss(classes: str, number: int) -> Any:
            return alive(mine)._miss(classes, number)

        return _native.dispatcher(tvm_ffi.convert(miss), constants)

    def _know_parameters(self) -> None:
        given = self.parameters
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, kind, default=given.defaults.get(name, empty))
                for name in given.names
            ]
        )
        name = self.__kernpack_source__.name
        self.__name__ = name
        self.__qualname__ = self.function.__qualname__
        self.__module__ = self.function.__module__
        self.__doc__ = self.function.__doc__
        self.__wrapped__ = self.function
        bind = _function.binder(name, self.__signature__)
        defaults = tuple(given.defaults.get(each, bind) for each in given.names)
        self.know_keywords(given.names, defaults, bind)

    def unlock(self) -> None:
        """Forgets who compiles, in a child of a fork."""
        self._lock = threading.RLock()

    # Calls

    def _renew(self) -> None:
        """Sees to values that are captured and have changed, or may have; called by the call slot."""
        _dynamo.leave_alone()
        with self._lock:
            if self._programs and not self._is_stale and self._are_the_same():
                return
            program = Program(
                self.function, self.__kernpack_source__, self.owner, self.options.given
            )
            number = self._numbers.setdefault(program.identity, len(self._programs))
            if number == len(self._programs):
                self._programs.append(program)
            self._number, self._is_stale = number, False
            # Until both are there, calls of other threads come here too.
            _native.call_types().kernpack_watch(self, None)
            self._control("select", number)
            watches = self._watches_of(program)
            self._values = [_captured.frozen(watch.value) for watch in watches]
            self._watch(watches)

    def _watches_of(self, program: Program) -> Sequence[Watch]:
        """What a call looks at."""
        return program.watches

    def _are_the_same(self) -> bool:
        """Whether other objects, if any, are the values that were captured: they are watched then."""
        found = [watch.again() for watch in self._watches]
        watches = [watch for watch in found if watch is not None]
        if len(watches) < len(found):
            return False
        if [_captured.frozen(watch.value) for watch in watches] != self._values:
            return False
        self._watch(watches)
        return True

    def _watch(self, watches: Sequence[Watch]) -> None:
        """Has the call slot watch what was found."""
        watched = _watched(watches)
        _native.call_types().kernpack_watch(self, watched)
        self._watches, self._watched = watches, watched

    def _miss(self, classes: str, number: int) -> tvm_ffi.Function:
        """The function for a call that has no variant yet; called by the dispatcher."""
        with self._missing():
            return self._variant(number, json.loads(classes), CALLED).function.raw

    @contextlib.contextmanager
    def _missing(self) -> Generator[None, None, None]:
        """What goes with the making of a variant for a call."""
        _dynamo.leave_alone()
        try:
            if not self._programs:
                # Who has its handle alone does not come by the call slot.
                self._renew()
            yield
        except BaseException as error:
            # TVM-FFI hands on the kind and the message of an error alone.
            self._raised[threading.get_ident()] = error
            raise

    def _retry(
        self, error: type, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """Raises what the making of a variant has raised, as it was; else as of functions."""
        raised = self._raised.pop(threading.get_ident(), None)
        if raised is not None:
            raise raised
        return super()._retry(error, args, keywords)

    def _call_told(self, _: None, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Makes a call with arguments that say more than TVM-FFI passes; called by the call slot."""
        bound = self._bind(args, keywords)
        told = any(tells(arg) for tells, arg in zip(self._tellers, bound or ()))
        if bound is None or not told:
            return NotImplemented
        classes = _classes.of_arguments(bound, self.parameters.constants)
        given = tuple(map(_classes.passed, bound))
        return self._called(classes, given).function(*given)

    def _called(self, classes: Sequence[Any], args: Sequence[Any]) -> Variant:
        """The variant for a call with such arguments."""
        return self._variant(self._number, classes, CALLED)

    def _meet_written(self, args: Sequence[Any]) -> tuple[type, ...]:
        """As of other functions. Which arguments are written, the variant for a call says, which is
        compiled where one of them must stay as it is.
        """
        if any(map(is_immutable, leaves(args))):
            constants = self.parameters.constants
            classes = [] if self.is_signed else _classes.of_arguments(args, constants)
            function = self._variant(self._number, classes, CALLED).function
            function._meet_written(tuple(map(_classes.passed, args)))
        return _function.writable_types(args)

    def _variant(self, number: int, classes: Sequence[Any], why: str) -> Variant:
        with self._lock:
            given = [] if self.is_signed else self._canonical(classes)
            key = (number, json.dumps(given, sort_keys=True))
            known = self._table.get(key)
            if known is None:
                self._make_room()
                try:
                    known = self._table[key] = self._compiled(number, given, why)
                except _errors.CompileError:
                    # A name that nothing had may be there the next time.
                    self._is_stale = True
                    _native.call_types().kernpack_watch(self, None)
                    raise
            return known

    def _make_room(self) -> None:
        most = self.options.max_variants
        if len(self._table) >= most:
            shown = "\n".join(f"  {each.signature}" for each in self._table.values())
            raise RuntimeError(
                f"`{self.__name__}` was compiled for {most} kinds of calls, which is the most: make "
                "what differs from call to call an argument, or write "
                f"`@kp.jit(max_variants=…)`; these are\n{shown}"
            )

    def _compiled(
        self, number: int, classes: Sequence[Any], why: str, arch: _arch.Archs = None
    ) -> Variant:
        return self._built(self._programs[number], self._said(classes), why, arch)

    def _built(self, program: Program, said: Said, why: str, arch: _arch.Archs) -> Variant:
        begin = time.perf_counter()
        ask = functools.partial(_refuse_captured, said.signature, why)
        built = _build.get_program(self._request(program, said, arch), ask)
        seconds = time.perf_counter() - begin
        function, is_hit = built.module[program.name], built.is_cached
        if not is_hit and os.environ.get("KERNPACK_JIT") == "warn":
            told = f"`{function.signature}` was compiled in {seconds * 1e3:.0f} ms, for {why}"
            warnings.warn(told, _errors.CompileWarning, stacklevel=_build.level())
        return Variant(function.signature, function, why, seconds, is_hit, built.request)

    def _request(self, program: Program, said: Said, arch: _arch.Archs = None) -> dict[str, Any]:
        """What the cache is asked."""
        options = self.options
        arch = arch if arch is not None else options.arch
        compiled = _build.Compiled(arch, options.asserts, options.checked)
        return _build.program_request(program.name, program.text(said), program.places, compiled)

    def request(self, classes: Sequence[Any]) -> dict[str, Any]:
        """What the cache is asked for a call with arguments of these classes."""
        self._renew()
        given = [] if self.is_signed else self._canonical(classes)
        return self._request(self._programs[self._number], self._said(given))

    def _said(self, classes: Sequence[Any]) -> Said:
        """The signature for arguments of these classes."""
        options = self.options
        if options.signature is not None:
            return Said(options.signature, options.workspace, False, options.strict)
        text = _specialise.made(self.__name__, self.parameters, classes, options.where)
        _check_devices(text, classes)
        return Said(text, options.workspace, True, options.strict)

    # What users ask for

    @property
    def variants(self) -> list[Variant]:
        """What it was compiled to, in order."""
        return list(self._table.values())

    def given(self, **values: Any) -> JitFunction:
        """The same function with other values: for its constants, which are defaults then, and for
        names that it captures, wherever what it uses has the same name of the same module or
        function around it.

        `TypeError`: there is no such name, or it is no constant.
        """
        options = dataclasses.replace(self.options, given={**self.options.given, **values})
        return made(self.function, self.__kernpack_source__, options, self.owner)

    def _only(self) -> Variant:
        """The variant, where there is one."""
        variants = self.variants
        if len(variants) == 1:
            return variants[0]
        if not variants and self.options.signature is not None:
            return self.specialised(())
        shown = "".join(f"\n  {each.signature}" for each in variants)
        raise AttributeError(
            f"`{self.__name__}` was compiled for {len(variants)} kinds of calls: ask one of "
            f"`variants`, or what `kp.compile` gives{shown}"
        )

    @property
    def specialised_alone(self) -> Function:
        """The function of its only variant."""
        return self._only().function

    def specialised(self, specs: Sequence[Any], arch: _arch.Archs = None) -> Variant:
        """The variant for arguments, or for what stands for them."""
        self._renew()
        if len(specs) == 1 and isinstance(specs[0], str) and "(" in specs[0]:
            options = self.options
            said = Said(specs[0], options.workspace, False, options.strict)
            return self._built(self._programs[self._number], said, "kp.compile", arch)
        of_all = [] if self.options.signature is not None else self._described(specs)
        if arch is None and not any(map(_has_type, of_all)):
            return self._variant(self._number, of_all, "warmup")
        return self._compiled(self._number, of_all, "kp.compile", arch)

    def _described(self, specs: Sequence[Any]) -> list[Any]:
        """The class of each argument; a type, where one stands for it."""
        return list(map(_described, specs, self.parameters.constants.ljust(len(specs), "0")))

    def _canonical(self, classes: Sequence[Any]) -> list[Any]:
        """Classes of arguments, the same for all that are compiled to the same."""
        names = [*self.parameters.names, *[""] * len(classes)]
        annotations = [self.parameters.annotations.get(name) for name in names]
        return [_specialise.canonical(of, said) for of, said in zip(classes, annotations)]

    def check(
        self,
        /,
        *args: Any,
        seed: int = 0,
        strict: bool = False,
        device: Mapping[str, int] | None = None,
        count: bool = False,
        **keywords: Any,
    ) -> _check.Checked:
        """As `Function.check`: arrays of the CPU stand for those of a GPU."""
        variant, given = self._to_interpret(args, keywords, "a check")
        # Another function may have become the same package, with other places.
        options = _check.Options(seed, strict, device, count)
        return _check.check(variant.function, given, options, variant.request)

    def check_ranks(
        self,
        ranks: Sequence[tuple[Any, ...]],
        /,
        *,
        seed: int = 0,
        strict: bool = False,
        device: Mapping[str, int] | None = None,
        count: bool = False,
    ) -> _check.Checked:
        """As `Function.check_ranks`: all ranks have arguments of the same types and constants."""
        calls = [self._to_interpret(args, {}, "a check") for args in ranks]
        if not calls:
            raise ValueError(_check.NO_RANK)
        variant = calls[0][0]
        for rank, (other, _) in enumerate(calls):
            if other is not variant:
                raise TypeError(
                    f"`{self.__name__}` is not the same for all ranks: rank 0 calls "
                    f"`{variant.function.signature}`, and rank {rank} `{other.function.signature}`"
                )
        given = [each for _, each in calls]
        options = _check.Options(seed, strict, device, count)
        return _check.check_ranks(variant.function, given, options, variant.request)

    def timeline(
        self, /, *args: Any, events: int = 1024, warps: int = 2048, **keywords: Any
    ) -> Timeline:
        """As `Function.timeline`."""
        with importing():
            from . import _timeline
        bound = self.__signature__.bind(*args, **keywords)
        bound.apply_defaults()
        variant = self._of_arguments(bound.args, "a timeline")
        given = tuple(map(_classes.passed, bound.args))
        return _timeline.record(variant.function, given, events, warps, variant.request)

    def _to_interpret(
        self, args: Sequence[Any], keywords: Mapping[str, Any], why: str
    ) -> tuple[Variant, tuple[Any, ...]]:
        """The variant for a call on the interpreter, and its arguments in order."""
        bound = self.__signature__.bind(*args, **keywords)
        bound.apply_defaults()
        variant = self._of_arguments(bound.args, why, _on_gpu)
        return variant, tuple(map(_classes.passed, bound.args))

    def interpretable(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[Function, tuple[Any, ...], _check.Request | None]:
        """As of functions: that of the variant, as another one may have become the same package."""
        variant, given = self._to_interpret(args, keywords, "a check")
        return variant.function, given, variant.request

    def _of_arguments(
        self, args: Sequence[Any], why: str, change: Callable[[Any], Any] = lambda classes: classes
    ) -> Variant:
        """The variant that a call with these arguments finds, or one with other classes."""
        self._renew()
        constants = self.parameters.constants
        classes = [] if self.is_signed else _classes.of_arguments(args, constants)
        return self._variant(self._number, change(classes), why)

    @property
    def is_signed(self) -> bool:
        """Whether it has a signature, and so one variant for what it has captured."""
        return self.options.signature is not None

    def of_annotations(self) -> Variant:
        """The variant of its signature, or of what its annotations say; `TypeError` where they do
        not say all.
        """
        if self.is_signed:
            return self.specialised(())
        return self.specialised(_specialise.annotated(self.__name__, self.parameters))

    def of_classes(self, classes: Sequence[Any], why: str) -> Variant:
        """The variant for arguments of these classes; frameworks that trace have no others."""
        self._renew()
        return self._variant(self._number, classes, why)

    def warmup(self, *specs: Any) -> Variant:
        """Compiles the variant for such arguments, so that a call finds it. Arguments are arrays,
        numbers and the like, or what stands for them: `kp.fake_tensor(…)`, dtypes.
        """
        return self.specialised(specs)

    def prepare(self, /, *args: Any, **keywords: Any) -> Callable[[], Any]:
        """As `Function.prepare`."""
        bound = self.__signature__.bind(*args, **keywords)
        function = self._of_arguments(bound.args, "prepare").function
        return function.prepare(*map(_classes.passed, bound.args))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the package of its only variant to a file; `kp.compile` gives others."""
        self._only().function.export(path)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.__name__

    @property
    def signature(self) -> str:
        """The signature, where it has one or was compiled for one kind of calls."""
        return self.options.signature or self._only().signature

    def __getattr__(self, name: str) -> Any:
        """What a package says of a function, this one says of its only variant. Properties that need
        the variant come here where there is none, and the error says so.
        """
        if name not in ("metadata", "package") and not hasattr(type(self), name):
            raise AttributeError(f"`{type(self).__name__}` has no attribute `{name}`")
        return getattr(self._only().function, name)

    def _finish(self, result: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What the caller gets for what no framework has made its own."""
        variants = self.variants
        function = variants[-1].function
        if any(_results_of(each.function) != _results_of(function) for each in variants):
            # What they return differs, and only the arguments tell which one was called.
            given = self._keywords[2](*args, **dict(keywords)) if keywords else args
            function = self._of_arguments(given, "a call").function
        return function._finish(result, args, keywords)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """The function of an object: its first parameter is that object, which is constant."""
        return self if owner is None else _bound.bound(self, owner, self._of)

    def _of(self, owner: Any) -> JitFunction:
        return made(self.function, self.__kernpack_source__, self.options, owner)

    def __reduce__(self) -> Any:
        """By its name, as Python's own functions."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if isinstance(found, _JitMethods) and self.options.given and found is not self:
            return _with_given, (found, dict(self.options.given))
        if found is not self:
            raise TypeError(
                f"`{self.__qualname__}` cannot be pickled: `{self.__module__}` does not have it "
                "by that name; pickle what `kp.compile` gives"
            )
        return self.__qualname__

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.options.given.items())
        given = f" given {values}" if values else ""
        return f"<kernpack jit function {self.__qualname__}{given}: {len(self._table)} variants>"


if TYPE_CHECKING:

    class JitFunction(_JitMethods):
        """See `_JitMethods`; at run time this is made by `libkernpack_call.so`."""

    class FlatJitFunction(JitFunction):
        """One whose signature has no tuples."""

else:
    JitFunction = _native.call_types().kernpack_jit_type(_JitMethods)

    if _interpreted.IS_ON:

        class JitFunction(JitFunction):
            def __call__(self, *args: Any, **keywords: Any) -> Any:
                variant, in_order = self._to_interpret(args, keywords, "a call")
                return variant.function(*in_order)

    JitFunction.__module__, JitFunction.__doc__ = "kernpack", _JitMethods.__doc__

    class _Derived(JitFunction):
        pass

    FlatJitFunction = _native.call_types().kernpack_flat_jit_type(_Derived)


def _with_given(function: _JitMethods, values: Mapping[str, Any]) -> JitFunction:
    return function.given(**values)


def _results_of(function: Function) -> list[str]:
    """The names of what a function returns."""
    return [str(each).partition(":")[0] for each in function.metadata["results"]]


def _parameters(
    name: str, function: types.FunctionType, options: _Options, owner: Any
) -> _specialise.Parameters:
    """The parameters that callers know: those of the signature, where there is one."""
    own = _specialise.Parameters.of(function, int(owner is not None))
    _check_given(name, function, own, options)
    if options.signature is None:
        own = own.with_defaults(options.given)
        _check_names(name, own.names)
        return own
    try:
        params = _native.describe(options.signature)["params"]
    except ValueError:
        # What is wrong with a signature is told where it is compiled, at its place.
        return own
    passed = [each for each in params if each["type"]["kind"] != "env_stream"]
    defaults = {each["name"]: each["default"] for each in passed if "default" in each}
    names = tuple(_function.written(each["name"]) for each in passed)
    return _specialise.Parameters(names, own.annotations, defaults)


def _check_given(
    name: str, function: types.FunctionType, own: _specialise.Parameters, options: _Options
) -> None:
    """Refuses values for what has none of its own, or is no constant."""
    for each in options.given:
        if each not in own.names:
            if not bindings(function, {each: None}):
                raise TypeError(
                    f"`{name}` is given `{each}`, which it does not know: expected a constant of its "
                    "parameters, or a name of its module or of the function around it"
                )
        elif options.signature is not None:
            raise TypeError(f"`{name}` is given `{each}`, which its signature has: pass it")
        elif not own.is_constant(each):
            raise TypeError(
                f"`{name}` is given `{each}`, which is no constant: pass it, or annotate it "
                "`kp.Constexpr`"
            )


@functools.lru_cache(maxsize=1024)
def _check_names(function: str, parameters: Sequence[str]) -> None:
    """Refuses names that no signature can have, as one is made of them for each kind of call."""
    try:
        _native.describe(f"{function}({', '.join(f'{each}: int64' for each in parameters)})")
    except ValueError as error:
        why = str(error).splitlines()[0].partition(": ")[2]
        raise TypeError(
            f"the names of `{function}` and its parameters are no names of a signature: {why}; "
            "choose another name"
        ) from None


_alive_ones: weakref.WeakSet[_JitMethods] = weakref.WeakSet()


def _in_child() -> None:
    """A lock that another thread of the parent held is held by nobody here."""
    for function in list(_alive_ones):
        function.unlock()


os.register_at_fork(after_in_child=_in_child)


def made(
    function: types.FunctionType, text: _source.SourceText, options: _Options, owner: Any = None
) -> JitFunction:
    """The jit function of a function, and of an object where that is a method."""
    kind = FlatJitFunction if is_flat(options) else JitFunction
    new = kind.__new__(kind)
    new.begin(function, text, options, owner)
    return new


def is_flat(options: _Options) -> bool:
    """Whether it has a signature, without tuples: no dataclass can be an argument then."""
    if options.signature is None or _interpreted.IS_ON:
        return False
    with contextlib.suppress(ValueError):
        params = _native.describe(options.signature)["params"]
        return not any(_has_tuple(each["type"]) for each in params)
    return False


def _has_tuple(kind: Mapping[str, Any]) -> bool:
    return kind["kind"] == "tuple" or (kind["kind"] == "optional" and _has_tuple(kind["type"]))


def alive(reference: Any) -> JitFunction:
    found: JitFunction | None = reference()
    if found is None:
        raise RuntimeError("the jit function is gone")
    return found


def _watched(watches: Sequence[Watch]) -> Any:
    """What the call slot compares: `crates/call-type/src/watch.rs`. None where it cannot tell."""
    quick: list[Any] = []
    slow: list[Any] = []
    places = {(id(watch.root), watch.path): watch for watch in watches}
    for root, path, value in places.values():
        if _captured.is_mutable(value):
            return None
        if is_dict(root) and len(path) == 1:
            quick += [root, sys.intern(path[0]), value]
        elif is_dict(root):
            # The object that the attributes begin at is watched by itself.
            first = root[path[0]]
            quick += [root, sys.intern(path[0]), first]
            slow.append((value, first, *map(sys.intern, path[1:])))
        elif path:
            slow.append((value, root, *map(sys.intern, path)))
    return (*quick, tuple(slow))


def _described(spec: Any, constant: str) -> Any:
    """The class of an argument; a type, where one stands for it, or for what is in a tuple."""
    if isinstance(spec, Type) or (_captured.is_dtype(spec) and constant == "0"):
        return type_of(spec)
    items = _classes.items_of(spec)
    if items is not None and any(map(_has_type, items[1])):
        names, parts = items
        return _classes.tuple_class([_described(part, constant) for part in parts], names)
    return _classes.class_of(spec, constant == "1")


def _has_type(value: Any) -> bool:
    """Whether a type stands there in place of an argument, or of a class of arguments."""
    if isinstance(value, Type) or _captured.is_dtype(value):
        return True
    parts: Sequence[Any] = value.get("tuple", ()) if is_dict(value) else parts_of(value) or ()
    return any(map(_has_type, parts))


def _tensor_of(classed: Any) -> Any:
    """The class of a tensor; None of anything else."""
    return classed.get("tensor") if is_dict(classed) else None


def _on_gpu(of: Any) -> Any:
    """Classes of arguments with tensors on a GPU."""
    parts: Any = of
    if isinstance(of, list):
        return [_on_gpu(each) for each in parts]
    if isinstance(of, dict):
        return {
            name: {**each, "device": "cuda"} if name == "tensor" else _on_gpu(each)
            for name, each in parts.items()
        }
    return of


def _check_devices(signature: str, classes: Sequence[Any]) -> None:
    """Refuses tensors that kernels cannot reach, before anything is compiled."""
    for number, each in enumerate(classes):
        tensor = _tensor_of(each)
        if tensor is not None and tensor["device"] not in ("cuda", "cuda_managed"):
            raise ValueError(
                f"Mismatched device_type on argument #{number} when calling: `{signature}`, "
                f"expected cuda, got {tensor['device']}: kernels run on GPUs; `check` runs a call "
                "on the interpreter"
            )


def _refuse_captured(signature: str, why: str) -> None:
    """Refuses to compile for a call that is being captured: whoever captures counts on calls that
    only launch.
    """
    if why == CALLED and _graphs.is_capturing():
        name = signature.partition("(")[0]
        raise _errors.CompileForbidden(
            f"`{signature}` is not compiled yet, and a CUDA graph is being captured: make such a "
            f"call before the capture, or call `{name}.warmup(…)` with such arguments"
        )


Decorated = Callable[..., Any]


@overload
def jit(function: Decorated, /) -> JitFunction: ...


@overload
def jit(
    signature: str | None = None,
    /,
    *,
    workspace: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    strict: bool = False,
    arch: _arch.Archs = None,
    asserts: bool = True,
    checked: bool = False,
    max_variants: int = MOST_VARIANTS,
) -> Callable[[Decorated], JitFunction]: ...


def jit(
    function: Any = None,
    /,
    *,
    workspace: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    strict: bool = False,
    arch: _arch.Archs = None,
    asserts: bool = True,
    checked: bool = False,
    max_variants: int = MOST_VARIANTS,
) -> Any:
    """Makes a function that launches kernels: `@kp.jit`, or `@kp.jit("signature")`.

    Without a signature it is compiled for what each call's arguments are, at most `max_variants`
    times; `where` has rules that relate them. `workspace` is memory that each call allocates.
    `strict` refuses kernels whose indices nothing bounds but another tensor's extent. `arch` is
    what is compiled for, as of `kp.cuda`. `asserts=False` leaves out what kernels assert as they
    run. `checked=True` has kernels check their indices as they run: an access outside is skipped,
    and raised as a failed assertion is.
    """
    text = function if isinstance(function, str) else None
    rules = (where,) if isinstance(where, str) else tuple(where)
    if text is not None and rules:
        message = (
            "`where` is for functions without a signature: write it there, `name(…) where rule`"
        )
        raise TypeError(message)
    memory = dict(workspace or {})
    options = _Options(text, memory, rules, strict, arch, asserts, checked, max_variants)

    def decorate(of: Decorated) -> JitFunction:
        found = _captured.Callee.of(of)
        if found is not None and found.role == "kernel":
            raise TypeError(f"`{found.function.__name__}` is a kernel: a jit function launches it")
        plain = _captured.unwrapped(of, "a jit function")
        return made(plain, _source.as_statement(_source.read(plain)), options)

    if function is None or text is not None:
        return functools.partial(_bound.decorated, make=decorate)
    return _bound.decorated(function, decorate)


def alone(function: Function) -> Function:
    """The function; of a jit function the one that it was compiled to."""
    return function.specialised_alone if isinstance(function, _JitMethods) else function


def compile(
    function: Any, *specs: Any, arch: _arch.Archs = None, options: str | None = None
) -> Function:
    """The function that a jit function becomes for such arguments: one like any other, which can be
    exported, prepared, and be an operator of PyTorch or a call of JAX.

    `specs` stand for its arguments: `kp.fake_tensor(…)`, dtypes, arrays, numbers, or one text, a
    signature. `arch` is what is compiled for, as of `kp.cuda`. `options`, which CuTe DSL takes, are
    refused with what says the same here.
    """
    if options is not None:
        raise TypeError(
            f"`kp.compile` takes no options, and is given {options!r}: leave out "
            "`--enable-tvm-ffi`, as every function is one of TVM-FFI; write `arch=` for `--gpu-arch`"
        )
    if not isinstance(function, _JitMethods):
        function = jit(function)
    made = cast("JitFunction", function)
    return made.specialised(specs, arch).function
