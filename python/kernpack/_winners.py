# SPDX-License-Identifier: Apache-2.0
"""Winners in a file that ships beside its kernels, `tuned.toml`: for each function a table for each
device and key, with the config that won. People read it, and review it in a diff.

A table without a key has the config for all other keys. Not here: who finds winners (`_tuner.py`),
and when they are asked for (`_tuned.py`).
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence

from . import _native
from ._argument import is_dict, is_list
from ._module import publish

_HEAD = """\
# What `kernpack tune` has found: the config that won, for each device and key. `seconds` are those of
# a call with cold caches, and `kernel` is a hash of the text that was measured.
"""


class Winner(NamedTuple):
    """The config that won for some calls of a function on a device."""

    function: str
    device: str
    kernel: str
    """A hash of the text of the function and all that it uses."""
    signature: str | None
    """The signature of these calls, where the function has none of its own."""
    key: Mapping[str, Any] | None
    """What the calls have; None: what no other table names."""
    config: Mapping[str, Any]
    seconds: float | None

    @property
    def calls(self) -> tuple[str, str, str | None, str]:
        """What it is found by."""
        key = json.dumps(self.key, sort_keys=True)
        return self.function, self.device, self.signature, key


def read(path: Path) -> list[Winner]:
    """The winners of a file; none where there is no file. `ValueError` says what is wrong with it."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    try:
        tables = _native.read_toml(text)
    except ValueError as error:
        raise ValueError(f"{path} is no file of winners: {error}") from None
    found: list[Winner] = []
    for function, given in tables.items():
        if not is_list(given):
            raise ValueError(f"{path}: expected tables `[[{function}]]`")
        for number, table in enumerate(given, 1):
            found.append(_winner(f"{path}: table {number} of `{function}`", function, table))
    return found


_FIELDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "device": ((str,), "a text"),
    "kernel": ((str,), "a text"),
    "signature": ((str,), "a text"),
    "key": ((dict,), "a table"),
    "config": ((dict,), "a table"),
    "seconds": ((int, float), "a number"),
}
_NEEDED = ("device", "kernel", "config")


def _winner(where: str, function: str, table: Any) -> Winner:
    if not is_dict(table):
        raise ValueError(f"{where} is no table")
    for name, value in table.items():
        if name not in _FIELDS:
            raise ValueError(f"{where} has `{name}`: expected {', '.join(_FIELDS)}")
        kinds, shown = _FIELDS[name]
        if not isinstance(value, kinds):
            raise ValueError(f"{where} has {value!r} for `{name}`: expected {shown}")
    for name in _NEEDED:
        if name not in table:
            raise ValueError(f"{where} has no `{name}`")
    return Winner(
        function,
        table["device"],
        table["kernel"],
        table.get("signature"),
        table.get("key"),
        table["config"],
        table.get("seconds"),
    )


def merge(known: Sequence[Winner], found: Sequence[Winner]) -> list[Winner]:
    """Winners with others, which stand in place of those that are for the same calls. Those of a
    function on a device that are of another text are gone.
    """
    renewed = {(each.function, each.device): each.kernel for each in found}
    kept = [
        each
        for each in known
        if renewed.get((each.function, each.device), each.kernel) == each.kernel
    ]
    table = {each.calls: each for each in [*kept, *found]}
    # A device has its tables together, and the one for all other keys last.
    return sorted(table.values(), key=lambda each: (each.function, each.device, each.key is None))


def write(path: Path, winners: Sequence[Winner]) -> None:
    """Writes a file of winners, or leaves the one that is there. Comments above all tables stay."""
    publish(path, "\n".join([_head(path), *map(_table, winners)]).encode())


def _head(path: Path) -> str:
    """The comments that a file begins with, or those of a new one."""
    if not path.exists():
        return _HEAD
    lines = path.read_text("utf-8").splitlines(keepends=True)
    return "".join(itertools.takewhile(lambda line: line.startswith("#"), lines)) or _HEAD


def _table(winner: Winner) -> str:
    fields = {
        "device": winner.device,
        "kernel": winner.kernel,
        "signature": winner.signature,
        "key": winner.key,
        "config": winner.config,
        "seconds": None if winner.seconds is None else float(f"{winner.seconds:.3g}"),
    }
    lines = [f"{name} = {_value(value)}" for name, value in fields.items() if value is not None]
    return "\n".join([f"[[{_name(winner.function)}]]", *lines, ""])


def _value(value: Any) -> str:
    """A value in one line of TOML: texts, numbers and lists are written as in JSON."""
    if is_dict(value):
        inner = ", ".join(f"{_name(name)} = {_value(each)}" for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if is_list(value):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
