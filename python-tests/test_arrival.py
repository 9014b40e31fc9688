# SPDX-License-Identifier: Apache-2.0
"""What only real frameworks can show: which views, dtypes and numbers reach a kernel, and as what."""

import enum
import subprocess
import threading
import time

import ml_dtypes
import numpy as np
import pytest
import torch
import tvm_ffi

PACKAGE = """
[package]
name = "arrival"

[[function]]
signature = "view(x: Tensor([m, n], float32, strides=any), out: Tensor([6], int64, mut))"
source = { host = "arrival.c" }
symbol = "view"
args = ["x", "m", "n", "x.strides[0]", "x.strides[1]", "x.numel", "out"]

[[function]]
signature = "strided(x: Tensor([m, n], float32, strides=[s, 1]), out: Tensor([6], int64, mut)) where s >= n"
source = { host = "arrival.c" }
symbol = "view"
args = ["x", "m", "n", "s", "x.strides[1]", "x.numel", "out"]

[[function]]
signature = "columns(x: Tensor([m, n], float32, order=col), out: Tensor([6], int64, mut))"
source = { host = "arrival.c" }
symbol = "view"
args = ["x", "m", "n", "x.strides[0]", "x.strides[1]", "x.numel", "out"]

[[function]]
signature = "write(x: Tensor([m, n], float32, strides=any, mut), out: Tensor([6], int64, mut))"
source = { host = "arrival.c" }
symbol = "view"
args = ["x", "m", "n", "x.strides[0]", "x.strides[1]", "x.numel", "out"]

[[function]]
signature = "single(x: Tensor([], float32), out: Tensor([], float32, mut))"
source = { host = "arrival.c" }
symbol = "single"
args = ["x", "out"]

[[function]]
signature = '''
which(x: Tensor([n], T), out: Tensor([1], int64, mut))
where T in {bool, int8, uint8, uint16, float16, bfloat16, float8_e4m3fn, float8_e5m2, complex64, complex128}
'''
source = { host = "arrival.c" }
symbol = "which_{T}"
args = ["out"]

[[function]]
signature = "numbers(i: int64, u: uint64, f: float64, b: bool, out: Tensor([4], float64, mut))"
source = { host = "arrival.c" }
symbol = "numbers"
args = ["i", "u", "f", "b", "out"]

[[function]]
signature = "wait(milliseconds: int64)"
source = { host = "arrival.c" }
symbol = "wait_for"
args = ["milliseconds"]

[[function]]
signature = "on_cuda(x: Tensor([n], float32, device=cuda))"
"""

DTYPES = (
    "bool int8 uint8 uint16 float16 bfloat16 float8_e4m3fn float8_e5m2 complex64 complex128".split()
)

KERNELS = """
#include <stdint.h>
#include <time.h>

void view(const float *x, int64_t m, int64_t n, int64_t s, int64_t t, int64_t numel, int64_t *out) {
    out[0] = m; out[1] = n; out[2] = s; out[3] = t; out[4] = numel; out[5] = numel > 0 ? (int64_t)x[0] : -1;
}

void single(const float *x, float *out) { *out = *x + 1; }

void numbers(int64_t i, uint64_t u, double f, _Bool b, double *out) {
    out[0] = (double)i; out[1] = (double)u; out[2] = f; out[3] = b;
}

void wait_for(int64_t milliseconds) {
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, 0);
}
""" + "".join(
    f"void which_{dtype}(int64_t *out) {{ *out = {i}; }}\n" for i, dtype in enumerate(DTYPES)
)


@pytest.fixture(scope="module")
def module(tmp_path_factory, kernpack):
    folder = tmp_path_factory.mktemp("arrival")
    (folder / "arrival.toml").write_text(PACKAGE)
    (folder / "arrival.c").write_text(KERNELS)
    subprocess.run([kernpack, "build", "arrival.toml", "-o", "arrival.so"], cwd=folder, check=True)
    return tvm_ffi.load_module(str(folder / "arrival.so"))


def seen(function, x):
    """Extents, strides, count and first element of what arrives."""
    out = torch.zeros(6, dtype=torch.int64)
    function(x, out)
    return out.tolist()


BASE = torch.arange(24, dtype=torch.float32).reshape(4, 6)


