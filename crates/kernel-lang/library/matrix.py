# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by the warps of a block, from sm_80 on: of m rows and n rows, both of k numbers, m x n sums.

An op is a product that one warp knows, or that a warpgroup does, from sm_90a on (`warpgroup.py`): its unit.
A `TiledMma` lays units side by side over a tile: each has rows and columns that lie together. A
`TileStream` brings tiles of both factors to shared memory, and products are added to `Sums`. What a
lane has of a matrix is in "Matrices" of the language's reference.
"""

import kernpack as kp

ROWS, COLUMNS = 16, 8
# Of a row of a matrix in shared memory, which `kp.ldmatrix` loads. A product takes two of them.
ROW_BYTES = 16


class MmaOp:
    """A product that a warp knows, of `shape` (m, n, k) and factors in `dtype`. `kp.mma` makes one."""

    shape: kp.Constexpr
    columns: kp.Constexpr
    each: kp.Constexpr
    threads: kp.Constexpr

    def __init__(self, dtype, sums, shape):
        self.dtype = dtype
        self.sums = sums
        self.shape = shape
        self.columns = 2 * COLUMNS
        self.each = ROW_BYTES * 8 // dtype.width
        self.threads = kp.WARP_SIZE

    @staticmethod
    def of(dtype):
        return mma(dtype, sums_of(dtype), (ROWS, COLUMNS, numbers_of(dtype)))

    def slice(self, mma, thread):
        return ThrMma(mma, thread, thread // kp.WARP_SIZE)

    def fragment_A(self, part, tile):
        rows, k = part.rows(tile.shape), kp.size(tile, mode=[1])
        return kp.make_rmem_tensor((self.each, rows // ROWS, k // self.shape[2]), self.dtype)

    def fragment_B(self, part, tile):
        columns, k = part.columns((0, tile.shape[0])), kp.size(tile, mode=[1])
        shape = self.each // 2, columns // COLUMNS, k // self.shape[2]
        return kp.make_rmem_tensor(shape, self.dtype)

    def fragment_C(self, part, shape):
        return Sums(part, part.rows(shape), part.columns(shape))

    def stream(self, mma, a, b, stages):
        return TileStream(mma, a, b, stages)


def sums_of(dtype):
    return kp.float32 if dtype.is_float else kp.int32


def numbers_of(dtype):
    # Of a row, so many as a product takes.
    return 2 * ROW_BYTES * 8 // dtype.width


def make_smem_layout(dtype, tile, stages):
    """The layout in shared memory of so many tiles, (rows, columns), of numbers in `dtype`, whose columns lie side by side: swizzled, so that of eight rows below each other each is in other banks."""
    rows, k = tile
    each = ROW_BYTES * 8 // dtype.width
    wide = kp.min(k, 8 * each)
    bits = 3 if wide == 8 * each else 2 if wide == 4 * each else 1
    base = 4 if each == 16 else 3 if each == 8 else 2
    kp.static_assert(
        k % wide == 0 and wide == each * 2**bits,
        "a tile's rows have 32, 64 or 128 bytes, or a multiple of 128",
    )
    outer = kp.make_layout((rows, k, stages), stride=(k, 1, rows * k))
    if k > wide:
        shape = rows, (wide, k // wide), stages
        outer = kp.make_layout(shape, stride=(wide, (1, rows * wide), rows * k))
    return kp.make_composed_layout(kp.make_swizzle(bits, base, 3), 0, outer)


def mma(dtype, sums, shape):
    """A product that a warp does at once, of 16 rows by 8 columns: `shape` is (16, 8, k), where k numbers in `dtype` have 32 bytes. `sums` is `kp.float32`, of factors in float16, bfloat16 or float32, of which 10 bits of mantissa count; or `kp.int32`, of int8 or uint8."""
    kp.static_assert(
        shape == (ROWS, COLUMNS, numbers_of(dtype)),
        "`shape` is (16, 8, k), where k numbers have 32 bytes",
    )
    kp.static_assert(
        sums == sums_of(dtype),
        "sums are `kp.float32`, and of integers `kp.int32`",
    )
    return MmaOp(dtype, sums, shape)


class TiledMma:
    """Warps or warpgroups side by side, which multiply a tile: `atoms` (m, n, 1) of them, `threads` in all. `kp.make_tiled_mma` makes one, and `kp.tiled_mma` one that knows its `tile`."""

    atoms: kp.Constexpr
    threads: kp.Constexpr
    tile: kp.Constexpr

    def __init__(self, op, atoms, tile):
        self.op = op
        self.atoms = atoms
        self.tile = tile
        self.threads = atoms[0] * atoms[1] * op.threads

    def get_slice(self, thread):
        """What that thread has of tiles: a `ThrMma`."""
        return self.op.slice(self, thread)

    def zeros(self):
        """The thread's `Sums` of the tile, which are 0."""
        sums = self.get_slice(kp.thread_idx()[0]).make_fragment_C(self.tile)
        sums.clear()
        return sums


