# SPDX-License-Identifier: Apache-2.0
"""Jit functions that call each other for what they return, and the memory that they ask for: none of
it is another's.
"""

import numpy as np
import pytest

import kernpack as kp


@kp.kernel
def fill(y, value):
    i = kp.thread_idx()[0]
    if i < y.shape[0]:
        y[i] = value


@kp.kernel
def add_elements(a, b, out):
    i = kp.thread_idx()[0]
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


@kp.jit
def filled(x, value):
    y = kp.empty(x.shape, x.element_type)
    fill(y, value).launch(grid=1, block=32)
    return y


@kp.jit
def add(a, b):
    assert a.shape == b.shape
    out = kp.empty(a.shape, a.element_type)
    add_elements(a, b, out).launch(grid=1, block=32)
    return out


@kp.jit
def on_its_way(x, value):
    y = kp.empty(x.shape, x.element_type)
    if x.shape[0] > 8:
        fill(y, value).launch(grid=1, block=32)
        return y, 1
    fill(y, -1.0).launch(grid=1, block=32)
    return y, 2


def results(function, n=4):
    checked = function.check(np.zeros(n, "float32"))
    assert checked.ok, checked
    results = checked.results if isinstance(checked.results, tuple) else (checked.results,)
    assert all((result == result[0]).all() for result in results)
    return [float(result[0]) for result in results]


def test_what_a_function_returns_has_a_name():
    @kp.jit
    def f(x):
        a = filled(x, 1.0)
        b = filled(x, 2.0)
        total = add(a, b)
        return total, a

    assert results(f) == [3, 1]
    vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))
    made = kp.compile(f, vector)
    assert made.signature == (
        "f(x: Tensor([n], float32)) -> out: Tensor([n], float32), y: Tensor([n], float32)"
    )
    assert made.workspaces == ["y_2: Tensor([n], float32)"]


def test_or_is_returned_or_passed_at_once():
    @kp.jit
    def passed(x):
        return add(filled(x, 1.0), b=filled(x, 2.0))

    @kp.jit
    def launched(x):
        out = kp.empty(x.shape, x.element_type)
        add_elements(filled(x, 3.0), b=filled(x, 4.0), out=out).launch(grid=1, block=32)
        return out, filled(x, 5.0)

    assert results(passed) == [3]
    assert results(launched) == [7, 5]


def test_a_loop_calls_it_in_each_turn():
    @kp.jit
    def f(x):
        total = filled(x, 0.0)
        for i in kp.range_constexpr(3):
            total = add(total, filled(x, i + 1.0))
        return total

    assert results(f) == [6]


@pytest.mark.parametrize("n, expected", [(4, [-1, 2.5]), (12, [5, 1.5])])
def test_each_way_has_its_own_value(n, expected):
    @kp.jit
    def f(x):
        y, number = on_its_way(x, 5.0)
        return y, filled(x, number + 0.5)

    assert results(f, n) == expected


@pytest.mark.parametrize("n, expected", [(4, [-1]), (12, [5])])
def test_ways_that_part_within_a_call_go_on_behind_a_loop(n, expected):
    @kp.jit
    def f(x):
        for value in (4.0, 5.0):
            y, _ = on_its_way(x, value)
        return y

    assert results(f, n) == expected


def test_nobody_has_to_take_it():
    @kp.jit
    def f(x):
        filled(x, 1.0)
        return filled(x, 2.0)

    assert results(f) == [2]


def test_what_returns_nothing_gives_none():
    @kp.jit
    def nothing(y):
        fill(y, 1.0).launch(grid=1, block=32)

    @kp.jit
    def f(y):
        if nothing(y) is None:
            fill(y, 2.0).launch(grid=1, block=32)

    @kp.jit
    def g(y):
        made = nothing(y)
        fill(made, 2.0).launch(grid=1, block=32)

    with pytest.raises(kp.CompileError, match="is called for its value only computes it"):
        f.check(np.zeros(4, "float32"))
    with pytest.raises(kp.CompileError, match="`None` has no `shape`"):
        g.check(np.zeros(4, "float32"))


def test_kernels_call_no_jit_function():
    @kp.kernel
    def k(x):
        filled(x, 1.0)

    @kp.jit
    def f(x):
        k(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError, match="`filled` is a packed function, and kernels do not"):
        f.check(np.zeros(4, "float32"))


def test_methods_and_signatures():
    class Fills:
        def __init__(self, value):
            self.value = value

        @kp.jit
        def fill(self, x):
            return filled(x, self.value)

    seven = Fills(7.0)

    @kp.jit
    def f(x):
        return seven.fill(x)

    @kp.jit
    def tail(y):
        return kp.view(y, kp.make_layout(2))

    @kp.jit("g(y: Tensor([4], float32, mut))")
    def g(y):
        fill(y, 1.0).launch(grid=1, block=32)
        fill(tail(y), 2.0).launch(grid=1, block=32)

    assert results(f) == [7]
    assert g.check(np.zeros(4, "float32")).arguments[0].tolist() == [2, 2, 1, 1]


def test_memory_of_one_name_is_not_shared():
    """Each time that it is asked for."""

    @kp.jit
    def scratch(x):
        y = kp.empty(x.shape, x.element_type)
        fill(y, 7.0).launch(grid=1, block=32)

    @kp.jit
    def f(x):
        y = kp.zeros(x.shape, x.element_type)
        scratch(x)
        z = y
        y = kp.empty(x.shape, x.element_type)
        fill(y, 1.0).launch(grid=1, block=32)
        return z, y

    @kp.jit
    def g(y):
        """A parameter's name, too."""
        old = y
        y = kp.empty(y.shape, y.element_type)
        add_elements(old, filled(old, 3.0), y).launch(grid=1, block=32)
        return y

    assert results(f) == [0, 1]
    assert results(g) == [3]


def test_the_name_of_memory_is_nobody_elses():
    """A called function's memory is `y`, as is a value here."""
    y = 3.0

    @kp.jit
    def passed(x):
        return filled(x, y)

    @kp.jit
    def behind(x):
        z = filled(x, 2.0)
        fill(x, y).launch(grid=1, block=32)
        return add(x, z)

    assert results(passed) == [3]
    assert results(behind) == [5]


def test_memory_of_one_name_and_other_shapes_on_other_ways_is_refused():
    @kp.jit
    def f(x):
        if x.shape[0] > 8:
            y = kp.zeros((8,), x.element_type)
        else:
            y = kp.zeros((9,), x.element_type)
        return y

    with pytest.raises(kp.CompileError, match="`y` is other memory on another way"):
        f.check(np.zeros(4, "float32"))


def test_recursion_is_refused():
    @kp.jit
    def f(x):
        y = f(x)
        return y

    with pytest.raises(kp.CompileError, match="`f` calls itself"):
        f.check(np.zeros(4, "float32"))


def test_a_result_that_nothing_writes_is_told_once():
    @kp.jit
    def f(x):
        y = kp.empty(x.shape, x.element_type)
        return y

    with pytest.raises(kp.CompileError) as raised:
        f.check(np.zeros(4, "float32"))
    [problem] = raised.value.diagnostics
    assert problem["code"] == "unwritten-result"
    assert problem["help"] == "launch a kernel that is passed `y`"
    assert [label["text"] for label in problem["labels"]] == ["this result"]
