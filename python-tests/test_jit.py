# SPDX-License-Identifier: Apache-2.0
"""Kernels in a running program: what functions capture, what they are compiled for, and when."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import functools
import gc
import importlib.util
import inspect
import json
import linecache
import os
import pickle
import re
import subprocess
import sys
import sysconfig
import textwrap
import threading
import types
import typing
import warnings
import weakref
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import tvm_ffi

import kernpack as kp

BLOCK = 64
FACTOR = 2.0
CONFIG = types.SimpleNamespace(inner=types.SimpleNamespace(width=1))


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * by


@kp.jit("scale(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 2.0)")
def scale(x, y, by=2.0):
    """Multiplies each element."""
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


def vector(dtype=kp.float32, n=None):
    return kp.fake_tensor(dtype, (n or kp.sym_int(),))


def ptx(function: kp.Function) -> str:
    return next(iter(function.ptx.values()))


def fresh(text: str, folder: Path, name: str = "written") -> types.ModuleType:
    """A module of that text, which begins with kernpack's import."""
    path = folder / f"{name}.py"
    path.write_text("import kernpack as kp\n" + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# What a function is


def test_a_function_knows_its_name_signature_and_documentation():
    assert repr(inspect.signature(scale)) == "<Signature (x, y, by=2.0)>"
    assert (scale.name, scale.__doc__) == ("scale", "Multiplies each element.")
    assert scale.signature.startswith("scale(x: Tensor([n], float32)")
    assert isinstance(scale, kp.JitFunction) and "jit function scale" in repr(scale)
    assert kp.JitFunction.__doc__.startswith("A function that launches kernels")
    assert kp.JitFunction.__module__ == "kernpack"
    assert type(scale) is kp._jit.FlatJitFunction is not type(scaled)
    # Who looks below decorators finds the text.
    assert inspect.getsource(scale).startswith('@kp.jit("scale(')
    assert inspect.getsource(scale_elements).startswith("@kp.kernel")
    assert (scale_elements.__name__, scale_elements.__module__) == ("scale_elements", __name__)


def test_a_call_is_refused_as_by_any_function():
    x = np.zeros(8, "float32")
    expected = "expected device_type=cuda, got cpu"
    with pytest.raises(ValueError, match=expected):
        scale(x, x)
    with pytest.raises(ValueError, match=expected):
        scale(y=x, x=x, by=3.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        scale(x=x)
    with pytest.raises(TypeError, match="expected 2 to 3 arguments, got 1"):
        scale(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'of'"):
        scale(x, x, of=1)


def test_a_signature_is_compiled_once_and_is_a_function_like_any_other(tmp_path):
    made = kp.compile(scale)
    assert kp.compile(scale) is made
    assert [variant.function for variant in scale.variants].count(made) == 1
    assert type(made) is kp.Function and ".visible .entry scale_elements" in ptx(made)
    scale.export(tmp_path / "scale.so")
    assert kp.load_module(tmp_path / "scale.so").functions == ["scale"]


def test_kernels_are_not_called_by_python():
    with pytest.raises(TypeError, match=r"`scale_elements` is a kernel, which is launched"):
        scale_elements(1, 2, 3)
    with pytest.raises(TypeError, match="is a kernel: a jit function launches it"):
        kp.jit(scale_elements)


# What is captured


def compiled(function) -> kp.Function:
    return kp.compile(function, vector())


def constants(value) -> kp.Function:
    """A function that stores what it captured."""

    @kp.kernel
    def store(x):
        x[0] = kp.float32(value)

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    return compiled(run)


def stored(function: kp.Function) -> float:
    """The constant that a kernel stores."""
    (bits,) = set(re.findall(r"st\.global\.b32\s+\[%rd\d+\], (-?\d+);", ptx(function)))
    return float(np.array(int(bits), "int64").astype("uint32").view("float32"))


@dataclasses.dataclass(frozen=True)
class Frozen:
    tile: int = 3
    other: object = None


class Pair(typing.NamedTuple):
    first: int
    second: float


class Params(typing.NamedTuple):
    x: object
    by: kp.int8


class Size(enum.IntEnum):
    SMALL = 3

    @property
    def half(self):
        return self / 2


@dataclasses.dataclass
class Called:
    width: object

    def __call__(self, x):
        return x


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int64(3), Size.SMALL])
def test_numbers_of_many_types_are_numbers(value):
    assert stored(constants(value)) == 3.0


def test_values_differ_by_type_and_floats_by_bits():
    values = [1, 1.0, True, 0.0, -0.0]
    texts = {kp._program.Program(*_parts(value)).identity for value in values}
    assert len(texts) == len(values)
    assert len({kp._program.Program(*_parts(each)).identity for each in (1, 1)}) == 1


def _parts(value):
    def f(x):
        return value

    return f, kp._source.read(f), None


def test_attributes_are_followed_through_objects_and_modules():
    config = types.SimpleNamespace(inner=Frozen(5), tensor=torch.zeros(1))
    table = {"width": 7}
    pair = Pair(2, 0.5)

    @kp.kernel
    def store(x):
        x[0] = config.inner.tile + table["width"] + pair.second + pair[0] + numbers.ONE

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    numbers = types.ModuleType("numbers")
    numbers.ONE = 1
    assert stored(compiled(run)) == 5 + 7 + 0.5 + 2 + 1
    numbers.ONE = 2
    assert stored(compiled(run)) == 5 + 7 + 0.5 + 2 + 2


def with_attributes():
    pass


with_attributes.real = with_attributes.itemsize = with_attributes.count = 1.0


@pytest.mark.parametrize(
    "value", [2.0, 2, True, (1, 2), np.dtype("float16"), torch.float16, with_attributes]
)
def test_attributes_of_what_the_language_has_are_the_languages(value):
    assert hasattr(value, "real") or hasattr(value, "itemsize") or hasattr(value, "count")
    with pytest.raises(kp.CompileError) as caught:
        constants_of(lambda: value.real + value.itemsize + value.count)
    messages = " ".join(each["message"] for each in caught.value.diagnostics)
    assert re.search("no `real`.* no `itemsize`.* no `count`", messages)


def test_attributes_of_a_tensor_are_followed():
    weights = torch.zeros(3, 5)
    assert stored(constants_of(lambda: weights.shape[1] + len(weights.shape))) == 7.0


def test_attributes_of_numbers_and_functions_that_have_a_class_of_the_program_are_followed():
    size, called = Size.SMALL, Called(5)
    assert stored(constants_of(lambda: size.half + called.width)) == 6.5


def constants_of(function) -> kp.Function:
    """A function that stores what another one gives."""

    @kp.kernel
    def store(x):
        x[0] = kp.float32(function())

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    return compiled(run)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def test_members_of_an_enum_are_told_apart():
    chosen = Colour.BLUE
    assert stored(constants_of(lambda: 1.0 if chosen == Colour.RED else 2.0)) == 2.0
    chosen = Colour.RED
    assert stored(constants_of(lambda: 1.0 if chosen == Colour.RED else 2.0)) == 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "this is an object, which"),
        (iter(()), "this is a tuple_iterator, which"),
        ({1: 2.0}, "a dict with keys that are no texts"),
        (json, "the module json"),
        (kp.jit, "a function of kernpack's by another name"),
        (types.MethodType(types.MethodType(with_attributes, 1), 2), "this is a method, which"),
    ],
)
def test_what_is_no_constant_is_called_by_its_name(value, message):
    with pytest.raises(kp.CompileError) as caught:
        constants(value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "around", [lambda of: (of,), lambda of: [of], lambda of: {"of": of}, Frozen]
)
def test_values_are_held_within_sixteen_others(around):
    value = 1.0
    for _ in range(16):
        value = around(value)
    write = kp._captured.write
    assert "unheld" not in write(value, None) and "unheld" in write(around(value), None)


