# SPDX-License-Identifier: Apache-2.0
"""Functions that kernels and jit functions are made of: decorators above and below, classes,
parameters, and where their texts come from. What they capture is in `test_jit.py`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import importlib
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
import types
import typing
import weakref
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
import tvm_ffi

import kernpack as kp

X = np.zeros(2, "float32")


@kp.kernel
def put(x, value):
    x[0] = value


def stores(function) -> float:
    """What a jit function stores."""
    checked = function.check(X)
    assert checked.ok
    return float(checked.arguments[0][0])


def refused(function) -> str:
    """What is said of a jit function that cannot be compiled."""
    with pytest.raises(kp.CompileError) as caught:
        function.check(X)
    return str(caught.value)


def launching(kernel):
    """A jit function that launches a kernel."""

    @kp.jit
    def f(x):
        kernel(x).launch(grid=1, block=1)

    return f


def calling(helper):
    """A jit function whose kernel stores what a function makes of 1."""

    @kp.kernel
    def k(x):
        x[0] = helper(x[0] + 1.0)

    return launching(k)


def noted(function):
    @functools.wraps(function)
    def inner(*args, **keywords):
        return function(*args, **keywords)

    return inner


class Counted:
    """A decorator that is a class."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.n_calls = 0

    def __call__(self, *args):
        self.n_calls += 1


# Decorators


@pytest.mark.parametrize("decorator", [noted, Counted, functools.lru_cache(maxsize=None)])
def test_decorators_stand_above_and_below(decorator):
    by = 3.0

    @decorator
    @kp.kernel
    def above(x):
        x[0] = by

    @kp.kernel
    @decorator
    def below(x):
        x[0] = by + 1.0

    @decorator
    def helper(a):
        return a + by

    @decorator
    @kp.jit
    def inner(x):
        put(x, by + 4.0).launch(grid=1, block=1)

    @kp.jit
    @decorator
    def outer(x):
        inner(x)

    assert [stores(launching(above)), stores(launching(below))] == [3.0, 4.0]
    assert [stores(calling(helper)), stores(outer)] == [4.0, 7.0]


def test_a_function_that_decorators_wrap_is_looked_for_in_its_own_names():
    def made(factor):
        @noted
        @noted
        def helper(a):
            return a * factor

        return helper

    assert [stores(calling(made(factor))) for factor in (2.0, 5.0)] == [2.0, 5.0]


def test_a_kernel_is_no_jit_function_and_a_jit_function_no_kernel():
    with pytest.raises(TypeError, match="`put` is a kernel: a jit function launches it"):
        kp.jit(noted(put))
    with pytest.raises(TypeError, match="`f` is a jit function, which launches kernels"):
        kp.kernel(launching(put))


@pytest.mark.parametrize("what", [len, int, 3, np.sin, [].append, functools.partial(put), kp])
def test_what_is_no_function_of_pythons_is_told(what):
    kind = type(what).__name__
    for decorator, made in ((kp.kernel, "a kernel"), (kp.jit, "a jit function")):
        expected = f"expected a function that is written in Python, got {kind}: .*; write {made}"
        with pytest.raises(TypeError, match=expected):
            decorator(what)


def test_calls_that_are_no_functions_are_told_where_they_are():
    message = refused(calling(functools.partial(lambda a, b: a + b, b=1.0)))
    assert "this is a functools.partial, which is no constant" in message
    assert "help: call what it calls" in message
    assert "x[0] = helper(x[0] + 1.0)" in message


# Classes


class Methods:
    width = 2.0

    @kp.kernel
    @staticmethod
    def static_below(x):
        x[0] = 5.0

    @staticmethod
    @kp.kernel
    def static_above(x):
        x[0] = 6.0

    @kp.kernel
    @classmethod
    def class_below(cls, x):
        x[0] = cls.width

    @kp.kernel
    def bound(self, x):
        x[0] = self.doubled(self.width)

    def doubled(self, by):
        return 2.0 * by + self.width

    @kp.jit
    @staticmethod
    def run_static(x):
        Methods.static_below(x).launch(grid=1, block=1)

    @staticmethod
    @kp.jit
    def run_static_above(x):
        Methods.static_above(x).launch(grid=1, block=1)

    @kp.jit
    @classmethod
    def run_class(cls, x):
        cls.class_below(x).launch(grid=1, block=1)

    @kp.jit("run_said(x: Tensor([n], float32, mut))")
    @classmethod
    def run_said(cls, x):
        cls.class_below(x).launch(grid=1, block=1)

    @kp.jit
    def run(self, x):
        self.bound(x).launch(grid=1, block=1)


