# SPDX-License-Identifier: Apache-2.0
"""What calls take: `kp.bench` and `kp.compare`.

A time is worth little by itself: a machine has its moods, and a device its clocks. So what is measured
runs in turns with others, in an order by chance each round, and is held against what ran in the same
round: a *control*, which is the same call once more, and a copy of as many bytes. Figures are medians,
with their *spread*: how far apart the middle half of them lies.

Not here: how a call is timed (`_clocks.py`), and how figures are shown (`_bench_shown.py`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import random
import statistics
import time
from typing import Any, Callable, Generator, Mapping, Sequence, Union, cast

from . import _bench_plot, _bench_shown, _graphs, _interpreted, _nvml
from ._argument import is_immutable, is_of, leaves
from ._clocks import COLD, WARM, Call, Clock, DeviceClock, HostClock
from ._driver import device, driver
from ._nvml import Clocks
from ._streams import current, device_of

_LEAST_ROUNDS, _MOST_ROUNDS = 9, 1000

Arguments = Union["tuple[Any, ...]", "Sequence[tuple[Any, ...]]", "Mapping[str, tuple[Any, ...]]"]


@dataclasses.dataclass(frozen=True)
class Figure:
    """What was measured several times: a time in seconds, or a ratio."""

    median: float
    """The median."""
    spread: float
    """How far apart the middle half of all lies, as a share of the median."""

    def __str__(self) -> str:
        return f"{self.median:.4g} {_bench_shown.margin(self)}"

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """That of several values."""
        median = statistics.median(values)
        low, _, high = statistics.quantiles(values, n=4)
        return cls(median, (high - low) / median if median else 0.0)


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a call takes: `print` shows it, `json` has all of it."""

    function: str
    """The function's name."""
    arguments: str
    """Its arguments, as in `float32 [1024, 4096], 5`."""
    time: Figure
    """How many seconds a call takes."""
    control: Figure
    """The same call beside itself: about 1, or the figures beside it tell little."""
    n_bytes: int
    """The bytes of all tensors that it was passed and returned, each once."""
    copy: Figure | None
    """How fast the call is beside a copy that reads and writes as many bytes: 1 is as fast as that.
    None where there was no room for one.
    """
    caches: str
    """`cold` or `warm`."""
    by: str
    """Whose clock has measured it: the device's name, or `the host`."""
    clocks: Clocks | None
    """The device's clocks meanwhile; None where nobody tells them."""

    @property
    def bandwidth(self) -> float:
        """How many bytes in a second that makes."""
        return self.n_bytes / self.time.median

    def json(self) -> str:
        """All of it."""
        return _bench_shown.json_of(self)

    def __str__(self) -> str:
        return _bench_shown.measured(self)

    def __repr__(self) -> str:
        return f"<kernpack.Measured: {self.function} {_bench_shown.seconds(self.time.median)}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(str(self))


