# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by matrix units, in float16 and bfloat16.

`gemm_simple` is one text for warpgroups on sm_90a and for warps elsewhere. `gemm` is for sm_90a, and faster there: a
warpgroup fills stages, and two others multiply what is in them, tile after tile.
"""

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


BIG = 128, 256, 64
STAGES = 4


@kp.kernel
def gemm_roles(a, b, c):
    mma = kp.make_tiled_mma(kp.wgmma(a.element_type, kp.float32, (64, BIG[1], 16)), (2, 1, 1))
    layout_a = kp.make_smem_layout_a(mma, (BIG[0], BIG[2]), STAGES)
    layout_b = kp.make_smem_layout_b(mma, (BIG[1], BIG[2]), STAGES)
    from_a, from_b = kp.make_tma(a, layout_a), kp.make_tma(b, layout_b)
    tiles_a, tiles_b = kp.shared(a.element_type, layout_a), kp.shared(a.element_type, layout_b)
    full, empty = kp.mbarrier(STAGES), kp.mbarrier(STAGES)
    if kp.thread_idx()[0] == 0:
        for s in kp.range_constexpr(STAGES):
            full[s].init(1)
            empty[s].init(2)
    kp.sync_threads()
    grid, steps = (from_a.shape[1][0], from_b.shape[1][0]), from_a.shape[1][1]
    numbers = range(kp.block_idx()[0], grid[0] * grid[1], kp.grid_dim()[0])
    state = kp.make_pipeline_state(kp.PipelineUserType.Consumer, STAGES)
    if kp.warpgroup_idx() == 0:
        kp.setmaxregister_decrease(40)
        if kp.thread_idx()[0] == 0:
            for number in numbers:
                m, n = kp.raster(number, grid, GROUP)
                for k in range(steps):
                    at = state.index
                    empty[at].wait(state.phase ^ 1)
                    full[at].arrive_and_expect_tx((BIG[0] + BIG[1]) * BIG[2] * 2)
                    kp.copy(from_a[None, (m, k)], tiles_a[None, None, at], to=full[at])
                    kp.copy(from_b[None, (n, k)], tiles_b[None, None, at], to=full[at])
                    state.advance()
    else:
        kp.setmaxregister_increase(232)
        part = mma.get_slice(kp.thread_idx()[0] - 128)
        parts_a, parts_b = part.make_fragment_A(tiles_a), part.make_fragment_B(tiles_b)
        acc = part.make_fragment_C((BIG[0], BIG[1]))
        is_elected = kp.thread_idx()[0] % 128 == 0
        for number in numbers:
            place = kp.raster(number, grid, GROUP)
            before = kp.int32(0)
            for k in range(steps):
                at = state.index
                full[at].wait(state.phase)
                kp.gemm(
                    mma,
                    acc,
                    parts_a[None, None, None, at],
                    parts_b[None, None, None, at],
                    accumulate=k > 0,
                )
                kp.wgmma_wait(1)
                # All products but these are done, and with them the stage before.
                if k > 0 and is_elected:
                    empty[before].arrive()
                before = at
                state.advance()
            kp.wgmma_wait(0)
            if is_elected:
                empty[before].arrive()
            kp.store_tile(mma, acc, c, place)


def launch_roles(a, b, c):
    tiles = kp.ceil_div(c.shape[0], BIG[0]) * kp.ceil_div(c.shape[1], BIG[1])
    blocks = kp.min(kp.device.sm_count, tiles)
    gemm_roles(a, b, c).launch(grid=blocks, block=384, arch="sm_90a")


@kp.jit(
    """
    gemm(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], T, align=16, mut)
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0, noalias(a, c), noalias(b, c)
    """
)
def gemm(a, b, c):
    """c = a @ b.T, on sm_90a. Never in place: a block reads what others write."""
    if c.shape[1] % 8 == 0:
        # As in `gemm_simple`.
        launch_roles(a, b, c)
    else:
        launch_roles(a, b, c)
