# SPDX-License-Identifier: Apache-2.0
"""Timelines as people see them: text, and the trace that Perfetto and Chrome open.

Not here: what is in a timeline, and where it comes from (`_timeline.py`).
"""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

if TYPE_CHECKING:
    from ._timeline import Event, Timeline, Wait, Warp

_LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits
_RUNS, _IS_NOT_THERE, _OTHERS = "-", " ", "*"


class Role:
    """The warps of a kernel that wait at the same places."""

    def __init__(self, kernel: str, waits: frozenset[Wait]) -> None:
        self.kernel, self.waits = kernel, waits
        self.numbers: list[int] = []
        self.warps: list[Warp] = []

    @property
    def name(self) -> str:
        """`warp 0`, `warps 4-11`."""
        ranges: list[list[int]] = []
        for number in sorted(self.numbers):
            if ranges and number == ranges[-1][-1] + 1:
                ranges[-1] = [ranges[-1][0], number]
            else:
                ranges.append([number])
        texts = ("-".join(map(str, each)) for each in ranges)
        return ("warps " if len(self.numbers) > 1 else "warp ") + ",".join(texts)


def roles(timeline: Timeline) -> list[Role]:
    """The roles of each kernel. What warps of one number do in any block, they all do."""
    waits: dict[tuple[str, int], set[Wait]] = {}
    for warp in timeline.warps:
        of_number = waits.setdefault((warp.kernel, warp.number), set())
        of_number.update(event.wait for event in warp.events)
    found: dict[tuple[str, frozenset[Wait]], Role] = {}
    of_numbers: dict[tuple[str, int], Role] = {}
    for (kernel, number), own in sorted(waits.items(), key=lambda item: item[0]):
        role = found.setdefault((kernel, frozenset(own)), Role(kernel, frozenset(own)))
        role.numbers.append(number)
        of_numbers[kernel, number] = role
    for warp in timeline.warps:
        of_numbers[warp.kernel, warp.number].warps.append(warp)
    return list(found.values())


def drawn(timeline: Timeline, block: tuple[int, int, int] | None, width: int) -> str:
    """A block of each kernel, and a table of what warps waited for."""
    if width < 1:
        raise ValueError(f"`width` is {width}: expected 1 at least")
    if not timeline.warps:
        return f"{timeline.function}: no warp was recorded"
    kernels: dict[str, list[Role]] = {}
    for role in roles(timeline):
        kernels.setdefault(role.kernel, []).append(role)
    parts = [_of_kernel(kernel, own, block, width) for kernel, own in kernels.items()]
    if not any(parts):
        raise ValueError(f"no warp of block {block} was recorded")
    notes = list(_notes(timeline))
    return "\n\n".join([*filter(None, parts), *(["\n".join(notes)] if notes else [])])


def _notes(timeline: Timeline) -> Iterator[str]:
    """What is missing."""
    if timeline.lost_warps:
        yield f"{timeline.lost_warps} more warps were not recorded: `warps=` makes room for them"
    full = [warp.lost for warp in timeline.warps if warp.lost]
    if full:
        yield (
            f"{len(full)} warps waited {sum(full)} times more than was recorded: `events=` makes "
            "room for that; shares are of the time before"
        )


def _of_kernel(
    kernel: str, roles: Sequence[Role], block: tuple[int, int, int] | None, width: int
) -> str:
    """A kernel's drawing and its table; nothing where it has no such block."""
    warps = [warp for role in roles for warp in role.warps]
    shown = min(warps, key=lambda warp: warp.begin).block if block is None else block
    of_block = [warp for warp in warps if warp.block == shown]
    if not of_block:
        return ""
    letters = _letters(roles)
    begin, end = min(warp.begin for warp in of_block), max(_end(warp) for warp in of_block)
    step = max(end - begin, 1e-3) / width
    n_blocks = len({warp.block for warp in warps})
    lines = [
        f"{kernel}: block {shown} of {n_blocks}, {_time(end - begin)} in columns of {_time(step)}"
    ]
    margin = max(len(role.name) for role in roles)
    for role in roles:
        # All warps of a role do alike: the first one stands for them.
        own = min((w for w in role.warps if w.block == shown), key=_number, default=None)
        if own is not None:
            lines.append(f"  {role.name:{margin}} |{_row(own, letters, begin, step, width)}|")
    return "\n".join([*lines, *_table(roles, letters)])


def _number(warp: Warp) -> int:
    return warp.number


def _letters(roles: Sequence[Role]) -> dict[Wait, str]:
    """A letter for each wait, in the order in which they first come."""
    firsts: dict[Wait, float] = {}
    for role in roles:
        for warp in role.warps:
            for event in warp.events:
                firsts[event.wait] = min(firsts.get(event.wait, event.begin), event.begin)
    ordered = sorted(firsts, key=lambda wait: (firsts[wait], wait.line, wait.name))
    letters = _LETTERS.ljust(len(ordered), _OTHERS)
    return dict(zip(ordered, letters))


