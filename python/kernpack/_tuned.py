# SPDX-License-Identifier: Apache-2.0
"""Tuned functions: `@kp.autotune` above `@kp.jit`.

A `TunedFunction` is a jit function for each of its configs, and a dispatcher that knows which one is
called for what a key has. A call for a key that is not known yet asks the file of winners, then the
timings in the cache, and then has the configs measured with its own arguments; where that must not be
it goes to the first config, and so does the next one. Not here: how configs are measured (`_tuner.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import threading
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from . import (
    _arch,
    _bound,
    _build,
    _classes,
    _errors,
    _graphs,
    _interpreted,
    _jit,
    _native,
    _program,
    _source,
    _specialise,
    _tuner,
    _tuning_key,
    _winners,
)
from ._argument import leaves
from ._bench_shown import seconds as shown_seconds
from ._captured import Watch, is_dtype
from ._clocks import COLD
from ._config import Config, Prune
from ._description import passed_params, says
from ._driver import device, driver
from ._jit import CALLED, JitFunction, Variant
from ._signature import Type
from ._streams import device_of
from ._timings import Timings, hashed
from ._tuned_export import joined
from ._tvm_ffi import tvm_ffi

if TYPE_CHECKING:
    import types
    from concurrent.futures import Executor

    from ._race import Race

SECONDS = 30.0
_MOST_KEPT = 1 << 16
"""So many keys the dispatcher keeps: a call for any other one asks anew."""
_WAIT = 2.0
"""How many times as long as tuning may take others wait for it."""


@dataclasses.dataclass(frozen=True)
class How:
    """What `autotune` is told."""

    configs: Sequence[Config]
    key: Sequence[_tuning_key.Said]
    restore: Sequence[str]
    file: Path | None
    seconds: float
    prune: Prune | None
    executor: Executor | None
    device: str | None = None
    """The name of the GPU whose winners are compiled ahead; None: that of this machine."""


@dataclasses.dataclass(frozen=True)
class Contender:
    """A config, as it was measured."""

    config: Config
    """Its values."""
    ratio: float | None
    """How many times as long as the fastest it takes; None where it was not measured."""
    spilled_bytes: int
    """Bytes of a thread that are written to memory where registers do not suffice."""
    failed: str | None
    """Why it was not measured."""


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What a function was tuned to for some calls: `print` shows all configs."""

    function: str
    """The function's name."""
    device: str
    """The name of the GPU."""
    kernel: str
    """A hash of the text of the function and all that it uses."""
    signature: str | None
    """The signature of these calls, where the function has none of its own."""
    key: Mapping[str, Any]
    """What these calls have, by the names of the items."""
    config: Config
    """The fastest."""
    seconds: float | None
    """How long a call takes with it, with cold caches."""
    contenders: Sequence[Contender]
    """All of them, the fastest first."""

    def __str__(self) -> str:
        key = _tuning_key.shown(self.key)
        took = "" if self.seconds is None else f": {shown_seconds(self.seconds)}"
        rows = [f"  {_shown(each)}" for each in self.contenders]
        return "\n".join([f"{self.function} for {key} on {self.device}{took}", *rows])


def _shown(of: Contender) -> str:
    spilled = f", spills {of.spilled_bytes} bytes" if of.spilled_bytes else ""
    if of.ratio is not None:
        return f"{of.ratio:.3f}  {of.config}{spilled}"
    why = (of.failed or "not measured").partition("\n")[0]
    return f"        {of.config}{spilled}: {why}"


