# SPDX-License-Identifier: Apache-2.0
"""Functions of packages as Python calls them: keywords, defaults, results, dataclasses, and what
they say of themselves.
"""

import collections
import copy
import dataclasses
import gc
import inspect
import multiprocessing
import pickle
import pydoc
import subprocess
import sys
import threading
import typing

import numpy
import pytest
import torch
import tvm_ffi

import kernpack as kp

SOURCE = """
#include <stdint.h>
void axpy(const float* x, float* y, int64_t n, float a, float b) { for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + b; }
void stats(const float* x, int64_t n, float* low, float* high) {
  *low = *high = x[0];
  for (int64_t i = 0; i < n; ++i) { if (x[i] < *low) *low = x[i]; if (x[i] > *high) *high = x[i]; }
}
void twice(const float* x, int64_t n, float* y) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }
void scale(const float* x, int64_t n, int32_t k, float* y) { for (int64_t i = 0; i < n; ++i) y[i] = k * x[i]; }
void reversed(const float* x, int64_t n, float* w, float* y) {
  for (int64_t i = 0; i < n; ++i) w[i] = x[i];
  for (int64_t i = 0; i < n; ++i) y[i] = w[n - 1 - i];
}
"""
C = kp.Source.host(SOURCE)
PACKAGE = (
    kp.Package("functions")
    .function(
        "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 1.0, beta: float32 = 2.0)",
        kp.Launch(C, args=["x", "y", "n", "alpha", "beta"]),
        doc="y = alpha*x + beta",
    )
    .function(
        "stats(x: Tensor([n], float32)) -> low: Tensor([1], float32), high: Tensor([1], float32)",
        kp.Launch(C, args=["x", "n", "low", "high"]),
    )
    .function(
        "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
        kp.Launch(C, args=["x", "n", "y"]),
    )
    .function(
        "scale(p: Tuple(x: Tensor([n], float32), k: int32), y: Tensor([n], float32, mut))",
        kp.Launch(C, args=["p.x", "n", "p.k", "y"]),
    )
    .function(
        "reversed(x: Tensor([n], float32), y: Tensor([n], float32, mut))",
        kp.Launch(C, args=["x", "n", "w", "y"]),
        workspace={"w": "Tensor([n], float32)"},
    )
)


@pytest.fixture(scope="module")
def built():
    return PACKAGE.load()


@pytest.fixture(scope="module", params=["built", "loaded"])
def module(request, built, tmp_path_factory):
    """The package as it was built, and as it is loaded from the file that it was exported to."""
    if request.param == "built":
        return built
    path = tmp_path_factory.mktemp("exported") / "functions.so"
    PACKAGE.export(path)
    return kp.load_module(path)


@pytest.fixture
def x():
    return numpy.arange(4, dtype="float32")


@pytest.fixture
def y():
    return numpy.zeros(4, "float32")


def test_a_function_is_one_of_tvm_ffi(module):
    assert isinstance(module.axpy, tvm_ffi.Function)
    assert isinstance(module.axpy, kp.Function) and isinstance(module.stats, kp.Function)
    assert type(module.axpy.raw) is tvm_ffi.Function


@pytest.mark.parametrize(
    ("args", "keywords", "alpha", "beta"),
    [
        ("xy", "", 1, 2),
        ("xya", "", 3, 2),
        ("xyab", "", 3, 7),
        ("xy", "b", 1, 7),
        ("xy", "a", 3, 2),
        ("", "xyba", 3, 7),
        ("x", "by", 1, 7),
    ],
)
def test_arguments_by_position_and_by_name(module, x, y, args, keywords, alpha, beta):
    values = {"x": x, "y": y, "a": 3.0, "b": 7.0}
    names = {"x": "x", "y": "y", "a": "alpha", "b": "beta"}
    module.axpy(
        *[values[each] for each in args], **{names[each]: values[each] for each in keywords}
    )
    numpy.testing.assert_array_equal(y, alpha * x + beta)


def plain(x, y, alpha=1.0, beta=2.0):
    pass


plain.__name__ = plain.__qualname__ = "axpy"


