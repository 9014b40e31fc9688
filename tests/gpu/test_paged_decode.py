# SPDX-License-Identifier: Apache-2.0
"""The function of examples/kernels/paged_decode.py against softmax in float64."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_attention import is_near
from test_examples import guarded

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


@pytest.fixture(scope="module")
def paged_decode():
    return tvm_ffi.load_module(str(FOLDER / "kernels_paged_decode.so")).paged_decode


# None, one, below a tile and on both sides of its edge, several parts.
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("lengths", [[0, 1], [63, 64, 65, 7], [8192, 5, 4000], [300] * 200])
@pytest.mark.parametrize("heads, shared", [(8, 1), (16, 2), (5, 5), (24, 2)])
@pytest.mark.parametrize("page", [16, 64])
@pytest.mark.parametrize("d", [64, 128])
def test_queries(paged_decode, lengths, heads, shared, page, d, dtype):
    width = max(1, -(-max(lengths) // page))
    n = len(lengths) * width
    q = torch.randn(len(lengths), heads, d, device="cuda").to(dtype)
    # What lies behind the last key is NaN.
    k, v = (torch.full((n, page, shared, d), torch.nan, device="cuda").to(dtype) for _ in range(2))
    table = torch.randperm(n, device="cuda", dtype=torch.int32).view(len(lengths), width)
    place = torch.arange(width * page, device="cuda")
    rows = table.long()[:, place // page] * page + place % page
    for own, length in zip(rows, lengths):
        for pages in (k, v):
            pages.view(-1, shared, d)[own[:length]] = torch.randn(
                length, shared, d, device="cuda"
            ).to(dtype)
    out, is_kept = guarded((len(lengths), heads, d), dtype)
    of_lengths = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    paged_decode(q, k, v, table, of_lengths, out, d**-0.5)
    for i, length in enumerate(lengths):
        keys, values = (
            x.view(-1, shared, d)[rows[i, :length]].transpose(0, 1)[None] for x in (k, v)
        )
        assert is_near(out[i, None, :, None], q[i, None, :, None], keys, values, d**-0.5)
    assert is_kept()


def test_pages_with_heads_outside(paged_decode):
    """Pages that lie as (page, head, row) in memory."""
    q = torch.randn(2, 8, 128, device="cuda").half()
    k, v = (torch.randn(9, 2, 16, 128, device="cuda").half().transpose(1, 2) for _ in range(2))
    table = torch.tensor([[3, 1, 4, 8], [0, 5, 2, 6]], device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    paged_decode(q, k, v, table, torch.tensor([64, 33], device="cuda").int(), out, 0.1)
    for i, length in enumerate([64, 33]):
        own = [x[table[i].long()].flatten(0, 1)[:length].transpose(0, 1)[None] for x in (k, v)]
        assert is_near(out[i, None, :, None], q[i, None, :, None], *own, 0.1)
