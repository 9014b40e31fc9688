# SPDX-License-Identifier: Apache-2.0
"""What limits the kernels of a call, and what may be done about it: `kp.suggest`.

It is put together of what others tell: the call on the interpreter, which counts accesses
(`_check.py`), what the kernels became (`_emitted.py`), and on a GPU how long they take (`_bench.py`).
A rule looks at all of that and says what it finds; `_RULES` has them. Not here: changing anything.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Sequence

from . import _bench, _check, _emitted, _errors
from ._argument import CUDA

if TYPE_CHECKING:
    from ._bench import Measured
    from ._check import Traffic
    from ._emitted import Resources
    from ._function import Function

_FAST = 0.75
"""Beside a copy of as many bytes, from where on it is memory that takes the time."""
_MUCH = 1.25
"""How many times as much as has to be is worth a word."""
_FEW_THREADS = 0.25
"""The share of a multiprocessor's threads below which little hides what a thread waits for."""


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """Something that takes time, and what may be done about it."""

    kernel: str | None
    """The symbol of the kernel; None of the call as a whole."""
    found: str
    """What was found."""
    help: str
    """What may be done about it."""
    file: str | None = None
    """The file of the line, where it is about one."""
    line: int | None = None
    """The line, from 1, where it is about one."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.kernel
        return f"{place or 'the call'}: {self.found}\n    {self.help}"


@dataclasses.dataclass(frozen=True)
class Suggestions:
    """What limits the kernels of a call: `print` shows it."""

    measured: Measured | None
    """How long the call takes; None where its arguments are on no GPU."""
    traffic: Sequence[Traffic]
    """What accesses ask of memory, as the interpreter counts it."""
    resources: Sequence[Resources]
    """Registers and memory of the kernels; none where there is no assembler, which tells them."""
    suggestions: Sequence[Suggestion]
    """What was found: of the call, of kernels, and line by line, what costs the most first."""

    def __str__(self) -> str:
        head = [str(self.measured)] if self.measured is not None else []
        found = list(map(str, self.suggestions)) or ["nothing to suggest"]
        return "\n".join([*head, *found])

    def __repr__(self) -> str:
        return f"<kernpack.Suggestions: {len(self.suggestions)}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(str(self))


class _Known(NamedTuple):
    """What rules look at."""

    measured: Measured | None
    traffic: Sequence[Traffic]
    resources: Sequence[Resources]
    accesses: Sequence[Mapping[str, Any]]

    @property
    def is_bound_by_memory(self) -> bool:
        """Whether it is nearly as fast as memory is."""
        copy = self.measured.copy if self.measured is not None else None
        return copy is not None and copy.median >= _FAST


def suggest(
    f: Any, /, *args: Any, counted: tuple[Any, ...] | None = None, **keywords: Any
) -> Suggestions:
    """Says what limits the kernels of a call, and what may be done about it: what is spilled, few
    threads, narrow accesses, conflicts of banks, and how far from a copy of as many bytes it is.

    `f` is a function whose kernels are written in kernpack. The call is made on the interpreter, and
    measured as by `bench` where its arguments are on a GPU; `counted` are other arguments for the
    interpreter, smaller ones, where that takes long.

    `TypeError`: the kernels of `f` are not written in kernpack, or its package was not built here.
    What a call raises comes through.
    """
    if not hasattr(f, "interpretable"):
        raise TypeError(f"what limits a function of kernpack's is told, got {f!r}")
    function, given, request = f.interpretable(
        *((args, keywords) if counted is None else (counted, {}))
    )
    checked = _check.check(function, given, _check.Options(count=True), request)
    measured = (
        _bench.bench(f, *args, **keywords) if _is_on_gpu([*args, *keywords.values()]) else None
    )
    resources = [each for each in _resources(function) if each.kernel in checked.kernels]
    accesses = [
        each for each in _emitted.accesses(function, request) if each["kernel"] in checked.kernels
    ]
    known = _Known(measured, checked.traffic, resources, accesses)
    found = [each for rule in _RULES for each in rule(known)]
    return Suggestions(measured, checked.traffic, tuple(resources), tuple(found))


def _is_on_gpu(values: Sequence[Any]) -> bool:
    tensors = _bench.tensors_of(values)
    return any(int(tensor.__dlpack_device__()[0]) == CUDA for tensor in tensors)


def _resources(function: Function) -> list[Resources]:
    """Those of all kernels; none where nothing assembles them."""
    try:
        return function.resources
    except _errors.CompileError as error:
        if all(each["code"] == "gpu-assembler" for each in error.diagnostics):
            return []
        raise


def _spills(known: _Known) -> Iterator[Suggestion]:
    for each in known.resources:
        if each.spilled_bytes:
            yield Suggestion(
                each.kernel,
                f"each thread writes {each.spilled_bytes} bytes to memory for want of registers "
                f"({each.arch})",
                "hold fewer elements at once, have more threads take them, or leave more registers to "
                "each thread: `launch(max_registers=…)`, a smaller `min_blocks=`",
            )


def _threads(known: _Known) -> Iterator[Suggestion]:
    if known.is_bound_by_memory:
        return
    for each in known.resources:
        if each.occupancy is not None and each.occupancy < _FEW_THREADS:
            yield Suggestion(
                each.kernel,
                f"a multiprocessor has {100 * each.occupancy:.0f} % of the threads that it could, by "
                f"{each.registers} registers a thread, {each.shared_bytes} bytes of shared memory and "
                f"{each.threads} threads a block ({each.arch})",
                "take less of what there is least of, or have each thread wait for more at once: "
                "asynchronous copies, wider accesses, several elements",
            )


def _memory(known: _Known) -> Iterator[Suggestion]:
    if known.is_bound_by_memory and known.measured is not None and known.measured.copy is not None:
        yield Suggestion(
            None,
            f"it is {known.measured.copy.median:.2f} times as fast as a copy of as many bytes: memory "
            "is what limits it",
            "move fewer bytes: narrower types, or in one kernel what several pass on by memory",
        )


def _excess(known: _Known, memory: str) -> Iterator[tuple[Traffic, str, str]]:
    """The lines that take more of a memory than they have to, those first that take the most: how
    many times as much, and the share of what all lines take that is too much.
    """
    lines = [each for each in known.traffic if each.memory == memory]
    taken = sum(each.taken for each in lines)
    for each in sorted(lines, key=lambda each: each.least - each.taken):
        if each.taken >= _MUCH * each.least:
            share = f"{100 * (each.taken - each.least) / taken:.0f} %"
            yield each, f"{each.taken / each.least:.1f} times", share


def _banks(known: _Known) -> Iterator[Suggestion]:
    for each, times, share in _excess(known, "shared"):
        yield Suggestion(
            each.kernel,
            f"{each.deed} `{each.tensor}`, and waits {times} as often for banks as it has to: {share} "
            "of all turns",
            "have the threads of a warp access words of different banks: a row that is one element "
            "longer, or a swizzle; `kernpack layout … --banks` draws it",
            each.file,
            each.line,
        )


def _sectors(known: _Known) -> Iterator[Suggestion]:
    for each, times, share in _excess(known, "global"):
        yield Suggestion(
            each.kernel,
            f"{each.deed} `{each.tensor}`, and takes {times} as many sectors as its elements have: "
            f"{share} of all sectors",
            "have the threads of a warp access what lies side by side, or pass it through shared memory",
            each.file,
            each.line,
        )


def _narrow(known: _Known) -> Iterator[Suggestion]:
    for each in known.accesses:
        if each["missing"] is not None:
            verb = "writes" if each["is_write"] else "reads"
            yield Suggestion(
                each["kernel"],
                f"{verb} `{each['tensor']}` {min(each['bytes'])} bytes at once, of "
                f"{each['adjacent_bytes']} that lie side by side",
                f"all at once would need {each['missing']}",
                each["file"],
                each["line"],
            )


_RULES: tuple[Callable[[_Known], Iterator[Suggestion]], ...] = (
    _memory,
    _spills,
    _threads,
    _banks,
    _sectors,
    _narrow,
)