@pytest.mark.parametrize(
    ("n_args", "keywords"),
    [
        (2, {"gamma": 1}),
        (2, {"x": 1}),
        (0, {"y": 1}),
        (5, {"beta": 1}),
        (1, {"alpha": 1}),
        (2, {"": 1}),
        (6, {"x": 1}),
        (4, {"beta": 1}),
    ],
)
def test_a_wrong_keyword_is_told_as_python_does(module, x, n_args, keywords):
    with pytest.raises(TypeError) as expected:
        plain(*[x] * n_args, **keywords)
    with pytest.raises(TypeError) as found:
        module.axpy(*[x] * n_args, **keywords)
    assert str(found.value) == str(expected.value)


def test_checks_speak_the_same_with_keywords(module, x):
    message = r"Mismatched y\.shape\[0\] on argument #1 .*expected to match x\.shape\[0\], got 3"
    for call in (
        lambda y: module.axpy(x, y),
        lambda y: module.axpy(x=x, y=y),
        lambda y: module.axpy(x, y=y, beta=1),
    ):
        with pytest.raises(ValueError, match=message):
            call(numpy.zeros(3, "float32"))


def test_several_results_have_names(module, x):
    result = module.stats(x)
    assert result._fields == ("low", "high") and type(result).__name__ == "stats"
    assert (result.low, result.high) == (0, 3)
    low, high = module.stats(x=x)
    assert isinstance(low, numpy.ndarray) and isinstance(high, numpy.ndarray)


def test_results_are_what_the_arguments_are(module, x):
    assert isinstance(module.twice(x), numpy.ndarray)
    tensor = torch.from_numpy(x)
    doubled = module.twice(tensor)
    assert isinstance(doubled, torch.Tensor) and torch.equal(doubled, 2 * tensor)
    assert all(isinstance(each, torch.Tensor) for each in module.stats(tensor))
    assert isinstance(module.twice(tvm_ffi.from_dlpack(x)), tvm_ffi.Tensor)


def test_results_live_on_their_own(module, x):
    results = [module.twice(x + number) for number in range(100)]
    gc.collect()
    for number, result in enumerate(results):
        numpy.testing.assert_array_equal(result, 2 * (x + number))
        assert result.ctypes.data % 64 == 0


def test_an_empty_result(module):
    assert module.twice(numpy.zeros(0, "float32")).shape == (0,)


def test_workspaces_need_no_framework(module, x, y):
    module.reversed(x, y)
    numpy.testing.assert_array_equal(y, x[::-1])
    assert module.reversed.workspaces == ["w: Tensor([n], float32)"]


ALLOCATORS = """
import ctypes, sys, threading
import numpy, torch, tvm_ffi
import kernpack as kp

library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
get, set_ = library.TVMFFIEnvGetDLPackManagedTensorAllocator, library.TVMFFIEnvSetDLPackManagedTensorAllocator
get.restype, set_.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]


def elsewhere(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def load(_):
    global module, during
    module, during = kp.load_module(sys.argv[1]), get()
    module.twice
"""


def test_a_function_loaded_during_a_call_with_an_allocator(tmp_path):
    """The allocator of that call, PyTorch's, is that of its thread, and does not stay when the call
    ends.
    """
    PACKAGE.export(tmp_path / "functions.so")
    script = """
tvm_ffi.convert(load)(torch.ones(3))
assert elsewhere(get) not in (None, during)
print(elsewhere(lambda: module.twice(numpy.ones(3, "float32")).sum()))
"""
    command = [sys.executable, "-c", ALLOCATORS + script, tmp_path / "functions.so"]
    assert subprocess.check_output(command, text=True) == "6.0\n"


def test_the_allocator_of_a_process_stays(tmp_path):
    PACKAGE.export(tmp_path / "functions.so")
    script = """
elsewhere(lambda: set_(64, 1, None))
load(None)
print(get(), elsewhere(get))
"""
    command = [sys.executable, "-c", ALLOCATORS + script, tmp_path / "functions.so"]
    assert subprocess.check_output(command, text=True) == "64 64\n"


def test_the_variant_with_results_as_arguments(module, x, y):
    module.twice.out(x, y)
    numpy.testing.assert_array_equal(y, 2 * x)
    module.twice.out(x=x, y=y)
    assert module.twice.out.name == "twice_out" and module.axpy.out is None


class Named(typing.NamedTuple):
    x: object
    k: int