@pytest.mark.parametrize(
    ("x", "arrives"),
    [
        (BASE, [4, 6, 6, 1, 24, 0]),
        (BASE.t(), [6, 4, 1, 6, 24, 0]),
        (BASE[1:, 2:], [3, 4, 6, 1, 12, 8]),  # a storage offset
        (BASE[::2, ::3], [2, 2, 12, 3, 4, 0]),
        (BASE[0].expand(5, 6), [5, 6, 0, 1, 30, 0]),
        (BASE[:0], [0, 6, 6, 1, 0, -1]),
        (
            torch.as_strided(BASE, (1, 6), (77, 1)),
            [1, 6, 6, 1, 6, 0],
        ),  # a free dim has the compact stride
        (torch.nn.Parameter(BASE.clone(), requires_grad=False), [4, 6, 6, 1, 24, 0]),
        (BASE.numpy(), [4, 6, 6, 1, 24, 0]),
        (BASE.numpy()[::-1], [4, 6, -6, 1, 24, 18]),  # a negative stride
        (BASE.numpy()[:, ::-2], [4, 3, 6, -2, 12, 5]),
        (np.broadcast_to(np.float32(7), (2, 3)).copy(), [2, 3, 3, 1, 6, 7]),
    ],
    ids=str,
)
def test_views_arrive_with_their_strides_and_offset(module, x, arrives):
    assert seen(module.view, x) == arrives


def test_stride_symbols_take_padded_rows_and_nothing_narrower(module):
    assert seen(module.strided, BASE[:, :4]) == [4, 4, 6, 1, 16, 0]
    assert seen(module.strided, BASE) == [4, 6, 6, 1, 24, 0]
    with pytest.raises(ValueError, match=r"Mismatched x\.strides\[1\] .* expected to be 1, got 2$"):
        seen(module.strided, BASE[:, ::2])
    with pytest.raises(
        ValueError,
        match=r"Invalid x\.strides\[0\] .* expected s >= n, got 0 and 6 \(n is x\.shape\[1\]\)$",
    ):
        seen(module.strided, BASE[0].expand(5, 6))


def test_column_major_is_what_fortran_and_transposes_make(module):
    assert seen(module.columns, BASE.t()) == [6, 4, 1, 6, 24, 0]
    assert seen(module.columns, np.asfortranarray(BASE.numpy())) == [4, 6, 1, 4, 24, 0]
    with pytest.raises(
        ValueError, match=r"x\.strides\[0\] .* expected to be 1 for column-major order, got 6$"
    ):
        seen(module.columns, BASE)


def test_what_is_written_may_not_be_broadcast(module):
    assert seen(module.write, BASE.clone().t())[:2] == [6, 4]
    with pytest.raises(
        ValueError,
        match=r"x\.strides\[0\] .* expected a non-zero stride for a mutable tensor, got 0$",
    ):
        seen(module.write, BASE[0].expand(5, 6))
    assert seen(module.write, BASE[0].expand(1, 6))[:2] == [1, 6]


def test_views_that_negate_or_conjugate_arrive_as_their_memory(module):
    out = torch.zeros(())
    negative = torch.tensor(1 + 2j).conj().imag
    assert negative.is_neg() and negative.item() == -2.0
    module.single(negative, out)
    assert out.item() == 2.0 + 1
    module.single(negative.resolve_neg(), out)
    assert out.item() == -2.0 + 1


@pytest.mark.parametrize(
    "single", [torch.tensor(2.0), np.array(2.0, "float32"), tvm_ffi.from_dlpack(torch.tensor(2.0))]
)
def test_tensors_without_dims(module, single):
    out = torch.tensor(0.0)
    module.single(single, out)
    assert out.item() == 3.0
    with pytest.raises(ValueError, match="expected ndim=0, got 1$"):
        module.single(torch.zeros(1), out)
    with pytest.raises(TypeError, match="expected Tensor, got float$"):
        module.single(2.0, out)
    with pytest.raises(TypeError, match="expected Tensor, got float$"):
        module.single(np.float32(2.0), out)  # a scalar of NumPy is a number, not a tensor


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_pytorch(module, dtype):
    out = torch.zeros(1, dtype=torch.int64)
    module.which(torch.zeros(3, dtype=getattr(torch, dtype)), out)
    assert out.item() == DTYPES.index(dtype)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if hasattr(np, dtype)])
