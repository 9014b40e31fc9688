# SPDX-License-Identifier: Apache-2.0
"""The examples' GPU kernels against references in float64. `scripts/gpu-test` runs this where there is a GPU."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
HALVES = [torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def rms():
    return tvm_ffi.load_module(str(FOLDER / "rms_norm.so")).rms


def guarded(shape, dtype):
    """A tensor full of NaN, and a function that says whether the memory around it is as it was."""
    n = torch.Size(shape).numel()
    whole = torch.full((n + 2048,), 123.0, dtype=dtype, device="cuda")
    inside = whole[1024 : 1024 + n]
    inside.fill_(float("nan"))
    return inside.view(shape), lambda: bool((whole[:1024] == 123).all() and (whole[1024 + n :] == 123).all())


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


@pytest.mark.parametrize("eps", [0.0, 1e-6, 1e-5, 0.25, 100.0])
def test_rms_norm_eps(rms, eps):
    x, w = torch.randn(7, 4096, device="cuda").half() * 0.01, torch.randn(4096, device="cuda").half()
    out = torch.full_like(x, float("nan"))
    rms(x, w, out, eps)
    assert within(out, rms_reference(x, w, eps), 0.51)


@pytest.mark.parametrize("value", [60_000.0, 2.0**-24])
def test_rms_norm_of_values_whose_squares_are_no_halves(rms, value):
    x, w = torch.full((2, 16_384), value, device="cuda").half(), torch.ones(16_384, device="cuda").half()
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
        (lambda x, w, out: (x[:, :60].contiguous(), w[:60], out[:, :60].contiguous()), ValueError, "divisible by 8"),
        (lambda x, w, out: (x.float(), w, out), TypeError, "expected dtype=float16 or bfloat16, got float32"),
        (lambda x, w, out: (x, w.bfloat16(), out), TypeError, r"expected to match x.dtype \(float16\), got bfloat16"),
        (lambda x, w, out: (x, w[:56], out), ValueError, r"Mismatched w.shape\[0\]"),
        (lambda x, w, out: (x, w, out[:2]), ValueError, r"Mismatched out.shape\[0\]"),
        (lambda x, w, out: (x.view(-1)[1:193].view(3, 64), w, out[:3]), ValueError, "Misaligned Tensor data on argument #0"),
        (lambda x, w, out: (x.t().contiguous().t(), w, out), ValueError, "Mismatched x.strides"),
        (lambda x, w, out: (x.cpu(), w, out), ValueError, "expected device_type=cuda, got cpu"),
    ],
)
def test_rms_norm_refuses(rms, change, error, message):
    x, w = torch.randn(4, 64, device="cuda").half(), torch.randn(64, device="cuda").half()
    with pytest.raises(error, match=message):
        rms(*change(x, w, torch.empty_like(x)))
