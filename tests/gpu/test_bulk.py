# SPDX-License-Identifier: Apache-2.0
"""Tiles that one thread brings to shared memory and sends from there, as often as rings go round, and
among the blocks of a cluster.
"""

import bulk_kernels as kernels
import pytest
import torch

pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() < (9, 0), reason="mbarriers need sm_90"
)


@pytest.mark.parametrize("blocks", [1, 3, 132])
@pytest.mark.parametrize("tiles", [1, 2, 3, 4, 7, 1000, 20_000])
def test_a_ring_of_tiles(tiles, blocks):
    x = torch.randn(tiles * kernels.TILE, device="cuda")
    for _ in range(5):
        y = torch.full_like(x, torch.nan)
        kernels.reversed_tiles(x, y, blocks)
        torch.testing.assert_close(y, kernels.expected_reversed(x), rtol=0, atol=0)


@pytest.mark.parametrize("clusters", [1, 2, 33, 5000])
def test_blocks_of_a_cluster_bring_their_parts_to_all(clusters):
    x = torch.randn(clusters * 4 * kernels.TILE, device="cuda")
    for _ in range(5):
        y = torch.full_like(x, torch.nan)
        kernels.spread(x, y)
        torch.testing.assert_close(y, kernels.expected_spread(x), rtol=0, atol=0)
