# SPDX-License-Identifier: Apache-2.0
"""What the accesses of a call ask of memory, as Python is told. The counts themselves are tested with
the interpreter (`crates/kernel-ir/src/interp/tests/traffic.rs`).
"""

import numpy
import pytest
import torch

import kernpack as kp

ROWS, COLUMNS = 4, 256


@kp.kernel
def add_four(x, y):
    i = 4 * kp.thread_idx()[0]
    row = kp.block_idx()[0]
    for j in kp.range_constexpr(4):
        y[row, i + j] = x[row, i + j] + 1.0


@kp.jit(
    "add(x: Tensor([m, 256], float32, align=16), y: Tensor([m, 256], float32, align=16, mut))"
    " where noalias(x, y)"
)
def add(x, y):
    add_four(x, y).launch(grid=x.shape[0], block=64)


@kp.jit(where="noalias(x, y)")
def add_anywhere(x, y):
    assert x.shape == y.shape and x.shape[1] == 256
    add_four(x, y).launch(grid=x.shape[0], block=64)


def arrays():
    x = numpy.ones((ROWS, COLUMNS), "float32")
    return x, numpy.zeros_like(x)


def of(checked):
    assert checked.ok
    return [
        (each.deed, each.tensor, each.memory, each.bytes, each.accesses, each.threads)
        for each in checked.traffic
    ]


def test_accesses_count_as_wide_as_they_become():
    checked = add.check(*arrays(), count=True)
    assert of(checked) == [
        ("writes", "y", "global", 16, 2 * ROWS, 64 * ROWS),
        ("reads", "x", "global", 16, 2 * ROWS, 64 * ROWS),
    ]
    for each in checked.traffic:
        assert each.taken == each.least == ROWS * COLUMNS * 4 // 32
        assert each.kernel == "add_four" and each.file == __file__
    [line] = {each.line for each in checked.traffic}
    assert str(checked).splitlines() == ["nothing found", *map(str, checked.traffic)]
    assert str(checked.traffic[1]) == (
        f"{__file__}:{line}: reads `x`, 16 bytes: 8 times by a warp, 128 sectors, the least"
    )


def test_a_call_that_may_not_take_them_whole_makes_narrow_ones():
    """The interpreter runs the way that a call takes."""
    x, y = arrays()
    assert x.ctypes.data % 16 == y.ctypes.data % 16 == 0
    room = numpy.ones(ROWS * COLUMNS + 1, "float32")
    checked = add_anywhere.check(room[1:].reshape(ROWS, COLUMNS), y, count=True)
    whole = add_anywhere.check(x, y, count=True)
    assert sum(each.threads * each.bytes for each in checked.traffic) == 2 * x.nbytes
    assert {each.bytes for each in whole.traffic} == {16}
    assert {each.bytes for each in checked.traffic} == {4}
    assert all(each.taken > 3 * each.least for each in checked.traffic)


def test_nothing_is_counted_unless_it_is_asked_for():
    assert add.check(*arrays()).traffic == []
    assert str(add.check(*arrays())) == "nothing found"


def test_a_function_of_a_package_and_ranks_are_counted():
    function = kp.compile(add)
    once = of(function.check(*map(torch.from_numpy, arrays()), count=True))
    assert once == of(add.check(*arrays(), count=True))
    ranks = of(function.check_ranks([arrays(), arrays()], count=True))
    assert ranks == [(*each[:4], 2 * each[4], 2 * each[5]) for each in once]
    assert of(add.check_ranks([arrays()], count=True)) == once


def test_what_is_refused_is_so_with_counts_too():
    with pytest.raises(ValueError, match="Mismatched"):
        add.check(arrays()[0], arrays()[1][:2], count=True)