class Wide(Methods):
    width = 7.0


def test_static_methods_and_those_of_classes():
    for of in (Methods, Methods()):
        assert [stores(of.run_static), stores(of.run_static_above)] == [5.0, 6.0]
    for of in (Wide, Wide()):
        assert [stores(of.run_class), stores(of.run_said), stores(Methods.run_class)] == [7, 7, 2]
    assert Wide.run_class is Wide().run_class is not Methods.run_class
    Wide.width = 8.0
    assert stores(Wide.run_class) == 8.0
    Wide.width = 7.0


def test_methods_of_python_are_functions_of_kernels():
    narrow, wide = Methods(), Wide()
    assert [stores(narrow.run), stores(wide.run)] == [6.0, 21.0]
    wide.width = 1.0
    assert stores(wide.run) == 3.0


class Scale:
    def __init__(self, width):
        self.width = width

    def scaled(self, a):
        return a * self.width


class Scales:
    one = property(lambda self: Scale(2.0))
    two = property(lambda self: Scale(3.0))
    three = property(lambda self: Scale(4.0))


def test_methods_of_objects_that_nobody_keeps_are_told_apart():
    of = Scales()
    helper = lambda a: of.one.scaled(a) + of.two.scaled(10.0) + of.three.scaled(100.0)  # noqa: E731
    assert stores(calling(helper)) == 432.0


def test_a_method_is_gone_with_its_object():
    wide = Wide()
    assert stores(wide.run) == 21.0
    gone = [weakref.ref(each) for each in (wide, wide.run, wide.bound)]
    assert wide.run is wide.run and wide.bound is wide.bound
    del wide
    gc.collect()
    assert [each() for each in gone] == [None] * 3


def test_an_object_keeps_each_of_its_methods():
    wide = Wide()
    run, bound = wide.run, wide.bound
    assert wide.run is run and wide.bound is bound


def test_a_method_keeps_its_object():
    run = Wide().run
    gc.collect()
    assert stores(run) == 21.0
    # Nobody else has this one.
    assert Wide().run.check(X).arguments[0][0] == 21.0


def test_copies_of_an_object_have_methods_of_their_own():
    one = Wide()
    one.width = 3.0
    assert stores(one.run) == 9.0
    copies = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    for number, other in enumerate(copies):
        other.width = float(number)
        assert other.run is not one.run and other.run.owner is other
        assert stores(other.run) == 3.0 * number
    assert one.run.owner is one and stores(one.run) == 9.0


class Slotted:
    __slots__ = ("width",)

    def __init__(self, width):
        self.width = width

    @kp.kernel
    def put(self, x):
        x[0] = self.width

    @kp.jit
    def run(self, x):
        self.put(x).launch(grid=1, block=1)


class Named(NamedTuple):
    width: float

    @kp.jit
    def run(self, x):
        put(x, self.width).launch(grid=1, block=1)


def test_objects_that_can_keep_nothing_have_methods():
    for made in (Slotted, Named):
        one, two = made(1.0), made(2.0)
        assert [stores(one.run), stores(two.run), stores(one.run)] == [1.0, 2.0, 1.0]
        assert one.run is one.run is not two.run


def test_of_objects_that_can_keep_nothing_few_are_kept():
    class Weak(Slotted):
        __slots__ = ("__weakref__",)

    made = [weakref.ref(each) for each in (Weak(number) for number in range(40)) if each.run]
    gc.collect()
    assert sum(each() is not None for each in made) == 16
    held = [Slotted(number) for number in range(40)]
    runs = [each.run for each in held]
    # Those that were used last.
    assert held[-1].run is runs[-1] and held[0].run is not runs[0]


def test_a_check_takes_what_stands_for_tuples():
    class Both(NamedTuple):
        first: float
        rest: tuple

    @dataclasses.dataclass
    class Fields:
        first: float
        rest: list

    @kp.kernel
    def put_sum(x, a, b):
        x[0] = a + b

    @kp.jit
    def f(x, p):
        put_sum(x, p[0], p[1][0]).launch(grid=1, block=1)

    half = np.float32(0.5)
    for given in [(2.0, (half,)), [2.0, [half]], Both(2.0, (half,)), Fields(2.0, [half])]:
        assert f.check(X, given).arguments[0][0] == 2.5