def make_tiled_mma(op, atoms):
    """A `TiledMma` of so many warps along rows and columns, `atoms` (m, n, 1), each of which does products `op`, of `kp.mma`; or of so many warpgroups, of `kp.wgmma`."""
    kp.static_assert(atoms[2] == 1, "`atoms` is (m, n, 1)")
    return TiledMma(op, atoms, None)


def tiled_mma(dtype, tile, warps):
    """A `TiledMma` for a block of so many warps, a power of two, and its `tile`: (m, n, k), rows of both factors and numbers of a row. Warpgroups multiply where `kp.has_arch("sm_90a")` and the tile has 64 rows or a multiple for each of them, and 256 columns at most; warps do otherwise."""
    if kp.has_arch("sm_90a") and warps % 4 == 0 and tile[0] % (16 * warps) == 0 and tile[1] <= 256:
        op = kp.wgmma(dtype, sums_of(dtype), (64, tile[1], numbers_of(dtype)))
        return TiledMma(op, (warps // 4, 1, 1), tile)
    down = 1
    for _ in kp.range_constexpr(5):
        if down < warps and tile[0] * warps > tile[1] * down * down:
            down = down * 2
    return TiledMma(MmaOp.of(dtype), (down, warps // down, 1), tile)


class ThrMma:
    """What a thread has of tiles that a `TiledMma` multiplies: `unit` is the number of its warp or warpgroup."""

    def __init__(self, mma, thread, unit):
        self.mma = mma
        self.lane = thread % kp.WARP_SIZE
        self.thread = thread % mma.op.threads
        self.unit_m = unit % mma.atoms[0]
        self.unit_n = unit // mma.atoms[0]

    def rows(self, shape):
        kp.static_assert(
            shape[0] % (self.mma.atoms[0] * self.mma.op.shape[0]) == 0,
            "a tile has a multiple of a product's rows for each warp or warpgroup",
        )
        return shape[0] // self.mma.atoms[0]

    def columns(self, shape):
        kp.static_assert(
            shape[1] % (self.mma.atoms[1] * self.mma.op.columns) == 0,
            "a tile has a multiple of 16 columns for each warp, or of a product's for a warpgroup",
        )
        return shape[1] // self.mma.atoms[1]

    def make_fragment_A(self, tile):
        """The thread's part of a tile of the first factor, (m, k): of warps registers, what the thread has in one product, products along m, and along k. Of warpgroups what they read of the tile in shared memory, where it is: rows of one product, numbers along k, products along m, and stages where there are some."""
        return self.mma.op.fragment_A(self, tile)

    def make_fragment_B(self, tile):
        """The same for a tile of the second factor, (n, k)."""
        return self.mma.op.fragment_B(self, tile)

    def make_fragment_C(self, shape):
        """The thread's `Sums` of a tile, (m, n), or `WarpgroupSums`."""
        return self.mma.op.fragment_C(self, shape)

    def load_A(self, tile, k, fragment):
        """Loads what the thread has of product `k` of a tile in shared memory."""
        each, lane, rows = self.mma.op.each, self.lane, self.rows(tile.shape)
        for i in kp.range_constexpr(rows // ROWS):
            row = self.unit_m * rows + i * ROWS + lane % 16
            at = kp.local_tile(tile[row, None], (each,), (2 * k + lane // 16,))
            fragment[None, i].store(kp.ldmatrix(at))

    def load_B(self, tile, k, fragment):
        """The same of the second factor."""
        each, lane, columns = self.mma.op.each, self.lane, self.columns((0, tile.shape[0]))
        for j in kp.range_constexpr(columns // (2 * COLUMNS)):
            row = self.unit_n * columns + j * 2 * COLUMNS + lane // 16 * 8 + lane % 8
            at = kp.local_tile(tile[row, None], (each,), (2 * k + lane // 8 % 2,))
            kp.local_tile(fragment, (each // 2, 2), (0, j)).store(kp.ldmatrix(at))

    def multiply(self, sums, a, b):
        for i in kp.range_constexpr(kp.size(a, mode=[1])):
            for j in kp.range_constexpr(kp.size(b, mode=[1])):
                sums[None, i, j].store(kp.mma_sync(a[None, i], b[None, j], sums[None, i, j]))

    def check_factors(self, sums, a, b):
        dtype = self.mma.op.dtype
        kp.static_assert(
            a.element_type == dtype and b.element_type == dtype,
            "factors have the dtype of their product, which `kp.mma` or `kp.wgmma` is given",
        )
        if kp.rank(a) == 2:
            self.check_rows(sums, kp.size(a, mode=[0]), kp.size(b, mode=[0]))

    def check_rows(self, sums, a_rows, b_rows):
        rows = kp.size(sums, mode=[1]) * self.mma.atoms[0] * self.mma.op.shape[0]
        columns = kp.size(sums, mode=[2]) * self.mma.atoms[1] * COLUMNS
        assert a_rows == rows, f"the tile of `a` has {a_rows} rows, and the sums have {rows}"
        assert b_rows == columns, (
            f"the tile of `b` has {b_rows} rows, and the sums have {columns} columns"
        )

    def partition_C(self, tile):
        """The thread's elements of a tile, (m, n), in the order of its sums."""
        rows, columns = self.rows(tile.shape), self.columns(tile.shape)
        own = kp.local_tile(tile, (rows, columns), (self.unit_m, self.unit_n))
        threads = 4, 8, self.mma.op.threads // kp.WARP_SIZE
        values = (2, 2), rows // self.mma.op.shape[0], columns // COLUMNS
        order = kp.make_layout(
            (threads, values),
            stride=((2 * rows, 1, ROWS), ((rows, 8), self.mma.op.shape[0], COLUMNS * rows)),
        )
        return kp.composition(own, order)[self.thread, (None, None, None)]


class Sums:
    """A thread's sums of a tile, to which `kp.gemm` adds products. The last of them is on its way until `finish`."""

    def __init__(self, part, rows, columns):
        op = part.mma.op
        self.part = part
        self.values = kp.make_rmem_tensor(((2, 2), rows // ROWS, columns // COLUMNS), op.sums)
        self.a = kp.make_rmem_tensor((op.each, rows // ROWS), op.dtype)
        self.b = kp.make_rmem_tensor((op.each // 2, columns // COLUMNS), op.dtype)

    def clear(self):
        """Makes all of them 0."""
        self.values.fill(0)
        self.a.fill(0)
        self.b.fill(0)

    def gemm(self, a, b, accumulate):
        self.part.check_factors(self.values, a, b)
        if not accumulate:
            self.clear()
        if kp.rank(a) == 2:
            self.add(a, b)
        else:
            for k in kp.range_constexpr(kp.size(a, mode=[2])):
                self.part.multiply(self.values, a[None, None, k], b[None, None, k])

    def add(self, a, b):
        # While a product is computed, what the next one takes is loaded.
        next_a, next_b = kp.make_fragment_like(self.a), kp.make_fragment_like(self.b)
        for k in kp.range_constexpr(kp.size(a, mode=[1]) // self.part.mma.op.shape[2]):
            self.part.load_A(a, k, next_a)
            self.part.load_B(b, k, next_b)
            self.part.multiply(self.values, self.a, self.b)
            self.a.store(next_a.load())
            self.b.store(next_b.load())

    def finish(self):
        """The sums, ((2, 2), m, n) registers, with all products: of the first mode, two columns side by side, and two rows 8 apart."""
        self.part.multiply(self.values, self.a, self.b)
        self.a.fill(0)
        self.b.fill(0)
        return self.values


def store_sums(part, values, c, place, epilogue):
    apart = part.mma.op.shape[0]
    rows, columns = kp.size(values, mode=[1]) * apart, kp.size(values, mode=[2]) * COLUMNS
    row = (place[0] * part.mma.atoms[0] + part.unit_m) * rows
    column = (place[1] * part.mma.atoms[1] + part.unit_n) * columns
    # What an epilogue loads waits for no test of where it is, in a tile that lies in `c` as a whole.
    if epilogue is not None and row + rows <= c.shape[0] and column + columns <= c.shape[1]:
        store_rows(part, values, c, row, column, epilogue, True)
    else:
        store_rows(part, values, c, row, column, epilogue, False)


def store_rows(part, values, c, row, column, epilogue, is_whole):
    apart = part.mma.op.shape[0]
    row += part.thread // kp.WARP_SIZE * ROWS + part.lane // 4
    for i in kp.range_constexpr(kp.size(values, mode=[1])):
        for half in kp.range_constexpr(2):
            sums = values[(None, half), i, None]
            store_row(part.lane, sums, c, row + i * apart + half * 8, column, epilogue, is_whole)


def store_row(lane, sums, c, row, column, epilogue, is_whole):
    pair = column + lane % 4 * 2
    if epilogue is not None:
        sums = finished(sums, c, row, pair, epilogue, is_whole)
    out = kp.make_rmem_tensor(sums.shape, c.element_type)
    for j in kp.range_constexpr(kp.size(sums, mode=[1])):
        for e in kp.range_constexpr(2):
            out[e, j] = c.element_type(sums[e, j])
    if c.element_type.width == 16 and kp.size(sums, mode=[1]) % 4 == 0:
        for j in kp.range_constexpr(kp.size(sums, mode=[1]) // 4):
            four = kp.local_tile(out, (2, 4), (0, j))
            exchange(lane, kp.recast_tensor(four, kp.uint32))
            store_run(four, c, row, column + (4 * j + lane % 4) * COLUMNS, is_whole)
    else:
        for j in kp.range_constexpr(kp.size(sums, mode=[1])):
            store_run(out[None, j], c, row, pair + j * COLUMNS, is_whole)


def finished(sums, c, row, pair, epilogue, is_whole):
    values = kp.make_fragment_like(sums)
    values.store(sums.load())
    for j in kp.range_constexpr(kp.size(sums, mode=[1])):
        for e in kp.range_constexpr(2):
            column = pair + j * COLUMNS + e
            if is_whole or row < c.shape[0] and column < c.shape[1]:
                values[e, j] = epilogue(values[e, j], row, column)
    return values


def exchange(lane, words):
    # Of four words a lane, the lane with that number of four gets all.
    odd, high = lane % 2 == 1, lane // 2 % 2 == 1
    w0, w1, w2, w3 = [words[0, x] for x in kp.range_constexpr(4)]
    low = kp.shuffle_sync_bfly(kp.where(odd, w0, w1), 1)
    other = kp.shuffle_sync_bfly(kp.where(odd, w2, w3), 1)
    w0, w1 = kp.where(odd, low, w0), kp.where(odd, w1, low)
    w2, w3 = kp.where(odd, other, w2), kp.where(odd, w3, other)
    low = kp.shuffle_sync_bfly(kp.where(high, w0, w2), 2)
    other = kp.shuffle_sync_bfly(kp.where(high, w1, w3), 2)
    words[0, 0], words[0, 1] = kp.where(high, low, w0), kp.where(high, other, w1)
    words[0, 2], words[0, 3] = kp.where(high, w2, low), kp.where(high, w3, other)


def store_run(values, c, row, column, is_whole):
    for e in kp.range_constexpr(kp.size(values)):
        if is_whole or row < c.shape[0] and column + e < c.shape[1]:
            c[row, column + e] = values[e]


def gemm(mma, acc, a, b, accumulate=True):
    """Adds the product of two tiles, (m, k) and (n, k), to `Sums`; where `accumulate` is false, the sums begin with it. Tiles are in shared memory, or what `make_fragment_A` and `make_fragment_B` give. Of warpgroups it begins the product and commits a group, which `kp.wgmma_wait` waits for."""
    acc.gemm(a, b, accumulate)


def store_tile(mma, acc, c, place, epilogue=None):
    """Writes `Sums` to the tile of `c` at `place`, (m, n), counted in tiles, as far as that lies in `c`: 16 bytes at once of two-byte numbers, where columns are known to be a multiple of that. What is written of a sum is `epilogue(sum, row, column)`, where there is one."""
    store_sums(acc.part, acc.finish(), c, place, epilogue)


def raster(number, grid, group):
    """The place of the tile with a number in a `grid` of so many, (m, n): down `group` tiles, then one to the right. So blocks that run at once load the same rows."""
    rows, columns = kp.int32(grid[0]), kp.int32(grid[1])
    most = kp.min(rows, group)
    above = kp.int32(number) // (columns * most) * most
    within = kp.int32(number) % (columns * most)
    high = kp.min(rows - above, most)
    return kp.int64(above + within % high), kp.int64(within // high)


def make_smem_layout_a(mma, tile, stages):
    """The layout in shared memory of so many tiles of the first factor, (m, k), swizzled so that rows of matrices lie in different banks."""
    return make_smem_layout(mma.op.dtype, tile, stages)


def make_smem_layout_b(mma, tile, stages):
    """The same of the second factor, (n, k)."""
    return make_smem_layout(mma.op.dtype, tile, stages)


class TileStream:
    """Tiles of both factors in shared memory, one along k after the other: `steps` of them. `kp.tile_stream` makes one."""

    stages: kp.Constexpr

    def __init__(self, mma, a, b, stages):
        m, n, k = mma.tile
        self.mma = mma
        self.stages = stages
        self.a, self.b = a[0], b[0]
        self.m, self.n = a[1] * m, b[1] * n
        self.tiles_a = kp.shared(mma.op.dtype, make_smem_layout_a(mma, (m, k), stages))
        self.tiles_b = kp.shared(mma.op.dtype, make_smem_layout_b(mma, (n, k), stages))
        self.steps = kp.ceil_div(self.a.shape[1], k)
        self.step = kp.int64(0)
        self.stage = kp.int32(0)
        for s in kp.range_constexpr(stages - 1):
            self.load(s, s)

    def load(self, step, stage):
        if step < self.steps:
            self.load_tile(self.a, self.m, self.tiles_a[None, None, stage], step)
            self.load_tile(self.b, self.n, self.tiles_b[None, None, stage], step)
        kp.commit_group()

    def load_tile(self, x, first, tile, step):
        each, k, threads = self.mma.op.each, self.mma.tile[2], self.mma.threads
        chunks = k // each
        kp.static_assert(
            kp.size(tile) % (each * threads) == 0, "a tile has a multiple of 16 bytes a thread"
        )
        row, chunk = kp.thread_idx()[0] // chunks, kp.thread_idx()[0] % chunks
        source = kp.domain_offset((first + row, chunk * each), x)
        target = kp.domain_offset((row, chunk * each), tile)
        is_in_rows = step * k + chunk * each < x.shape[1]
        for i in kp.range_constexpr(kp.size(tile) // (each * threads)):
            below = i * (threads // chunks)
            kp.copy(
                kp.local_tile(source[below, None], (each,), (step * chunks,)),
                kp.local_tile(target[below, None], (each,), (0,)),
                pred=is_in_rows and first + row + below < x.shape[0],
                to=kp.async_group,
            )

    def next(self):
        """The tiles of the next step, (m, k) and (n, k), when they are there. By then all threads of the block are done with those before; in their place others begin to come."""
        kp.wait_group(self.stages - 2)
        kp.sync_threads()
        self.load(
            self.step + (self.stages - 1), self.stages - 1 if self.stage == 0 else self.stage - 1
        )
        a, b = self.tiles_a[None, None, self.stage], self.tiles_b[None, None, self.stage]
        self.step += 1
        self.stage = 0 if self.stage == self.stages - 1 else self.stage + 1
        return a, b


def tile_stream(mma, a, b, stages=4):
    """A `TileStream` for a block of `mma.threads` threads, and the tile of its sums at (m, n): `a` is the first factor and m, `b` the second one and n. Rows lie side by side in memory, at multiples of 16 bytes. `stages` tiles of each have room, all but one of which are on their way; beyond the edges they are 0. For warpgroups, a `BoxStream`: both factors are tensors that the launch passes."""
    kp.static_assert(
        kp.block_dim()[0] == mma.threads, "the block has the threads of its `kp.tiled_mma`"
    )
    kp.static_assert(stages >= 2, "there are 2 stages or more")
    return mma.op.stream(mma, a, b, stages)
