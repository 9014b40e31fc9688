# SPDX-License-Identifier: Apache-2.0
"""Jit functions with other values for their constants and for names that they capture: what uses
them, what does not, and what is no such name.
"""

import dataclasses
import pickle

import numpy
import pytest

import kernpack as kp

BY, BLOCK = 2.0, 64


@dataclasses.dataclass(frozen=True)
class Tile:
    width: int
    rows: int = 1


TILE = Tile(32)


def offset(width):
    return width * BY


@kp.kernel
def scale_elements(x, y, more: kp.Constexpr):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * BY + offset(TILE.width) * more


@kp.jit
def scale(x, y, more: kp.Constexpr = 1):
    assert x.shape == y.shape
    scale_elements(x, y, more).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit("scale_signed(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def scale_signed(x, y):
    scale_elements(x, y, 1).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


X = numpy.arange(100, dtype="float32")


def of(function, *args):
    """What a call on the interpreter writes, beside `X`: the factor and what is added."""
    checked = function.check(X, numpy.zeros_like(X), *args)
    assert checked.ok, checked
    y = checked.arguments[1]
    return float(y[1] - y[0]), float(y[0])


def test_names_have_other_values_wherever_they_are_used():
    assert of(scale) == (2.0, 64.0)
    # The kernel and the function that it calls use it.
    assert of(scale.given(BY=3.0)) == (3.0, 96.0)
    assert of(scale_signed.given(BY=3.0)) == (3.0, 96.0)
    assert of(scale) == (2.0, 64.0)


def test_a_launch_is_another_one():
    narrow = kp.compile(scale_signed.given(BLOCK=32))
    assert of(scale_signed.given(BLOCK=32)) == (2.0, 64.0)
    assert narrow.metadata["launches"][0]["layout"]["block"] == ["32"]
    assert of(scale_signed.given(BLOCK=32, BY=1.0)) == (1.0, 32.0)


def test_constants_have_other_defaults():
    given = scale.given(more=3)
    assert of(given) == (2.0, 192.0)
    # As of `functools.partial`, a call may still say another.
    assert of(given, 0) == (2.0, 0.0)
    assert given.__signature__.parameters["more"].default == 3
    assert of(scale.given(more=3).given(BY=1.0)) == (1.0, 96.0)
    assert of(scale.given(more=3).given(more=4)) == (2.0, 256.0)


def test_attributes_are_followed_in_what_is_given():
    assert of(scale.given(TILE=Tile(8))) == (2.0, 16.0)


def test_what_is_given_may_change():
    @dataclasses.dataclass
    class Changing:
        width: int

    tile = Changing(8)
    given = scale.given(TILE=tile)
    assert of(given) == (2.0, 16.0)
    tile.width = 4
    assert of(given) == (2.0, 8.0)


def test_what_is_captured_may_change_too(monkeypatch):
    given = scale.given(TILE=Tile(8))
    assert of(given) == (2.0, 16.0)
    monkeypatch.setitem(globals(), "BY", 5.0)
    assert of(given) == (5.0, 40.0)


OTHER = """
import kernpack as kp

BY = 10.0


@kp.kernel
def multiply(x, y):
    i = kp.thread_idx()[0]
    y[i] = x[i] * BY
"""


def test_names_of_other_modules_stay(tmp_path, monkeypatch):
    (tmp_path / "other_module.py").write_text(OTHER)
    monkeypatch.syspath_prepend(tmp_path)
    import other_module

    @kp.jit("times(x: Tensor([100], float32), y: Tensor([100], float32, mut))")
    def times(x, y):
        assert BY > 0
        other_module.multiply(x, y).launch(grid=1, block=100)

    assert of(times.given(BY=3.0)) == (10.0, 0.0)


def made(by):
    @kp.kernel
    def kernel(x, y):
        y[kp.thread_idx()[0]] = x[kp.thread_idx()[0]] * by

    @kp.jit("inner(x: Tensor([100], float32), y: Tensor([100], float32, mut))")
    def inner(x, y):
        kernel(x, y).launch(grid=1, block=100)
        assert by > 0

    return inner


def test_names_of_a_function_around_are_known():
    two, three = made(2.0), made(3.0)
    given = two.given(by=5.0)
    assert [of(each)[0] for each in (two, three, given)] == [2.0, 3.0, 5.0]


def test_functions_that_have_values_are_used_by_others():
    halved, plain = scale_signed.given(BY=0.5), scale_signed

    @kp.jit(
        "twice(x: Tensor([n], float32), y: Tensor([n], float32, mut), z: Tensor([n], float32, mut))"
    )
    def twice(x, y, z):
        halved(x, y)
        plain(x, z)

    checked = twice.check(X, numpy.zeros_like(X), numpy.zeros_like(X))
    _, y, z = checked.arguments
    assert (y == X * 0.5 + 16).all() and (z == X * 2 + 64).all()

    # What is given for the outer one is so for the inner ones, unless they say otherwise.
    @kp.jit("both(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
    def both(x, y):
        plain(x, y)
        assert BY > 0

    assert of(both.given(BY=4.0)) == (4.0, 128.0)


def test_constants_of_functions_that_others_use():
    three = scale.given(more=3)

    @kp.jit("used(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
    def used(x, y):
        three(x, y)

    assert of(used) == (2.0, 192.0)


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    @kp.jit("run(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
    def run(self, x, y):
        scale_elements(x, y, self.factor).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


def test_methods_have_values_too():
    scaler = Scaler(2)
    assert of(scaler.run) == (2.0, 128.0)
    assert of(scaler.run.given(BY=1.0)) == (1.0, 64.0)


def test_they_are_pickled_by_their_names_and_values():
    given = scale.given(BY=3.0, more=2)
    assert of(pickle.loads(pickle.dumps(given))) == of(given) == (3.0, 192.0)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(made(2.0).given(by=3.0))


def test_it_says_what_is_given():
    given = scale.given(BY=3.0, more=2)
    assert repr(given) == "<kernpack jit function scale given BY=3.0, more=2: 0 variants>"
    assert given.name == "scale" and given is not scale


@kp.jit
def leading(x, width: kp.Constexpr, y):
    scale_elements(x, y, width).launch(grid=1, block=BLOCK)


UNUSED = 3


@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        (
            scale,
            {"BX": 3},
            "`scale` is given `BX`, which it does not know: expected a constant of its",
        ),
        (scale, {"x": 3}, "`scale` is given `x`, which is no constant: pass it, or annotate it"),
        (scale_signed, {"x": 3}, "`scale_signed` is given `x`, which its signature has: pass it"),
        (leading, {"width": 3}, "`width` is given, and `y` stands behind it, which has no default"),
    ],
)
def test_what_cannot_be_given(function, values, message):
    with pytest.raises(TypeError, match=message):
        function.given(**values)


def test_what_no_kernel_takes_is_refused_by_the_first_call():
    with pytest.raises(
        TypeError, match="`scale` is given `UNUSED`, which nothing that it uses names"
    ):
        of(scale.given(UNUSED=4))
    with pytest.raises(kp.CompileError, match="no constant of kernels"):
        of(scale.given(BY=X))


def test_the_cache_knows_them_by_their_values():
    first = kp.compile(scale_signed.given(BY=7.0))
    again = kp.compile(scale_signed.given(BY=7.0))
    other = kp.compile(scale_signed.given(BY=8.0))
    assert first.package.path == again.package.path != other.package.path
