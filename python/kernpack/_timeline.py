# SPDX-License-Identifier: Apache-2.0
"""What the warps of a function's kernels wait for, and when: `f.timeline(…)`.

The function is compiled once more, so that its kernels write that down into a buffer:
`crates/kernel-ir/src/timeline.rs` says what is in it. Not here: how a timeline is drawn and saved
(`_timeline_shown.py`).
"""

from __future__ import annotations

import dataclasses
import struct
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Sequence

from . import _build, _device_memory, _driver, _emitted, _graphs, _interpreted, _timeline_shown
from ._argument import leaves

if TYPE_CHECKING:
    from ._check import Request
    from ._function import Function

# The head of a buffer, a record, and an event.
_HEAD = struct.Struct("<iiii")
_RECORD = struct.Struct("<Qiiiiqqqqii")
_EVENT = struct.Struct("<IIii")

_CYCLES = 1 << 32
"""An event has so many cycles at most: it has the lower bits of a clock."""


@dataclasses.dataclass(frozen=True)
class Wait:
    """A place at which a kernel waits."""

    kernel: str
    """The kernel's name in its image."""
    file: str | None
    """The file of the line that waits, of the kernel's author."""
    line: int
    """That line."""
    name: str
    """What waits: `mbarrier.wait`, `wgmma.wait`, `barrier`, … as in `f.ir`."""
    array: str | None
    """The name of the array that has the mbarrier, where one is waited for."""
    left: int | None
    """How many groups may still be in flight behind it, where it waits for groups."""
    within: str | None
    """The line of the library that waits, where that is called: `<kernpack>/pipeline.py:82`."""


class Event(NamedTuple):
    """A wait of a warp, in nanoseconds from the first that any warp began."""

    block: tuple[int, int, int]
    """The block, in x, y and z."""
    warp: int
    """The warp in its block."""
    wait: Wait
    """What it waited for, and where."""
    stage: int | None
    """The number of the mbarrier in its array, which is the stage of a pipeline; that of a named barrier."""
    begin: float
    """When it began to wait."""
    end: float
    """When it went on."""


@dataclasses.dataclass(frozen=True)
class Warp:
    """A warp from its first instruction to its last, in nanoseconds as its events."""

    kernel: str
    """The kernel's name in its image."""
    block: tuple[int, int, int]
    """The block, in x, y and z."""
    number: int
    """The number of the warp in its block."""
    begin: float
    """When it began."""
    end: float
    """When it ended."""
    events: Sequence[Event]
    """What it waited for, in order."""
    lost: int
    """How many waits came later than those, for which there was no room."""