@dataclasses.dataclass(frozen=True)
class Row:
    """What several functions take for the same arguments."""

    arguments: str
    """The arguments, or the name that they were given."""
    times: Mapping[str, Figure]
    """How many seconds a call of each takes."""
    speeds: Mapping[str, Figure]
    """How fast each is beside the reference: 2 is twice as fast."""
    control: Figure
    """The reference beside itself."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What several functions take, side by side: `print` shows a table in Markdown, a notebook one
    of its own, and `json` has all of it.
    """

    reference: str
    """The name of the function that the others are beside."""
    rows: Sequence[Row]
    """A row for each tuple of arguments."""
    caches: str
    """`cold` or `warm`."""
    by: str
    """Whose clock has measured it: the device's name, or `the host`."""
    clocks: Clocks | None
    """The device's clocks meanwhile; None where nobody tells them."""

    def mean(self, name: str) -> float:
        """The geometric mean of how fast a function is beside the reference."""
        return statistics.geometric_mean(row.speeds[name].median for row in self.rows)

    def json(self) -> str:
        """All of it."""
        return _bench_shown.json_of(self)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draws it into a file: how fast each function is beside the reference, row by row. Matplotlib
        draws any of its formats, where it is installed; else the file is an SVG.
        """
        _bench_plot.save(self, path)

    def __str__(self) -> str:
        return _bench_shown.comparison(self)

    def __repr__(self) -> str:
        return f"<kernpack.Comparison: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        return _bench_shown.html(self)


def bench(
    f: Callable[..., Any],
    /,
    *args: Any,
    caches: str = COLD,
    seconds: float = 0.5,
    **keywords: Any,
) -> Measured:
    """Measures a call of a function of kernpack's or of anybody's. It is made very often: what it
    writes is written again, and nothing is restored.

    On a GPU, that is where a tensor that is passed or returned lies there, events on the stream of
    its calls tell the time, and its L2 cache is flushed in front of each call unless `caches` is
    "warm". So it is for calls without tensors where PyTorch is in use with a GPU. Elsewhere it is
    the host's clock, and the host's caches. About so many `seconds` are spent on it, and the first
    calls, which may compile.

    `ValueError`: `caches` or `seconds` is none. `RuntimeError`: nothing can be measured here, as
    while a CUDA graph is captured. What a call raises comes through.
    """
    _require((f,), caches, seconds)
    call = functools.partial(f, *args, **keywords)
    tensors = tensors_of([*args, *keywords.values(), call()])
    n_bytes = sum(map(_bytes_of, tensors))
    with _clock((f,), tensors, caches) as (clock, watch):
        sides: dict[str, Call] = {"ours": call, "control": functools.partial(call)}
        with clock.copy(n_bytes) as copy:
            if copy is not None:
                sides["copy"] = copy
            taken = _taken(clock, watch, sides, seconds)
    return Measured(
        _name_of(f),
        _bench_shown.arguments(args, keywords),
        Figure.of(taken["ours"]),
        _ratio(taken["control"], taken["ours"]),
        n_bytes,
        _ratio(taken["copy"], taken["ours"]) if "copy" in taken else None,
        caches,
        clock.name,
        watch.seen if watch is not None else None,
    )


def compare(
    functions: Mapping[str, Callable[..., Any]],
    args: Arguments,
    *,
    reference: str | None = None,
    caches: str = COLD,
    seconds: float = 0.5,
) -> Comparison:
    """Measures functions side by side, as `bench` measures one: each with the same arguments, in an
    order by chance each round.

    `args` is a tuple of arguments, or several of them: a list, or a dict that has a name for each.
    Each takes about so many `seconds`. Figures are beside those of the `reference`: the last of the
    functions, unless it is said.
    """
    if not functions:
        raise ValueError("there is nothing to compare: expected a function at least")
    reference = list(functions)[-1] if reference is None else reference
    if reference not in functions:
        raise ValueError(
            f"the reference is {reference!r}: expected one of {', '.join(map(repr, functions))}"
        )
    rows: list[Row] = []
    several, all_of_them = _rows_of(args), tuple(functions.values())
    _require(all_of_them, caches, seconds)
    first = several[0][1]
    tensors = tensors_of([*first, functions[reference](*first)])
    with _clock(all_of_them, tensors, caches) as (clock, watch):
        for label, each in several:
            sides: dict[str, Call] = {
                name: functools.partial(function, *each) for name, function in functions.items()
            }
            control = functools.partial(functions[reference], *each)
            taken = _taken(clock, watch, {**sides, _CONTROL: control}, seconds)
            beside = {name: _ratio(taken[reference], taken[name]) for name in taken}
            control_of = beside.pop(_CONTROL)
            times = {name: Figure.of(taken[name]) for name in sides}
            rows.append(Row(label, times, beside, control_of))
    seen = watch.seen if watch is not None else None
    return Comparison(reference, tuple(rows), caches, clock.name, seen)


_CONTROL = "\0control"
"""The name of the control, which nobody gives a function."""


def _rows_of(args: Arguments) -> list[tuple[str, tuple[Any, ...]]]:
    """Tuples of arguments, with the name of each."""
    if isinstance(args, Mapping):
        rows = [(str(name), each) for name, each in args.items()]
    elif isinstance(args, tuple):
        rows = [(_bench_shown.arguments(args, {}), args)]
    else:
        rows = [(_bench_shown.arguments(each, {}), each) for each in args]
    if not rows:
        raise ValueError(
            "there are no arguments to compare with: expected a tuple of them at least"
        )
    for _, each in rows:
        given: Any = each
        if not isinstance(given, tuple):
            raise TypeError(f"the arguments of a call are a tuple, got {type(given).__name__}")
    return rows


def _require(functions: Sequence[Callable[..., Any]], caches: str, seconds: float) -> None:
    """Refuses what cannot be measured."""
    for function in functions:
        if not callable(function):
            raise TypeError(f"what is measured is called, got {cast('Any', function)!r}")
    if caches not in (COLD, WARM):
        raise ValueError(f'`caches` is {caches!r}: expected "cold" or "warm"')
    if not seconds > 0:
        raise ValueError(f"`seconds` is {seconds!r}: expected more than 0")
    if _interpreted.IS_ON and any(hasattr(each, "package") for each in functions):
        raise RuntimeError(
            "nothing is measured with KERNPACK_INTERPRET=1, which has kernels run on the interpreter"
        )
    if _graphs.is_capturing():
        raise RuntimeError("nothing is measured while a CUDA graph is captured: measure it outside")


@contextlib.contextmanager
def _clock(
    functions: Sequence[Callable[..., Any]], tensors: Sequence[Any], caches: str
) -> Generator[tuple[Clock, _nvml.Watch | None], None, None]:
    """The clock of calls that are passed these or return them, and what watches its device."""
    number = _device_of(functions, tensors)
    if number is None:
        yield HostClock(caches), None
        return
    with device(driver(), number) as of:
        on_device = DeviceClock(of, current(number), caches)
        try:
            yield on_device, _nvml.watch(of)
        finally:
            on_device.close()


def _device_of(functions: Sequence[Callable[..., Any]], tensors: Sequence[Any]) -> int | None:
    """The number of the GPU that calls run on; None where the host's clock tells what they take."""
    are_ours = all(hasattr(function, "prepare") for function in functions)
    if not are_ours and any(map(is_immutable, tensors)):
        # JAX has streams of its own, of which nobody is told.
        return None
    return device_of(tensors)


