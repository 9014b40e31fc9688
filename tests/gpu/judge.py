# SPDX-License-Identifier: Apache-2.0
"""Tables of what was measured, and whether targets are met.

A host has its moods, so that a time is held against others of the same run only, and a row names
its *controls*: what a reference takes of itself. The *spread* of a round is how far they stray from
1: at least `TOLERANCE`, and at most `MOST_SPREAD`, as a noisy round shall not excuse everything. A
target is missed in a round where the ratio is beyond it by more than the spread. A row with a target
that is missed is measured again, and fails where three rounds miss the same one. Every miss is
printed, and appended to the file that `KERNPACK_GPU_MISSES` names.

What a program computes is not judged here: it ends with an error where that is wrong.
"""

import os
import random
import statistics
import sys
from pathlib import Path
from typing import NamedTuple, Optional

TOLERANCE, MOST_SPREAD = 0.03, 0.10
N_ROUNDS = 3


class Figure(NamedTuple):
    """A ratio, and what it may be."""

    what: str
    ratio: float
    at_most: Optional[float] = None
    at_least: Optional[float] = None

    def is_missed(self, spread):
        return (self.at_most is not None and self.ratio > self.at_most * (1 + spread)) or (
            self.at_least is not None and self.ratio < self.at_least * (1 - spread)
        )

    @property
    def target(self):
        at_most = [] if self.at_most is None else [f"at most {self.at_most:.3f}"]
        at_least = [] if self.at_least is None else [f"at least {self.at_least:.3f}"]
        return ", ".join(at_most + at_least)


class Round(NamedTuple):
    """What one measurement of a row gave: cells behind its name, figures, and controls."""

    cells: list
    figures: tuple = ()
    controls: tuple = ()

    @property
    def spread(self):
        strayed = max([TOLERANCE, *(abs(control - 1) for control in self.controls)])
        return min(strayed, MOST_SPREAD)


class Table:
    """Rows of a table in Markdown."""

    failed = []

    def __init__(self, title, columns):
        print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")

    def row(self, name, measure):
        """Measures a row, more often where a target is missed. `measure` gives a `Round`."""
        always = None
        for number in range(1, N_ROUNDS + 1):
            taken = measure()
            again = f", round {number}" if number > 1 else ""
            print(f"| {name}{again} | {' | '.join(taken.cells)} |", flush=True)
            missed = [figure for figure in taken.figures if figure.is_missed(taken.spread)]
            for figure in missed:
                note_miss(name, figure, taken.spread, number)
            whats = [figure.what for figure in missed]
            always = whats if always is None else [what for what in always if what in whats]
            if not always:
                return
        Table.failed += [f"{name}: {what}" for what in always]

    @staticmethod
    def end():
        """Ends the program with 1 where a target was missed in every round."""
        if Table.failed:
            rounds = f"missed in {N_ROUNDS} rounds"
            sys.exit(f"\n{Path(sys.argv[0]).stem}: {rounds}: {'; '.join(Table.failed)}")


def note_miss(row, figure, spread, number):
    """Keeps a miss where whoever reads of the run finds it."""
    program = Path(sys.argv[0]).stem
    told = f"{figure.what} is {figure.ratio:.3f}, {figure.target}, spread {spread:.3f}"
    line = f"{program}: {row}: {told}, round {number}"
    print(f"missed: {line}", file=sys.stderr, flush=True)
    if path := os.environ.get("KERNPACK_GPU_MISSES"):
        with open(path, "a") as file:
            file.write(f"{line}\n")


def interleave(samples, n_rounds):
    """The median of each sample, taken in turns that begin with another one each round."""
    taken = {name: [] for name in samples}
    names = list(samples)
    for round in range(n_rounds):
        for turn in range(len(names)):
            name = names[(round + turn) % len(names)]
            taken[name].append(samples[name]())
    return {name: statistics.median(values) for name, values in taken.items()}


def shuffle(samples, n_rounds):
    """The median of each sample, taken in an order by chance each round, the same in every run."""
    taken, order = {name: [] for name in samples}, random.Random(n_rounds)
    for _ in range(n_rounds):
        for name in order.sample(list(samples), len(samples)):
            taken[name].append(samples[name]())
    return {name: statistics.median(values) for name, values in taken.items()}