@dataclasses.dataclass
class Data:
    x: object
    k: int


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object
    k: int


@pytest.mark.parametrize(
    "kind", [lambda *each: each, lambda *each: list(each), Named, Data, Frozen]
)
def test_tuples_of_every_kind(module, x, y, kind):
    module.scale(kind(x, 3), y)
    numpy.testing.assert_array_equal(y, 3 * x)
    module.scale(y=y, p=kind(torch.from_numpy(x), 5))
    numpy.testing.assert_array_equal(y, 5 * x)


@pytest.mark.parametrize("kind", [Named, Data, Frozen])
def test_results_are_what_the_fields_are(kind):
    text = "halve(p: Tuple(x: Tensor([n], float32), k: int32)) -> y: Tensor([n], float32)"
    halve = kp.host(
        "void halve(const float* x, long n, int k, float* y) { for (long i = 0; i < n; ++i) y[i] = x[i] / k; }",
        text,
        args=["p.x", "n", "p.k", "y"],
    )
    assert isinstance(halve(kind(numpy.zeros(3, "float32"), 2)), numpy.ndarray)
    assert isinstance(halve(p=kind(torch.zeros(3), 2)), torch.Tensor)


def test_a_copy_is_the_function_itself(module):
    assert (
        copy.copy(module.axpy) is module.axpy
        and copy.deepcopy({"f": module.stats})["f"] is module.stats
    )


def test_a_function_goes_to_another_process(x, tmp_path):
    path = tmp_path / "functions.so"
    PACKAGE.export(path)
    pickled = pickle.dumps([kp.load_module(path).twice, kp.load_module(path).stats])
    path.unlink()
    code = "import pickle, sys, numpy; twice, stats = pickle.load(sys.stdin.buffer); assert twice.package is stats.package; "
    code += "x = numpy.arange(4, dtype='float32'); sys.stdout.buffer.write(pickle.dumps([twice(x), stats(x)]))"
    ran = subprocess.run(
        [sys.executable, "-c", code], input=pickled, stdout=subprocess.PIPE, check=True
    )
    twice, stats = pickle.loads(ran.stdout)
    assert twice.tolist() == [0, 2, 4, 6] and stats.low == 0 and stats.high == 3
    assert repr(stats) == "stats(low=array([0.], dtype=float32), high=array([3.], dtype=float32))"


def test_functions_in_a_pool(built, x):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for result in pool.map(built.stats, [x, x + 1]):
            assert result.high[0] - result.low[0] == 3


def test_a_damaged_pickle_is_not_loaded(built):
    pickled = pickle.dumps(built.axpy)
    # One byte of the text of a message, which the loader would not miss.
    at = pickled.index(b"Mismatched")
    damaged = pickled[:at] + b"N" + pickled[at + 1 :]
    with pytest.raises(ValueError, match="the pickle's copy of the package .* is damaged"):
        pickle.loads(damaged)
    assert pickle.loads(pickled).package.digest == built.digest


def test_what_was_pickled_is_what_was_loaded(built):
    again = pickle.loads(pickle.dumps(built.axpy))
    assert again.package.digest == built.digest and again.signature == built.axpy.signature


def test_what_is_loaded_is_not_loaded_again(tmp_path):
    PACKAGE.export(tmp_path / "functions.so")
    module = kp.load_module(tmp_path / "functions.so")
    pickled = pickle.dumps(module)
    (tmp_path / "functions.so").unlink()
    again = [pickle.loads(pickled) for _ in range(2)]
    assert again[0] is again[1] and again[0].digest == module.digest


def test_a_file_that_was_written_again_is_not_passed_on(tmp_path):
    PACKAGE.export(tmp_path / "functions.so")
    module = kp.load_module(tmp_path / "functions.so")
    kp.host("void other(void) {}", "other()", args=[]).export(tmp_path / "functions.so")
    with pytest.raises(ValueError, match="has changed since it was loaded"):
        pickle.dumps(module.twice)
    with pytest.raises(ValueError, match="has changed since it was loaded"):
        module.export(tmp_path / "copy.so")
    assert not (tmp_path / "copy.so").exists()


