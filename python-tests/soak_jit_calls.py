# SPDX-License-Identifier: Apache-2.0
"""Calls jit functions a million times, and looks whether memory grows, or the number of objects:
calls that go through, calls that are refused, and calls behind a global that has changed.

    soak_jit_calls.py [CALLS]

It needs no GPU: kernels do nothing under the driver of `tests/cuda-stub`.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import warnings
from typing import Any, Callable

sys.modules["torch"] = None  # type: ignore[assignment]

import cuda_stub
import numpy as np

import kernpack as kp

WIDTH = 1
ARRAY = np.zeros(3, "float32")


class Config:
    by = 0.5


CONFIG = Config()


@kp.kernel
def nothing(n, by):
    if n == kp.int64(WIDTH) and by == CONFIG.by:
        kp.sync_threads()


@kp.jit
def called(n, by=1.0, kind: kp.Constexpr = "a"):
    assert n > 0
    nothing(n, by).launch(grid=1, block=32)


@kp.jit("said(n: int64, by: float32 = 1.0) where n > 0")
def said(n, by):
    nothing(n, by).launch(grid=1, block=32)


class Object:
    def __init__(self, width):
        self.width = width

    @kp.jit
    def run(self, n):
        nothing(n + self.width, 2.0).launch(grid=1, block=32)


KEPT = Object(3)


def hit(number: int) -> None:
    called(1 + number % 3)
    said(5, by=2.0)
    called(2, 0.5, kind="ab"[number % 2])
    KEPT.run(4)


def refused(number: int) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: called(-1),
        lambda: said(0),
        lambda: said("text"),
        lambda: called(),
        lambda: called(1, of=2),
        lambda: called(ARRAY),
        lambda: called(object()),
    ]
    try:
        calls[number % len(calls)]()
    except (TypeError, ValueError):
        return
    raise AssertionError("the call was accepted")


def changed(number: int) -> None:
    global WIDTH
    WIDTH = number % 3
    CONFIG.by = (0.5, 1.5)[number % 2]
    called(1)
    said(1)


def gone(number: int) -> None:
    """An object that is gone with what was made for it."""
    Object(number % 2).run(1)


KINDS: dict[str, Callable[[int], None]] = {
    "hits": hit,
    "refused calls": refused,
    "changing globals": changed,
    "objects that are gone": gone,
}
# How much of all calls each kind makes.
SHARES = {
    "hits": 0.6,
    "refused calls": 0.2,
    "changing globals": 0.19,
    "objects that are gone": 0.01,
}


def resident() -> int:
    """Memory of this process, in kB."""
    return int(open("/proc/self/statm").read().split()[1]) * 4


def grown(run: Callable[[int], None], n_calls: int) -> tuple[int, int]:
    """How much memory, in kB, and how many objects more there are behind so many calls."""
    go(run, max(n_calls // 5, 1000))
    memory, objects = resident(), len(gc.get_objects())
    go(run, n_calls)
    return resident() - memory, len(gc.get_objects()) - objects


def go(run: Callable[[int], None], n_calls: int) -> None:
    for number in range(n_calls):
        run(number)
        if number % 500 == 0:
            cuda_stub.forget()
    cuda_stub.forget()
    gc.collect()


def main(n_calls: int) -> int:
    status = 0
    for kind, run in KINDS.items():
        count = int(n_calls * SHARES[kind])
        memory, objects = grown(run, count)
        print(f"{count} {kind}: {memory} kB and {objects} objects more", flush=True)
        # What grows with calls grows by more than this: a pointer for each, and a few objects.
        if memory > 1024 + count // 128 or objects > 50:
            status = 1
    return status


if __name__ == "__main__":
    cuda_stub.begin()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