def test_dtypes_of_other_libraries_are_dtypes():
    for dtype in (torch.float16, np.float16, np.dtype("float16"), kp.float16, "float16"):
        kind = kp.dtype(dtype)

        @kp.kernel
        def store(x):
            x[0] = x.element_type(kind.max)

        @kp.jit
        def run(x):
            store(x).launch(grid=1, block=1)

        made = kp.compile(run, vector(kp.float16))
        assert re.search(r"st\.global\.b16\s+\[%rd1\], 0x7BFF;", ptx(made))


@pytest.mark.parametrize(
    "dtype", [np.float16, np.dtype("float16"), torch.float16, jnp.float16, kp.float16]
)
def test_dtypes_are_captured_as_they_are(dtype):
    assert stored(constants_of(lambda: dtype(2049.0))) == 2048.0


@pytest.mark.parametrize(("kind", "expected"), [(int, 2.0), (float, 2.5), (bool, 1.0)])
def test_types_of_python_are_captured(kind, expected):
    assert stored(constants_of(lambda: kind(2.5))) == expected


def test_layouts_and_swizzles_are_captured():
    tile = kp.make_layout((2, 4), stride=(4, 1))
    swizzled = kp.make_composed_layout(kp.make_swizzle(1, 0, 1), 0, kp.make_layout((2, 2)))
    thr, val = kp.make_layout_tv(kp.make_layout((2, 2)), kp.make_layout((1, 2)))

    @kp.kernel
    def store(x):
        shared = kp.shared(kp.float32, swizzled)
        shared[0, 0] = 1.0
        x[0] = kp.float32(tile(1, 2) + kp.size(val) * 100 + thr[1] * 1000)

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    assert stored(compiled(run)) == 6 + 800 + 4000


@pytest.mark.parametrize(
    "layout",
    [
        lambda: kp.local_tile(kp.make_layout((8, 16)), (4, 4), (1, 2)),
        lambda: kp.make_layout((kp.sym_int("m"), 4)),
    ],
)
def test_layouts_of_which_not_all_is_known_are_told(layout):
    tile = layout()

    @kp.kernel
    def store(x):
        x[0] = kp.float32(tile(0, 0))

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError, match="a layout with an offset, or with numbers that are"):
        compiled(run)


def test_what_no_kernel_can_hold_is_told_where_it_is_used():
    weights = torch.zeros(3)

    @kp.kernel
    def store(x):
        x[0] = weights

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError) as caught:
        compiled(run)
    (problem,) = caught.value.diagnostics
    assert problem["message"] == "this is a torch.Tensor, which is no constant of kernels"
    assert problem["help"] == "pass it as an argument"
    (label,) = [each for each in problem["labels"] if each["text"] == "captured here"]
    assert Path(label["file"]).name == "test_jit.py"
    lines = Path(__file__).read_text().splitlines()
    assert lines[label["line"] - 1].strip() == "x[0] = weights"
    assert label["column"] == lines[label["line"] - 1].index("weights") + 1


def test_a_class_is_no_function_whatever_it_wraps():
    class Wrapping:
        __wrapped__ = factor_of

    @kp.kernel
    def store(x):
        x[0] = Wrapping(x[1])

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError):
        compiled(run)


def factor_of(value):
    return value * 2.0


def test_functions_and_lambdas_are_part_of_the_code():
    add = lambda a, b: a + b * FACTOR  # noqa: E731

    def twice(function, a):
        return function(a, a)

    @kp.kernel
    def store(x, combine):
        x[0] = twice(combine, x[1])

    @kp.jit
    def run(x):
        store(x, add).launch(grid=1, block=1)

    # x[1] + x[1] * 2.0
    assert len(set(re.findall(r"add\.rn\.f32 .*", ptx(compiled(run))))) == 2


def test_a_jit_function_calls_another():
    @kp.jit
    def both(x, y):
        scale(x, y, 3.0)
        scale(y, x, 4.0)

    made = kp.compile(both, vector(n=kp.sym_int("n")), vector(n=kp.sym_int("n")))
    assert len(made.metadata["launches"]) >= 2
    assert "x: Tensor([n], float32, mut)" in made.signature


def test_recursion_is_refused():
    def loops(x):
        return loops(x)

    @kp.kernel
    def store(x):
        x[0] = loops(x[0])

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError, match="calls itself|recursion"):
        compiled(run)


def test_a_changed_global_is_never_stale(tmp_path):
    module = fresh(
        """
        WIDTH = 1

        @kp.kernel
        def store(x):
            x[0] = kp.float32(WIDTH)

        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            store(x).launch(grid=1, block=1)
        """,
        tmp_path,
    )
    x = np.zeros(1, "float32")
    seen = []
    for width in (1, 2, 2.0, 1):
        module.WIDTH = width
        with pytest.raises(ValueError, match="expected device_type=cuda"):
            module.f(x)
        seen.append(len(module.f.variants))
    assert seen == [1, 2, 3, 3]
    # Nothing is looked at where all is as it was.
    module.f._renew = None
    with pytest.raises(ValueError, match="expected device_type=cuda"):
        module.f(x)


def test_an_attribute_that_changes_is_never_stale(monkeypatch):
    """Also where a closure or a module leads to it."""
    config = types.SimpleNamespace(inner=types.SimpleNamespace(width=1))

    @kp.jit
    def by_closure(n):
        assert n == config.inner.width

    @kp.jit
    def by_global(n):
        assert n == CONFIG.inner.width

    for function, of in ((by_closure, config), (by_global, CONFIG)):
        for width in (1, 2, 1, 3):
            of.inner.width = width
            function(width)
            with pytest.raises(ValueError, match="expected"):
                function(width + 1)
        of.inner = types.SimpleNamespace(width=2)
        function(2)
        assert len(function.variants) == 3
        # Nothing is looked at where all is as it was.
        function._renew = None
        function(2)
        del function._renew
    inner = types.SimpleNamespace(width=7)
    monkeypatch.setitem(globals(), "CONFIG", types.SimpleNamespace(inner=inner))
    by_global(7)


def test_an_attribute_of_a_global_is_looked_at_where_it_has_changed(monkeypatch):
    monkeypatch.setitem(globals(), "CONFIG", types.SimpleNamespace(width=1))

    @kp.jit
    def f(n):
        assert n == CONFIG.width

    f(1)
    CONFIG.width = 2
    f(2)
    f._renew = None
    f(2)


