# SPDX-License-Identifier: Apache-2.0
"""Products of warpgroups, of small integers, whose sums are exact, and when a wait has seen one done."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
SUMS = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.int8: torch.int32,
    torch.uint8: torch.int32,
}

pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() != (9, 0), reason="products of warpgroups need sm_90a"
)


@pytest.fixture(scope="module")
def package():
    return tvm_ffi.load_module(str(FOLDER / "wgmma.so"))


def factors(dtype, *shape):
    least = 0 if dtype == torch.uint8 else -4
    return torch.randint(least, 5, shape, device="cuda").to(dtype)


def product(a, b):
    """In float64, of integers as small as these exact."""
    return (a.double() @ b.double().T).to(SUMS[a.dtype])


@pytest.mark.parametrize("has_registers", [0, 1], ids=["shared", "registers"])
@pytest.mark.parametrize("bits", [0, 1, 2, 3], ids=["plain", "32", "64", "128"])
@pytest.mark.parametrize("n", [8, 64, 256])
@pytest.mark.parametrize("dtype", SUMS, ids=str)
def test_products(package, dtype, n, bits, has_registers):
    for m, k in [(64, 128), (192, 256), (64 * 132, 1024)]:
        a, b = factors(dtype, m, k), factors(dtype, n, k)
        c = torch.full((m, n), -1, dtype=SUMS[dtype], device="cuda")
        for _ in range(3):
            package.multiply(a, b, c, bits, has_registers)
            assert torch.equal(c, product(a, b))


@pytest.mark.parametrize("n", [64, 256])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_products_of_columns(package, dtype, n):
    for m, k in [(64, 32), (192, 256), (64 * 132, 1024)]:
        a, b = factors(dtype, m, k), factors(dtype, n, k)
        c = torch.full((m, n), -1, dtype=torch.float32, device="cuda")
        package.multiply_columns(a, b, c)
        assert torch.equal(c, product(a, b))


def test_a_wait_sees_the_product_of_all_four_warps(package, tell):
    """A warp that is late keeps the others waiting, so that one thread may release for all."""
    out = torch.zeros(4, 3, dtype=torch.int64, device="cuda")
    for _ in range(5):
        package.one_is_late(out, 200_000)
        begun, waited, sums = out.cpu().T
        assert sums.tolist() == [64] * 4
        tell(
            f"wgmma, warp 3 begins 200 us late, and others had waited {waited[:3].min() - begun[3]} ns behind that"
        )
        assert waited[:3].min() >= begun[3]
