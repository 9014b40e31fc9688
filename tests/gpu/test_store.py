# SPDX-License-Identifier: Apache-2.0
"""Sums that the device stores from shared memory: every edge of a tile, and nothing beside it."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_examples import guarded

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
HALVES = [torch.float16, torch.bfloat16]

pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() != (9, 0), reason="products of warpgroups need sm_90a"
)


@pytest.fixture(scope="module")
def package():
    return tvm_ffi.load_module(str(FOLDER / "store_kernels.so"))


def integers(*shape, dtype):
    """Whose products are exact in every order."""
    return torch.randint(-2, 3, shape, device="cuda").to(dtype)


def exact(a, b):
    return a.double() @ b.double().t()


@pytest.mark.parametrize("to", [*HALVES, torch.float32], ids=str)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", ["by_groups", "by_warps"])
def test_every_edge(package, name, dtype, to):
    for m, n, k in [(1, 8, 8), (127, 120, 64), (128, 128, 72), (129, 136, 200), (1000, 1160, 64)]:
        a, b = integers(m, k, dtype=dtype), integers(n, k, dtype=dtype)
        c, is_around_kept = guarded((m, n), to)
        for _ in range(3):
            c.fill_(-1)
            getattr(package, name)(a, b, c)
            rows = torch.arange(m, device="cuda").remainder(4)[:, None]
            assert torch.equal(c, (2 * exact(a, b) + rows).to(to)) and is_around_kept()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_tile_after_tile(package, dtype):
    for m, n, k in [(1, 8, 8), (129, 264, 72), (2050, 4104, 136), (4096, 8192, 64)]:
        a, b = integers(m, k, dtype=dtype), integers(n, k, dtype=dtype)
        c, is_around_kept = guarded((m, n), dtype)
        for _ in range(3):
            c.fill_(-1)
            package.by_roles(a, b, c)
            assert torch.equal(c, exact(a, b).to(dtype)) and is_around_kept()
