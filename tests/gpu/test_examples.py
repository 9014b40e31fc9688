# SPDX-License-Identifier: Apache-2.0
"""The examples' GPU kernels against references in float64. `scripts/gpu-test` runs this where there
is a GPU.
"""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from graphs import assert_replayed, captured

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
HALVES = [torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def rms():
    return tvm_ffi.load_module(str(FOLDER / "rms_norm.so")).rms


@pytest.fixture(scope="module")
def gemm():
    return tvm_ffi.load_module(str(FOLDER / "gemm.so")).gemm


def guarded(shape, dtype):
    """A tensor full of NaN, and a function that says whether the memory around it is as it was."""
    n = torch.Size(shape).numel()
    whole = torch.full((n + 2048,), 123.0, dtype=dtype, device="cuda")
    inside = whole[1024 : 1024 + n]
    inside.fill_(float("nan"))
    return inside.view(shape), lambda: bool(
        (whole[:1024] == 123).all() and (whole[1024 + n :] == 123).all()
    )


def within(actual, expected, ulps, atol=0.0):
    """Whether each element is as close to a float64 reference as its type allows."""
    info = torch.finfo(actual.dtype)
    allowed = expected.abs() * info.eps * ulps + info.smallest_normal * info.eps + atol
    return bool(((actual.double() - expected).abs() <= allowed).all())


def rms_reference(x, w, eps=1e-6):
    x = x.double()
    eps = torch.tensor(eps, dtype=torch.float32).item()
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps) * w.double()


# Each way of the package, with rows that fill it, that just do not, and that the next one has.
DEPTHS = [8, 16, 128, 512, 520, 1000, 4096, 4104, 8192, 16384, 16392, 32768, 32776, 100_000]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("d", DEPTHS)
@pytest.mark.parametrize("m", [1, 15, 33])
def test_rms_norm(rms, m, d, dtype):
    x, w = torch.randn(m, d, device="cuda").to(dtype), torch.randn(d, device="cuda").to(dtype)
    out, is_untouched_around = guarded((m, d), dtype)
    rms(x, w, out)
    assert within(out, rms_reference(x, w), 0.51)
    assert is_untouched_around()


@pytest.mark.parametrize("shape", [(4096,), (2, 3, 520), (5, 1, 2, 3, 64), (2, 0, 8)])
def test_rms_norm_of_any_rank(rms, shape):
    x, w = torch.randn(shape, device="cuda").half(), torch.randn(shape[-1], device="cuda").half()
    out, is_untouched_around = guarded(shape, torch.half)
    rms(x, w, out)
    assert within(out, rms_reference(x, w), 0.51)
    assert is_untouched_around()


@pytest.mark.parametrize("eps", [0.0, 1e-6, 1e-5, 0.25, 100.0])
def test_rms_norm_eps(rms, eps):
    x, w = (
        torch.randn(7, 4096, device="cuda").half() * 0.01,
        torch.randn(4096, device="cuda").half(),
    )
    out = torch.full_like(x, float("nan"))
    rms(x, w, out, eps)
    assert within(out, rms_reference(x, w, eps), 0.51)


@pytest.mark.parametrize("value", [60_000.0, 2.0**-24])
def test_rms_norm_of_values_whose_squares_are_no_halves(rms, value):
    x, w = (
        torch.full((2, 16_384), value, device="cuda").half(),
        torch.ones(16_384, device="cuda").half(),
    )
    out = torch.full_like(x, float("nan"))
    rms(x, w, out, 0.0)
    assert within(out, rms_reference(x, w, 0.0), 0.51)


@pytest.mark.parametrize("d", [512, 4096, 16_384, 32_768, 65_536])
def test_rms_norm_in_place(rms, d):
    x, w = torch.randn(9, d, device="cuda").half(), torch.randn(d, device="cuda").half()
    expected = rms_reference(x, w)
    rms(x, w, x)
    assert within(x, expected, 0.51)


@pytest.mark.parametrize("shape", [(0, 4096), (5, 0)])
def test_rms_norm_of_nothing(rms, shape):
    x = torch.zeros(shape, device="cuda", dtype=torch.half)
    rms(x, torch.zeros(shape[1], device="cuda", dtype=torch.half), x)
    torch.cuda.synchronize()


def test_rms_norm_of_many_rows(rms):
    x, w = torch.randn(1_000_003, 64, device="cuda").half(), torch.randn(64, device="cuda").half()
    out, is_untouched_around = guarded(x.shape, torch.half)
    rms(x, w, out)
    assert within(out, rms_reference(x, w), 0.51)
    assert is_untouched_around()


