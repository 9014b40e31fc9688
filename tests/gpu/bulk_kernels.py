# SPDX-License-Identifier: Apache-2.0
"""Kernels in which one thread brings tiles to shared memory, and sends them from there, beside what
the others compute: within a block, and among the blocks of a cluster.
"""

import kernpack as kp

TILE, STAGES = 256, 3
# The oldest that has mbarriers.
ARCH = "compute_90"


@kp.kernel
def reverse_tiles(x, y, tiles):
    """Each block takes tiles in turn: a warp of its own brings them and sends what comes of them."""
    ring = kp.shared(kp.float32, (TILE, STAGES))
    result = kp.shared(kp.float32, (TILE, STAGES))
    full = kp.mbarrier(STAGES)
    empty = kp.mbarrier(STAGES)
    done = kp.mbarrier(STAGES)
    t, first, by = kp.thread_idx()[0], kp.block_idx()[0], kp.grid_dim()[0]
    layout = kp.make_layout((tiles, TILE), stride=(TILE, 1))
    given, made = kp.make_tensor(x.iterator, layout), kp.make_tensor(y.iterator, layout)
    if t == 0:
        for stage in range(STAGES):
            full[stage].init(1)
            empty[stage].init(TILE)
            done[stage].init(TILE)
    kp.sync_threads()
    if t == TILE:
        turn = kp.int64(0)
        for tile in range(first, tiles, by):
            stage = turn % STAGES
            empty[stage].wait(turn // STAGES + 1)
            full[stage].arrive_and_expect_tx(TILE * 4)
            kp.copy(given[tile, None], ring[None, stage], to=full[stage])
            turn += 1
    if t == TILE + 32:
        turn = kp.int64(0)
        for tile in range(first, tiles, by):
            stage = turn % STAGES
            done[stage].wait(turn // STAGES)
            kp.copy(result[None, stage], made[tile, None], to=kp.bulk_group)
            kp.bulk_commit_group()
            kp.bulk_wait_group(0, read=True)
            empty[stage].arrive()
            turn += 1
        kp.bulk_wait_group(0)
    if t < TILE:
        turn = kp.int64(0)
        for tile in range(first, tiles, by):
            stage = turn % STAGES
            full[stage].wait(turn // STAGES)
            result[t, stage] = ring[TILE - 1 - t, stage] * 2.0
            kp.fence_proxy_async()
            done[stage].arrive()
            if t > 0:
                empty[stage].arrive()
            turn += 1


@kp.kernel
def to_all_blocks(x, y):
    """Each block of a cluster brings its part to all of them, which write it in another order."""
    rank, size, t = kp.block_idx_in_cluster(), kp.cluster_size(), kp.thread_idx()[0]
    cluster = kp.cluster_idx()[0]
    row = kp.shared(kp.float32, (TILE, 8))
    there = kp.mbarrier()
    parts = kp.make_tensor(x.iterator, kp.make_layout((x.shape[0] // TILE, TILE), stride=(TILE, 1)))
    if t == 0:
        there.init(1)
        there.arrive_and_expect_tx(size * TILE * 4)
    kp.cluster_sync()
    if t == 0:
        for other in range(size):
            part, target = parts[cluster * size + rank, None], kp.map_shared(row, other)[None, rank]
            kp.copy(part, target, to=kp.map_shared(there, other))
    there.wait()
    total = kp.float32(0)
    for other in range(size):
        total += row[TILE - 1 - t, other]
    y[(cluster * size + rank) * TILE + t] = total
    kp.cluster_sync()


@kp.jit(
    f"reversed_tiles(x: Tensor([n], float32, align=16), y: Tensor([n], float32, mut, align=16), blocks: int64) where n % {TILE} == 0, blocks > 0, noalias(x, y)",
    arch=ARCH,
)
def reversed_tiles(x, y, blocks):
    reverse_tiles(x, y, x.shape[0] // TILE).launch(grid=blocks, block=TILE + 64)


@kp.jit(
    f"spread(x: Tensor([n], float32, align=16), y: Tensor([n], float32, mut, align=16)) where n % {4 * TILE} == 0, noalias(x, y)",
    arch=ARCH,
)
def spread(x, y):
    to_all_blocks(x, y).launch(grid=x.shape[0] // TILE, block=TILE, cluster=4)


def expected_reversed(x):
    return x.reshape(-1, TILE).flip(1).reshape(-1) * 2


def expected_spread(x):
    """Sums of parts of four blocks, in their order, once for each of the blocks."""
    parts = x.reshape(-1, 4, TILE).flip(2)
    total = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3]
    return total[:, None].expand(-1, 4, -1).reshape(-1)
