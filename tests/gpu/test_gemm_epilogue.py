# SPDX-License-Identifier: Apache-2.0
"""Functions of examples/kernels/gemm_epilogue.py against a reference in float64."""

import math
import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_examples import guarded
from test_gemm import HALVES, U, normal

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
ACTIVATIONS = {
    "gemm_gelu": torch.nn.functional.gelu,
    "gemm_gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gemm_relu": torch.relu,
    "gemm_silu": torch.nn.functional.silu,
}
# The largest slope of an activation.
SLOPE = 1.13


# For the device, and as PTX for sm_80, which the driver assembles.
@pytest.fixture(scope="module", params=["kernels_gemm_epilogue", "kernels_gemm_epilogue_ptx"])
def package(request):
    return tvm_ffi.load_module(str(FOLDER / f"{request.param}.so"))


def is_close(c, inputs, activation):
    """Whether each element is the exact one but for what docs/kernel-examples.md says."""
    a, b, bias, residual, scale = inputs
    k, bias = a.shape[1], bias.double()
    exact, size = a.double() @ b.double().t(), a.double().abs() @ b.double().abs().t()
    x, info = exact * scale + bias, torch.finfo(c.dtype)
    added = torch.zeros_like(x) if residual is None else residual.double()
    made = activation(x)
    expected = made + added
    off = SLOPE * 3 * (k + 1) * U * (abs(scale) * size + bias.abs())
    if activation is torch.nn.functional.gelu:
        off += 2.2e-5 * (x.clamp(min=0) - made)
    off += 9 * U * x.abs() + U * added.abs()
    allowed = expected.abs() * info.eps / 2 + off * (1 + info.eps) + info.smallest_normal
    return bool(((c.double() - expected).abs() <= allowed).all())


# Below a tile and beyond it; parts of k; rows of the result at multiples of 16 bytes and not.
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape", [(1, 7, 8), (130, 264, 136), (16, 512, 4096), (1000, 1001, 520)])
@pytest.mark.parametrize("has_residual", [False, True])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values(package, name, has_residual, shape, dtype):
    m, n, k = shape
    a, b, bias = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype), normal(n, dtype=dtype)
    residual = normal(m, n, dtype=dtype) if has_residual else None
    scale = 1 / math.sqrt(k)
    c, is_around_kept = guarded((m, n), dtype)
    getattr(package, name)(a, b, bias, c, residual, scale)
    scale = torch.tensor(scale, dtype=torch.float32).item()
    assert is_close(c, (a, b, bias, residual, scale), ACTIVATIONS[name]) and is_around_kept()


def test_not_a_number_goes_through(package):
    a, b = normal(16, 64, dtype=torch.float16), normal(16, 64, dtype=torch.float16)
    bias, c = normal(16, dtype=torch.float16), torch.empty(16, 16, device="cuda").half()
    bias[3] = float("nan")
    for name in ACTIVATIONS:
        getattr(package, name)(a, b, bias, c, None, 1.0)
        assert c[:, 3].isnan().all() and not c[:, :3].isnan().any()
