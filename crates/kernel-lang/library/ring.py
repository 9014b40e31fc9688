# SPDX-License-Identifier: Apache-2.0
"""Products of tiles by warpgroups with roles, on sm_90a: the first warpgroup of a block has the device fill a ring of stages, the others multiply what is in them.

A stage has an mbarrier that completes a phase when its boxes are there, and one that does when each
warpgroup is done with it. One thread says that, behind the wait for its products: nothing else reads.
Where blocks of a cluster share tiles of the second factor, each has its part of one brought to all of
them, once the warpgroups of all are done with the stage.
"""

import kernpack as kp

WARPGROUP = 128
# Columns of a row that a thread adds up and writes.
EACH = 8


class TileRing:
    """Tiles of both factors in a ring of stages. `kp.tile_ring` makes one. `grid` is how many tiles of sums there are, (m, n), where `sharing` blocks have tiles one below the other rounded up to as many, and `steps` how many tiles along k."""

    stages: kp.Constexpr
    sharing: kp.Constexpr

    def __init__(self, mma, a, b, stages, part, sharing):
        m, n, k = mma.tile
        kp.static_assert(
            n % (8 * sharing) == 0, "each block that shares a tile brings a multiple of 8 columns"
        )
        layout_a = kp.make_smem_layout_a(mma, (m, k), stages)
        layout_b = kp.make_smem_layout_b(mma, (n, k), stages)
        part_b = kp.make_smem_layout_b(mma, (n // sharing, k), stages)
        self.mma = mma
        self.stages = stages
        self.sharing = sharing
        self.a, self.b = kp.make_tma(a, layout_a), kp.make_tma(b, part_b)
        self.tiles_a = kp.shared(mma.op.dtype, layout_a)
        self.tiles_b = kp.shared(mma.op.dtype, layout_b)
        self.full = kp.mbarrier(stages)
        self.empty = kp.mbarrier(stages)
        rows, columns = self.a.shape[1][0], self.b.shape[1][0]
        self.grid = kp.ceil_div(rows, sharing) * sharing, kp.ceil_div(columns, sharing)
        self.steps = self.a.shape[1][1]
        self.first = self.steps * part[0] // part[1]
        self.last = self.steps * (part[0] + 1) // part[1]
        self.state = kp.make_pipeline_state(kp.PipelineUserType.Consumer, stages)
        if kp.thread_idx()[0] == 0:
            for s in kp.range_constexpr(stages):
                self.full[s].init(1)
                self.empty[s].init(sharing * mma.threads // WARPGROUP)
        if sharing == 1:
            kp.sync_threads()
        else:
            kp.cluster_sync()

    def fill(self, place, origin=None):
        """Has the device fill stages with what the tile at `place`, (m, n), is a product of; one thread of the first warpgroup does it. Places are counted in tiles, from row `origin[0]` of the first factor and row `origin[1]` of the second one on. Blocks that share tiles fill those of one column at a time."""
        m, n, k = self.mma.tile
        a, b = self.a, self.b
        if origin is not None:
            a = kp.domain_offset(((origin[0], 0), (0, 0)), a)
            b = kp.domain_offset(((origin[1], 0), (0, 0)), b)
        for step in range(self.first, self.last):
            at = self.state.index
            full = self.full[at]
            self.empty[at].wait(self.state.phase ^ 1)
            full.arrive_and_expect_tx((m + n) * k * self.mma.op.dtype.width // 8)
            kp.copy(a[None, (place[0], step)], self.tiles_a[None, None, at], to=full)
            self.fill_b(b, place[1], step, at)
            self.state.advance()

    def fill_b(self, b, column, step, at):
        tile, full = self.tiles_b[None, None, at], self.full[at]
        if self.sharing == 1:
            kp.copy(b[None, (column, step)], tile, to=full)
        else:
            _, n, k = self.mma.tile
            rank = kp.block_idx_in_cluster()
            part = kp.local_tile(tile, (n // self.sharing, k), (rank, 0))
            source = b[None, (column * self.sharing + rank, step)]
            kp.copy(source, part, to=full, mcast_mask=(1 << self.sharing) - 1)

    def multiply(self, acc):
        """Makes the `WarpgroupSums` of a thread those of the tile that is filled next. All warpgroups but the first do it, tile by tile as they are filled."""
        part = acc.part
        parts_a, parts_b = part.make_fragment_A(self.tiles_a), part.make_fragment_B(self.tiles_b)
        before = kp.int32(0)
        for step in range(self.first, self.last):
            at = self.state.index
            self.full[at].wait(self.state.phase)
            a, b = parts_a[None, None, None, at], parts_b[None, None, None, at]
            acc.gemm(a, b, step > self.first)
            kp.wgmma_wait(1)
            # All products but these are done, and with them the stage before.
            if step > self.first:
                self.release(before)
            before = at
            self.state.advance()
        kp.wgmma_wait(0)
        self.release(before)

    def release(self, stage):
        # What this warpgroup has begun with it is done.
        thread = kp.thread_idx()[0] % WARPGROUP
        if self.sharing == 1:
            if thread == 0:
                self.empty[stage].arrive()
        elif thread < self.sharing:
            kp.map_shared(self.empty[stage], thread).arrive_relaxed()

    def tail(self):
        """Waits until the blocks that share tiles need nothing of this one any more, which has to be before it ends. All threads come by."""
        if self.sharing > 1:
            kp.cluster_sync()


def tile_ring(mma, a, b, stages=4, part=(0, 1), sharing=1):
    """A `TileRing` of the factors `a` and `b`, tensors that the launch passes, for a block of a warpgroup and those of a `kp.tiled_mma`, which all make it. Each stage has room for a tile of both. `part` is a number and of how many: the steps along k are divided evenly into so many, one at least for each. The `sharing` blocks of a cluster, where there are more than one, multiply tiles of one column, at the same time, and each brings a part of the second factor's to all; before they end they come to its `tail`."""
    kp.static_assert(mma.op.threads == WARPGROUP, "warpgroups multiply what is in a ring")
    kp.static_assert(mma.tile is not None, "`mma` knows its tile, as `kp.tiled_mma` makes it")
    kp.static_assert(
        kp.block_dim()[0] == mma.threads + WARPGROUP,
        "the block has a warpgroup and those of its `kp.tiled_mma`",
    )
    return TileRing(mma, a, b, stages, part, sharing)


def store_parts(tile, parts, c, place, epilogue=None):
    """Adds up the float32 `tile`s in shared memory that the `parts` blocks of a cluster have, in their order, and writes the tile of `c` at `place`, each block so many rows of it: as `kp.store_tile` does. All threads of the cluster come by."""
    rows, columns = tile.shape[0] // parts, tile.shape[1]
    kp.static_assert(
        tile.shape[0] % parts == 0 and columns % EACH == 0,
        "a tile has a multiple of 8 columns, and as many rows for each block",
    )
    runs = columns // EACH
    kp.cluster_sync()
    for i in range(kp.thread_idx()[0], rows * runs, kp.block_dim()[0]):
        row, run = kp.block_idx_in_cluster() * rows + i // runs, i % runs
        sums = kp.make_rmem_tensor(EACH, kp.float32)
        sums.fill(0)
        for other in kp.range_constexpr(parts):
            part = kp.map_shared(tile, other)
            sums.store(sums.load() + kp.local_tile(part[row, None], (EACH,), (run,)).load())
        at = place[0] * tile.shape[0] + row, place[1] * columns + run * EACH
        write_run(sums, c, at, epilogue)
    kp.cluster_sync()


def write_run(sums, c, at, epilogue):
    row, column = at
    for e in kp.range_constexpr(EACH):
        if row < c.shape[0] and column + e < c.shape[1]:
            value = sums[e] if epilogue is None else epilogue(sums[e], row, column + e)
            c[row, column + e] = c.element_type(value)
