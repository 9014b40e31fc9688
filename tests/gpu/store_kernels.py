# SPDX-License-Identifier: Apache-2.0
"""Products of matrices whose sums the device stores from shared memory: by warps and by warpgroups,
tile after tile, in halves and in float32.
"""

import kernpack as kp

TILE = 128, 128, 64
GROUP = 16


def store_product(a, b, c, mma, stages):
    m, n, _ = kp.block_idx()
    out = kp.tma_store(mma, c, (TILE[0], TILE[1]), stages)
    ab = kp.tile_stream(mma, (a, m), (b, n), stages=3)
    acc = mma.zeros()
    for _ in range(ab.steps):
        tile_a, tile_b = ab.next()
        kp.gemm(mma, acc, tile_a, tile_b)
    out.store_tile(acc, (m, n), lambda total, row, column: 2 * total + kp.float32(row % 4))
    out.tail()


@kp.kernel
def groups_kernel(a, b, c):
    store_product(a, b, c, kp.tiled_mma(a.element_type, TILE, warps=8), 2)


@kp.kernel
def warps_kernel(a, b, c):
    op = kp.mma(a.element_type, kp.float32, (16, 8, 16))
    store_product(a, b, c, kp.TiledMma(op, (2, 4, 1), TILE), 1)


def grid_of(c):
    return kp.ceil_div(c.shape[0], TILE[0]), kp.ceil_div(c.shape[1], TILE[1])


@kp.jit(
    """
    by_groups(a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], U, align=16, mut))
    where T in {float16, bfloat16}, U in {float16, bfloat16, float32}, m > 0, n > 0, n % 8 == 0, k >= 8, k % 8 == 0,
          noalias(a, c), noalias(b, c)
    """
)
def by_groups(a, b, c):
    groups_kernel(a, b, c).launch(grid=grid_of(c), block=256, arch="sm_90a")


@kp.jit(
    """
    by_warps(a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], U, align=16, mut))
    where T in {float16, bfloat16}, U in {float16, bfloat16, float32}, m > 0, n > 0, n % 8 == 0, k >= 8, k % 8 == 0,
          noalias(a, c), noalias(b, c)
    """
)
def by_warps(a, b, c):
    warps_kernel(a, b, c).launch(grid=grid_of(c), block=256, arch="sm_90a")


BIG = 128, 256, 64
STAGES = 4


@kp.kernel
def roles_kernel(a, b, c):
    mma = kp.make_tiled_mma(kp.wgmma(a.element_type, kp.float32, (64, BIG[1], 16)), (2, 1, 1))
    layout_a = kp.make_smem_layout_a(mma, (BIG[0], BIG[2]), STAGES)
    layout_b = kp.make_smem_layout_b(mma, (BIG[1], BIG[2]), STAGES)
    from_a, from_b = kp.make_tma(a, layout_a), kp.make_tma(b, layout_b)
    tiles_a, tiles_b = kp.shared(a.element_type, layout_a), kp.shared(a.element_type, layout_b)
    out = kp.tma_store(mma, c, (BIG[0], BIG[1]))
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
                if k > 0 and is_elected:
                    empty[before].arrive()
                before = at
                state.advance()
            kp.wgmma_wait(0)
            if is_elected:
                empty[before].arrive()
            out.store_tile(acc, place)
        out.tail()


@kp.jit(
    """
    by_roles(a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], T, align=16, mut))
    where T in {float16, bfloat16}, m > 0, n > 0, n % 8 == 0, k >= 8, k % 8 == 0, noalias(a, c), noalias(b, c)
    """
)
def by_roles(a, b, c):
    """As the function gemm of examples/kernels/gemm.py, but for how sums are stored."""
    tiles = kp.ceil_div(c.shape[0], BIG[0]) * kp.ceil_div(c.shape[1], BIG[1])
    blocks = kp.min(kp.device.sm_count, tiles)
    roles_kernel(a, b, c).launch(grid=blocks, block=384, arch="sm_90a")