def _taken(
    clock: Clock, watch: _nvml.Watch | None, sides: Mapping[str, Call], seconds: float
) -> dict[str, list[float]]:
    """How many seconds each side took in each round."""
    for call in sides.values():
        clock.know(call)
    taken: dict[str, list[float]] = {name: [] for name in sides}
    order, end = random.Random(0), time.monotonic() + seconds
    look = watch.look if watch is not None else lambda: None
    for number in range(_MOST_ROUNDS):
        if number >= _LEAST_ROUNDS and time.monotonic() > end:
            break
        names = order.sample(list(sides), len(sides))
        for name, took in zip(names, clock.round([sides[name] for name in names], look)):
            taken[name].append(took)
    return taken


def _ratio(times: Sequence[float], of: Sequence[float]) -> Figure:
    """How many times as long the one took as the other, round by round."""
    return Figure.of([a / max(b, 1e-12) for a, b in zip(times, of)])


def tensors_of(values: Sequence[Any]) -> list[Any]:
    """All tensors in these, each once."""
    return list(
        {id(leaf): leaf for leaf in leaves(values) if hasattr(leaf, "__dlpack_device__")}.values()
    )


def _bytes_of(array: Any) -> int:
    """The bytes of a tensor's elements."""
    if not is_of(array, "tvm_ffi"):
        return int(array.nbytes)
    elements = 1
    for extent in array.shape:
        elements *= int(extent)
    dtype = array.dtype
    return (elements * int(dtype.bits) * int(dtype.lanes) + 7) // 8


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", None) or type(function).__name__)
