# SPDX-License-Identifier: Apache-2.0
"""Classes of a running program that kernels make objects of: their text is captured, with what that
uses, and another text is another variant.
"""

import dataclasses

import numpy as np
import pytest

import kernpack as kp

STEP = 3
vector = kp.fake_tensor(kp.int32, (kp.sym_int("n"),))


class Counter:
    """Counts in steps."""

    FIRST = 10
    limit: kp.Constexpr

    def __init__(self, limit):
        self.limit = limit
        self.n = kp.int32(self.FIRST)

    @staticmethod
    def of(limit):
        return Counter(limit)

    def next(self):
        self.n += STEP
        if self.n > self.limit:
            self.n = kp.int32(0)


@kp.kernel
def count(out):
    counter = Counter.of(16)
    for i in range(out.shape[0]):
        out[i] = counter.n + Counter.FIRST
        counter.next()


@kp.jit
def counted(out):
    count(out).launch(grid=1, block=1)


def numbers(function, n=5):
    """What a function of one result writes, on the interpreter."""
    checked = function.check(np.zeros(n, "int32"))
    assert checked.ok, checked
    return list(checked.arguments[0])


def test_a_class_is_captured_with_what_it_uses(monkeypatch):
    assert numbers(counted) == [20, 23, 26, 10, 13]
    n_variants = len(counted.variants)
    monkeypatch.setitem(globals(), "STEP", 5)
    assert numbers(counted) == [20, 25, 10, 15, 20]
    assert len(counted.variants) == n_variants + 1


BY = [2]


class Adder:
    def more(self, n, by=BY):
        return n + by[0]


@kp.kernel
def add_more(out):
    out[0] = Adder().more(out[0])


@kp.jit
def added(out):
    add_more(out).launch(grid=1, block=1)


def test_a_default_of_a_method_that_changes_is_seen():
    for by in (2, 5):
        BY[0] = by
        assert numbers(added, 1) == [by]


def test_another_class_is_another_variant(monkeypatch):
    assert numbers(counted, 2) == [20, 23]

    class Other:
        FIRST = 1

        def __init__(self, n):
            self.n = kp.int32(n)

        @staticmethod
        def of(n):
            return Other(n)

        def next(self):
            self.n += 1

    monkeypatch.setitem(globals(), "Counter", Other)
    assert numbers(counted, 2) == [17, 18]


def test_a_class_of_a_function_sees_what_is_around_it():
    by = 4

    class Scaled:
        def __init__(self, n):
            self.n = n * by

    @kp.kernel
    def scale(out):
        out[0] = Scaled(kp.int32(2)).n

    @kp.jit
    def scaled(out):
        scale(out).launch(grid=1, block=1)

    assert numbers(scaled, 1) == [8]


def test_constants_and_defaults_are_what_python_has_evaluated():
    def made(first):
        class Made:
            N = first + 1

            def more(self, by=first * 10):
                return self.N + by

        @kp.kernel
        def k(out):
            out[0] = kp.int32(Made().more())

        @kp.jit
        def f(out):
            k(out).launch(grid=1, block=1)

        return f, Made

    (one, its), (two, _) = made(1), made(2)
    assert (numbers(one, 1), numbers(two, 1)) == ([12], [23])
    its.N = 7
    assert numbers(one, 1) == [17]


def test_what_kernels_have_not_is_told_of_a_class():
    @dataclasses.dataclass
    class Data:
        n: int = 3

    @kp.kernel
    def k(out):
        out[0] = Data().n

    @kp.jit
    def f(out):
        k(out).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError) as error:
        f.check(np.zeros(1, "int32"))
    messages = [each["message"] for each in error.value.diagnostics]
    assert "kernels have no decorator of a class" in messages


def test_a_pipeline_is_part_of_the_language():
    @kp.kernel
    def twice(x, out):
        ring = kp.shared(kp.int32, (32, 2))
        load, use = kp.PipelineAsync.create(2, producers=32, consumers=32).make_participants()
        lane = kp.lane_idx()
        for i in range(x.shape[0] // 32):
            if kp.warp_idx() == 0:
                stage = load.acquire_and_advance()
                ring[lane, stage.index] = x[i * 32 + lane] * 2
                stage.commit()
            else:
                stage = use.wait_and_advance()
                out[i * 32 + lane] = ring[31 - lane, stage.index]
                stage.release()

    @kp.jit
    def f(x, out):
        assert x.shape == out.shape and x.shape[0] % 32 == 0
        twice(x, out).launch(grid=1, block=64)

    x = np.arange(96, dtype="int32")
    checked = f.check(x, np.zeros_like(x))
    assert checked.ok
    assert (checked.arguments[1] == x.reshape(3, 32)[:, ::-1].reshape(-1) * 2).all()