def test_another_object_of_the_same_value_is_looked_at_once():
    width = [float(number) for number in ("1000.5", "1000.5")]
    by = width[0]

    @kp.jit
    def f(n):
        assert n == by

    f(1000.5)
    looked = []
    f._are_the_same = lambda: looked.append(type(f)._are_the_same(f)) or looked[-1]
    by = width[1]
    f(1000.5), f(1000.5)
    assert looked == [True] and len(f.variants) == 1
    # Where there is no name any more, nothing is as it was.
    del by
    with pytest.raises(kp.CompileError, match="`by` is not defined"):
        f(1000.5)
    by = 3.0
    f(3.0)


def test_a_value_that_is_what_it_was_while_another_is_seen_to():
    """A call of another thread is no call of the variant that is selected right then."""
    width, outcomes = 1, []

    @kp.jit
    def f(n):
        assert n == width

    def call():
        try:
            outcomes.append(f(1))
        except ValueError as error:
            outcomes.append(error)

    def select(*args):
        nonlocal width
        control(*args)
        width = 1
        threads.append(threading.Thread(target=call))
        threads[0].start()
        threads[0].join(0.2)
        f._control = control

    f(1)
    control, threads = f._control, []
    f._control, width = select, 2
    with contextlib.suppress(ValueError):
        f(1)
    threads[0].join()
    assert outcomes == [None]


def test_a_name_may_be_there_later(tmp_path):
    module = fresh(
        """
        @kp.kernel
        def store(x):
            x[0] = kp.float32(later())

        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            store(x).launch(grid=1, block=1)
        """,
        tmp_path,
    )
    x = np.zeros(1, "float32")
    with pytest.raises(kp.CompileError, match="`later` is not defined"):
        module.f(x)
    exec(compile("def later():\n    return 3.0\n", module.__file__, "exec"), vars(module))
    path = Path(module.__file__)
    path.write_text("def later():\n    return 3.0\n")
    with pytest.raises(ValueError, match="expected device_type=cuda"):
        module.f(x)


def test_a_child_compiles_whoever_compiled_when_it_was_forked():
    @kp.jit("f(x: Tensor([n], float32, mut))")
    def f(x):
        scale_elements(x, x, 21.25).launch(grid=1, block=1)

    held, release = threading.Event(), threading.Event()

    def hold():
        with f._lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if f.warmup().signature else 1)
        except BaseException:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def test_lists_and_dataclasses_are_compared_by_what_they_hold(tmp_path):
    module = fresh(
        """
        import dataclasses

        @dataclasses.dataclass
        class Config:
            width: int

        LIST = [1, 2]
        CONFIG = Config(3)

        @kp.kernel
        def store(x, config):
            x[0] = kp.float32(LIST[0] + config.width)

        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            store(x, CONFIG).launch(grid=1, block=1)
        """,
        tmp_path,
    )

    def n_variants():
        with pytest.raises(ValueError):
            module.f(np.zeros(1, "float32"))
        return len(module.f.variants)

    assert n_variants() == 1
    module.LIST[0] = 5
    assert n_variants() == 2
    module.CONFIG.width = 4
    assert n_variants() == 3
    module.LIST[0], module.CONFIG.width = 1, 3
    assert n_variants() == 3
    module.LIST = [1, 2]
    assert n_variants() == 3


def test_a_list_within_what_does_not_change_is_compared_too():
    held = [1]
    of = Frozen(other=held)

    @kp.jit
    def f(n):
        assert n == of.other[0]

    f(1)
    held[0] = 2
    f(2)
    with pytest.raises(ValueError, match="expected"):
        f(1)
    assert not kp._captured.is_mutable((1, Frozen(other=(2.0, None))))


class Foreign:
    """A dataclass as another library makes them."""

    __dataclass_fields__ = Called.__dataclass_fields__
    width = 1


@pytest.mark.parametrize("held", [Called(1), Foreign()])
@pytest.mark.parametrize(
    ("around", "width_of"),
    [(lambda held: held, lambda of: of.width), (Frozen, lambda of: of.tile.width)],
)
def test_a_dataclass_that_is_passed_on_is_compared_by_what_it_holds(held, around, width_of):
    held.width, of = 1, around(held)

    @kp.jit
    def f(n):
        assert n == width_of(of)

    f(1)
    held.width = 2
    f(2)
    with pytest.raises(ValueError, match="expected"):
        f(1)


def test_kernels_in_classes_know_their_object():
    class Scaler:
        def __init__(self, tile):
            self.tile = tile

        @kp.kernel
        def store(self, x):
            x[0] = kp.float32(self.tile)

        @kp.jit
        def run(self, x):
            self.store(x).launch(grid=1, block=self.tile)

        @staticmethod
        @kp.jit
        def alone(x):
            scale_elements(x, x, 1.0).launch(grid=1, block=1)

    three, four = Scaler(3), Scaler(4)
    assert (stored(compiled(three.run)), stored(compiled(four.run))) == (3.0, 4.0)
    assert three.run is three.run and three.run is not four.run
    three.tile = 4
    assert stored(compiled(three.run)) == 4.0
    assert compiled(Scaler.alone).name == "alone"


def test_closures_of_a_loop_are_functions_of_their_own():
    made = []
    for width in (1, 2):

        def make(width=width):
            @kp.kernel
            def store(x):
                x[0] = kp.float32(width)

            @kp.jit
            def run(x):
                store(x).launch(grid=1, block=1)

            return run

        made.append(make())
    assert [stored(compiled(each)) for each in made] == [1.0, 2.0]


def test_two_kernels_of_one_name(tmp_path):
    module = fresh("@kp.kernel\ndef store(x):\n    x[0] = 9.0\n", tmp_path)
    other = module.store

    @kp.kernel
    def store(x):
        x[0] = 1.0

    @kp.jit
    def run(x):
        store(x).launch(grid=1, block=1)
        other(x).launch(grid=1, block=1)

    assert ".entry store_2" in ptx(compiled(run))


# Where the text comes from


def test_redefinition_is_another_function(tmp_path):
    text = "@kp.jit\ndef f(x):\n    k(x).launch(grid=1, block=1)\n"
    one = fresh("@kp.kernel\ndef k(x):\n    x[0] = 1.0\n" + text, tmp_path)
    first = ptx(compiled(one.f))
    path = Path(one.__file__)
    path.write_text(path.read_text().replace("1.0", "2.0"))
    os.utime(path, (1, 1))
    again = importlib.util.module_from_spec(one.__spec__)
    one.__spec__.loader.exec_module(again)
    assert ptx(compiled(again.f)) != first
    # What was read stays what it was.
    assert ptx(compiled(one.f)) == first