class TunedFunction(JitFunction):
    """A function that is compiled with the fastest of several configs, for each key of its calls."""

    how: How

    @property
    def configs(self) -> Sequence[Config]:
        """The configs that it is tuned over. The first one takes any call."""
        return self.how.configs

    def begin(
        self, function: types.FunctionType, text: _source.SourceText, options: Any, owner: Any
    ) -> None:
        """As of jit functions. `how` is known before."""
        self._by_text = {config.text: config for config in self.configs}
        self._parts: dict[Config, JitFunction] = {}
        self._joins: dict[tuple[str, Config], JitFunction] = {}
        self._winners: dict[tuple[Any, ...], Config] = {}
        self._timings: dict[tuple[int, str], Timings] = {}
        self._n_kept = 0
        self._warned: set[str] = set()
        self._tuning = threading.RLock()
        super().begin(function, text, options, owner)

    def unlock(self) -> None:
        """As of jit functions."""
        super().unlock()
        self._tuning = threading.RLock()

    def _parameters_of(self, options: Any) -> _specialise.Parameters:
        """Callers do not know what configs give."""
        own = super()._parameters_of(options)
        given = {name for config in self.configs for name in config.values}
        for name in own.names:
            if name in given and name not in own.defaults:
                lacking = [config for config in self.configs if name not in config.values]
                if lacking:
                    raise TypeError(f"{lacking[0]!r} lacks `{name}`, which has no default")
        names = tuple(name for name in own.names if name not in given)
        defaults = {name: value for name, value in own.defaults.items() if name not in given}
        return own._replace(names=names, defaults=defaults)

    def _dispatcher(self, constants: str | None) -> tvm_ffi.Function:
        signature, name = self.options.signature, self.__kernpack_source__.name
        described = _native.describe(signature) if signature is not None else None
        if says((described or {}).get("params"), "peer"):
            raise TypeError(
                f"`{name}` has tensors of other ranks, which would wait for the one that tunes: give "
                "it its values by `f.given(…)`"
            )
        known = self.parameters
        self._items = _tuning_key.Items(
            self.how.key, _tuning_key.Known(name, known.names, known.defaults, described)
        )
        for each in self.how.restore:
            if each not in known.names:
                names = ", ".join(known.names)
                raise TypeError(
                    f"`{name}` has no parameter `{each}` to restore: expected one of {names}"
                )
        mine = weakref.ref(self)

        def miss(classes: str, number: int, *args: Any) -> Any:
            found = cast("TunedFunction", _jit.alive(mine))
            return found._miss_call(json.loads(classes), number, args)

        picks = ["device", *self._items.picks]
        return _native.dispatcher(tvm_ffi.convert(miss), constants, picks)

    def _watches_of(self, program: _program.Program) -> Sequence[Watch]:
        """As of jit functions. What every config gives is never looked for."""
        first, *others = self.configs
        given = [name for name in first.values if all(name in other.values for other in others)]
        bound = _program.bindings(self.function, dict.fromkeys(given))
        return [watch for watch in program.watches if watch.binding not in bound]

    # Calls

    def _miss_call(self, classes: Sequence[Any], number: int, args: Sequence[Any]) -> Any:
        """The function for a call whose key is not known yet, in a list where it is for this once;
        called by the dispatcher.
        """
        with self._missing():
            config, is_lasting = self._chosen(number, classes, args)
            raw: Any = self._of_config(config, classes, CALLED).function.raw
            self._n_kept += is_lasting
            return raw if is_lasting and self._n_kept <= _MOST_KEPT else [raw]

    def _called(self, classes: Sequence[Any], args: Sequence[Any]) -> Variant:
        config, _ = self._chosen(self._number, classes, args)
        return self._of_config(config, classes, CALLED)

    def prepare(self, /, *args: Any, **keywords: Any) -> Callable[[], Any]:
        """As `Function.prepare`. It tunes as a call does."""
        given, classes = self._given(args, keywords)
        config, _ = self._chosen(self._number, classes, given)
        return self._of_config(config, classes, "prepare").function.prepare(*given)

    def tune(self, /, *args: Any, seconds: float | None = None, **keywords: Any) -> Tuning:
        """Has the configs measured for a call with these arguments, as far as the cache has no
        timings of them, whatever the file of winners says. No call is made: what it would write is
        as it was. About so many `seconds` are spent on it.

        `RuntimeError`: nothing can be measured here, or no config can run.
        """
        given, classes = self._given(args, keywords)
        why, number = self._why_not(), _device_number(given)
        if why is not None or number is None:
            why = why if why is not None else "its tensors are on no GPU"
            raise RuntimeError(f"`{self.__name__}` cannot be tuned: {why}")
        calls = self._calls(classes, given)
        limited = self.how if seconds is None else dataclasses.replace(self.how, seconds=seconds)
        contest = self._contest(calls, classes, given, number, limited)
        with self._tuning:
            race = self._raced(self._number, contest, _device_name(number))
        if race is None:
            raise RuntimeError(f"`{self.__name__}` is being tuned for such calls: try again")
        return self._told_of(race, contest, _device_name(number))

    def _given(
        self, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], Sequence[Any]]:
        """The arguments of a call in order, as they are passed, and their classes."""
        self._renew()
        bound = self.__signature__.bind(*args, **keywords)
        constants = self.parameters.constants
        classes = [] if self.is_signed else _classes.of_arguments(bound.args, constants)
        return tuple(map(_classes.passed, bound.args)), classes

    # Which config

    def _chosen(
        self, number: int, classes: Sequence[Any], args: Sequence[Any]
    ) -> tuple[Config, bool]:
        """The config for a call, and whether it stays that."""
        at = _device_number(args)
        if at is None:
            # The call will be refused.
            return self.configs[0], False
        calls, name = self._calls(classes, args), _device_name(at)
        known = self._known(number, calls, name)
        if known is not None:
            return known, True
        why = self._why_not()
        if why is None:
            with self._tuning:
                known = self._known(number, calls, name)
                if known is not None:
                    return known, True
                contest = self._contest(calls, classes, args, at, self.how)
                try:
                    race = self._raced(number, contest, name)
                except _tuner.Untunable as error:
                    race, why = None, str(error)
            if race is not None:
                return contest.configs[cast(str, race.winner)], True
            why = why or "another process tunes it for such calls"
        return self._fallback(why, calls["key"], name), False

    def _calls(self, classes: Sequence[Any], args: Sequence[Any]) -> dict[str, Any]:
        """What calls have that share their timings."""
        key = self._items.of(args)
        said = None if self.is_signed else self._said(self._canonical(classes)).signature
        return {"signature": said, "key": key}

    def _why_not(self) -> str | None:
        """Why nothing may be tuned now."""
        if _interpreted.IS_ON:
            return "KERNPACK_INTERPRET=1 has kernels run on the interpreter"
        if os.environ.get("KERNPACK_JIT") == "forbid":
            return "KERNPACK_JIT=forbid says so"
        return "a CUDA graph is being captured" if _graphs.is_capturing() else None

    def _known(self, number: int, calls: Mapping[str, Any], device_name: str) -> Config | None:
        """The config that won before: in this process, by the file of winners, or by the cache."""
        place = number, device_name, json.dumps(calls, sort_keys=True)
        found = self._winners.get(place)
        if found is None:
            found = self._of_file(number, calls, device_name)
        if found is None:
            race = self._timings_of(number, device_name).race(calls)
            is_done = not _tuner.todo(race, self._by_text) and race.winner is not None
            found = self._by_text[cast(str, race.winner)] if is_done else None
        if found is not None:
            self._winners[place] = found
        return found

    def _of_file(self, number: int, calls: Mapping[str, Any], device_name: str) -> Config | None:
        """What the file of winners says; with a key of None what it says for all others."""
        key = json.dumps(calls["key"], sort_keys=True)
        winner = self._shipped.get((self.__name__, device_name, calls["signature"], key))
        if winner is None:
            return None
        text = json.dumps(winner.config, sort_keys=True)
        config = self._by_text.get(text)
        if config is None:
            self._warn(
                f"{self.how.file} has a winner that is no config of `{self.__name__}` any more, and "
                f"is not taken: {text}; run `kernpack tune` again"
            )
        elif winner.kernel != self._kernel(number):
            self._warn(
                f"{self.how.file} has winners for another text of `{self.__name__}`, or of what it "
                "uses, which are taken all the same: run `kernpack tune` again"
            )
        return config

    @functools.cached_property
    def _shipped(self) -> dict[tuple[str, str, str | None, str], _winners.Winner]:
        """What is in the file of winners."""
        file = self.how.file
        return {each.calls: each for each in _winners.read(file)} if file is not None else {}

    def _fallback(self, why: str, key: Mapping[str, Any], device_name: str) -> Config:
        """What is called where nothing may be tuned, which is said once."""
        config = self._otherwise(device_name)
        if not _interpreted.IS_ON:
            shown = _tuning_key.shown(key)
            others = sorted({each.device for each in self._shipped.values()} - {device_name})
            beside = f"; {self.how.file} has winners for {', '.join(others)}" if others else ""
            self._warn(
                f"`{self.__name__}` is not tuned for {shown} on {device_name}, as {why}: it is called "
                f"with {config!r}; `{self.__name__}.tune(…)` tunes ahead{beside}",
                why,
            )
        return config

    def _otherwise(self, device_name: str | None) -> Config:
        """The config for keys that are not known: that of the file, or the first one."""
        if device_name is None:
            return self.configs[0]
        calls = {"signature": None, "key": None}
        return self._of_file(self._number, calls, device_name) or self.configs[0]

    def _warn(self, message: str, what: str | None = None) -> None:
        what = message if what is None else what
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(message, _errors.TuneWarning, stacklevel=_build.level())

    # Tuning

    def _raced(self, number: int, contest: _tuner.Contest, device_name: str) -> Race | None:
        """The race between the configs, when it is over; None where another process holds it."""
        timings = self._timings_of(number, device_name)
        wait = _WAIT * contest.seconds
        with timings.lock(contest.calls, wait) as is_mine:
            race = timings.race(contest.calls)
            if _tuner.todo(race, contest.configs) or race.winner is None:
                if not is_mine:
                    return None
                race = _tuner.run(contest, timings, race)
        place = number, device_name, json.dumps(contest.calls, sort_keys=True)
        self._winners[place] = contest.configs[cast(str, race.winner)]
        return race

    def _contest(
        self,
        calls: Mapping[str, Any],
        classes: Sequence[Any],
        args: Sequence[Any],
        number: int,
        how: How,
    ) -> _tuner.Contest:
        return _tuner.Contest(
            name=self.__name__,
            calls=calls,
            key=calls["key"],
            configs=self._by_text,
            build=lambda config: self._of_config(config, classes, "tuning"),
            request=lambda config: self.with_config(config).request(classes),
            args=args,
            written=lambda variant: self._written_by(variant, args),
            device=number,
            seconds=how.seconds,
            prune=how.prune,
            executor=how.executor,
        )

    def _written_by(self, variant: Variant, args: Sequence[Any]) -> list[Any]:
        """The arguments that a call writes, and those that are restored as well."""
        params = passed_params(variant.function.description)
        named = zip(self.parameters.names, params, args)
        return [
            arg for name, param, arg in named if name in self.how.restore or says(param, "mutable")
        ]

    def _kernel(self, number: int) -> str:
        return hashed(self._programs[number].identity, 16)

    def _timings_of(self, number: int, device_name: str) -> Timings:
        known = self._timings.get((number, device_name))
        if known is None:
            said = dataclasses.replace(self.options, given={})
            from . import __version__

            of = device_name, COLD, __version__, self._kernel(number), repr(said)
            known = self._timings[number, device_name] = Timings(json.dumps(of))
        return known

    def _told_of(self, race: Race, contest: _tuner.Contest, device_name: str) -> Tuning:
        contenders = [
            Contender(
                config, race.ratios.get(name), race.spilled.get(name, 0), race.failed.get(name)
            )
            for name, config in contest.configs.items()
        ]
        contenders.sort(key=lambda each: float("inf") if each.ratio is None else each.ratio)
        winner = cast(str, race.winner)
        return Tuning(
            self.__name__,
            device_name,
            self._kernel(self._number),
            contest.calls["signature"],
            contest.key,
            contest.configs[winner],
            race.seconds.get(winner),
            contenders,
        )

    # Variants

    def with_config(self, config: Config) -> JitFunction:
        """The function with a config, which is not tuned."""
        with self._lock:
            known = self._parts.get(config)
            if known is None:
                known = self._parts[config] = super().given(**config.values)
            return known

    def _of_config(self, config: Config, classes: Sequence[Any], why: str) -> Variant:
        part = self.with_config(config)
        return part.of_classes(classes, why)

    def _variant(self, number: int, classes: Sequence[Any], why: str) -> Variant:
        """That of the config for keys that are not known: nobody says which key it is for."""
        return self._of_config(self._otherwise(_current_device()), classes, why)

    def warmup(self, *specs: Any) -> Variant:
        """As of jit functions; for arguments that are all there it tunes as a call does."""
        if not all(map(_is_there, specs)):
            return super().warmup(*specs)
        given, classes = self._given(specs, {})
        config, _ = self._chosen(self._number, classes, given)
        return self._of_config(config, classes, "warmup")

    def _of_arguments(
        self, args: Sequence[Any], why: str, change: Callable[[Any], Any] = lambda classes: classes
    ) -> Variant:
        """That of the config which is known for these arguments; nothing is tuned."""
        given, classes = self._given(args, {})
        name = _current_device()
        config = None
        if name is not None:
            config = self._known(self._number, self._calls(change(classes), given), name)
        return self._of_config(config or self._otherwise(name), change(classes), why)

    def specialised(self, specs: Sequence[Any], arch: _arch.Archs = None) -> Variant:
        """As of jit functions: one that calls winners of the file where a call has their keys."""
        self._renew()
        said = specs[0] if len(specs) == 1 and isinstance(specs[0], str) else None
        if not self.is_signed and said is None:
            said = self._said(self._canonical(self._described(specs))).signature
        return self._joined(said).specialised(specs, arch)

    def of_classes(self, classes: Sequence[Any], why: str) -> Variant:
        """The same for arguments of these classes."""
        self._renew()
        said = None if self.is_signed else self._said(self._canonical(classes)).signature
        return self._joined(said).of_classes(classes, why)

    def _joined(self, signature: str | None) -> JitFunction:
        """The function that calls winners, for calls of a signature where it has none of its own."""
        name = self.how.device or _current_device()
        if name is None and self._shipped:
            names = ", ".join(sorted({repr(each.device) for each in self._shipped.values()}))
            self._warn(
                f"`{self.__name__}` is compiled without the winners of {self.how.file}, as there is no "
                f"GPU here: `{self.__name__}.tuned_for(…)` takes those for {names}"
            )
        winners: list[tuple[_tuning_key.Key, Config]] = []
        for each in self._shipped.values():
            if (each.device, each.signature) == (name, signature) and each.key is not None:
                calls = {"signature": signature, "key": each.key}
                config = self._of_file(self._number, calls, each.device)
                winners += [] if config is None else [(dict(each.key), config)]
        otherwise = self._otherwise(name)
        text = json.dumps([[key, config.text] for key, config in winners]), otherwise
        with self._lock:
            known = self._joins.get(text)
            if known is None:
                known = joined(self, self._items, self.with_config, winners, otherwise)
                known = self._joins[text] = known if winners else self.with_config(otherwise)
            return known

    def tuned_for(self, device: str) -> TunedFunction:
        """The same function, of which `kp.compile` and `export` take the winners for that GPU, as
        `NVIDIA H200`, whichever is here.
        """
        how = dataclasses.replace(self.how, device=device)
        return _with(how, self.function, self.__kernpack_source__, self.options, self.owner)

    @property
    def variants(self) -> list[Variant]:
        """What it was compiled to, config by config."""
        functions = [*self._parts.values(), *self._joins.values()]
        found = [variant for part in functions for variant in part.variants]
        return list({id(each): each for each in found}.values())

    def _only(self) -> Variant:
        """The one with the winners of the file: no other one takes all calls."""
        if not self.is_signed:
            raise AttributeError(
                f"`{self.__name__}` has no signature: ask what `kp.compile` gives for one"
            )
        return self.specialised(())

    def given(self, **values: Any) -> JitFunction:
        """As of jit functions. Where a value is one that configs have, the function is not tuned any
        more, and the first config has all others.
        """
        if any(name in config.values for config in self.configs for name in values):
            return super().given(**{**self.configs[0].values, **values})
        options = dataclasses.replace(self.options, given={**self.options.given, **values})
        return _made(self, options, self.owner)

    def _of(self, owner: Any) -> JitFunction:
        return _made(self, self.options, owner)

    def __repr__(self) -> str:
        return f"<kernpack tuned function {self.__qualname__}: {len(self.configs)} configs>"


