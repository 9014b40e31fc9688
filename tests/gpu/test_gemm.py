# SPDX-License-Identifier: Apache-2.0
"""Functions of examples/kernels/gemm.py against a reference in float64, and against exact sums."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_examples import guarded

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
# For the device, and as PTX for sm_80, which the driver assembles.
FUNCTIONS = [
    ("kernels_gemm", "gemm"),
    ("kernels_gemm", "gemm_simple"),
    ("kernels_gemm_ptx", "gemm_simple"),
]
HALVES = [torch.float16, torch.bfloat16]
# Of one rounding of a sum in float32.
U = 2.0**-24


@pytest.fixture(scope="module", params=FUNCTIONS, ids="-".join)
def gemm(request):
    package, name = request.param
    return getattr(tvm_ffi.load_module(str(FOLDER / f"{package}.so")), name)


def normal(*shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


def is_close(c, a, b):
    """Whether each element is the exact sum but for what its type rounds, and what a sum of products
    in float32 does: a unit for each of them, three where a unit cuts off and splits a sum."""
    exact, size = a.double() @ b.double().t(), a.double().abs() @ b.double().abs().t()
    info = torch.finfo(c.dtype)
    allowed = exact.abs() * info.eps / 2 + size * 3 * a.shape[1] * U + info.smallest_normal
    return bool(((c.double() - exact).abs() <= allowed).all())


# Below a tile, on both sides of its edge, several; rows of the result at multiples of 16 bytes and not.
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("k", [8, 96, 136, 1024])
@pytest.mark.parametrize("n", [0, 1, 31, 128, 136, 1000])
@pytest.mark.parametrize("m", [0, 1, 127, 128, 129, 2050])
def test_sums(gemm, m, n, k, dtype):
    a, b = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype)
    c, is_around_kept = guarded((m, n), dtype)
    gemm(a, b, c)
    assert is_close(c, a, b) and is_around_kept()
    # Small integers are exact in every order.
    a, b = (torch.randint(-2, 3, x.shape, device="cuda").to(dtype) for x in (a, b))
    gemm(a, b, c)
    assert torch.equal(c, (a.double() @ b.double().t()).to(dtype)) and is_around_kept()


def test_sums_of_nothing_are_zeros():
    gemm = tvm_ffi.load_module(str(FOLDER / "kernels_gemm.so")).gemm_simple
    for m, n in [(0, 8), (1, 1), (129, 136)]:
        c, is_around_kept = guarded((m, n), torch.float16)
        gemm(normal(m, 0, dtype=torch.float16), normal(n, 0, dtype=torch.float16), c)
        assert not c.any() and is_around_kept()


@pytest.mark.parametrize("shape", [(333, 1001, 520), (8000, 5000, 4104), (16, 6144, 4096)])
def test_a_row_of_tiles_after_the_other(gemm, shape):
    m, n, k = shape
    a, b = normal(m, k, dtype=torch.bfloat16), normal(n, k, dtype=torch.bfloat16)
    c, is_around_kept = guarded((m, n), torch.bfloat16)
    gemm(a, b, c)
    assert is_close(c, a, b) and is_around_kept()
    again = torch.empty_like(c)
    gemm(a, b, again)
    assert torch.equal(c, again)


def test_what_lies_beyond_the_edges_is_not_read(gemm):
    """Rows behind the factors are NaN, which no sum may see."""
    a, b = (normal(256, 256, dtype=torch.float16) for _ in range(2))
    a[200:] = float("nan")
    b[130:] = float("nan")
    c = torch.empty(200, 130, device="cuda", dtype=torch.float16)
    gemm(a[:200], b[:130], c)
    assert is_close(c, a[:200], b[:130])


@pytest.mark.parametrize("number", range(9))
@pytest.mark.parametrize("shape", [(1, 8, 512), (16, 4096, 4096), (300, 1000, 1032)])
def test_each_size_of_tiles(shape, number):
    variant = tvm_ffi.load_module(str(FOLDER / "gemm_variants.so")).variant
    m, n, k = shape
    a, b = normal(m, k, dtype=torch.bfloat16), normal(n, k, dtype=torch.bfloat16)
    c, is_around_kept = guarded((m, n), torch.bfloat16)
    variant(a, b, c, number)
    assert is_close(c, a, b) and is_around_kept()
    # Parts are added in one order.
    for _ in range(5):
        again = torch.empty_like(c)
        variant(a, b, again, number)
        assert torch.equal(c, again)
