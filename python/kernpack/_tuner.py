# SPDX-License-Identifier: Apache-2.0
"""The tuner: compiles configs, and measures them against each other with the arguments of a call.

What the call would write is copied before, and restored in front of each run that is timed, so that a
tuned call has the effect of one run. What cannot be compiled or launched takes no further part. What
is found is written down event by event (`_timings.py`): a tuner that is stopped, by Ctrl-C or by a
signal, loses no round. Not here: for which calls something is tuned (`_tuned.py`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, Mapping, Sequence

from . import _build, _native
from ._argument import CUDA
from ._bench_shown import seconds as shown_seconds
from ._clocks import COLD, Call, DeviceClock
from ._device_memory import Copies
from ._driver import device, driver
from ._forks import importing
from ._streams import current
from ._tuning_key import shown

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ._config import Config, Prune
    from ._jit import Variant
    from ._race import Race
    from ._timings import Timings
    from ._tuning_key import Key

_SHARE_OF_COMPILER = 0.6
"""Of the time for a key: what is not compiled by then takes no part."""
_LEAST_SECONDS = 1.0
"""So long compilers have at least."""
_MANAGED = 13
"""DLPack's `kDLCUDAManaged`"""


class Untunable(RuntimeError):
    """Nothing can be measured here."""


@dataclasses.dataclass(frozen=True)
class Contest:
    """What is measured against each other, for which call."""

    name: str
    """The function's name."""
    calls: Mapping[str, Any]
    """What is known of such calls: they share the timings."""
    key: Key
    configs: Mapping[str, Config]
    """By their texts. The first one takes any call."""
    build: Callable[[Config], Variant]
    """Compiles what a config becomes."""
    request: Callable[[Config], dict[str, Any]]
    """The request that compiles it, for another process with the same cache."""
    args: Sequence[Any]
    written: Callable[[Variant], Sequence[Any]]
    """The arguments that are restored in front of each run."""
    device: int
    seconds: float
    prune: Prune | None
    executor: Executor | None


def todo(race: Race, configs: Iterable[str]) -> list[str]:
    """Which configs have to take part in a race yet: none where it has a winner among all of them."""
    names = list(configs)
    new = [name for name in names if name not in race.known]
    if race.winner is None and not race.is_over:
        return [name for name in names if name in race.alive or name in new]
    if race.winner in names:
        return [race.winner, *new] if new else []
    return [name for name in names if name not in race.failed]


def run(contest: Contest, timings: Timings, race: Race) -> Race:
    """Holds what is left of a race. `Untunable`: nothing can be measured here; else the error of the
    first config, where none can run.
    """
    begin = time.monotonic()
    names = todo(race, contest.configs)
    raised: dict[str, BaseException] = {}

    def tell(event: Mapping[str, Any]) -> None:
        timings.add(contest.calls, event)
        race.apply(event)

    def fail(name: str, error: BaseException) -> None:
        raised[name] = error
        tell({"failed": {name: f"{type(error).__name__}: {error}"}})

    if race.is_over or set(names) != set(race.alive):
        tell({"enter": names})
    first = contest.build(next(iter(contest.configs.values())))
    with _clock(contest, first) as clock:
        # A call with wrong arguments is refused before anything else is compiled for it.
        with contextlib.suppress(RuntimeError):
            first.function.raw(*contest.args)
        clock.wait()
        variants = _compiled(contest, race, begin, (tell, fail))
        calls = {name: _call(variant, contest.args) for name, variant in variants.items()}
        _race(clock, race, calls, begin + contest.seconds, (tell, fail))
    if race.winner is None:
        for error in raised.values():
            raise error
        reasons = "\n".join(f"  {name}: {why}" for name, why in race.failed.items())
        raise RuntimeError(f"`{contest.name}` runs with none of its configs:\n{reasons}")
    _show(contest, race)
    return race


def _call(variant: Variant, args: Sequence[Any]) -> Call:
    raw = variant.function.raw
    return lambda: raw(*args)