def _row(warp: Warp, letters: dict[Wait, str], begin: float, step: float, width: int) -> str:
    """The columns of a warp: what it waits for most of the time of each, or that it runs."""
    shares: list[dict[str, float]] = [{} for _ in range(width)]
    for event in warp.events:
        _share(shares, event, letters[event.wait], begin, step)
    columns: list[str] = []
    for at, column in enumerate(shares):
        middle = begin + (at + 0.5) * step
        if not warp.begin <= middle <= warp.end:
            columns.append(_IS_NOT_THERE)
            continue
        waited = sum(column.values())
        most = max(column, key=lambda letter: column[letter], default=_RUNS)
        columns.append(most if waited * 2 >= step else _RUNS)
    return "".join(columns)


def _share(
    shares: list[dict[str, float]], event: Event, letter: str, begin: float, step: float
) -> None:
    """Adds the time of an event to the columns that it is in."""
    first = max(int((event.begin - begin) / step), 0)
    last = min(int((event.end - begin) / step), len(shares) - 1)
    for at in range(first, last + 1):
        from_here = max(event.begin, begin + at * step)
        to_here = min(event.end, begin + (at + 1) * step)
        shares[at][letter] = shares[at].get(letter, 0.0) + max(to_here - from_here, 0.0)


def _table(roles: Sequence[Role], letters: dict[Wait, str]) -> list[str]:
    """A row for each role and wait."""
    rows = [("", "", "waits for", "share", "times", "mean", "longest")]
    for role in roles:
        lived = sum(_end(warp) - warp.begin for warp in role.warps)
        name, waited = role.name, 0.0
        own = sorted(role.waits, key=lambda wait: list(letters).index(wait))
        for wait in own:
            events = [event for warp in role.warps for event in warp.events if event.wait == wait]
            times = [event.end - event.begin for event in events]
            waited += sum(times)
            rows.append(
                (
                    name,
                    letters[wait],
                    described(wait),
                    _percent(sum(times), lived),
                    str(len(times)),
                    _time(sum(times) / len(times)),
                    _time(max(times)),
                )
            )
            name = ""
        rows.append((name, _RUNS, "runs", _percent(lived - waited, lived), "", "", ""))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + _cells(row, widths).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [text.ljust(width) for text, width in zip(row[:3], widths)]
    numbers = [text.rjust(width) for text, width in zip(row[3:], widths[3:])]
    return "  ".join([*texts, *numbers])


def _end(warp: Warp) -> float:
    """The time until which all is known of a warp."""
    return warp.events[-1].end if warp.lost and warp.events else warp.end


def described(wait: Wait) -> str:
    """`gemm.py:71 mbarrier.wait empty`"""
    file = (wait.file or "").rpartition("/")[2]
    of = wait.array if wait.array is not None else wait.left
    return f"{file}:{wait.line} {wait.name}" + ("" if of is None else f" {of}")


def _time(nanoseconds: float) -> str:
    """A time in a unit that suits it."""
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0:.1f} %"


def save(timeline: Timeline, path: Any) -> None:
    """Writes a trace in the Trace Event Format, an object with `traceEvents`:
    https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

    A block is a process, and a warp a thread of it. Times are in microseconds.
    """
    trace = {"traceEvents": list(_trace(timeline)), "displayTimeUnit": "ns"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


def _trace(timeline: Timeline) -> Iterable[dict[str, Any]]:
    """Metadata, whole warps, and in them what they wait for."""
    processes: dict[tuple[str, tuple[int, int, int]], int] = {}
    named = {
        (role.kernel, number): role.name for role in roles(timeline) for number in role.numbers
    }
    for warp in timeline.warps:
        process = processes.setdefault((warp.kernel, warp.block), len(processes))
        at = {"pid": process, "tid": warp.number}
        name = f"{warp.kernel} block {warp.block}"
        yield {"ph": "M", "name": "process_name", **at, "args": {"name": name}}
        role = f"warp {warp.number} ({named[warp.kernel, warp.number]})"
        yield {"ph": "M", "name": "thread_name", **at, "args": {"name": role}}
        lost = {"lost_waits": warp.lost}
        yield {**_slice(warp.begin, warp.end), "name": "warp", "cat": "warp", **at, "args": lost}
        for event in warp.events:
            wait = event.wait
            told = {
                "file": wait.file,
                "line": wait.line,
                "stage": event.stage,
                "within": wait.within,
            }
            waits = {**_slice(event.begin, event.end), "cat": wait.name, **at, "args": told}
            yield {**waits, "name": described(wait)}


def _slice(begin: float, end: float) -> dict[str, Any]:
    """A complete event."""
    return {"ph": "X", "ts": begin / 1e3, "dur": (end - begin) / 1e3}
