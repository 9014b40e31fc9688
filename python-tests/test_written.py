# SPDX-License-Identifier: Apache-2.0
"""What a function writes has to be writable: arrays of JAX are not."""

import collections
import dataclasses
import subprocess
import sys

import jax.numpy as jnp
import numpy
import pytest
import torch
import tvm_ffi

import kernpack as kp

SOURCE = """
#include <stdint.h>
void copy(const float* x, int64_t n, float* y) { for (int64_t i = 0; i < n; ++i) y[i] = x[i]; }
"""
N_MANY = 70
MANY = [f"n{number}: int64" for number in range(N_MANY)]
PACKAGE = kp.Package("written")
for text in (
    "copy(x: Tensor([n], float32), y: Tensor([n], float32, mut))",
    "nested(x: Tensor([n], float32), p: Tuple(k: int32, Tuple(Tensor([n], float32, mut), Tensor([n], float32))))",
    "optional(x: Tensor([n], float32), y: Optional[Tensor([n], float32, mut)] = None)",
    f"many({', '.join(MANY)}, x: Tensor([n], float32), y: Tensor([n], float32, mut))",
    "result(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
):
    y = "p[1][0]" if text.startswith("nested") else "y"
    PACKAGE.function(text, kp.Launch(kp.Source.host(SOURCE), "copy", args=["x", "n", y]))

ONES = numpy.ones(3, "float32")


def zeros():
    return numpy.zeros(3, "float32")


def refused(place, function, *args, **keywords):
    with pytest.raises(TypeError) as error:
        function(*args, **keywords)
    assert str(error.value) == (
        f"Mismatched type on {place} when calling: `{function.metadata['short']}`, expected a"
        " tensor that can be written, got a jax.Array, which is immutable: `kernpack.jax.call`"
        " returns what is written, or pass a copy, of NumPy or PyTorch"
    )


def test_an_array_of_jax_is_refused_where_it_would_be_written():
    x = jnp.zeros(3)
    for _ in range(2):
        refused("argument #1", PACKAGE.copy, ONES, x)
        refused("argument #1", PACKAGE.copy, ONES, y=x)
        refused("argument #1", PACKAGE.optional, ONES, x)
        refused("argument #1", PACKAGE.result.out, ONES, x)
        refused(f"argument #{N_MANY + 1} (y)", PACKAGE.many, *range(N_MANY), ONES, x)
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_a_type_that_may_be_written_is_held():
    """Another one would have its address otherwise."""

    class Own(numpy.ndarray):
        pass

    x = zeros().view(Own)
    PACKAGE.copy(x, zeros())
    count = sys.getrefcount(Own)
    for _ in range(3):
        PACKAGE.copy(ONES, x)
    assert x.tolist() == [1.0] * 3 and sys.getrefcount(Own) == count + 1


def test_each_of_very_many_types_is_asked_about_once(monkeypatch):
    asked = []
    meet = kp.Function._meet_written
    monkeypatch.setattr(
        kp.Function, "_meet_written", lambda self, args: asked.append(args) or meet(self, args)
    )
    kinds = [type(f"Array{number}", (numpy.ndarray,), {}) for number in range(40)]
    arrays = [zeros().view(kind) for kind in kinds]
    for x in arrays * 2:
        PACKAGE.copy(ONES, x)
        assert x.tolist() == [1.0] * 3
    assert [type(args[1]) for args in asked] == kinds


def test_so_it_is_where_a_call_is_prepared():
    x = jnp.zeros(3)
    with pytest.raises(TypeError, match="^Mismatched type on argument #1 .* a jax.Array"):
        PACKAGE.copy.prepare(ONES, x)
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_arrays_of_jax_are_read():
    x = jnp.arange(3.0)
    for function, args in (
        (PACKAGE.copy, (x,)),
        (PACKAGE.optional, (x,)),
        (PACKAGE.many, (*range(N_MANY), x)),
    ):
        for y in (zeros(), torch.zeros(3), tvm_ffi.from_dlpack(zeros())):
            function(*args, y)
            assert numpy.from_dlpack(y).tolist() == [0.0, 1.0, 2.0]


@dataclasses.dataclass
class Fields:
    k: int
    pair: object


Named = collections.namedtuple("Named", ["k", "pair"])


@pytest.mark.parametrize("make", [lambda *parts: parts, lambda *parts: list(parts), Fields, Named])
def test_tuples_are_looked_into(make):
    x = jnp.zeros(3)
    for _ in range(2):
        y = zeros()
        PACKAGE.nested(ONES, make(1, (y, ONES)))
        assert y.tolist() == [1.0, 1.0, 1.0]
        refused("p[1][0] in argument #1", PACKAGE.nested, ONES, make(1, (x, ONES)))
        refused("p[1][0] in argument #1", PACKAGE.nested, ONES, p=make(1, [x, ONES]))
        # The other one is only read.
        PACKAGE.nested(ONES, make(1, (zeros(), x)))
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_calls_that_do_not_fit_say_what_they_said():
    with pytest.raises(TypeError, match="^Mismatched number of arguments"):
        PACKAGE.copy(ONES)
    with pytest.raises(
        TypeError, match="^Mismatched type on argument #1 .*expected Tensor, got int"
    ):
        PACKAGE.copy(ONES, 3)
    with pytest.raises(TypeError, match="^Mismatched type on argument #1"):
        PACKAGE.nested(ONES, 3)


def test_a_read_only_array_of_numpy_is_refused_by_numpy():
    y = zeros()
    y.flags.writeable = False
    with pytest.raises(BufferError, match="readonly"):
        PACKAGE.copy(ONES, y)
    assert y.tolist() == [0.0, 0.0, 0.0]


def test_no_compiler_is_loaded_for_a_call_without_jax(tmp_path):
    path = tmp_path / "written.so"
    PACKAGE.export(path)
    program = f"""
import numpy, kernpack, kernpack._native
module = kernpack.load_module({str(path)!r})
y = numpy.zeros(3, "float32")
module.copy(numpy.ones(3, "float32"), y)
module.nested(numpy.ones(3, "float32"), (1, (y, y)))
module.nested(numpy.ones(3, "float32"), [1, [y, y]])
assert not kernpack._native.has_compiler()
import jax.numpy
x = jax.numpy.zeros(3)
try:
    module.copy(y, x)
except TypeError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "got a jax.Array" in ran.stdout, ran.stderr
