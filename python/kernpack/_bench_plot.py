# SPDX-License-Identifier: Apache-2.0
"""A comparison as a picture: a group of bars for each row, as high as each function is fast beside the
reference, with the middle half of all samples.

Matplotlib draws it where it is installed, in any of its formats, and else this module, as SVG.
"""

from __future__ import annotations

import html
import importlib
import os
from typing import TYPE_CHECKING, Any

from ._forks import importing

if TYPE_CHECKING:
    from ._bench import Comparison, Figure

_COLOURS = "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"
"""Those that colour-blind readers tell apart, by Paul Tol: https://personal.sron.nl/~pault/."""
_BAR, _GAP, _HEIGHT, _LEFT, _TOP, _BELOW = 18, 22, 240, 56, 30, 120
"""Pixels: a bar's width, what is between groups, and the place for the bars."""
_ENTRY = 110
"""Pixels: the place for a name and its colour."""
_STEPS = 4
"""How many lines there are above 0, about."""


def save(it: Comparison, path: str | os.PathLike[str]) -> None:
    """Writes the picture to a file; `RuntimeError` where only Matplotlib knows the format."""
    try:
        with importing():
            figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        if not os.fspath(path).endswith(".svg"):
            raise RuntimeError(
                f"{os.fspath(path)} cannot be drawn without Matplotlib: install that, or name a "
                "file that ends with .svg"
            ) from None
        with open(path, "w", encoding="utf-8") as file:
            file.write(svg(it))
        return
    _drawn(it, figures).savefig(path, bbox_inches="tight")


def _drawn(it: Comparison, figures: Any) -> Any:
    names = _names(it)
    figure = figures.Figure(figsize=(2 + 0.4 * len(it.rows) * (len(names) + 1), 4))
    axes = figure.subplots()
    width = 1 / (len(names) + 1)
    for number, name in enumerate(names):
        speeds = [row.speeds[name] for row in it.rows]
        at = [row + number * width for row in range(len(it.rows))]
        heights = [speed.median for speed in speeds]
        spreads = [_half(speed) for speed in speeds]
        colour = _colour(number)
        axes.bar(at, heights, width, yerr=spreads, label=name, color=colour, capsize=2)
    middle = (len(names) - 1) * width / 2
    axes.set_xticks([row + middle for row in range(len(it.rows))])
    axes.set_xticklabels([row.arguments for row in it.rows], rotation=30, ha="right")
    axes.set_ylabel(f"speed beside {it.reference}")
    axes.legend()
    return figure


def svg(it: Comparison) -> str:
    """The picture as SVG."""
    return _Picture(it).svg()


class _Picture:
    """Where things are in a picture."""

    def __init__(self, it: Comparison) -> None:
        self.it, self.names = it, _names(it)
        most = max(row.speeds[name].median for row in it.rows for name in self.names)
        self.step = _step(most)
        self.top = self.step * (int(most / self.step) + 1)
        self.group = len(self.names) * _BAR + _GAP
        self.bottom = _TOP + _HEIGHT
        self.right = _LEFT + len(it.rows) * self.group + _GAP

    def svg(self) -> str:
        """All of it."""
        width = max(self.right, _LEFT + len(self.names) * _ENTRY)
        height = self.bottom + _BELOW
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="12">'
        )
        parts = [*self.lines(), *self.legend()]
        for number in range(len(self.it.rows)):
            parts += self.row(number)
        return "\n".join([head, *parts, "</svg>", ""])

    def y(self, speed: float) -> float:
        """How high a speed is."""
        return round(self.bottom - _HEIGHT * speed / self.top, 1)

    def lines(self) -> list[str]:
        """The lines behind the bars, with their numbers, and what these are."""
        middle = _TOP + _HEIGHT / 2
        parts = [
            f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
            f"speed beside {html.escape(self.it.reference)}</text>"
        ]
        for number in range(round(self.top / self.step) + 1):
            y = self.y(number * self.step)
            parts += [
                f'<path d="M{_LEFT} {y}H{self.right}" stroke="#ddd"/>',
                f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{number * self.step:g}</text>',
            ]
        return parts

    def legend(self) -> list[str]:
        """Which colour is whose."""
        parts: list[str] = []
        for number, name in enumerate(self.names):
            x = _LEFT + number * _ENTRY
            parts += [
                f'<rect x="{x}" y="8" width="10" height="10" fill="{_colour(number)}"/>',
                f'<text x="{x + 14}" y="17">{html.escape(name)}</text>',
            ]
        return parts

    def row(self, number: int) -> list[str]:
        """A row's bars, and its name."""
        row, left = self.it.rows[number], _LEFT + _GAP + number * self.group
        middle, below = left + len(self.names) * _BAR // 2, self.bottom + 14
        place = f'x="{middle}" y="{below}" transform="rotate(-30 {middle} {below})"'
        parts = [f'<text {place} text-anchor="end">{html.escape(row.arguments)}</text>']
        for number, name in enumerate(self.names):
            speed, x = row.speeds[name], left + number * _BAR
            y, half = self.y(speed.median), _half(speed)
            low = self.y(max(speed.median - half, 0))
            high = self.y(min(speed.median + half, self.top))
            parts += [
                f'<rect x="{x}" y="{y}" width="{_BAR - 2}" height="{round(self.bottom - y, 1)}" '
                f'fill="{_colour(number)}"/>',
                f'<path d="M{x + _BAR // 2 - 1} {low}V{high}" stroke="#333"/>',
            ]
        return parts


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _half(speed: Figure) -> float:
    """Half of the spread of a speed, as a speed."""
    return speed.median * speed.spread / 2


def _names(it: Comparison) -> list[str]:
    return list(it.rows[0].speeds)


def _step(most: float) -> float:
    """The distance of lines: 1, 2 or 5 of some power of ten."""
    rough, power = most / _STEPS, 1.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough)