def test_kernels_are_equal_where_function_and_object_are():
    one, two = Slotted(1.0), Slotted(1.0)
    kernel = Slotted.put
    made = [kernel._of(one), kernel._of(one), kernel._of(two), kernel, launching, put]
    assert made[0] == made[1] and hash(made[0]) == hash(made[1])
    assert [made[0] == other for other in made[2:]] == [False] * 4
    assert made[0] != one


def test_a_method_finds_nothing_changed_while_nothing_is():
    """Each look at a method of Python's makes another object."""
    wide = Wide()
    assert stores(wide.run) == 21.0
    renewed = []
    wide.run._are_the_same = lambda: renewed.append(1) or True
    with pytest.raises(ValueError, match="expected cuda, got cpu"):
        wide.run(X)
    assert renewed == []


# Functions in functions


def test_a_default_is_what_it_was_where_the_function_was_defined():
    made = []
    for width in (1.0, 2.0):

        @kp.kernel
        def k(x, width=width, *, more=width * 10.0):
            x[0] = width + more

        made.append(launching(k))
    helpers = [lambda a, by=by: a * by for by in (3.0, 4.0)]
    del width
    assert [stores(each) for each in made] == [11.0, 22.0]
    assert [stores(calling(each)) for each in helpers] == [3.0, 4.0]


def test_a_default_that_no_kernel_can_hold_is_told_where_it_is_used():
    @kp.kernel
    def k(x, of=X):
        x[0] = of

    message = refused(launching(k))
    assert "this is a numpy.ndarray, which is no constant of kernels" in message
    assert "def k(x, of=X):" in message


def test_a_default_that_changes_is_compiled_for_anew():
    sizes = [1.0]

    @kp.kernel
    def k(x, by=sizes):
        x[0] = by[0]

    f = launching(k)
    assert stores(f) == 1.0
    sizes[0] = 4.0
    assert stores(f) == 4.0


def test_a_check_goes_by_its_seed():
    @kp.kernel
    def k(x):
        x[0] = kp.float32(kp.thread_idx()[0])

    @kp.jit
    def f(x):
        k(x).launch(grid=1, block=256)

    last = [f.check(X, seed=seed).arguments[0][0] for seed in range(8)]
    assert len(set(last)) > 1 and f.check(X).arguments[0][0] == last[0]
    assert f.check(X).findings[0].code == "global-race"


def test_recursion_is_told_with_its_place():
    @kp.jit
    def itself(x):
        itself(x)

    @kp.jit
    def one(x):
        other(x)

    @kp.jit
    def other(x):
        one(x)

    @kp.kernel
    def k(x):
        k(x)

    table = {}

    def helper(a):
        return table["again"](a)

    table["again"] = helper
    assert "`itself` calls itself" in refused(itself)
    assert "a function that calls itself" in refused(one)
    assert "`k` is a kernel, and kernels do not call it" in refused(launching(k))
    message = refused(calling(helper))
    assert "a function that calls itself" in message and 'return table["again"](a)' in message


def test_functions_behind_very_many_others_are_told():
    def behind(inner):
        def outer(a):
            return inner(a)

        return outer

    deepest = functools.reduce(lambda inner, _: behind(inner), range(400), lambda a: a)
    message = refused(calling(deepest))
    assert "nested too deeply" in message or "a function behind more than 64 others" in message


@pytest.mark.parametrize("levels", [40, 4000, None])
def test_values_that_are_too_deep_are_told(levels):
    value = [1.0]
    if levels is None:
        value.append(value)
    else:
        for _ in range(levels):
            value = (value,)

    @kp.kernel
    def k(x):
        x[0] = value[0]

    message = refused(launching(k))
    assert "a value within more than 16 others, or within itself" in message


# Parameters, and functions of other kinds