def test_text_that_cannot_be_had_is_told(tmp_path):
    scope: dict[str, object] = {"kp": kp}
    with pytest.raises(TypeError, match="the text of `k` cannot be read from <string>"):
        exec("@kp.kernel\ndef k(x):\n    x[0] = 1.0\n", scope)
    text = "@kp.kernel\ndef k(x):\n    x[0] = 1.0\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    exec(compile(text, "<cell>", "exec"), scope)
    assert isinstance(scope["k"], kp.Kernel)
    with pytest.raises(TypeError, match="expected a function that is written in Python"):
        kp.kernel(len)
    done = subprocess.run(
        [sys.executable, "-c", "import kernpack as kp\n@kp.kernel\ndef k(x): pass"],
        capture_output=True,
        text=True,
    )
    assert "the text of `k` cannot be read" in done.stderr


HAS_HEADERS = Path(sysconfig.get_path("include"), "Python.h").exists()


@pytest.mark.skipif(not HAS_HEADERS, reason="Cython compiles with the headers of Python")
def test_functions_of_cython_have_no_text(tmp_path, monkeypatch):
    name = "compiled_by_cython"
    (tmp_path / f"{name}.pyx").write_text("def k(x):\n    x[0] = 1.0\n")
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", f"{name}.pyx"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    for decorator in kp.kernel, kp.jit, kp.jit("k(x: Tensor([n], float32))"):
        with pytest.raises(TypeError, match="got cython_function_or_method.*is gone"):
            decorator(module.k)

    @kp.jit
    def f(x):
        module.k(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError, match="cython_function_or_method"):
        compiled(f)


def test_wrapped_functions_are_read_themselves():
    def noted(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    @kp.jit
    @noted
    def f(x):
        scale_elements(x, x, 1.0).launch(grid=1, block=1)

    assert compiled(f).name == "f"


def test_jit_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(scale)) is scale

    @kp.jit
    def local(x):
        scale_elements(x, x, 1.0).launch(grid=1, block=1)

    with pytest.raises(TypeError, match="does not have it by that name"):
        pickle.dumps(local)


def test_constants_are_values_of_a_call():
    @kp.kernel
    def store(x, by, kind, flag, pair):
        if flag:
            x[0] = x.element_type(kind(by)) + x.element_type(pair[0])

    @kp.jit
    def f(x, by, kind, flag, pair, mode="add"):
        if mode == "add":
            store(x, by, kind, flag, pair).launch(grid=1, block=1)

    x = np.zeros(2, "float32")
    for args, expected in [
        ((3, torch.float16, True, (4, 5.5)), 7.0),
        ((3, torch.float16, False, (4, 5.5)), 0.0),
        ((3.5, kp.float32, True, (4, None), "other"), 0.0),
        ((3.5, kp.float32, True, (4, None)), 7.5),
    ]:
        checked = f.check(x, *args)
        assert checked.ok and checked.arguments[0][0] == expected
    assert len(f.variants) == 3 and not x.any()


def test_streams_are_streams():
    @kp.jit
    def f(x, s):
        scale_elements(x, x, 1.0).launch(grid=1, block=1, stream=s)

    assert kp.compile(f, vector(), kp.fake_stream()).signature == (
        "f(x: Tensor([n0], float32, mut), s: Stream)"
    )
    assert kp._native.classes([ctypes.c_void_p(1)], "0") == ["pointer"]


# What calls without a signature are compiled for


@kp.jit
def scaled(x, y, by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@pytest.mark.parametrize(
    ("specs", "signature"),
    [
        (
            lambda: (vector(), vector()),
            "scaled(x: Tensor([n0], float32), y: Tensor([n1], float32, mut), by: float32 = 2.0)",
        ),
        (
            lambda: (vector(n=kp.sym_int("n")), vector(n=kp.sym_int("n")), kp.float16),
            None,
        ),
        (
            lambda: (np.zeros(3, "float32"), torch.zeros(4), 3),
            None,
        ),
    ],
)
def test_specs_become_a_signature(specs, signature):
    given = specs()
    if signature is not None:
        assert kp.compile(scaled, *given).signature == signature
    elif isinstance(given[0], np.ndarray):
        with pytest.raises(ValueError, match="expected cuda, got cpu"):
            kp.compile(scaled, *given)
    else:
        assert "by: float16" in kp.compile(scaled, *given).signature


@pytest.mark.parametrize(
    ("order", "shape"),
    [
        ("row", "[n0, n1], float32"),
        ("col", "[n0, n1], float32, order=col"),
        ("inner", "[n0, n1], float32, strides=[n2, 1]"),
        ("strided", "[n0, n1], float32, strides=[n2, n3]"),
        ("any", "[n0, n1], float32, strides=any"),
    ],
)
def test_a_tensor_is_what_its_class_says(order, shape):
    @kp.jit
    def f(x):
        pass

    @kp.jit
    def writes(x: kp.mut):
        pass

    classes = [{"tensor": _tensor("float32", 2, order)}]
    assert f.of_classes(classes, "a test").signature == f"f(x: Tensor({shape}))"
    assert writes.of_classes(classes, "a test").signature == f"writes(x: Tensor({shape}, mut))"


def test_annotations_may_say_all():
    @kp.jit
    def f(x: kp.int8, p: Params, y=1):
        pass

    @kp.jit
    def g(x, p: Params, z: np.ndarray, y=1):
        pass

    @kp.jit
    def said(x: kp.int8, p: typing.Tuple[kp.int8, kp.float16], y=1):
        pass

    @kp.jit("signed(n: int64, s: EnvStream)")
    def signed(n, s):
        assert n == 1

    expected = "said(x: int8, p: Tuple(int8, float16), y: int64 = 1)"
    assert said.of_annotations().signature == expected
    with pytest.raises(TypeError, match="`f` does not say what `p` is: annotate it, as"):
        f.of_annotations()
    with pytest.raises(TypeError, match="not say what `x` and `p` and `z` are: annotate them"):
        g.of_annotations()
    assert signed.of_annotations() is signed.variants[0]
    assert str(inspect.signature(signed)) == "(n)" and signed(1) is None


def test_a_decorator_says_for_what_is_compiled():
    @kp.jit(arch="sm_90a")
    def f(x):
        scale_elements(x, x, 1.0).launch(grid=1, block=1)

    assert list(compiled(f).llvm) == ["sm_90a"]
    assert list(kp.compile(f, vector(), arch="sm_80").llvm) == ["sm_80"]


def test_a_text_is_a_signature_for_one_function():
    text = "scaled(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32)"
    assert kp.compile(scaled, text).signature == text


def test_types_stand_for_what_is_in_tuples():
    @kp.jit
    def f(p):
        pass

    for spec in ((kp.int8, (2.0, kp.float16)), [kp.int8, (2.0, kp.float16)]):
        expected = "f(p: Tuple(int8, Tuple(float32, float16)))"
        assert kp.compile(f, spec).signature == expected
    assert kp.compile(f, Fields(1, kp.int8)).signature == "f(p: Tuple(x: int64, y: int8))"
    flat = {"Optional[int64]": True, "Tuple(int64)": False, "Optional[Tuple(int64)]": False}
    for text, is_flat in flat.items():
        made = kp.jit(f"f(p: {text})")(f.function)
        assert isinstance(made, kp._jit.FlatJitFunction) == is_flat
    assert kp.compile(f, kp.int8, arch="sm_90a").signature == "f(p: int8)"
    # Nothing of it is what a call finds.
    assert f.variants == []
    assert kp.compile(f, (1, 2.0)) is kp.compile(f, (3, 4.0)) is f.variants[0].function
    f((5, 6.0))
    assert len(f.variants) == 1


def test_what_a_package_says_is_said_of_the_only_variant():
    @kp.jit
    def f(n):
        pass

    with pytest.raises(AttributeError, match="`f` was compiled for 0 kinds of calls: ask one of"):
        f.metadata
    f(1)
    assert f.signature == "f(n: int64)" and f.metadata["signature"] and f.package.path
    f(1.0)
    with pytest.raises(AttributeError, match=r"for 2 kinds of calls(.|\n)*  f\(n: float32\)"):
        f.signature
    with pytest.raises(AttributeError, match="has no attribute `nothing`"):
        f.nothing

    @kp.jit("g(n: int64)")
    def g(n):
        pass

    assert g.metadata["signature"] and len(g.variants) == 1


def test_what_a_signature_says_is_written_is_all_that_is():
    @kp.jit("f(x: Tensor([n], float32))")
    def f(x):
        scale_elements(x, x, 2.0).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError, match="`x` is not `mut`"):
        f.warmup()


