# SPDX-License-Identifier: Apache-2.0
"""Calls of several ranks on the interpreter; and the all-reduce of `examples/kernels`: what it computes
under many schedules, call after call, and mistakes that are planted in it, found at their lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import kernpack as kp
from test_documents import block, blocks

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
    "out: Tensor([n], float32, align=16, mut), "
    "xs: Tuple(Tensor([n], float32, align=16, peer, mut), Tensor([n], float32, align=16, peer, mut)), "
    "flags: Tuple(Tensor([b, 3], int32, peer, mut), Tensor([b, 3], int32, peer, mut)), "
    "rank: int32) where n % 8 == 0"
)
def again(out, xs, flags, rank):
    for turn in kp.range_constexpr(3):
        fill(xs[0], xs[1], rank, turn).launch(grid=kp.ceil_div(xs[0].shape[0], 512), block=512)
        all_reduce(out, xs, flags, rank)
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
    return [(np.zeros(n, dtype), xs, flags, rank) for rank in range(2)]


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("n", [0, 8, 4096, 4104, 3 * 4096 + 8])
def test_both_ranks_have_the_sum(n: int, blocks: int) -> None:
    all_reduce = cast("Any", kp.load(str(EXAMPLE))).all_reduce
    for seed in range(8):
        calls = _calls(n, blocks)
        checked = all_reduce.check_ranks(calls, seed=seed)
        assert checked.ok, checked
        x, y = calls[0][1]
        for out, _, _, _ in checked.arguments:
            np.testing.assert_array_equal(out, x + y)


def test_it_may_be_called_again_and_again(tmp_path: Path) -> None:
    again = _module(tmp_path).again
    n = 4104
    i = np.arange(n)
    # Epochs are counted round.
    for epoch in (0, 7, 2**31 - 3):
        for seed in range(4):
            checked = again.check_ranks(_calls(n, 2, epoch), seed=seed)
            assert checked.ok, checked
            for out, _, flags, _ in checked.arguments:
                np.testing.assert_array_equal(out, (3 * i).astype(np.float32))
                expected = np.full((2, 3), epoch + 6, np.int64).astype(np.int32)
                for each in flags:
                    np.testing.assert_array_equal(each, expected)


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
        ((LOAD, "flags[r][block, t]"), "global-race", ("while flags[r]",)),
        # No wait at the end before `x` is written again.
        (("    meet(flags, rank, epoch + 2)\n", ""), "global-race", FILLS),
        # No wait at the beginning.
        (("    meet(flags, rank, epoch + 1)\n", ""), "global-race", READS),
        # Epochs that do not go on: flags of the call before are taken for those of this one.
        (
            ("flags[r][block, RANKS] = epoch + 2", "flags[r][block, RANKS] = epoch"),
            "global-race",
            (READS[1], FILLS[0]),
        ),
        (
            ("meet(flags, rank, epoch + 2)", "meet(flags, rank, epoch + 1)"),
            "global-race",
            FILLS[1:],
        ),
        # The other threads of the block go on before the flags are seen, or before they have read.
        (
            ("                pass\n    kp.sync_threads()", "                pass"),
            "global-race",
            READS,
        ),
        (("    kp.sync_threads()\n    for r", "    for r"), "global-race", FILLS),
        # A rank that waits for an epoch that never comes.
        (("- epoch < 0", "- epoch < 1"), "deadlock", ("while kp.atomic_load",)),
        # A rank that tells itself alone.
        (
            ("        if t == r:\n", "        if t == r and r == rank:\n"),
            "deadlock",
            ("while kp.atomic_load",),
        ),
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


def test_the_page_shows_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ranks.py").write_text(block("docs/debugging.md", "python", "def hand_over"))
    exec(block("docs/debugging.md", "python", "check_ranks"), {"kp": kp, "np": np})
    printed = capsys.readouterr().out
    assert printed == "[10, 12]\n"
    assert printed in blocks("docs/debugging.md", "text")


@kp.kernel
def count(x: Any, rank: Any, by: Any) -> None:
    kp.atomic_add(x, 0, x.element_type(rank + by), scope="sys")


@kp.jit
def counted(x: Any, rank: Any, by: Any = 1) -> None:
    count(x, rank, by).launch(grid=2, block=32)


def test_jit_functions_have_ranks_too() -> None:
    x = np.zeros(1, np.int64)
    checked = counted.check_ranks([(x, 1), (x, 2, 5)])
    assert checked.ok
    assert [int(args[0][0]) for args in checked.arguments] == [64 * 2 + 64 * 7] * 2
    assert x[0] == 0
    assert checked.results == (None, None)


def test_results_are_those_of_each_rank(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    own = cast("Any", kp.load(str(tmp_path / "own.py"))).own
    x = np.arange(5, dtype=np.float32)
    checked = own.check_ranks([(x, 1), (x, 2)])
    assert checked.ok
    for rank, result in zip((1, 2), checked.results):
        np.testing.assert_array_equal(result, x + rank)


OWN = """
import kernpack as kp


@kp.kernel
def add(x, y, rank):
    i = kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] + kp.float32(rank)


@kp.jit("own(x: Tensor([n], float32), rank: int32) -> y: Tensor([n], float32)")
def own(x, rank, y):
    add(x, y, rank).launch(grid=1, block=32)
"""


def test_ranks_that_do_not_fit_are_refused() -> None:
    x = np.zeros(1, np.int64)
    with pytest.raises(
        ValueError, match="there is no rank: expected the arguments of one at least"
    ):
        counted.check_ranks([])
    with pytest.raises(TypeError, match="is not the same for all ranks: rank 0 calls .* rank 1"):
        counted.check_ranks([(x, 1), (np.zeros(1, np.int32), 1)])
    function = cast("Any", kp.load(str(EXAMPLE))).all_reduce
    [(out, xs, flags, _), _] = _calls(8, 1)
    with pytest.raises(ValueError, match="there is no rank"):
        function.check_ranks([])
    with pytest.raises(TypeError, match="the ranks pass 4, 3 arguments: expected as many each"):
        function.check_ranks([(out, xs, flags, 0), (out, xs, flags)])
    with pytest.raises(ValueError, match="rank"):
        function.check_ranks([(out, xs, flags, 0), (out, xs, flags, 2)])
    with pytest.raises(kp.CheckError, match="deadlock"):
        function.check_ranks([(out, xs, flags, 0)], strict=True)