@contextlib.contextmanager
def _clock(contest: Contest, first: Variant) -> Generator[DeviceClock, None, None]:
    """The clock of the contest's device, which restores in front of each call what calls write; it is
    restored in the end, too.
    """
    spans = [
        (address, n_bytes)
        for kind, _, address, n_bytes in _native.spans(contest.written(first))
        if kind in (CUDA, _MANAGED)
    ]
    with contextlib.ExitStack() as kept:
        try:
            of = kept.enter_context(device(driver(), contest.device))
            stream = current(contest.device)
            copies = Copies(of, stream, spans)
            kept.callback(copies.free)
            clock = DeviceClock(of, stream, COLD, copies.restore)
            kept.callback(clock.close)
        except RuntimeError as error:
            raise Untunable(str(error)) from error

        def settle() -> None:
            copies.restore()
            clock.wait()

        kept.callback(settle)
        yield clock


Tell = Callable[[Mapping[str, Any]], None]
Fail = Callable[[str, BaseException], None]


def _compiled(
    contest: Contest, race: Race, begin: float, told: tuple[Tell, Fail]
) -> dict[str, Variant]:
    """What those that take part become, by their names."""
    with importing():
        import concurrent.futures

    tell, fail = told
    found: dict[str, Variant] = {}
    configs, prune = contest.configs, contest.prune
    for name in list(race.alive):
        why = prune.of_config(configs[name], contest.key) if prune is not None else None
        if why is not None:
            tell({"failed": {name: why}})
    pool = concurrent.futures.ThreadPoolExecutor(initializer=_build.be_silent)
    waiting = {pool.submit(_built, contest, configs[name]): name for name in race.alive}
    left = begin + _SHARE_OF_COMPILER * contest.seconds - time.monotonic()
    try:
        done = concurrent.futures.as_completed(waiting, timeout=max(left, _LEAST_SECONDS))
        what = f"tuning {contest.name}", "configs"
        for each in _build.shown_all(done, len(waiting), sys.stderr.isatty(), what):
            name, error = waiting[each], each.exception()
            if error is not None:
                fail(name, error)
                continue
            variant, why, spilled = each.result()
            if why is not None:
                tell({"failed": {name: why}})
                continue
            found[name] = variant
            if spilled:
                tell({"spilled": {name: spilled}})
    except concurrent.futures.TimeoutError:
        late = [name for name in race.alive if name not in found]
        tell({"failed": dict.fromkeys(late, "there was no time to compile it")})
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return found


def _built(contest: Contest, config: Config) -> tuple[Variant, str | None, int]:
    """What a config becomes, why it takes no part, and how many bytes its threads spill at most."""
    if contest.executor is not None:
        contest.executor.submit(_build.precompile_program, contest.request(config)).result()
    variant = contest.build(config)
    try:
        resources = variant.resources
    except Exception:
        # There is no assembler that tells.
        return variant, None, 0
    why = contest.prune.of_resources(resources) if contest.prune is not None else None
    return variant, why, max((each.spilled_bytes or 0 for each in resources), default=0)


def _race(
    clock: DeviceClock,
    race: Race,
    calls: Mapping[str, Call],
    end: float,
    told: tuple[Tell, Fail],
) -> None:
    """Measures all that are left in turns, until one is."""
    tell, fail = told
    order, known = random.Random(0), 0
    for name in list(race.alive):
        if known and time.monotonic() > end:
            tell({"failed": {name: "there was no time to measure it"}})
            continue
        known += _knows(clock, name, calls[name], fail)
    is_measured = False
    while not race.is_over:
        if is_measured and time.monotonic() > end:
            tell({"end": True})
            return
        names = order.sample(race.alive, len(race.alive))
        taken = clock.round([calls[name] for name in names], lambda: None)
        tell({"round": dict(zip(names, taken))})
        is_measured = True


def _knows(clock: DeviceClock, name: str, call: Call, fail: Fail) -> bool:
    """Makes a call for the first times; gives whether it can be made. `RuntimeError`: the device does
    not work any more.
    """
    try:
        clock.know(call)
    except Exception as error:
        try:
            clock.wait()
        except RuntimeError as broken:
            raise RuntimeError(f"the GPU has failed with the config {name}: {error}") from broken
        fail(name, error)
        return False
    return True


def _show(contest: Contest, race: Race) -> None:
    """Says what has won, where that goes to a terminal."""
    if race.winner is None or not sys.stderr.isatty():
        return
    took = shown_seconds(race.seconds.get(race.winner, 0.0))
    config = contest.configs[race.winner]
    print(f"kernpack: {contest.name} for {shown(contest.key)}: {config!r}, {took}", file=sys.stderr)