def test_dataclasses_are_passed_where_a_tuple_may_stand():
    """Each class is met at the first call that has one of its objects."""
    for text in ("Tuple(a: int64, b: int64)", "Optional[Tuple(a: int64, b: int64)]"):

        @dataclasses.dataclass
        class Own:
            a: int
            b: int

        @kp.jit(f"f(p: {text})")
        def f(p):
            pass

        f(Own(1, 2)), f((1, 2))
        with pytest.raises(TypeError):
            f(Own(1, "text"))


def test_what_is_written_and_returned_is_found():
    @kp.jit
    def doubled(x):
        y = kp.empty(x.shape, x.element_type)
        scratch = kp.empty((x.shape[0], 2), kp.int32)
        scale_elements(x, y, 2.0).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
        return y

    made = compiled(doubled)
    assert made.signature == "doubled(x: Tensor([n0], float32)) -> y: Tensor([n0], float32)"
    assert made.workspaces == ["scratch: Tensor([n0, 2], int32)"]
    assert made.out.name == "doubled_out"


@kp.kernel
def count_values(x, counts):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        kp.atomic_add(counts, (x[i] % 2, x[i] % 3), 1)


@kp.kernel
def add_up(partial, out):
    for i in range(partial.shape[0]):
        out[0] += partial[i]


@kp.jit
def counted(x):
    counts = kp.zeros((2, 3), kp.int32)
    count_values(x, counts).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return counts


def test_memory_of_zeros_is_written_before_the_launches_behind_it():
    x = np.arange(700, dtype="int32")
    expected = np.zeros((2, 3), "int32")
    np.add.at(expected, (x % 2, x % 3), 1)
    checked = counted.check(x)
    assert checked.ok and np.array_equal(checked.results, expected)
    launches = kp.compile(counted, vector(dtype=kp.int32)).metadata["launches"]
    assert [launch["kernel"] for launch in launches] == ["write_zeros", "count_values"]


@pytest.mark.parametrize("n", [0, 1, 2047, 5000])
def test_a_workspace_of_zeros_has_any_size_and_dtype(n):
    @kp.jit
    def f(x, dtype):
        scratch = kp.zeros((x.shape[0],), dtype)
        out = kp.zeros(1, dtype)
        add_up(scratch, out).launch(grid=1, block=1)
        return out

    for dtype in (torch.bfloat16, torch.uint8, torch.float64):
        checked = f.check(torch.ones(n), dtype)
        assert checked.ok and checked.results.tolist() == [0]


def test_zeros_of_no_dtype_of_kernels_are_refused():
    @kp.jit
    def f(x):
        y = kp.zeros(x.shape, kp.float8_e4m3fn)
        return y

    with pytest.raises(kp.CompileError) as raised:
        f.check(torch.ones(2))
    (problem,) = raised.value.diagnostics
    assert "float8_e4m3fn" in problem["message"] and problem["labels"][0]["line"]


@kp.kernel
def sum_block(x, out):
    partial = kp.shared(kp.float32, 4)
    total = kp.block_reduction_sum(x[kp.thread_idx()[0]])
    if kp.thread_idx()[0] == 0:
        partial[0] = total
        out[0] = partial[0]


def test_a_variant_shows_what_its_kernels_become():
    @kp.jit
    def summed(x):
        assert x.shape[0] >= 128
        out = kp.empty(1, kp.float32)
        sum_block(x, out).launch(grid=1, block=128)
        return out

    made = kp.compile(summed, vector(), arch="sm_90a,compute_80")
    assert made.ir.startswith("kernel sum_block(")
    assert list(made.llvm) == ["sm_90a", "sm_80"]
    assert "define ptx_kernel void @sum_block" in made.llvm["sm_80"]
    hopper, ampere = made.resources
    assert (hopper.kernel, hopper.arch, ampere.arch) == ("sum_block", "sm_90a", "sm_80")
    assert hopper.threads == 128 and 8 <= hopper.registers <= 64 and hopper.barriers == 1
    assert hopper.spilled_bytes == hopper.local_bytes == 0 and hopper.shared_bytes >= 32
    assert (hopper.blocks_at_once, hopper.occupancy) == (16, 1.0)
    variant = summed.warmup(vector())
    assert variant.ir == made.ir and variant.llvm and variant.resources
    for told in (variant, hopper):
        with pytest.raises(dataclasses.FrozenInstanceError):
            told.function = told.threads = None


def test_launches_say_what_they_are_for_and_how_many_registers_they_take():
    archs = ("sm_80", "sm_90a")

    @kp.jit
    def summed(x):
        assert x.shape[0] >= 128
        out = kp.empty(1, kp.float32)
        sum_block(x, out).launch(grid=1, block=128, max_registers=32, arch=archs[0])
        sum_block(x, out).launch(grid=1, block=64, min_blocks=8, arch=(archs[1],))
        return out

    made = kp.compile(summed, vector())
    shown = [(one.kernel, one.arch, one.threads) for one in made.resources]
    assert shown == [("sum_block", "sm_80", 128), ("sum_block_2", "sm_90a", 64)]
    heads = [line for line in made.ir.splitlines() if line.startswith("kernel ")]
    assert [head.partition("block [")[2].partition(" files")[0] for head in heads] == [
        "128, 1, 1] max_registers 32 archs sm_80",
        "64, 1, 1] min_blocks 8 archs sm_90a",
    ]
    assert summed.check(torch.ones(128)).results.tolist() == [64.0]


def test_what_was_not_built_here_shows_no_operations(tmp_path):
    kp.compile(scaled, vector(), vector()).export(tmp_path / "scaled.so")
    loaded = kp.load_module(tmp_path / "scaled.so").scaled
    for show in (lambda: loaded.ir, lambda: loaded.llvm, lambda: loaded.resources):
        with pytest.raises(TypeError, match="does not show its `[a-z]*`: the text of its kernels"):
            show()
    host = kp.host("void f(float* x) {}", "f(x: Tensor([1], float32, mut))", args=["x"])
    with pytest.raises(kp.CompileError, match="no kernel of it is written here"):
        host.ir


