# SPDX-License-Identifier: Apache-2.0
"""Sums that go to a tensor through shared memory, from sm_90 on, where the device copies them (TMA).

A part of a tile is 16 rows of a warp by as many columns as a swizzled row of shared memory has. Each
warp has parts of its own, so that warps wait for nobody: it writes one as matrices (`kp.stmatrix`),
and the device copies it while the warp writes the next one.
"""

import kernpack as kp

ROWS, COLUMNS = 16, 8


class TmaStore:
    """Tiles of sums on their way to a tensor, part by part. `kp.tma_store` makes one."""

    columns: kp.Constexpr
    stages: kp.Constexpr

    def __init__(self, mma, c, tile, stages):
        self.columns = part_columns(tile[1] // mma.atoms[1], c.element_type)
        self.stages = stages
        n_parts = stages * mma.threads // kp.WARP_SIZE
        layout = kp.make_smem_layout(c.element_type, (ROWS, self.columns), n_parts)
        self.c = c
        self.map = kp.make_tma(c, layout)
        self.parts = kp.shared(c.element_type, layout)

    def store_tile(self, acc, place, epilogue=None, reduction_kind=None):
        """As `kp.store_tile`, by the same warps. What it writes may yet be on its way. With `reduction_kind` it is combined with what is there, as by `kp.copy`."""
        part, sums = acc.part, acc.finish()
        down, across = kp.size(sums, mode=[1]), kp.size(sums, mode=[2]) * COLUMNS // self.columns
        kp.static_assert(
            down * across % self.stages == 0, "a warp has a multiple of `stages` parts of a tile"
        )
        mma, warps = part.mma, part.mma.op.threads // kp.WARP_SIZE
        unit = part.unit_n * mma.atoms[0] + part.unit_m
        warp = part.thread // kp.WARP_SIZE
        row = (place[0] * mma.atoms[0] + part.unit_m) * down * warps + warp
        column = (place[1] * mma.atoms[1] + part.unit_n) * across
        for i in kp.range_constexpr(down):
            for j in kp.range_constexpr(across):
                stage = (unit * warps + warp) * self.stages + (i * across + j) % self.stages
                own = kp.local_tile(sums[None, i, None], (4, self.columns // COLUMNS), (0, j))
                at = row + i * warps, column + j
                if epilogue is not None:
                    own = self.finished(part.lane, own, at, epilogue)
                self.store_part(part.lane, own, self.parts[None, None, stage], at, reduction_kind)

    def store_part(self, lane, sums, tile, at, reduction_kind):
        if kp.elect_one():
            # What was in the part before has been read.
            kp.bulk_wait_group(self.stages - 1, read=True)
        kp.sync_warp()
        write_part(lane, sums, tile)
        kp.fence_view_async_shared()
        kp.sync_warp()
        if kp.elect_one():
            kp.copy(tile, self.map[None, at], to=kp.bulk_group, reduction_kind=reduction_kind)
            kp.bulk_commit_group()

    def finished(self, lane, sums, at, epilogue):
        row, column = at[0] * ROWS, at[1] * self.columns
        values = kp.make_fragment_like(sums)
        values.store(sums.load())
        # What an epilogue loads waits for no test of where it is, in a part that lies in `c` as a whole.
        if row + ROWS <= self.c.shape[0] and column + self.columns <= self.c.shape[1]:
            self.apply(lane, values, row, column, epilogue, True)
        else:
            self.apply(lane, values, row, column, epilogue, False)
        return values

    def apply(self, lane, values, row, column, epilogue, is_whole):
        for k in kp.range_constexpr(kp.size(values) // 4):
            for e in kp.range_constexpr(4):
                r, c = row + e // 2 * 8 + lane // 4, column + k * COLUMNS + lane % 4 * 2 + e % 2
                if is_whole or r < self.c.shape[0] and c < self.c.shape[1]:
                    values[e, k] = epilogue(values[e, k], r, c)

    def tail(self):
        """Waits until the device has read all parts, which has to be before the block ends."""
        if kp.elect_one():
            kp.bulk_wait_group(0, read=True)


def part_columns(columns, dtype):
    kp.static_assert(
        dtype.width == 16 or dtype.width == 32, "the numbers that are stored have 2 or 4 bytes"
    )
    wide = 1024 // dtype.width
    if columns % wide != 0:
        wide = wide // 2 if columns % (wide // 2) == 0 else wide // 4
    kp.static_assert(
        columns % wide == 0,
        "columns of a warp or warpgroup are a multiple of 32 bytes of what is stored",
    )
    return wide


def write_part(lane, sums, tile):
    out = kp.make_rmem_tensor(sums.shape, tile.element_type)
    out.store(sums.load().to(tile.element_type))
    if tile.element_type.width == 16:
        for k in kp.range_constexpr(kp.size(out) // 8):
            at = kp.local_tile(tile[lane % 16, None], (COLUMNS,), (2 * k + lane // 16,))
            kp.stmatrix(at, kp.local_tile(out, (4, 2), (0, k)))
    else:
        for k in kp.range_constexpr(kp.size(out) // 4):
            for half in kp.range_constexpr(2):
                row = tile[half * 8 + lane // 4, None]
                pair = kp.local_tile(out[None, k], (2,), (half,))
                kp.copy(pair, kp.local_tile(row, (2,), (4 * k + lane % 4,)))


def tma_store(mma, c, tile, stages=2):
    """A `TmaStore` of tiles (m, n) to `c`, whose rows are a multiple of 16 bytes: what `kp.store_tile` does, with fewer instructions, and shared memory for `stages` parts of each warp, 2 KiB each or less."""
    return TmaStore(mma, c, tile, stages)