def test_parameters_by_position_and_by_keyword_alone():
    def helper(a, /, b, *, c):
        return a + b + c

    @kp.kernel
    def k(x, by, /, *, more):
        x[0] = helper(by, 1.0, c=more)

    @kp.jit
    def f(x, by, /, more=2.0):
        k(x, by, more=more).launch(grid=1, block=1)

    assert f.check(X, 10.0).arguments[0][0] == 13.0
    assert f.check(X, 10.0, more=3.0).arguments[0][0] == 14.0
    assert len(f.variants) == 1


@pytest.mark.parametrize(
    ("parameters", "shown", "instead"),
    [
        ("x, *rest", r"\*rest", "name each argument"),
        ("x, **rest", r"\*\*rest", "name each argument"),
        ("x, *, by", r"\*, by", r"write it without `\*`"),
    ],
)
def test_parameters_that_jit_functions_have_not(parameters, shown, instead):
    with pytest.raises(TypeError, match=f"`f` takes `{shown}`, which jit .*: {instead}"):
        kp.jit(said(f"def f({parameters}):\n    pass\n")["f"])


def said(text: str, file: str | None = None, **names) -> dict[str, object]:
    """The names of a text that `linecache` has."""
    file = file or f"<said {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kp": kp, "put": put, **names}
    exec(compile(text, file, "exec"), scope)
    return scope


@pytest.mark.parametrize(
    ("name", "why"),
    [("row", "`row` is a keyword"), ("float32", "is a dtype"), ("größe", "unexpected character")],
)
def test_names_that_signatures_have_not(name, why):
    function = said(f"def f({name}):\n    pass\n")["f"]
    with pytest.raises(TypeError, match=f"names of `f` and its parameters are no .*{why}"):
        kp.jit(function)


class Said(NamedTuple):
    a: kp.int8
    b: object


@dataclasses.dataclass
class Fields:
    a: kp.int8
    b: kp.float16


@pytest.mark.parametrize(
    ("parameters", "args", "signature"),
    [
        ("x: kp.float16", (np.float32(2),), "x: float16)"),
        ("x: Annotated[float, kp.float16]", (2.0,), "x: float16)"),
        ("x: Annotated[float, 'a text']", (2.0,), "x: float32)"),
        ("x: Annotated[float, 'a text', kp.fake_stream()]", (2.0,), "x: Stream)"),
        ("x: np.ndarray, y: 'unknown', z: int", (1, 2.0, True), "x: int64, y: float32, z: int64)"),
        ("x: kp.fake_tensor(kp.int8, (4,))", (None,), "x: None)"),
        ("x: kp.pointer()", (None,), "x: Pointer)"),
        ("x, y=1, z=True", (1,), "x: int64, y: int64 = 1, z: bool = True)"),
        ("x, y=1, z=True", (1, 2.0, False), "x: int64, y: float32, z: bool = True)"),
        ("x, y=1, z=True", (1, 2, 3.0), "x: int64, y: int64, z: float32)"),
        ("x: kp.uint8 = 1, y: kp.bfloat16 = 2.0", (3,), "x: uint8 = 1, y: bfloat16 = 2.0)"),
        ("x: kp.uint8 = 1, y: kp.bfloat16 = 2.0", (3, 4.0), "x: uint8 = 1, y: bfloat16 = 2.0)"),
        ("x: kp.int8 = 1.5", (3,), "x: int8)"),
        ("x: kp.fake_stream()", (1.5,), "x: Stream)"),
        ("x: kp.Constexpr = 1.5, y=None, z='a'", (), 'x: 1.5 = 1.5, y: None = None, z: "a" = "a")'),
        ("x: kp.Constexpr[int]", (np.int8(3),), "x: 3)"),
        ("x: kp.Constexpr", (2.5,), "x: 2.5)"),
        ("x: kp.Constexpr", (kp.float16,), "x: DataType) where x in {float16}"),
        ("x", (tvm_ffi.Shape((1, 2)),), "x: Shape([n0, n1]))"),
        ("x", ((1, (np.float16(2), np.int8(3))),), "x: Tuple(int64, Tuple(float16, int8)))"),
        ("x", ((),), "x: Tuple())"),
        ("x: Tuple[kp.int8, kp.float16]", ((1, 2.0),), "x: Tuple(int8, float16))"),
        ("x: Tuple[kp.int8]", ((1, 2.0),), "x: Tuple(int8, float32))"),
        ("x: Said", ((1, 2.0),), "x: Tuple(a: int8, b: float32))"),
        ("x: Said", (Fields(1, 2.0),), "x: Tuple(a: int8, b: float32))"),
        ("x: Fields", ((1, 2.0),), "x: Tuple(a: int8, b: float16))"),
        ("x: Fields", ((1, 2.0, 3),), "x: Tuple(int64, float32, int64))"),
        ("x", (Said(1, 2),), "x: Tuple(a: int64, b: int64))"),
        ("x", ("float16",), "x: DataType) where x in {float16}"),
        (
            "x, y: kp.Constexpr = torch.int8",
            (1,),
            "x: int64, y: DataType = int8) where y in {int8}",
        ),
    ],
)
def test_what_a_parameter_is_without_a_signature(parameters, args, signature):
    names = {"Annotated": typing.Annotated, "Tuple": typing.Tuple, "np": np, "torch": torch}
    function = said(f"def f({parameters}):\n    pass\n", Said=Said, Fields=Fields, **names)["f"]
    assert kp.jit(function).warmup(*args).signature == f"f({signature}"