def test_conditions_that_are_asserted_are_rules():
    @kp.jit(where="n0 % 2 == 0")
    def f(x, y):
        assert x.shape == y.shape
        scale_elements(x, y, 1.0).launch(grid=1, block=BLOCK)

    made = kp.compile(f, vector(), vector())
    assert made.signature.endswith("where n0 % 2 == 0, n0 == n1")
    with pytest.raises(TypeError, match="`where` is for functions without a signature"):
        kp.jit("f(x: Tensor([n], float32))", where="n > 3")


def test_wide_accesses_are_one_variant_behind_a_condition():
    @kp.kernel
    def copy_tile(x, y):
        tile = (kp.thread_idx()[0],)
        source, target = kp.zipped_divide(x, (4,)), kp.zipped_divide(y, (4,))
        if kp.thread_idx()[0] < kp.size(x) // 4:
            kp.autovec_copy(source[None, tile], target[None, tile])

    @kp.jit
    def copied(x, y):
        assert x.shape == y.shape
        copy_tile(x, y).launch(grid=1, block=64)

    made = kp.compile(copied, vector(), vector())
    (wide,), (narrow,) = (launch["when"] for launch in made.metadata["launches"])
    assert ptx(made).count("ld.global.v4") + ptx(made).count("ld.global.nc.v4") == 1
    assert wide == "aligned(x, 16) and n0 % 4 == 0 and aligned(y, 16) and n1 % 4 == 0"
    assert narrow == f"not ({wide})"
    # A kernel that has no use for it is one, in every call.
    (alone,) = kp.compile(scaled, vector(), vector()).metadata["launches"]
    assert alone["when"] == []


def test_annotations_overrule():
    @kp.kernel
    def store(x, width: kp.Constexpr, by):
        for i in kp.range_constexpr(width):
            x[i] = x.element_type(by)

    @kp.jit
    def f(p: Params, width: kp.Constexpr, z: kp.fake_tensor(kp.float16, ("m", 8))):
        assert p.x.shape[0] == z.shape[0]
        store(p.x, width, p.by).launch(grid=1, block=1)

    constants = f.parameters.constants
    assert constants == "010"
    text = kp._specialise.made(
        "f",
        f.parameters,
        [
            {"tuple": [{"tensor": _tensor("float32", 1)}, "int"]},
            {"constant_int": 3},
            {"tensor": _tensor("float16", 2)},
        ],
        (),
    )
    assert (
        text
        == "f(p: Tuple(x: Tensor([n0], float32), by: int8), width: 3, z: Tensor([m, 8], float16))"
    )
    with pytest.raises(kp.CompileError, match="`p.x` is not `mut`"):
        kp.compile(f, text)
    written = text.replace("float32)", "float32, mut)")
    assert kp.compile(f, written).signature == f"{written} where n0 == m"


def _tensor(dtype, ndim, order="row"):
    return {"dtype": dtype, "ndim": ndim, "device": "cuda", "order": order}


@pytest.mark.parametrize(
    ("array", "order"),
    [
        (np.zeros((4, 6)), "row"),
        (np.zeros((6, 4)).T, "col"),
        (np.zeros((4, 6))[:, :3], "inner"),
        (np.zeros((4, 6))[:, ::2], "strided"),
        (np.zeros((4, 6))[::-1], "any"),
        (np.zeros((1, 6)).T, "row"),
        (np.zeros((0, 6))[:, ::2], "row"),
        (np.zeros(6)[::2], "strided"),
        (np.zeros(()), "row"),
        (np.zeros((4, 6))[:1, ::2], "strided"),
        (np.zeros((4, 6))[:, :1], "inner"),
        (np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,)), "strided"),
        (np.lib.stride_tricks.as_strided(np.zeros(6), (4, 6), (0, 8)), "inner"),
    ],
)
def test_classes_of_tensors(array, order):
    (found,) = kp._native.classes([torch.from_numpy(array) if order != "any" else array], "0")
    assert found == {"tensor": {**_tensor("float64", array.ndim, order), "device": "cpu"}}


def test_classes_of_tuples_in_tuples():
    def nested(levels):
        return (nested(levels - 1),) if levels else 1

    def classes(levels, innermost):
        return {"tuple": [classes(levels - 1, innermost)]} if levels else innermost

    assert kp._native.classes([nested(16)], "0") == [classes(16, "int")]
    assert kp._native.classes([nested(17)], "0") == [classes(16, {"other": "Array"})]


def test_texts_side_by_side_are_told_apart():
    @kp.jit
    def f(n, name: kp.Constexpr, other: kp.Constexpr):
        if other == "x":
            assert n == 1
        else:
            assert n == 2

    f(1, "abcdefgh", "x"), f(2, "abcdefghx", "")
    with pytest.raises(ValueError, match="expected"):
        f(1, "abcdefghx", "")


def test_classes_of_other_arguments():
    args = [None, True, 1, 1.5, "a text that is long enough", torch.float16, (1, (2.0, None))]
    assert kp._native.classes(args, "0000000") == [
        "none",
        "bool",
        "int",
        "float",
        {"text": "a text that is long enough"},
        {"dtype": "float16"},
        {"tuple": ["int", {"tuple": ["float", "none"]}]},
    ]
    assert kp._native.classes([True, 7, 1.0], "111") == [
        {"constant_bool": True},
        {"constant_int": 7},
        {"constant_float": 0x3FF0000000000000},
    ]


@kp.kernel
def scale_as(x, y, by):
    y[0] = x[0] * x.element_type(by)


@pytest.mark.parametrize(
    ("by", "dtype"),
    [
        (2, "int64"),
        (2.0, "float32"),
        (np.int64(2), "int64"),
        (np.float32(2), "float32"),
        (np.float16(2), "float16"),
        (np.float64(2), "float64"),
        (np.int8(2), "int8"),
        (np.uint32(2), "uint32"),
    ],
)
def test_numbers_of_numpy_keep_their_dtype(by, dtype):
    @kp.jit
    def f(x, y, by=2.0):
        scale_as(x, y, by).launch(grid=1, block=1)

    x, y = torch.ones(4), torch.zeros(4)
    for call in (lambda: f(x, y, by), lambda: f(x, by=by, y=y)):
        with pytest.raises(ValueError, match=f"by: {dtype}.* expected cuda, got cpu"):
            call()
    checked = f.check(x, y, by)
    assert checked.arguments[1][0] == 2.0
    assert f"by: {dtype}" in f.variants[-1].signature


def test_truth_values_of_numpy_are_truth_values():
    @kp.jit
    def f(x, is_twice: kp.Constexpr, flag):
        if is_twice:
            scale_elements(x, x, 2.0).launch(grid=1, block=1)

    with pytest.raises(ValueError, match="is_twice: True, flag: bool"):
        f(torch.ones(1), np.bool_(True), np.bool_(False))
    assert f.check(torch.ones(1), np.bool_(True), np.bool_(False)).arguments[0][0] == 2.0


