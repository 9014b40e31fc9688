# SPDX-License-Identifier: Apache-2.0
"""examples/kernels/grouped_gemm.py against a reference in float64, group by group."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_gemm import HALVES, is_close, normal

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


@pytest.fixture(scope="module")
def grouped_gemm():
    return tvm_ffi.load_module(str(FOLDER / "kernels_grouped_gemm.so")).grouped_gemm


# Empty groups, some below a tile and beyond it, rows of none in front and behind; tiles of 64 rows and of 128.
OFFSETS = [
    (200, [0, 3, 3, 70, 200]),
    (300, [2, 2, 135, 290]),
    (9, [0, 4, 4, 4, 8, 9]),
    (5, [0, 0]),
    (5000, [0, 1, 129, 129, 2000, 2064, 4999]),
    (640, list(range(0, 641, 10))),
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("n, k", [(8, 8), (31, 136), (264, 72), (1024, 1024)])
@pytest.mark.parametrize("m, offsets", OFFSETS)
def test_groups(grouped_gemm, m, offsets, n, k, dtype):
    groups = len(offsets) - 1
    a, b = normal(m, k, dtype=dtype), normal(groups, n, k, dtype=dtype)
    c = torch.full((m, n), -7.0, device="cuda", dtype=dtype)
    grouped_gemm(a, b, torch.tensor(offsets, device="cuda", dtype=torch.int32), c)
    for group, (first, last) in enumerate(zip(offsets, offsets[1:])):
        assert is_close(c[first:last], a[first:last], b[group])
    assert (c[: offsets[0]] == -7).all() and (c[offsets[-1] :] == -7).all()


def test_rows_of_neighbours_are_not_written(grouped_gemm):
    """Groups of one row each, whose tiles reach over all that follow: every row is its own group's."""
    m = 100
    a, b = normal(m, 64, dtype=torch.float16), normal(m, 40, 64, dtype=torch.float16)
    c = torch.empty(m, 40, device="cuda", dtype=torch.float16)
    offsets = torch.arange(m + 1, device="cuda", dtype=torch.int32)
    for _ in range(20):
        c.fill_(float("nan"))
        grouped_gemm(a, b, offsets, c)
        for row in range(m):
            assert is_close(c[row : row + 1], a[row : row + 1], b[row])


def test_offsets_beyond_the_rows(grouped_gemm):
    a, b = normal(5, 64, dtype=torch.float16), normal(2, 40, 64, dtype=torch.float16)
    whole = torch.full((100, 40), -7.0, device="cuda", dtype=torch.float16)
    offsets = torch.tensor([3, 1, 4000], device="cuda", dtype=torch.int32)
    grouped_gemm(a, b, offsets, whole[:5])
    assert is_close(whole[1:5], a[1:5], b[1]) and (whole[:1] == -7).all()
    assert (whole[5:] == -7).all()