@pytest.mark.parametrize("default", [kp.float16, torch.float16, np.float16, "float16"])
def test_a_default_may_be_a_dtype(default):
    @kp.jit
    def f(n, of=default, more=1):
        assert n == of.width

    f(16), f(16, more=3), f(16, kp.float16), f(32, torch.float32), f(32, of="float32")
    with pytest.raises(ValueError, match="expected"):
        f(32)


def test_arguments_that_are_nothing_of_kernels_are_told():
    @kp.jit
    def f(x, y=1):
        pass

    with pytest.raises(TypeError, match="`y` is given a Python object, which functions without a"):
        f.warmup(1, object())
    for given, name in (((1, object()), "x"), (Said(1, object()), "b")):
        with pytest.raises(TypeError, match=f"`{name}` is given a Python object, which functions"):
            f.warmup(given)
    with pytest.raises(
        TypeError, match=r"^Expected 1 to 2 arguments when calling: `f\(x, y\)`, got 0"
    ):
        f.warmup()
    with pytest.raises(TypeError, match="got 3"):
        f.warmup(1, 2, 3)
    with pytest.raises(
        TypeError, match=r"the default \[1\] is none of functions without a signature"
    ):
        kp.jit(said("def f(x=[1]):\n    pass\n")["f"]).warmup()


def test_calls_and_checks_of_one_kind_are_one_variant():
    """The dispatcher writes the classes of a call in its own way."""

    @kp.jit
    def f(n, mode: kp.Constexpr = "a"):
        y = kp.empty((4,), kp.float32)
        put(y, 1.0).launch(grid=n, block=1)

    f.check(3, "b")
    f._miss('[ "int",{"text":"b"}]', 0)
    assert len(f.variants) == 1


def test_what_is_returned_is_that_of_the_variant_that_was_called():
    @kp.jit
    def f(n, mode: kp.Constexpr):
        y = kp.empty((4,), kp.float32)
        put(y, 1.0).launch(grid=1, block=1)
        if mode == 1:
            return y
        z = kp.empty((4,), kp.float32)
        put(z, 2.0).launch(grid=1, block=1)
        if mode == 2:
            return y, z
        return z, y

    f.check(3, 1)
    assert f._finish("one", (3, 1), ()) == "one"
    f.check(3, 2)
    assert f._finish("one", (3, 1), ()) == "one"
    assert f._finish(["one", "two"], (3, 2), ()) == ("one", "two")
    assert f._finish("one", (3,), {"mode": 1}) == "one"
    f.check(3, 3)
    for mode, names in ((2, ("y", "z")), (3, ("z", "y"))):
        assert f._finish(["one", "two"], (3, mode), ())._fields == names
    assert len(f.variants) == 3
    g = kp.jit(f.function)
    g.check(3, 2), g.check(3, 3)
    # As many of other names.
    assert g._finish(["one", "two"], (3, 2), ())._fields == ("y", "z")


@pytest.mark.parametrize("parameters", ["x, *rest", "x, **rest"])
def test_parameters_that_kernels_have_not(parameters):
    k = kp.kernel(said(f"def k({parameters}):\n    x[0] = 1.0\n")["k"])
    shown = "**kwargs" if "**" in parameters else "*args"
    assert f"kernels have no `{shown}`" in refused(launching(k))