class Both(typing.NamedTuple):
    x: object
    y: object


class Swapped(typing.NamedTuple):
    y: object
    x: object


@dataclasses.dataclass
class Fields:
    x: object
    y: object


def test_items_have_the_names_that_their_class_gives_them():
    @kp.jit
    def f(p):
        assert p.x.shape == p.y.shape
        scale_elements(p.x, p.y, 2.0).launch(grid=1, block=BLOCK)

    x, y = torch.ones(3), torch.zeros(3)
    for pair in (Both(x, y), Swapped(y, x), Fields(x, y)):
        with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
            f(pair)
        (p,) = f.check(pair).arguments
        assert p[0 if isinstance(pair, Swapped) else 1].tolist() == [2, 2, 2]
    n_variants = len(f.variants)
    with pytest.raises(kp.CompileError, match="a tuple has no `x`"):
        f((x, y))
    with pytest.raises(ValueError, match="got cpu"):
        f(Fields(x, y))
    assert len(f.variants) == n_variants == 4


def test_names_that_are_annotated_make_no_other_variant():
    @kp.jit
    def f(p: Both, by):
        scale_elements(p.x, p.y, by).launch(grid=1, block=BLOCK)

    x, y = torch.ones(3), torch.zeros(3)
    for pair in (Both(x, y), (x, y), Fields(x, y)):
        with pytest.raises(ValueError, match="got cpu"):
            f(pair, 2.0)
    assert len(f.variants) == 1
    with pytest.raises(ValueError, match="by: float16"):
        f(Both(x, y), np.float16(2))


def test_a_signature_takes_what_it_says():
    @kp.jit("f(p: Tuple(x: Tensor([n], float32), y: Tensor([n], float32, mut)), by: float16)")
    def f(p, by):
        scale_as(p.x, p.y, by).launch(grid=1, block=1)

    x, y = torch.ones(3), torch.zeros(3)
    for pair in (Both(x, y), Swapped(x, y), Fields(x, y)):
        for by in (2, 2.0, np.float16(2)):
            with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
                f(pair, by)
    assert len(f.variants) == 1


def test_calls_of_other_kinds_are_compiled_for():
    """A function that launches nothing is called where there is no GPU."""

    @kp.jit
    def unsigned(n, width: kp.Constexpr):
        assert n == width

    @kp.jit("signed(n: int64, width: int64)")
    def signed(n, width):
        assert n == width

    for function, n_variants in ((unsigned, 3), (signed, 1)):
        for args in ((1, 1), (2, 1), (2, 2)):
            if args[0] == args[1]:
                function(*args)
            else:
                with pytest.raises(ValueError, match="expected"):
                    function(*args)
        if function is unsigned:
            function(2.0, 2)
        assert len(function.variants) == n_variants


def test_a_warm_variant_is_the_one_that_calls_find():
    @kp.jit
    def f(x, y, by):
        scale_elements(x, y, by).launch(grid=1, block=BLOCK)

    tensor = {"tensor": _tensor("float32", 1)}
    f.of_classes([tensor, tensor, "float"], "a test")
    again = {"tensor": dict(reversed(tensor["tensor"].items()))}
    shown = json.dumps([again, tensor, "float"], separators=(",", ":"))
    assert f._miss(shown, 0) is not None and len(f.variants) == 1


def test_a_dispatcher_finds_what_was_added_and_asks_for_what_was_not():
    asked = []

    def miss(classes, number):
        asked.append((classes, number))
        return kp._tvm_ffi.tvm_ffi.convert(lambda *args: len(asked) * 10)

    control = kp._native.dispatcher(kp._tvm_ffi.tvm_ffi.convert(miss), "01")
    call = control("function")
    assert [call(1, 2), call(3, 2), call(1, 3), call(1.0, 3)] == [10, 10, 20, 30]
    assert call((1, "a"), 3) == call((2, "a"), 3) == 40 != call((2, "b"), 3)
    ours = kp._tvm_ffi.tvm_ffi.convert(lambda *args: 7)
    classes = kp._native.classes([np.zeros(3, "float32"), 5], "01")
    control("add", 0, json.dumps(classes), ours)
    assert call(np.zeros(9, "float32"), 5) == 7
    control("select", 1)
    assert len(asked) == 5 and call(1, 2) == 60 and asked[-1][1] == 1
    control("select", 0)
    call(1, 2)
    assert len(asked) == 6


def arguments_of_each_class():
    """Arguments of which no two are of one class."""
    numbers = np.zeros((4, 6), "float32")
    views = [numbers, numbers.T, numbers[:, :3], numbers[:, ::2], numbers[::-1]]
    tensors = [*views, numbers[0], numbers.astype("int32"), numbers.astype("float64")]
    shapes = [tvm_ffi.Shape((1,)), tvm_ffi.Shape((1, 2))]
    tuples = [(), (1,), (1, 2), ((1,), 2), (1, (2,)), (1.0, 2), (None, 2), ("a", 2)]
    texts = ["", "a", "b", "a text that is long", "a text that is lone", "a text that is longer"]
    others = [ctypes.c_void_p(1), torch.float16, torch.int8, print, object()]
    return [None, True, 1, 1.5, *tensors, *shapes, *tuples, *texts, *others]


def test_each_class_of_arguments_has_a_variant():
    arguments = arguments_of_each_class()
    asked = []

    def miss(classes, number):
        asked.append(classes)
        made = len(asked) - 1
        return tvm_ffi.convert(lambda *args: made)

    call = kp._native.dispatcher(tvm_ffi.convert(miss), "0")("function")
    for _ in range(2):
        assert [call(argument) for argument in arguments] == list(range(len(arguments)))
    assert [json.loads(each) for each in asked] == [
        kp._native.classes([argument], "0") for argument in arguments
    ]
    asked.clear()
    constants = [True, False, 0, 1, 1.0, 0.0, -0.0, "a", "b", None, (1, 2), (2, 1), (True, 2)]
    call = kp._native.dispatcher(tvm_ffi.convert(miss), "1")("function")
    for _ in range(2):
        assert [call(constant) for constant in constants] == list(range(len(constants)))


def test_what_was_added_is_found_by_its_class():
    def miss(classes, number):
        raise ValueError(classes)

    control = kp._native.dispatcher(tvm_ffi.convert(miss), "0")
    call, arguments = control("function"), arguments_of_each_class()
    for number, argument in enumerate(arguments):
        classes = json.dumps(kp._native.classes([argument], "0"))
        control("add", 0, classes, tvm_ffi.convert(lambda *args, number=number: number))
    assert [call(argument) for argument in arguments] == list(range(len(arguments)))
    with pytest.raises(ValueError, match="int"):
        call(1, 2)
    with pytest.raises(ValueError, match="a dispatcher knows no `other`"):
        control("other")