if TYPE_CHECKING:

    class FlatTunedFunction(TunedFunction):
        """One whose signature has no tuples."""

else:

    class _Derived(TunedFunction):
        pass

    FlatTunedFunction = _native.call_types().kernpack_flat_jit_type(_Derived)


def _made(of: TunedFunction, options: Any, owner: Any) -> TunedFunction:
    return _with(of.how, of.function, of.__kernpack_source__, options, owner)


def _with(
    how: How,
    function: types.FunctionType,
    text: _source.SourceText,
    options: Any,
    owner: Any,
) -> TunedFunction:
    kind = FlatTunedFunction if _jit.is_flat(options) else TunedFunction
    made = kind.__new__(kind)
    made.how = how
    made.begin(function, text, options, owner)
    return made


def _device_number(args: Sequence[Any]) -> int | None:
    """The GPU that a call is made on; None where its tensors are on none."""
    tensors = [leaf for leaf in leaves(args) if hasattr(leaf, "__dlpack_device__")]
    return device_of(tensors) if tensors else _usual_device()


def _usual_device() -> int:
    """The GPU that calls without tensors are made on."""
    return device_of([]) or 0


@functools.lru_cache(maxsize=None)
def _device_name(number: int) -> str:
    with device(driver(), number) as of:
        return of.name


