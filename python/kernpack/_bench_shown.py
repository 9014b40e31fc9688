# SPDX-License-Identifier: Apache-2.0
"""What was measured, as it is shown: text, a table in Markdown or HTML, JSON."""

from __future__ import annotations

import dataclasses
import html as _html
import json
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ._argument import parts_of

if TYPE_CHECKING:
    from ._bench import Comparison, Figure, Measured

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def seconds(number: float) -> str:
    """A time with three digits: `12.3 µs`."""
    scale, unit = next(
        ((scale, unit) for scale, unit in _UNITS if number >= 0.9995 * scale), _UNITS[-1]
    )
    value = number / scale
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def margin(figure: Figure) -> str:
    """Half of the spread, as it stands behind a figure: `± 1.0 %`."""
    return f"± {50 * figure.spread:.1f} %"


def arguments(args: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Arguments of a call: arrays as their types."""
    named = [f"{name}={_argument(value)}" for name, value in keywords.items()]
    return ", ".join([*map(_argument, args), *named])


def _argument(value: Any) -> str:
    if hasattr(value, "__dlpack_device__"):
        dtype = str(value.dtype).rpartition(".")[2]
        return f"{dtype} [{', '.join(str(int(extent)) for extent in value.shape)}]"
    parts = parts_of(value)
    if parts is not None:
        return f"({arguments(parts, {})})"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def measured(it: Measured) -> str:
    """What `print` shows of a call."""
    rate = f"{it.bandwidth / 1e9:.4g} GB/s of {it.n_bytes / 1e6:.4g} MB"
    beside = f", {it.copy.median:.3f} of a copy" if it.copy is not None else ""
    lines = [
        f"{it.function}({it.arguments})",
        f"  {seconds(it.time.median)} {margin(it.time)}, {rate}{beside}",
        f"  {_footer(it.by, it.caches, it.clocks)}; control {it.control.median:.3f}",
    ]
    return "\n".join(lines)


def comparison(it: Comparison) -> str:
    """The table of a comparison, in Markdown."""
    header, *rows = _table(it)
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{_footer(it.by, it.caches, it.clocks)}"


def html(it: Comparison) -> str:
    """The same in HTML."""
    header, *rows = [[_html.escape(cell) for cell in line] for line in _table(it)]
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    footer = _html.escape(_footer(it.by, it.caches, it.clocks))
    return f"<table><tr>{head}</tr>{body}</table><p>{footer}</p>"


def _table(it: Comparison) -> list[list[str]]:
    """The cells, and those of the header in front of them."""
    names = list(it.rows[0].times)
    others = [name for name in names if name != it.reference]
    header = ["arguments", *names, *(f"{name} beside {it.reference}" for name in others), "control"]
    rows = [
        [
            row.arguments,
            *(seconds(row.times[name].median) for name in names),
            *(_ratio(row.speeds[name]) for name in others),
            _ratio(row.control),
        ]
        for row in it.rows
    ]
    if len(it.rows) > 1:
        means = [f"{it.mean(name):.3f}" for name in others]
        rows.append(["geometric mean", *[""] * len(names), *means, ""])
    return [header, *rows]


def _ratio(figure: Figure) -> str:
    return f"{figure.median:.3f} {margin(figure)}"


def _footer(by: str, caches: str, clocks: Any) -> str:
    watched = f"; {clocks}" if clocks is not None else ""
    return f"by the clock of {by}, {caches} caches{watched}"


def json_of(it: Any) -> str:
    """All fields, with those of what is in them."""
    return json.dumps(dataclasses.asdict(it))
