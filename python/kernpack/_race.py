# SPDX-License-Identifier: Apache-2.0
"""Which of several is the fastest, found by few measurements: successive halving.

A *rung* is a number of rounds in which all that are left are measured, interleaved. Behind it the
faster half stays, and the next rung has twice as many rounds. A race is what it was told, event by
event, so that one that was written down goes on where it was (`_timings.py`). Not here: how
something is measured (`_tuner.py`).
"""

from __future__ import annotations

import statistics
from typing import Any, Mapping, Sequence

_FIRST_ROUNDS, _MOST_ROUNDS = 3, 24
_FEW, _ROUNDS_OF_FEW = 4, 12
"""Where so few are left they are close together, and a rung has so many rounds at least."""

Event = Mapping[str, Any]
"""What a race is told, with one of the words that `Race.apply` knows."""


class Race:
    """Some that are measured against each other, by their names."""

    def __init__(self) -> None:
        self.alive: list[str] = []
        """Those that may still be the fastest."""
        self.failed: dict[str, str] = {}
        """Why others take no part."""
        self.spilled: dict[str, int] = {}
        """Bytes that a thread of some spills."""
        self.ratios: dict[str, float] = {}
        """How many times as long as the fastest each takes, as far as it was measured."""
        self.seconds: dict[str, float] = {}
        """How long each takes, as it was measured last."""
        self._rounds: list[Mapping[str, float]] = []
        self._n_rungs = 0
        self._is_ended = False
        # Those of earlier races, beside the winner of these.
        self._before: dict[str, float] = {}
        self._reference: str | None = None

    def apply(self, event: Event) -> None:
        """Tells it what has happened: what takes part from now on (`enter`), that some failed or
        spill, what all that are left took in a `round`, or that there was no time for more (`end`).
        """
        if "enter" in event:
            self._enter(event["enter"])
        for name, why in event.get("failed", {}).items():
            self.failed[name] = why
            self.alive = [each for each in self.alive if each != name]
            self._look()
        self.spilled.update(event.get("spilled", {}))
        if "round" in event:
            self._rounds.append(dict(event["round"]))
            self._look()
        if "end" in event:
            self._end()

    def _enter(self, names: Sequence[str]) -> None:
        self._reference = self.winner
        self._before = {name: at for name, at in self.ratios.items() if name not in names}
        self.alive = [name for name in names if name not in self.failed]
        self._rounds, self._n_rungs, self._is_ended = [], 0, False
        for name in self.alive:
            self.ratios.pop(name, None)

    @property
    def known(self) -> set[str]:
        """All that were measured, or failed."""
        return {*self.failed, *self.ratios}

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be measured."""
        return self._is_ended or not self.alive

    @property
    def winner(self) -> str | None:
        """The fastest; None as long as that is not known."""
        return self.alive[0] if self._is_ended and self.alive else None

    def _look(self) -> None:
        """Ends a rung that has all its rounds."""
        needed = min(_FIRST_ROUNDS << self._n_rungs, _MOST_ROUNDS)
        if len(self.alive) <= _FEW:
            needed = max(needed, _ROUNDS_OF_FEW)
        if len(self._rounds) < needed or not self.alive:
            return
        self._rank()
        self.alive = self.alive[: (len(self.alive) + 1) // 2]
        self._rounds, self._n_rungs = [], self._n_rungs + 1
        if len(self.alive) == 1:
            self._end()

    def _rank(self) -> None:
        """Has the fastest first, by the rounds of this rung."""
        names = [name for name in self.alive if any(name in taken for taken in self._rounds)]
        rounds = [taken for taken in self._rounds if all(name in taken for name in names)]
        if not rounds:
            return
        times = {name: statistics.median(taken[name] for taken in rounds) for name in names}
        self.alive = sorted(names, key=lambda name: times[name])
        for name, took in times.items():
            self.ratios[name] = took / max(times[self.alive[0]], 1e-12)
            self.seconds[name] = took

    def _end(self) -> None:
        """The first of those that are left has won."""
        if self._is_ended:
            return
        self._rank()
        self._is_ended = True
        # What was measured beside the winner of an earlier race is as much slower than this one.
        slower = self.ratios.get(self._reference or "", 1.0)
        self.ratios.update({name: at * slower for name, at in self._before.items()})