def test_a_dispatcher_of_one_class_calls_what_is_selected():
    asked = []

    def miss(classes, number):
        asked.append((classes, number))
        # As another thread may.
        control("select", 0)
        return tvm_ffi.convert(lambda *args: number)

    control = kp._native.dispatcher(tvm_ffi.convert(miss), None)
    call = control("function")
    assert [call(1), call("a text", 2.0), call()] == [0, 0, 0]
    control("select", 1)
    assert [call(1), call(1)] == [1, 0]
    control("select", 1)
    assert [call(1), call(2.0)] == [1, 1]
    assert [number for _, number in asked] == [0, 1]


def test_a_thousand_variants_are_told_apart():
    made = {}

    def miss(classes, number):
        value = len(made)
        made[classes] = value
        return kp._tvm_ffi.tvm_ffi.convert(lambda *args: value)

    control = kp._native.dispatcher(kp._tvm_ffi.tvm_ffi.convert(miss), "1")
    call = control("function")
    first = [call(number) for number in range(1000)]
    assert first == list(range(1000)) == [call(number) for number in range(1000)]


def test_errors_of_a_variant_arrive_as_they_are():
    @kp.jit
    def wrong(x):
        nothing_of_that_name(x)

    x = torch.zeros(3)
    with pytest.raises(ValueError, match="expected cuda"):
        wrong(x)
    with pytest.raises(kp.CompileError) as caught:
        wrong(3)
    assert caught.value.diagnostics[0]["code"] == "unknown-name"


def test_who_has_the_handle_of_a_function_calls_it_too():
    kept = []
    keep = tvm_ffi.convert(lambda function: kept.append(function))

    @kp.jit
    def f(n):
        assert n == 1

    @kp.jit
    def wrong(n):
        nothing_of_that_name(n)

    keep(f), keep(wrong)
    assert kept[0](1) is None
    with pytest.raises(ValueError, match="expected n == 1, got 2"):
        kept[0](2)
    with pytest.raises(RuntimeError, match="`nothing_of_that_name` is not defined"):
        kept[1](1)
    del f
    gc.collect()
    with pytest.raises(RuntimeError, match="the jit function is gone"):
        kept[0](1.0)


def test_arrays_of_jax_are_not_written():
    @kp.jit("f(x: Tensor([n], float32, mut))")
    def f(x):
        scale_elements(x, x, 2.0).launch(grid=1, block=1)

    @kp.jit
    def g(x):
        pass

    with pytest.raises(TypeError, match=r"argument #0 .* got a jax.Array, which is immutable"):
        f(jnp.zeros(3))
    with pytest.raises(ValueError, match="expected cuda, got cpu"):
        g(jnp.zeros(3))


def test_there_are_at_most_so_many_variants(tmp_path):
    module = fresh(
        """
        WIDTH = 0

        @kp.kernel
        def k(x):
            x[0] = kp.float32(WIDTH)

        @kp.jit("f(x: Tensor([n], float32, mut))", max_variants=2)
        def f(x):
            k(x).launch(grid=1, block=1)
        """,
        tmp_path,
    )
    for width in (1, 2):
        module.WIDTH = width
        module.f.warmup()
    module.WIDTH = 3
    with pytest.raises(RuntimeError, match=r"was compiled for 2 kinds of calls(.|\n)*  f\(x: "):
        module.f(np.zeros(1, "float32"))


def test_without_a_number_there_are_at_most_64():
    @kp.jit
    def f(n: kp.Constexpr):
        pass

    for number in range(64):
        f(number)
    with pytest.raises(RuntimeError, match="was compiled for 64 kinds of calls"):
        f(64)


def test_forbid_and_warn(monkeypatch, tmp_path):
    @kp.jit("f(x: Tensor([n], float32, mut))")
    def f(x):
        scale_elements(x, x, 17.25).launch(grid=1, block=1)

    @kp.jit("g(x: Tensor([n], float32, mut))")
    def g(x):
        scale_elements(x, x, 18.25).launch(grid=1, block=1)

    @kp.jit("h(x: Tensor([n], float32, mut))")
    def h(x):
        scale_elements(x, x, 16.25).launch(grid=1, block=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not h.warmup().is_cached
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    with pytest.raises(kp.CompileForbidden):
        kp.compile(f)
    monkeypatch.setenv("KERNPACK_JIT", "warn")
    expected = r"`g\(x: Tensor.*` was compiled in \d+ ms, for kp.compile"
    with pytest.warns(kp.CompileWarning, match=expected):
        kp.compile(g, g.signature)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.compile(g)


def test_many_threads_compile_once():
    @kp.jit("f(x: Tensor([n], float32, mut))")
    def f(x):
        scale_elements(x, x, 19.25).launch(grid=1, block=1)

    x = np.zeros(3, "float32")
    errors = []

    def run():
        try:
            f(x)
        except ValueError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(errors) == 16 and len(set(errors)) == 1
    assert len(f.variants) == 1


def test_a_jit_function_that_is_gone_is_collected():
    def make():
        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            scale_elements(x, x, 1.0).launch(grid=1, block=1)

        with pytest.raises(ValueError):
            f(np.zeros(3, "float32"))
        return weakref.ref(f.function)

    gone = make()
    gc.collect()
    assert gone() is None


def test_a_program_is_found_in_the_cache_wherever_it_stands(tmp_path):
    text = """
        @kp.kernel
        def k(x):
            x[0] = 123.5

        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            k(x).launch(grid=1, block=1)
        """
    first = fresh(text, tmp_path, "first")
    moved = fresh("# moved\n\n" + textwrap.dedent(text), tmp_path, "moved")
    assert not first.f.warmup().is_cached
    assert moved.f.warmup().is_cached


def test_warnings_show_the_lines_of_who_asks(tmp_path):
    text = """
        @kp.kernel
        def k(x, n):
            values = kp.make_rmem_tensor(4, kp.float32)
            values.fill(0.0)
            for i in range(n):
                x[i] = values[i]

        @kp.jit("f(x: Tensor([n], float32, mut))")
        def f(x):
            k(x, x.shape[0]).launch(grid=1, block=1)
        """
    shown = []
    for name, before in (("first", ""), ("later", "# one line more\n")):
        module = fresh(before + textwrap.dedent(text), tmp_path, name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.f.warmup()
        (warning,) = caught
        shown.append(str(warning.message))
    lines = [re.search(r"--> (\S+):(\d+):\d+", text).groups() for text in shown]
    places = [(Path(path).name, int(line)) for path, line in lines]
    assert places == [("first.py", 5), ("later.py", 6)]


def test_a_captured_call_does_not_compile(driver):
    """Whoever captures a graph counts on calls that only launch."""
    ran = driver("devices 1", "jit_capture.py")
    assert ran.returncode == 0, ran.stderr
    refused = "is not compiled yet, and a CUDA graph is being captured: .* or call `{}.warmup"
    by_classes, classes_again, _, by_signature, signature_again, _ = ran.stdout.splitlines()
    assert re.match(rf"`counted\(n: int64\)` {refused.format('counted')}", by_classes)
    assert re.match(rf"`said\(n: int64\)` {refused.format('said')}", by_signature)
    assert classes_again == signature_again == "called"
    assert ran.stdout.splitlines()[2::3] == ["1", "1"]