def _current_device() -> str | None:
    """The name of the GPU that calls without tensors are made on; None where there is none."""
    try:
        return _device_name(_usual_device())
    except RuntimeError:
        return None


def _is_there(spec: Any) -> bool:
    """Whether it is an argument, and nothing that stands for one."""
    return not isinstance(spec, (Type, str)) and not is_dtype(spec)


Decorated = Callable[..., Any]


def autotune(
    configs: Sequence[Config],
    key: Sequence[_tuning_key.Said] = (),
    *,
    restore: Sequence[str] = (),
    file: str | os.PathLike[str] | None = None,
    seconds: float = SECONDS,
    prune: Prune | None = None,
    executor: Executor | None = None,
) -> Callable[[Decorated], TunedFunction]:
    """Makes a jit function one that is called with the fastest of some configs: `@kp.autotune(…)`
    above `@kp.jit`.

    The first call for each value of the `key` measures all `configs` with its arguments, in about so
    many `seconds`, and is then made once with the fastest. An item of the key is a symbol of the
    signature, `"x.shape[0]"`, `"x.dtype"`, a parameter that is a number, or a function whose
    parameters are named by such items, or by tensors, which have a `shape` and a `dtype`. The first
    config must take any call: it is called where nothing may be tuned.

    Tensors that a call writes are restored in front of each run; `restore` names other parameters.
    `file`, beside the file of the function, has winners that `kernpack tune` has found. `prune` says
    what is not measured (`kp.prune`), and `executor`, one of `concurrent.futures`, compiles in other
    processes that have the same cache.

    `TypeError`: there is no config, or the key has an item that is none.
    """
    given = list(configs)
    for each in given:
        if not isinstance(cast(Any, each), Config):
            raise TypeError(f"a config is a `kp.Config(…)`, got {each!r}")
    if not given:
        raise TypeError("there is no config to tune over: expected one `kp.Config(…)` at least")
    if not seconds > 0:
        raise ValueError(f"`seconds` is {seconds!r}: expected more than 0")
    items = [key] if isinstance(key, str) or callable(key) else list(key)
    names = [restore] if isinstance(restore, str) else list(restore)
    unique = list(dict.fromkeys(given))

    def decorate(of: Any) -> TunedFunction:
        if not isinstance(of, JitFunction) or isinstance(of, TunedFunction):
            raise TypeError(f"{of!r} is no jit function: write `@kp.autotune(…)` above `@kp.jit`")
        place = Path(of.function.__code__.co_filename).absolute().parent
        path = None if file is None else place / file
        how = How(unique, items, names, path, seconds, prune, executor)
        text = _source.without_decorators(of.__kernpack_source__)
        return _with(how, of.function, text, of.options, of.owner)

    return lambda of: _bound.decorated(of, decorate)
