# SPDX-License-Identifier: Apache-2.0
"""Tiles that each block of a cluster brings to all of its blocks."""

import kernpack as kp

STAGES = 3


@kp.kernel
def multicast_kernel(x, out):
    """Each block of a cluster brings its part of each step to all of them, in a ring of stages."""
    rank, size, t = kp.block_idx_in_cluster(), kp.cluster_size(), kp.thread_idx()[0]
    layout = kp.make_layout((1, 32, 4 * STAGES), stride=(32, 1, 32))
    tma, tiles = kp.make_tma(x, layout), kp.shared(kp.int32, layout)
    full, empty = kp.mbarrier(STAGES), kp.mbarrier(STAGES)
    if t == 0:
        for s in kp.range_constexpr(STAGES):
            full[s].init(1)
            empty[s].init(size)
    kp.cluster_sync()
    steps = x.shape[0] // size
    state = kp.make_pipeline_state(kp.PipelineUserType.Consumer, STAGES)
    if kp.warp_idx() == 1:
        if kp.elect_one():
            for k in range(steps):
                at = state.index
                empty[at].wait(state.phase ^ 1)
                full[at].arrive_and_expect_tx(128 * size)
                place, tile = (size * k + rank, 0), tiles[None, None, 4 * at + rank]
                kp.copy(tma[None, place], tile, to=full[at], mcast_mask=(1 << size) - 1)
                state.advance()
    else:
        total = kp.int32(0)
        for k in range(steps):
            at = state.index
            full[at].wait(state.phase)
            for part in range(size):
                total = 3 * total + tiles[0, (t + rank) % 32, 4 * at + part]
            kp.sync_warp()
            if kp.elect_one():
                for other in range(size):
                    kp.map_shared(empty[at], other).arrive()
            state.advance()
        out[kp.block_idx()[0], t] = total
    kp.cluster_sync()


@kp.jit(
    """
    multicast(x: Tensor([m, 32], int32, align=16), out: Tensor([b, 32], int32, mut), size: int64)
    where m > 0, b > 0, noalias(x, out)
    """
)
def multicast(x, out, size):
    n = kp.static(size, (1, 2, 4))
    multicast_kernel(x, out).launch(grid=out.shape[0], block=64, cluster=n)