def test_dtypes_of_numpy(module, dtype):
    out = np.zeros(1, "int64")
    module.which(np.zeros(3, dtype), out)
    assert out[0] == DTYPES.index(dtype)


def test_other_dtypes_are_refused_by_name(module):
    out = torch.zeros(1, dtype=torch.int64)
    for dtype in ("float32", "int16", "uint64", "float8_e4m3fnuz", "float8_e8m0fnu"):
        with pytest.raises(TypeError, match=f"float8_e5m2, complex64 or complex128, got {dtype}$"):
            module.which(torch.empty(3, dtype=getattr(torch, dtype)), out)


def test_what_numpy_itself_refuses_never_arrives(module):
    read_only = np.zeros((2, 3), "float32")
    read_only.flags.writeable = False
    for array in (read_only, np.zeros((2, 3), ml_dtypes.bfloat16), np.zeros((2, 3), ">f4")):
        with pytest.raises((BufferError, TypeError, ValueError, RuntimeError)):
            seen(module.view, array)


class Color(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("i", "f", "arrives"),
    [
        (5, 2, [5, 2]),
        (True, True, [1, 1]),
        (np.int8(-5), np.float32(0.5), [-5, 0.5]),
        (np.uint64(7), np.float16(0.25), [7, 0.25]),
        (Color.RED, float("inf"), [3, float("inf")]),
        (-(2**63), 2**63 - 1, [-(2.0**63), 2.0**63]),
    ],
    ids=str,
)
def test_numbers(module, i, f, arrives):
    out = np.zeros(4)
    module.numbers(i, 2**64 - 1, f, True, out)
    assert out.tolist() == [*arrives[:1], 2.0**64, *arrives[1:], 1.0]


@pytest.mark.parametrize(
    ("position", "value", "error", "words"),
    [
        (0, 2**63, ValueError, "int64 range .*, got an integer beyond 64 bits"),
        (0, np.array(5), TypeError, "expected int, got Tensor"),
        (0, torch.tensor(5), TypeError, "expected int, got Tensor"),
        (0, 5.0, TypeError, "expected int, got float"),
        (0, np.bool_(True), TypeError, "expected int, got a Python object"),
        (0, np.int64, TypeError, "expected int, got Function"),
        (0, 1j, TypeError, "expected int, got a Python object"),
        (0, "5", TypeError, "expected int, got str"),
        (1, -1, ValueError, r"uint64 range \[0, 18446744073709551615\], got -1"),
        (1, 2**64, ValueError, "uint64 range .*, got an integer beyond 64 bits"),
        (2, "0.5", TypeError, "expected float, got str"),
        (2, np.float32, TypeError, "expected float, got Function"),
        (2, 2**63, ValueError, "float64 range .*, got an integer beyond 64 bits"),
        (3, 2, ValueError, r"bool range \[0, 1\], got 2"),
        (3, 1.0, TypeError, "expected bool, got float"),
        (3, np.bool_(True), TypeError, "expected bool, got a Python object"),
        (3, None, TypeError, "expected bool, got None"),
    ],
    ids=str,
)
def test_refused_numbers(module, position, value, error, words):
    args = [1, 1, 1.0, True, np.zeros(4)]
    args[position] = value
    with pytest.raises(error, match=f"argument #{position} when calling: .* {words}$"):
        module.numbers(*args)


@pytest.mark.parametrize(
    ("value", "received"),
    [
        ([1.0, 2.0], "Array"),
        (tvm_ffi.List([1]), "List"),
        ({}, "Map|Dict"),
        (memoryview(b"ab"), "a Python object"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_what_is_no_tensor(module, value, received):
    with pytest.raises(TypeError, match=f"expected Tensor, got ({received})$"):
        seen(module.view, value)


def test_the_device_is_checked(module):
    with pytest.raises(ValueError, match="expected device_type=cuda, got cpu$"):
        module.on_cuda(torch.zeros(3))


def test_the_interpreter_is_free_during_a_call(module):
    module.wait(1)
    threads = [threading.Thread(target=module.wait, args=(250,)) for _ in range(8)]
    start = time.monotonic()
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    # One after the other they take two seconds.
    assert time.monotonic() - start < 1.5