@dataclasses.dataclass(frozen=True)
class Timeline:
    """What the warps of a call waited for: `print` draws it, `save` writes it for Perfetto."""

    function: str
    """The function's name."""
    results: Any
    """What the call returned."""
    warps: Sequence[Warp]
    """The warps that were recorded, in the order in which they began."""
    lost_warps: int
    """How many warps were not recorded, as there was no room."""

    @property
    def events(self) -> list[Event]:
        """All waits, warp by warp."""
        return [event for warp in self.warps for event in warp.events]

    def draw(self, block: tuple[int, int, int] | None = None, width: int = 72) -> str:
        """As text: a block, the first to begin where none is said, in so many columns of time, and
        what share of their time warps waited for what.
        """
        return _timeline_shown.drawn(self, block, width)

    def save(self, path: Any) -> None:
        """Writes it as a Chrome trace, which https://ui.perfetto.dev and chrome://tracing open."""
        _timeline_shown.save(self, path)

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        return f"<kernpack.Timeline of {self.function}: {len(self.warps)} warps>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """Has IPython draw it."""
        printer.text(str(self))


def record(
    function: Function,
    args: tuple[Any, ...],
    events: int,
    warps: int,
    request: Request | None = None,
) -> Timeline:
    """Makes a call with these arguments, all of them in order, with kernels that write down what
    they wait for. The request is what the function was made of, where that is not the last one that
    became its package.
    """
    name = function.name
    for what, number in (("events", events), ("warps", warps)):
        if number < 1:
            raise ValueError(f"`{what}` is {number}: expected 1 at least")
    if _interpreted.IS_ON:
        raise RuntimeError(
            f"`{name}` has no timeline: KERNPACK_INTERPRET=1 has its kernels run on the interpreter, "
            "which knows no time"
        )
    if _graphs.is_capturing():
        raise RuntimeError(f"`{name}` has no timeline while a CUDA graph is captured")
    request = function.package.request if request is None else request
    if request is None or function.device_type != "cuda":
        raise TypeError(
            f"`{name}` has no timeline: it has no kernels that are written here, or its package "
            f"{function.package.path} was not built from their text here"
        )
    try:
        driver = _driver.driver()
    except RuntimeError as error:
        raise RuntimeError(f"`{name}` has no timeline: {error}") from None
    timed, asked = _build.timed(request)
    function = timed[name]
    n_bytes = _HEAD.size + warps * (_RECORD.size + events * _EVENT.size)
    head = _HEAD.pack(0, warps, events, 0)
    with _device_memory.buffer(driver, _device_of(args), head.ljust(n_bytes, b"\0")) as buffer:
        results = function(*args, buffer.address)
        content = buffer.read(n_bytes)
    tables = {each["id"]: each for each in _emitted.waits(function, asked)}
    found, lost = decoded(content, tables)
    return Timeline(name, results, found, lost)


def _device_of(args: Iterable[Any]) -> int:
    """The number of the device that a call with these arguments runs on."""
    for arg in leaves(args):
        if hasattr(arg, "__dlpack_device__"):
            return int(arg.__dlpack_device__()[1])
    return 0


class _Record(NamedTuple):
    """A record as the device wrote it."""

    table: Mapping[str, Any]
    block: tuple[int, int, int]
    warp: int
    begin: tuple[int, int]
    end: tuple[int, int]
    events: list[tuple[int, int, int, int]]
    lost: int


def decoded(content: bytes, tables: Mapping[int, Mapping[str, Any]]) -> tuple[list[Warp], int]:
    """What is in a buffer, and how many warps found no room there. The tables say where kernels
    wait, by the numbers that records have for them.
    """
    taken, n_records, n_events, _ = _HEAD.unpack_from(content)
    size = _RECORD.size + n_events * _EVENT.size
    all_of_them = (
        _read(content, _HEAD.size + number * size, n_events, tables)
        for number in range(min(taken, n_records))
    )
    records = sorted(
        (each for each in all_of_them if each is not None), key=lambda each: each.begin[1]
    )
    return _in_nanoseconds(records), max(taken - n_records, 0)


def _read(
    content: bytes, at: int, n_events: int, tables: Mapping[int, Mapping[str, Any]]
) -> _Record | None:
    """The record that begins there; None of a warp that did not come to its end, or whose kernel
    nobody knows.
    """
    number, x, y, z, warp, *clocks, count, _ = _RECORD.unpack_from(content, at)
    begin, end = tuple(clocks[:2]), tuple(clocks[2:])
    if number not in tables or end[1] == 0:
        return None
    first, kept = at + _RECORD.size, min(count, n_events)
    events: list[tuple[int, int, int, int]] = []
    clock = begin[0]
    for begun, ended, wait, stage in _EVENT.iter_unpack(
        content[first : first + kept * _EVENT.size]
    ):
        # Of clocks the lower bits are there, and each is later than the one before.
        begun = clock + (begun - clock) % _CYCLES
        clock = begun + (ended - begun) % _CYCLES
        events.append((begun, clock, wait, stage))
    return _Record(tables[number], (x, y, z), warp, begin, end, events, count - kept)


def _in_nanoseconds(records: Sequence[_Record]) -> list[Warp]:
    """Records with times that count from the first. All clocks go at one rate, and each
    multiprocessor's begins at a time of its own, which warps of a block have in common.
    """
    cycles = sum(each.end[0] - each.begin[0] for each in records)
    rate = sum(each.end[1] - each.begin[1] for each in records) / max(cycles, 1)
    found: list[tuple[_Record, float, float]] = []
    for block in _blocks(records):
        origin, start = block[0].begin[0], records[0].begin[1]
        pairs = [pair for each in block for pair in (each.begin, each.end)]
        behind = [time - start - (clock - origin) * rate for clock, time in pairs]
        offset = sum(behind) / len(behind)
        found += [(each, rate, offset - origin * rate) for each in block]
    first = min((each.begin[0] * rate + offset for each, rate, offset in found), default=0.0)
    warps = [_warp(each, rate, offset - first) for each, rate, offset in found]
    return sorted(warps, key=lambda warp: (warp.begin, warp.block, warp.number))


def _blocks(records: Sequence[_Record]) -> list[list[_Record]]:
    """The records of each block. A warp that is there already is one of another launch."""
    blocks: list[list[_Record]] = []
    last: dict[Any, list[_Record]] = {}
    for each in records:
        key = each.table["kernel"], each.block
        block = last.get(key)
        if block is None or any(other.warp == each.warp for other in block):
            block = last[key] = []
            blocks.append(block)
        block.append(each)
    return blocks


def _warp(record: _Record, rate: float, offset: float) -> Warp:
    """A record as users see it."""
    kernel, waits = record.table["kernel"], record.table["waits"]
    places = [Wait(kernel, **each) for each in waits]

    def time(clock: int) -> float:
        return round(clock * rate + offset, 3)

    events = [
        Event(
            record.block,
            record.warp,
            places[wait],
            None if stage < 0 else stage,
            time(begin),
            time(end),
        )
        for begin, end, wait, stage in record.events
    ]
    begin, end = time(record.begin[0]), time(record.end[0])
    return Warp(kernel, record.block, record.warp, begin, end, events, record.lost)