def test_asynchronous_functions_and_generators_are_refused():
    async def coroutine(x):
        x[0] = 1.0

    async def generator(x):
        yield x

    def values(x):
        yield x

    for function in (coroutine, generator):
        for decorator in (kp.kernel, kp.jit):
            with pytest.raises(TypeError, match="` is an async function: write `def`"):
                decorator(function)
        assert "is an async function: write `def`" in refused(calling(function))
    expected = "kernels have no `yield`"
    assert expected in refused(kp.jit(values)) and expected in refused(calling(values))
    assert expected in refused(launching(kp.kernel(values)))


def test_lambdas_are_functions_and_no_kernels():
    with pytest.raises(TypeError, match="a lambda has no statements: write a kernel as a `def`"):
        kp.kernel(lambda x: x)


def test_a_lambda_may_be_a_jit_function():
    f = kp.jit(lambda x: put(x, 5.0).launch(grid=1, block=1))
    assert stores(f) == 5.0


def test_lambdas_of_one_line_are_told_apart():
    by = 2.0
    # fmt: off
    add, take, bound = (lambda a: a + 1.0), (lambda a: a - 1.0), (lambda a: a - by)
    same, again = (lambda a: a + 1.0), (lambda a: (a + 1.0))
    # fmt: on
    assert [stores(calling(each)) for each in (add, take, bound)] == [2.0, 0.0, -1.0]
    assert "has 2 lambdas like it" in refused(calling(same)) and again(1.0) == 2.0


def test_a_lambda_within_another_is_told_from_it():
    within, default = (lambda: lambda a: a + 4.0)(), (lambda of=lambda a: a + 5.0: of)()
    assert [stores(calling(each)) for each in (within, default)] == [5.0, 6.0]


# Texts


def module_of(text: str, folder: Path, name: str) -> types.ModuleType:
    """A module of that text, which begins with kernpack's import, found on the path."""
    write(folder / f"{name}.py", text)
    return importlib.import_module(name)


def write(path: Path, text: str) -> None:
    path.write_text("import kernpack as kp\n" + textwrap.dedent(text))
    # Python keeps modules compiled by the second.
    stamp = path.stat().st_mtime + len(text)
    os.utime(path, (stamp, stamp))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


MODULE = """
    def helper(a):
        return a + {0}

    @kp.kernel
    def k(x):
        x[0] = helper({0})

    @kp.jit
    def f(x):
        k(x).launch(grid=1, block=1)
    """


def test_a_module_that_is_reloaded(folder):
    module = module_of(MODULE.format(1.0), folder, "behaves_reloaded")
    first = module.f
    assert stores(first) == 2.0
    write(folder / "behaves_reloaded.py", "\n\n" + textwrap.dedent(MODULE.format(3.0)))
    # The text that was read is the one that runs.
    assert stores(first) == 2.0
    assert importlib.reload(module) is module
    assert stores(module.f) == 6.0
    # Names are those of the module, whose dict it is still: the kernel, and what that calls.
    assert stores(first) == 6.0


def test_a_file_that_is_edited_later(folder):
    text = textwrap.dedent(MODULE.format(1.0)) + "\ndef lone(a):\n    return a * 2.0\n"
    text += "short = lambda a: a * 3.0\n"
    text += "def outer():\n def before(a): return a\n\n def inner(a): return a * 4.0\n"
    text += " return inner\ninner = outer()\n"
    module = module_of(text, folder, "behaves_edited")
    path = folder / "behaves_edited.py"
    write(path, text.replace("2.0", "9.0").replace("helper(1.0)", "helper(8.0)"))
    # A function that was not read yet cannot be read any more; one that is as it was can.
    message = refused(calling(module.lone))
    assert "it was edited, and has not been imported anew" in message
    assert stores(module.f) == 2.0
    write(path, "\n\n" + text)
    assert "the text of `lone` cannot be read from" in refused(calling(module.lone))
    assert "has 0 lambdas like it" in refused(calling(module.short))
    assert "of it does not define it any more" in refused(calling(module.inner))
    for other in ("a: a * 5.0", "a: a + 3.0", "a, a: a * 3.0"):
        write(path, text.replace("a: a * 3.0", other))
        assert "has 0 lambdas like it" in refused(calling(module.short))
    write(path, text + "def broken(:\n")
    assert "the text of `<lambda>` cannot be read from" in refused(calling(module.short))
    write(path, text)
    assert stores(calling(module.short)) == 3.0


