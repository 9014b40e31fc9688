# SPDX-License-Identifier: Apache-2.0
"""What the package must do under every Python and every TVM-FFI that it supports: run in each by
`test_pythons.py`.

    every_python.py

needs NumPy and nothing else, and prints what it ran on.
"""

import dataclasses
import gc
import inspect
import sys
import threading
import typing

import numpy
import tvm_ffi

import kernpack as kp

SOURCE = """
void axpy(const float* x, float* y, long n, float a) { for (long i = 0; i < n; ++i) y[i] += a * x[i]; }
void ends(const float* x, long n, float* first, float* last) { *first = x[0]; *last = x[n - 1]; }
void scale(const float* x, long n, int k, float* y) { for (long i = 0; i < n; ++i) y[i] = k * x[i]; }
"""
C = kp.Source.host(SOURCE)
module = (
    kp.Package("every")
    .function(
        "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 1.0)",
        kp.Launch(C, args=["x", "y", "n", "alpha"]),
    )
    .function(
        "ends(x: Tensor([n], float32)) -> first: Tensor([1], float32), last: Tensor([1], float32)",
        kp.Launch(C, args=["x", "n", "first", "last"]),
    )
    .function(
        "scale(p: Tuple(x: Tensor([n], float32), k: int32), y: Tensor([n], float32, mut))",
        kp.Launch(C, args=["p.x", "n", "p.k", "y"]),
    )
    .load()
)
x, y = numpy.arange(1, 4, dtype="float32"), numpy.zeros(3, "float32")


class Named(typing.NamedTuple):
    x: object
    k: int


@dataclasses.dataclass
class Data:
    x: object
    k: int


def raised(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("the call was accepted")


def check_calls():
    y[:] = 0
    module.axpy(x, y)
    module.axpy(x, y, 2.0)
    module.axpy(x, y=y, alpha=3)
    module.axpy(x=x, y=y)
    assert (y == 7 * x).all(), y
    ends = module.ends(x)
    assert (ends.first, ends.last) == (1, 3) and isinstance(ends.first, numpy.ndarray), ends
    for kind in (lambda *each: each, Named, Data):
        module.scale(kind(x, 2), y)
        assert (y == 2 * x).all(), kind


def check_refusals():
    assert (
        raised(lambda: module.axpy(x, y, beta=1))
        == "TypeError: axpy() got an unexpected keyword argument 'beta'"
    )
    assert raised(lambda: module.axpy(x, x=x)).startswith(
        "TypeError: axpy() got multiple values for argument 'x'"
    )
    assert "expected to match x.shape[0], got 2 (x.shape[0] is 3)" in raised(
        lambda: module.axpy(x, y=y[:2])
    )
    assert raised(lambda: module.axpy(x)).startswith("TypeError: Mismatched number of arguments")


def check_what_it_says():
    assert str(inspect.signature(module.axpy)) == "(x, y, alpha=1.0)"
    assert isinstance(module.axpy, tvm_ffi.Function) and module.axpy.raw(x, y) is None
    assert (
        "axpy" in repr(module) and module.functions[0] == "axpy" and "require" in module.axpy.plan
    )


def check_references():
    before = [sys.getrefcount(each) for each in (x, y, module.axpy)]
    for _ in range(2000):
        module.axpy(x, y, alpha=0.0)
        module.scale(Data(x, 2), y)
        raised(lambda: module.axpy(x, y=y[:2]))
        raised(lambda: module.axpy(x, y, beta=1))
    gc.collect()
    assert [sys.getrefcount(each) for each in (x, y, module.axpy)] == before


def check_threads():
    failures = []

    def work():
        for _ in range(300):
            ends = module.ends(x=x)
            if ends.last != 3:
                failures.append(ends)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


for check in (check_calls, check_refusals, check_what_it_says, check_references, check_threads):
    check()
print(
    f"Python {sys.version_info.major}.{sys.version_info.minor}, tvm_ffi {tvm_ffi.__version__}: right"
)
