# SPDX-License-Identifier: Apache-2.0
"""Calls of several ranks on the interpreter, and the all-reduce of `examples/kernels`: what it computes
under many schedules, call after call, and mistakes that are planted in it, found at their lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import kernpack as kp

EXAMPLE = Path(__file__).parent.parent / "examples" / "kernels" / "all_reduce.py"

# Writes what is to be added, and adds it, again and again.
AGAIN = """

@kp.kernel
def fill(x, y, rank, turn):
    i = kp.block_idx()[0] * kp.block_dim()[0] + kp.thread_idx()[0]
    if i < x.shape[0]:
        if rank == 0:
            x[i] = kp.float32(i + turn)
        else:
            y[i] = kp.float32(2 * i - turn)


@kp.jit(
    "again("
    "xs: Tuple(Tensor([n], float32, align=16, peer, mut), Tensor([n], float32, align=16, peer, mut)), "
    "flags: Tuple(Tensor([b, 3], int32, peer, mut), Tensor([b, 3], int32, peer, mut)), "
    "out: Tensor([n], float32, align=16, mut), rank: int32) where n % 8 == 0"
)
def again(xs, flags, out, rank):
    for turn in kp.range_constexpr(3):
        fill(xs[0], xs[1], rank, turn).launch(grid=kp.ceil_div(xs[0].shape[0], 512), block=512)
        all_reduce(xs, flags, out, rank)
"""


def _text(change: tuple[str, str] | None = None) -> str:
    text = EXAMPLE.read_text() + AGAIN
    if change is not None:
        assert text.count(change[0]) == 1, change[0]
        text = text.replace(*change)
    return text


def _module(folder: Path, change: tuple[str, str] | None = None) -> Any:
    path = folder / "all_reduce.py"
    path.write_text(_text(change))
    return cast("Any", kp.load(str(path)))


def _calls(n: int, blocks: int, epoch: int = 0, dtype: str = "float32") -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(n)
    xs = tuple(rng.standard_normal(n).astype(dtype) for _ in range(2))
    flags = tuple(np.full((blocks, 3), epoch, np.int32) for _ in range(2))
    return [(xs, flags, np.zeros(n, dtype), rank) for rank in range(2)]


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("n", [0, 8, 4096, 4104, 3 * 4096 + 8])
def test_both_ranks_have_the_sum(n: int, blocks: int) -> None:
    all_reduce = cast("Any", kp.load(str(EXAMPLE))).all_reduce
    for seed in range(20):
        calls = _calls(n, blocks)
        checked = all_reduce.check_ranks(calls, seed=seed)
        assert checked.ok, checked
        x, y = calls[0][0]
        for _, _, out, _ in checked.arguments:
            np.testing.assert_array_equal(out, x + y)


def test_it_may_be_called_again_and_again(tmp_path: Path) -> None:
    again = _module(tmp_path).again
    n = 4104
    i = np.arange(n)
    # Epochs are counted round.
    for epoch in (0, 7, 2**31 - 3):
        for seed in range(10):
            checked = again.check_ranks(_calls(n, 2, epoch), seed=seed)
            assert checked.ok, checked
            for _, flags, out, _ in checked.arguments:
                np.testing.assert_array_equal(out, (3 * i).astype(np.float32))
                expected = np.full((2, 3), epoch + 6, np.int64).astype(np.int32)
                np.testing.assert_array_equal(flags[0], expected)


def _line(text: str, piece: str) -> int:
    lines = [number for number, line in enumerate(text.splitlines(), 1) if piece in line]
    assert len(lines) == 1, (piece, lines)
    return lines[0]


STORE = 'kp.atomic_store(flags[r], (block, rank), epoch, order="release", scope="sys")'
LOAD = 'kp.atomic_load(flags[r], (block, t), order="acquire", scope="sys")'
READS = ("total = xs[0][None, i]", "total += xs[r][None, i]")
FILLS = ("x[i] = kp.float32(i + turn)", "y[i] = kp.float32(2 * i - turn)")


@pytest.mark.parametrize(
    ("change", "code", "lines"),
    [
        # Flags that reach the own GPU alone.
        ((STORE, STORE.replace("sys", "gpu")), "global-race", READS),
        ((LOAD, LOAD.replace("sys", "gpu")), "global-race", READS),
        # Nothing is released or acquired.
        ((STORE, STORE.replace("release", "relaxed")), "global-race", READS),
        ((LOAD, LOAD.replace("acquire", "relaxed")), "global-race", READS),
        # Flags that are accessed plainly.
        ((STORE, "flags[r][block, rank] = epoch"), "global-race", READS),
        ((LOAD, "flags[r][block, t]"), "global-race", ()),
        # No wait at the end before `x` is written again.
        (("    meet(flags, rank, epoch + 2)\n", ""), "global-race", FILLS),
        # No wait at the beginning.
        (("    meet(flags, rank, epoch + 1)\n", ""), "global-race", READS),
        # Epochs that do not go on: flags of the call before are taken for those of this one.
        (
            ("flags[r][block, RANKS] = epoch + 2", "flags[r][block, RANKS] = epoch"),
            "global-race",
            (),
        ),
        (("meet(flags, rank, epoch + 2)", "meet(flags, rank, epoch + 1)"), "global-race", ()),
        # The other threads of the block go on before the flags are seen, or before they have read.
        (
            ("                pass\n    kp.sync_threads()", "                pass"),
            "global-race",
            READS,
        ),
        (("    kp.sync_threads()\n    for r", "    for r"), "global-race", ()),
        # A rank that waits for an epoch that never comes.
        (("- epoch < 0", "- epoch < 1"), "deadlock", ("while kp.atomic_load",)),
        # A rank that tells itself alone.
        (("        if t == r:\n", "        if t == r and r == rank:\n"), "deadlock", ()),
    ],
)
def test_mistakes_are_found_at_their_lines(
    tmp_path: Path, change: tuple[str, str], code: str, lines: tuple[str, ...]
) -> None:
    checked = _module(tmp_path, change).again.check_ranks(_calls(4104, 2))
    text = _text(change)
    found = {(finding.code, finding.line) for finding in checked.findings}
    assert code in {found_code for found_code, _ in found}, checked
    for line in lines:
        assert (code, _line(text, line)) in found, checked