def test_findings_show_the_text_that_was_read(folder):
    text = """
        @kp.kernel
        def k(x):
            x[5] = 1.0  # as it was

        @kp.jit
        def f(x):
            k(x).launch(grid=1, block=1)
        """
    module = module_of(text, folder, "behaves_found")
    write(folder / "behaves_found.py", "# nothing of it is left\n" * 40)
    (finding,) = module.f.check(X).findings
    assert "x[5] = 1.0  # as it was" in finding.text
    assert (Path(finding.file).name, finding.line) == ("behaves_found.py", 5)


def test_findings_show_the_function_that_is_checked():
    """Programs that say the same are one package, wherever they stand."""

    def made(file):
        text = "@kp.kernel\ndef k(x):\n    x[7] = 1.0\n\n\n@kp.jit\ndef f(x):\n"
        return said(text + "    k(x).launch(grid=1, block=1)\n", file)["f"]

    one, two = made("<one>"), made("<two>")
    shown = [each.check(X).findings[0].file for each in (one, two, one)]
    assert shown == ["<one>", "<two>", "<one>"]


def test_the_text_of_a_function_is_told_from_others():
    """By the code that Python has compiled, wherever it stands."""
    text = textwrap.dedent(
        """
        def outer(scale):
            def own(a, b=1):
                values = [each * scale for each in (a, b, None, "text")]
                return max(values, key=lambda each: each + scale) if a > 0x10 else own
            return own
        """
    )
    own = said(text)["outer"](2.0).__code__
    is_that = kp._source.is_that
    assert is_that(own, text) and is_that(own, text.replace("0x10", "16") + "def other(): pass\n")
    changes = [("0x10", "17"), ("b=1", "b, c"), ("* scale", "* b"), ("> ", ">= ")]
    changes += [('"text"', '"texts"'), ("max", "min"), ("else own", "else a"), ("each +", "each -")]
    for old, new in [*changes, ("def outer", "\ndef outer")]:
        assert old in text and not is_that(own, text.replace(old, new)), new
    assert not is_that(own, text + "def broken(:\n")
    # Annotations are no texts, as they are here and in the module that reads this.
    text = "def outer():\n    def own():\n        def inner(a: int) -> bool: ...\n    return own\n"
    scope = {}
    exec(compile(text, "<own>", "exec", dont_inherit=True), scope)
    assert is_that(scope["outer"]().__code__, text)


def test_a_function_without_its_file_is_told():
    scope = said("def k(x):\n    x[0] = 1.0\n", "/nowhere/kernels.py")
    del linecache.cache["/nowhere/kernels.py"]
    for decorator in (kp.kernel, kp.jit):
        with pytest.raises(TypeError, match="text of `k` cannot be read from /nowhere/kernels.py"):
            decorator(scope["k"])
    assert "help: the text of `k` cannot be read from /nowhere" in refused(calling(scope["k"]))


def test_a_function_is_read_however_it_is_indented():
    text = 'if True:\n def helper(a):\n  """\nText in the first column.\n  """\n  return a + 2.0\n'
    assert stores(calling(said(text)["helper"])) == 3.0
    assert stores(calling(said(text.replace("\nText", "  Text"))["helper"])) == 3.0


def test_a_function_of_a_text_that_is_not_all_python_is_read():
    """As cells of notebooks are not."""
    helper = said("def helper(a):\n    return a + 2.0\n", "<cell with more>")["helper"]
    n_chars, stamp, lines, name = linecache.cache["<cell with more>"]
    linecache.cache[name] = (n_chars, stamp, [*lines, "%time\n"], name)
    assert stores(calling(helper)) == 3.0


def test_a_function_by_another_name_is_read():
    def helper(a):
        return a + 2.0

    helper.__name__ = helper.__qualname__ = "renamed"
    assert stores(calling(helper)) == 3.0


def test_a_program_of_one_line_is_told_what_to_do():
    script = (
        "import sys; sys.modules['torch'] = None\nimport kernpack as kp\nkp.kernel(lambda x: x)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "a lambda has no statements: write a kernel as a `def`" in ran.stderr
