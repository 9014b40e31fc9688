# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows, each with a matrix of its own, in float16 and bfloat16, on sm_90a.

Where groups begin is in memory of the device, so that nobody waits for it: the blocks of a launch find their tiles,
which are numbered group by group.
"""

import kernpack as kp

COLUMNS, DEPTH = 256, 64


class Groups:
    """Goes from tile to tile: the `group` that one is of, the rows from `first` on that the group has, and the `place` there."""

    rows: kp.Constexpr

    def __init__(self, offsets, c, rows):
        self.offsets = offsets
        self.c = c
        self.rows = rows
        self.group = kp.int32(0)
        self.first = kp.int64(0)
        self.size = kp.int64(0)
        self.before = kp.int64(0)
        self.number = kp.int64(kp.block_idx()[0])

    def find(self):
        """Whether there is a tile with the number, whose group it goes on to."""
        while self.group < self.offsets.shape[0] - 1:
            # What lies outside of the tensor is none of a group.
            self.first = kp.max(kp.int64(self.offsets[self.group]), 0)
            end = kp.min(kp.int64(self.offsets[self.group + 1]), self.c.shape[0])
            self.size = kp.max(end - self.first, 0)
            tiles = kp.ceil_div(self.size, self.rows) * kp.ceil_div(self.c.shape[1], COLUMNS)
            if self.number < self.before + tiles:
                break
            self.before += tiles
            self.group += 1
        return self.group < self.offsets.shape[0] - 1

    def place(self):
        down = kp.ceil_div(self.size, self.rows)
        return (self.number - self.before) % down, (self.number - self.before) // down

    def advance(self):
        self.number += kp.grid_dim()[0]


@kp.kernel
def grouped_tiles(a, b, c, offsets, rows: kp.Constexpr):
    mma = kp.tiled_mma(a.element_type, (rows, COLUMNS, DEPTH), warps=rows // 16)
    ring = kp.tile_ring(mma, a, b, stages=4)
    groups = Groups(offsets, c, rows)
    if kp.warpgroup_idx() == 0:
        kp.setmaxregister_decrease(40)
        if kp.thread_idx()[0] == 0:
            while groups.find():
                origin = groups.first, kp.int64(groups.group) * c.shape[1]
                ring.fill(groups.place(), origin)
                groups.advance()
    else:
        kp.setmaxregister_increase(232)
        acc = mma.zeros()
        while groups.find():
            ring.multiply(acc)
            layout = kp.make_layout((groups.size, c.shape[1]), stride=(c.shape[1], 1))
            own = kp.make_tensor(kp.domain_offset((groups.first, 0), c).iterator, layout)
            kp.store_tile(mma, acc, own, groups.place())
            groups.advance()


def launch(a, b, c, offsets, rows):
    groups, (m, n) = b.shape[0], c.shape
    matrices = kp.view(b, kp.make_layout((groups * n, b.shape[2]), stride=(b.shape[2], 1)))
    # So many at most: each group but the last may end within a tile.
    tiles = (kp.ceil_div(m, rows) + groups) * kp.ceil_div(n, COLUMNS)
    grouped_tiles(a, matrices, c, offsets, rows).launch(
        grid=kp.min(kp.device.sm_count, tiles), block=128 + 2 * rows, arch="sm_90a"
    )


def by_size(a, b, c, offsets):
    if c.shape[0] <= 64 * b.shape[0]:
        launch(a, b, c, offsets, 64)
    else:
        launch(a, b, c, offsets, 128)


@kp.jit(
    """
    grouped_gemm(
        a: Tensor([m, k], T, align=16), b: Tensor([groups, n, k], T, align=16), offsets: Tensor([groups + 1], int32),
        c: Tensor([m, n], T, align=16, mut)
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0,
        noalias(a, c), noalias(b, c), noalias(offsets, c)
    """
)
def grouped_gemm(a, b, offsets, c):
    """c[i] = a[i] @ b[g].T for the rows i of each group g, which are those from offsets[g] up to offsets[g + 1]."""
    if c.shape[1] % 8 == 0:
        by_size(a, b, c, offsets)
    else:
        by_size(a, b, c, offsets)