@pytest.mark.parametrize(
    "change, error, message",
    [
        (
            lambda x, w, out: (x[:, :60].contiguous(), w[:60], out[:, :60].contiguous()),
            ValueError,
            "divisible by 8",
        ),
        (
            lambda x, w, out: (x.float(), w, out),
            TypeError,
            "expected dtype=float16 or bfloat16, got float32",
        ),
        (
            lambda x, w, out: (x, w.bfloat16(), out),
            TypeError,
            r"expected to match x.dtype \(float16\), got bfloat16",
        ),
        (lambda x, w, out: (x, w[:56], out), ValueError, r"Mismatched w.shape\[0\]"),
        (lambda x, w, out: (x, w, out[:2]), ValueError, r"Mismatched out.shape\[0\]"),
        (
            lambda x, w, out: (x[None], w, out),
            ValueError,
            r"expected ndim=3 \(b.ndim is 2\), got 2",
        ),
        (
            lambda x, w, out: (x.view(-1)[1:193].view(3, 64), w, out[:3]),
            ValueError,
            "Misaligned Tensor data on argument #0",
        ),
        (lambda x, w, out: (x.t().contiguous().t(), w, out), ValueError, "Mismatched x.strides"),
        (lambda x, w, out: (x.cpu(), w, out), ValueError, "expected device_type=cuda, got cpu"),
    ],
)
def test_rms_norm_refuses(rms, change, error, message):
    x, w = torch.randn(4, 64, device="cuda").half(), torch.randn(64, device="cuda").half()
    with pytest.raises(error, match=message):
        rms(*change(x, w, torch.empty_like(x)))


# Tiles are 128 by 256 by 64; groups have sixteen tiles below each other; as many blocks as
# multiprocessors.
PRODUCTS = [
    (1, 1, 8),
    (7, 9, 8),
    (128, 256, 64),
    (127, 255, 56),
    (129, 257, 72),
    (64, 3000, 1000),
    (3000, 64, 4096),
    (2176, 4352, 264),
    (2500, 7777, 1032),
    (5000, 5000, 5000),
]


@pytest.mark.parametrize("m, n, k", PRODUCTS)
def test_gemm(gemm, m, n, k):
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    c, is_untouched_around = guarded((m, n), torch.bfloat16)
    gemm(a, b, c)
    # Beside the last rounding, that of k sums in float32.
    assert within(c, a.double() @ b.double().T, 0.51, atol=k * 2.0**-22)
    assert is_untouched_around()


@pytest.mark.parametrize("m, n, k", [(1000, 600, 64), (300, 1031, 200)])
def test_gemm_of_small_integers_is_exact(gemm, m, n, k):
    a, b = (torch.randint(-1, 2, (rows, k), device="cuda").bfloat16() for rows in (m, n))
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    gemm(a, b, c)
    assert torch.equal(c.double(), a.double() @ b.double().T)


def test_gemm_of_rows_in_the_middle(gemm):
    a, b = (torch.randn(500, 64, device="cuda").bfloat16() for _ in range(2))
    a, b = a[100:300], b[37:137]
    c = torch.full((200, 100), float("nan"), device="cuda", dtype=torch.bfloat16)
    gemm(a, b, c)
    assert within(c, a.double() @ b.double().T, 0.51, atol=1e-4)


def test_gemm_of_nothing(gemm):
    a, b = (
        torch.zeros(0, 64, device="cuda").bfloat16(),
        torch.zeros(8, 64, device="cuda").bfloat16(),
    )
    gemm(a, b, torch.zeros(0, 8, device="cuda").bfloat16())
    gemm(b, a, torch.zeros(8, 0, device="cuda").bfloat16())
    torch.cuda.synchronize()


def test_gemm_captured_and_replayed(gemm):
    a, b = (torch.randn(300, 128, device="cuda").bfloat16() for _ in range(2))
    c = torch.zeros(300, 300, device="cuda", dtype=torch.bfloat16)
    graph = captured(lambda: gemm(a, b, c))
    assert_replayed(graph, a, lambda: within(c, a.double() @ b.double().T, 0.51, atol=1e-4))


@pytest.mark.parametrize(
    "change, error, message",
    [
        (
            lambda a, b, c: (a[:, :60].contiguous(), b[:, :60].contiguous(), c),
            ValueError,
            "divisible by 8",
        ),
        (
            lambda a, b, c: (a[:, :0].contiguous(), b[:, :0].contiguous(), c),
            ValueError,
            "expected k >= 8",
        ),
        (lambda a, b, c: (a.half(), b, c), TypeError, "expected dtype=bfloat16, got float16"),
        (lambda a, b, c: (a, b[:, :56].contiguous(), c), ValueError, r"Mismatched b.shape\[1\]"),
        (lambda a, b, c: (a, b, c[:63]), ValueError, r"Mismatched c.shape\[0\]"),
        (
            lambda a, b, c: (a.view(-1)[1:65].view(1, 64), b, c[:1]),
            ValueError,
            "Misaligned Tensor data on argument #0",
        ),
        (lambda a, b, c: (a.t(), b, c), ValueError, "Mismatched a.strides"),
        (
            lambda a, b, c: (a, b, a),
            ValueError,
            r"expected noalias\(a, c\), got overlapping memory",
        ),
    ],
)
def test_gemm_refuses(gemm, change, error, message):
    a, b, c = (torch.randn(64, 64, device="cuda").bfloat16() for _ in range(3))
    with pytest.raises(error, match=message):
        gemm(*change(a, b, c))
