# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by warpgroups, on sm_90a: what a `kp.TiledMma` of `kp.wgmma` does otherwise than one of warps.

Warpgroups read both factors from shared memory, where the device copies boxes of them (TMA), and a
product is in flight until a wait. A warpgroup has 64 rows of a product, each of its warps 16.
"""

import kernpack as kp

ROWS = 64
WARPGROUP = 128


class WgmmaOp:
    """A product that a warpgroup knows, of `shape` (64, n, k) and factors in `dtype`. `kp.wgmma` makes one."""

    shape: kp.Constexpr
    columns: kp.Constexpr
    threads: kp.Constexpr

    def __init__(self, dtype, sums, shape):
        self.dtype = dtype
        self.sums = sums
        self.shape = shape
        self.columns = shape[1]
        self.threads = WARPGROUP

    def slice(self, mma, thread):
        # All lanes know that it is one warpgroup. They lie in a row, and may have others before them.
        unit = kp.warpgroup_idx() % (mma.atoms[0] * mma.atoms[1])
        return kp.ThrMma(mma, thread, unit)

    def fragment_A(self, part, tile):
        return self.products(tile, part.rows(tile.shape), part.unit_m, ROWS)

    def fragment_B(self, part, tile):
        columns = part.columns((0, tile.shape[0]))
        return self.products(tile, columns, part.unit_n, columns)

    def products(self, tile, rows, unit, of_one):
        k = kp.size(tile, mode=[1])
        own = kp.local_tile(tile, (rows, k), (unit, 0))
        divided = kp.flat_divide(own, (of_one, k))
        if kp.rank(tile) == 2:
            return divided[None, None, None, 0]
        return divided[None, None, None, 0, None]

    def fragment_C(self, part, shape):
        return WarpgroupSums(part, part.rows(shape), part.columns(shape))

    def stream(self, mma, a, b, stages):
        return BoxStream(mma, a, b, stages)


def wgmma(dtype, sums, shape):
    """A product that a warpgroup begins at once, of 64 rows by n columns, 8 to 256, a multiple of 8: `shape` is (64, n, k), where k numbers in `dtype` have 32 bytes. Types are those of `kp.mma`. It needs `sm_90a`."""
    kp.static_assert(
        shape[0] == ROWS and shape[2] == 32 * 8 // dtype.width,
        "`shape` is (64, n, k), where k numbers have 32 bytes",
    )
    kp.static_assert(
        shape[1] % 8 == 0 and shape[1] >= 8 and shape[1] <= 256,
        "a product has 8 to 256 columns, a multiple of 8",
    )
    kp.static_assert(
        sums == (kp.float32 if dtype.is_float else kp.int32),
        "sums are `kp.float32`, and of integers `kp.int32`",
    )
    return WgmmaOp(dtype, sums, shape)


class WarpgroupSums:
    """A thread's sums of a tile that warpgroups multiply. What `kp.gemm` begins is in flight until a wait."""

    def __init__(self, part, rows, columns):
        kp.static_assert(
            columns == part.mma.op.shape[1], "a tile has the columns of one product a warpgroup"
        )
        self.part = part
        shape = (2, 2), rows // ROWS, columns // 8
        layout = kp.make_layout(shape, stride=((1, 2), columns // 2, 4))
        self.values = kp.make_rmem_tensor(layout, part.mma.op.sums)

    def clear(self):
        """Makes all of them 0."""
        self.values.fill(0)

    def gemm(self, a, b, accumulate):
        self.part.check_factors(self.values, a, b)
        if kp.rank(a) == 2:
            a, b = self.part.make_fragment_A(a), self.part.make_fragment_B(b)
        kp.wgmma_fence()
        for i in kp.range_constexpr(kp.size(a, mode=[2])):
            kp.wgmma_mma(self.values[None, i, None], a[None, None, i], b[None, None, 0], accumulate)
        kp.wgmma_commit()

    def finish(self):
        """The sums, ((2, 2), m, n) registers, with all products: of the first mode, two columns side by side, and two rows 8 apart."""
        kp.wgmma_wait(0)
        return self.values


class BoxStream:
    """A `TileStream` whose tiles the device copies as boxes, which one thread begins."""

    stages: kp.Constexpr

    def __init__(self, mma, a, b, stages):
        m, n, k = mma.tile
        kp.static_assert(stages >= 3, "there are 3 stages or more for warpgroups")
        layout_a = kp.make_smem_layout_a(mma, (m, k), stages)
        layout_b = kp.make_smem_layout_b(mma, (n, k), stages)
        self.mma = mma
        self.stages = stages
        self.m, self.n = a[1], b[1]
        self.a, self.b = kp.make_tma(a[0], layout_a), kp.make_tma(b[0], layout_b)
        self.tiles_a = kp.shared(mma.op.dtype, layout_a)
        self.tiles_b = kp.shared(mma.op.dtype, layout_b)
        self.full = kp.mbarrier(stages)
        self.steps = kp.ceil_div(a[0].shape[1], k)
        self.step = kp.int64(0)
        self.stage = kp.int32(0)
        self.phase = kp.int32(0)
        if kp.thread_idx()[0] == 0:
            for s in kp.range_constexpr(stages):
                self.full[s].init(1)
        kp.sync_threads()
        for s in kp.range_constexpr(stages - 2):
            self.load(s, s)

    def load(self, step, stage):
        if kp.thread_idx()[0] == 0 and step < self.steps:
            m, n, k = self.mma.tile
            full = self.full[stage]
            full.arrive_and_expect_tx((m + n) * k * self.mma.op.dtype.width // 8)
            kp.copy(self.a[None, (self.m, step)], self.tiles_a[None, None, stage], to=full)
            kp.copy(self.b[None, (self.n, step)], self.tiles_b[None, None, stage], to=full)

    def next(self):
        """The tiles of the next step, (m, k) and (n, k), when they are there. By then the products of the last but one are done, for all threads of the block; in its place others begin to come."""
        kp.wgmma_wait(1)
        kp.sync_threads()
        behind = self.stages - 2
        self.load(
            self.step + behind,
            self.stage + behind if self.stage < 2 else self.stage - 2,
        )
        self.full[self.stage].wait(self.phase)
        a, b = self.tiles_a[None, None, self.stage], self.tiles_b[None, None, self.stage]
        self.step += 1
        self.stage += 1
        if self.stage == self.stages:
            self.stage = kp.int32(0)
            self.phase ^= 1
        return a, b
