# SPDX-License-Identifier: Apache-2.0
"""Configs of tuned functions: values for their constants and for names that they capture, and which
of them are not worth measuring. Not here: which one wins (`_tuner.py`).
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ._tuning_key import Key, plain

if TYPE_CHECKING:
    from ._emitted import Resources


class Config:
    """Values that a function may be compiled with: `kp.Config(BM=128, STAGES=3)`. Each name is one of
    its constants, or one that it or what it uses captures, as of `f.given`.

    `TypeError`: a value is no number, text, dtype, or tuple of these, and no file can have it.
    """

    def __init__(self, **values: Any) -> None:
        self.values: Mapping[str, Any] = values
        """The values, by their names."""
        self.plain: Mapping[str, Any] = {name: plain(name, each) for name, each in values.items()}
        """The values as files have them: dtypes by their names, tuples as lists."""
        self.text = json.dumps(self.plain, sort_keys=True)
        """The same as one text, which no other config has."""

    @staticmethod
    def grid(**choices: Sequence[Any]) -> list[Config]:
        """A config for each combination of values: `kp.Config.grid(BM=(64, 128), STAGES=(3, 4))` are
        four, the last name changing fastest.
        """
        combined = itertools.product(*choices.values())
        return [Config(**dict(zip(choices, values))) for values in combined]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"kp.Config({self})"

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.values.items())


@dataclasses.dataclass(frozen=True)
class Prune:
    """Which configs are not measured; `prune` makes it."""

    keep: Callable[[Config, Key], bool] | None
    """Whether a config is compiled, for a key."""
    most_registers: int | None
    """Registers of a thread."""
    most_spilled: int | None
    """Bytes that a thread spills."""
    most_shared: int | None
    """Bytes of shared memory that a block asks for."""
    least_occupancy: float | None
    """The share of a multiprocessor's threads, from 0 to 1."""

    def of_config(self, config: Config, key: Key) -> str | None:
        """Why a config is not compiled."""
        return "pruned" if self.keep is not None and not self.keep(config, key) else None

    def of_resources(self, resources: Sequence[Resources]) -> str | None:
        """Why kernels with these resources are not measured."""
        for kernel in resources:
            for what, found, most in (
                ("registers", kernel.registers, self.most_registers),
                ("spilled bytes", kernel.spilled_bytes, self.most_spilled),
                ("bytes of shared memory", kernel.shared_bytes, self.most_shared),
            ):
                if found is not None and most is not None and found > most:
                    return f"pruned: {kernel.kernel} has {found} {what}"
            has, least = kernel.occupancy, self.least_occupancy
            if has is not None and least is not None and has < least:
                return f"pruned: {kernel.kernel} has an occupancy of {has:.2f}"
        return None


def prune(
    keep: Callable[[Config, Key], bool] | None = None,
    *,
    most_registers: int | None = None,
    most_spilled: int | None = None,
    most_shared: int | None = None,
    least_occupancy: float | None = None,
) -> Prune:
    """Says which configs are not measured, for `kp.autotune(prune=…)`.

    `keep(config, key)` is asked before one is compiled. The others are limits for the resources of
    its kernels: registers of a thread, bytes that a thread spills, bytes of shared memory that a
    block asks for, and the least occupancy, from 0 to 1. What nothing tells is within its limit.
    """
    return Prune(keep, most_registers, most_spilled, most_shared, least_occupancy)