def test_a_dataclass_that_tvm_ffi_met_first(module, x, y):
    @dataclasses.dataclass
    class Met:
        x: object
        k: int

    with pytest.raises(TypeError, match="got a Python object"):
        module.scale.raw(Met(x, 3), y)
    for factor in (3, 4):
        module.scale(Met(x, factor), y=y)
        numpy.testing.assert_array_equal(y, factor * x)


@dataclasses.dataclass
class Base:
    x: object
    z: object


@dataclasses.dataclass
class Derived(Base):
    by: int


def test_a_derived_dataclass_has_fields_of_its_own(x):
    pair = kp.host(
        "void pair(float* x) { x[0] += 1; }",
        "pair(p: Tuple(x: Tensor([n], float32, mut), z: Tensor([n], float32)))",
        args=["p.x"],
    )
    three = kp.host(
        "void three(float* x, int by) { x[0] += by; }",
        "three(p: Tuple(x: Tensor([n], float32, mut), z: Tensor([n], float32), by: int32))",
        args=["p.x", "p.by"],
    )
    z = x.copy()
    pair(Base(x, z))
    three(Derived(x, z, 5))
    assert x[0] == 6
    with pytest.raises(ValueError, match="expected tuple size=2, got 3"):
        pair(Derived(x, z, 5))
    assert x[0] == 6


class Fixed(type):
    """Of classes that nothing is told."""

    def __setattr__(cls, name, value):
        raise AttributeError(name)


def test_a_dataclass_that_takes_no_attribute_is_passed_all_the_same(built, x, y):
    built.scale(Fixed("Own", (Data,), {})(x, 3), y)
    assert y.tolist() == [0, 3, 6, 9]


def test_each_class_is_met_once_and_held_once(built, x, y, monkeypatch):
    """Of very many, more than those that are found first."""
    met, meet = [], kp.Function._meet
    monkeypatch.setattr(
        kp.Function, "_meet", lambda self, value: met.append(type(value)) or meet(self, value)
    )
    echo = tvm_ffi.get_global_func("testing.echo")
    for number in range(20):
        kind = type(f"Number{number}", (int,), {})
        # TVM-FFI holds it, too.
        echo(kind(2))
        before = sys.getrefcount(kind)
        for _ in range(3):
            built.scale((x, kind(2)), y)
        assert met.count(kind) == 1
        assert sys.getrefcount(kind) == before + 2  # with `met`


def test_macros_are_what_c_takes_for_true_and_false():
    def chosen(value):
        text = "void put(float* y) {\n#if FAST\n*y = 1;\n#else\n*y = 2;\n#endif\n}"
        put = kp.host(text, "put() -> y: Tensor([], float32)", define={"FAST": value})
        return float(numpy.from_dlpack(put()))

    assert [chosen(value) for value in (True, 1, "1", False, 0)] == [1, 1, 1, 2, 2]
    with pytest.raises(TypeError, match="the macro FAST stands for None"):
        chosen(None)


def test_a_module_knows_its_functions_whatever_lies_at_its_path(built, tmp_path):
    path = tmp_path / "k.so"
    PACKAGE.export(path)
    module = kp.load_module(path)
    other = kp.host("void other(int k) {}", "other(k: int32)")
    other.export(path)
    assert module.functions == built.functions
    assert [module[name].name for name in module] == module.functions
    path.unlink()
    assert not hasattr(module, "nope") and "axpy" in repr(module) and "axpy" in dir(module)
    assert kp.inspect.__doc__ and module.axpy.name == "axpy"


def test_names_that_are_keywords_have_results(x):
    text = "lambda(x: Tensor([n], float32)) -> a: Tensor([], float32), is: Tensor([], float32)"
    source = "void k(const float* x, float* a, float* b) { *a = x[1]; *b = x[2]; }"
    module = kp.Package("words")
    module.function(text, kp.Launch(kp.Source.host(source), "k", ["x", "a", "is"]))
    results = module.load()["lambda"](x)
    assert type(results).__name__ == "lambda_" and results._fields == ("a", "is_")
    assert (float(results.a), float(results.is_)) == (1, 2)


def test_results_of_a_derived_array_are_arrays(module, x):
    class Derived(numpy.ndarray):
        pass

    low, high = module.stats(x.view(Derived))
    assert isinstance(low, numpy.ndarray) and high.tolist() == [3]


