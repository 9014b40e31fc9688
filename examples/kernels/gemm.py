# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by matrix units, in float16 and bfloat16: of warpgroups on sm_90a, of warps elsewhere."""

import kernpack as kp

TILE = 128, 128
WARPS = 4
GROUP = 16
ARCHS = "compute_80", "sm_90a"


@kp.kernel
def gemm_tiles(a, b, c):
    grid = kp.ceil_div(c.shape[0], TILE[0]), kp.ceil_div(c.shape[1], TILE[1])
    m, n = kp.raster(kp.block_idx()[0], grid, GROUP)
    k, stages = (64, 3) if kp.has_arch("sm_90a") else (32, 4)
    mma = kp.tiled_mma(a.element_type, (TILE[0], TILE[1], k), warps=WARPS)
    ab = kp.tile_stream(mma, (a, m), (b, n), stages=stages)
    acc = mma.zeros()
    for _ in range(ab.steps):
        tile_a, tile_b = ab.next()
        kp.gemm(mma, acc, tile_a, tile_b)
    kp.store_tile(mma, acc, c, (m, n))


def launch(a, b, c, arch):
    blocks = kp.ceil_div(c.shape[0], TILE[0]) * kp.ceil_div(c.shape[1], TILE[1])
    threads = WARPS * kp.WARP_SIZE
    gemm_tiles(a, b, c).launch(grid=blocks, block=threads, min_blocks=2, arch=arch)


@kp.jit(
    """
    gemm_simple(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], T, align=16, mut)
    ) where T in {float16, bfloat16}, k % 8 == 0, noalias(a, c), noalias(b, c)
    """
)
def gemm_simple(a, b, c):
    """c = a @ b.T. Never in place: a block reads what others write."""
    if a.shape[1] == 0:
        # Boxes of a tensor without elements are none, and their launch would not run.
        launch(a, b, c, "compute_80")
    elif c.shape[1] % 8 == 0:
        # Rows of the result begin at multiples of 16 bytes, which are written at once.
        launch(a, b, c, ARCHS)
    else:
        launch(a, b, c, ARCHS)