def test_a_dtype_that_numpy_has_not_stays_a_tensor(x):
    make = kp.host(
        "#include <stdint.h>\nvoid make(float x, uint16_t* y) { *y = 0x3f80; }",
        "make(x: Tensor([n], float32)) -> y: Tensor([], bfloat16)",
        args=["0: float32", "y"],
    )
    made = make(x)
    assert isinstance(made, tvm_ffi.Tensor) and float(torch.from_dlpack(made)) == 1


def test_a_parameter_may_be_called_self(x):
    put = kp.host("void put(float* self) { self[0] = 7; }", "put(self: Tensor([n], float32, mut))")
    put.prepare(self=x)()
    assert x[0] == 7


def test_a_wrong_field_is_named(module, x, y):
    with pytest.raises(
        TypeError, match=r"Mismatched type on p\.k in argument #0 .* expected int, got str"
    ):
        module.scale(Data(x, "a"), y)


def test_what_a_function_says_of_itself(module):
    f = module.axpy
    assert str(inspect.signature(f)) == "(x, y, alpha=1.0, beta=2.0)"
    assert f.name == f.__name__ == "axpy"
    assert f.signature.startswith(
        "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 1.0"
    )
    assert f.__doc__.startswith("y = alpha*x + beta\n") and f.signature in f.__doc__
    assert "y = alpha*x + beta" in pydoc.render_doc(f)
    assert "require" in f.plan and "y.shape[0]" in f.plan
    assert repr(f).startswith("<kernpack.Function axpy(")
    assert (
        f.device_type == "cpu"
        and f.package.digest
        and f.description["params"][1]["type"]["mutable"]
    )
    assert module.functions == [
        "axpy",
        "stats",
        "stats_out",
        "twice",
        "twice_out",
        "scale",
        "reversed",
    ]
    assert (
        "axpy" in dir(module) and "axpy" in module and "missing" not in module and len(module) == 7
    )


def test_what_is_not_there_is_told(module):
    with pytest.raises(AttributeError, match="has no function `axpi`; it has axpy, stats"):
        module.axpi
    with pytest.raises(KeyError):
        module["axpi"]


def test_an_error_explained(module, x):
    with pytest.raises(ValueError) as error:
        module.axpy(x, x[:3])
    text = module.axpy.explain(error.value)
    assert text.startswith("dim (ValueError)\n") and "a.shape[0] is 128" in text
    with pytest.raises(ValueError, match="nothing"):
        module.axpy.explain("nothing of ours")


def test_a_prepared_call(module, x, y):
    prepared = module.axpy.prepare(x, y, beta=5)
    prepared()
    numpy.testing.assert_array_equal(y, x + 5)
    x += 1
    prepared()
    numpy.testing.assert_array_equal(y, x + 5)
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        module.axpy.prepare(x)


def test_many_threads(module, x):
    failures = []

    def work(number):
        y = numpy.zeros(4, "float32")
        for turn in range(500):
            module.axpy(x, y, beta=number)
            if not (y == x + number).all() or module.stats(y).high != 3 + number:
                failures.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4


def test_nothing_is_leaked(built, x, y):
    """Each way of calling, often; `make soak` does it for longer."""
    short = numpy.zeros(3, "float32")

    def refused(call):
        with pytest.raises((TypeError, ValueError)):
            call()

    calls = {
        "keywords": (lambda: built.axpy(x, y, beta=1.0), 40000),
        "results": (lambda: built.stats(x), 4000),
        "dataclass": (lambda: built.scale(Data(x, 3), y), 20000),
        "refused": (lambda: refused(lambda: built.axpy(x, short, beta=1.0)), 4000),
        "wrong keyword": (lambda: refused(lambda: built.axpy(x, gamma=1.0)), 10000),
        "wrong field": (lambda: refused(lambda: built.scale(Data(x, "a"), y)), 2000),
    }
    for call, count in calls.values():
        [call() for _ in range(count // 10)]
    grown = collections.Counter()
    for name, (call, count) in calls.items():
        gc.collect()
        before, references = resident(), sys.getrefcount(x)
        for _ in range(count):
            call()
        gc.collect()
        assert sys.getrefcount(x) == references, name
        grown[name] = resident() - before
    assert max(grown.values()) < 2000, f"{grown} kB"
