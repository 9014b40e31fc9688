# SPDX-License-Identifier: Apache-2.0
"""Kernels that have the device bring each tile of a tensor to shared memory and send one of the same
layout back, by maps: with every swizzle, of one to three modes.
"""

import kernpack as kp

THREADS = 128
# The elements of a tile along the modes in front of the last, and the boxes side by side along that.
ROWS, PLANES, BOXES = 8, 3, 2


def swizzled(dtype, bits, layout):
    """A layout of elements with a swizzle of rows of 32, 64 or 128 bytes, or none."""
    if bits == 0:
        return layout
    chunk = 128 // dtype.width
    base = 4 if chunk == 16 else 3 if chunk == 8 else 2 if chunk == 4 else 1
    return kp.make_composed_layout(kp.make_swizzle(bits, base, 3), 0, layout)


def row_of(dtype, bits):
    """The elements in a row of a box."""
    return (128 << bits) // dtype.width


def add_one(tile, seen, result, n):
    """Each thread takes elements of the tile as the layouts have them: into `seen`, and 1 more back."""
    for i in range(kp.thread_idx()[0], n, THREADS):
        value = tile[i]
        seen[i] = value
        result[i] = value + 1


@kp.kernel
def vector_kernel(x, y, seen):
    row = row_of(x.dtype, 2)
    layout = kp.make_layout(row)
    given, made = kp.make_tma(x, layout), kp.make_tma(y, layout)
    tile, result = kp.shared(x.dtype, layout), kp.shared(x.dtype, layout)
    there = kp.mbarrier()
    t, i = kp.thread_idx()[0], kp.block_idx()[0]
    if t == 0:
        there.init(1)
        there.arrive_and_expect_tx(row * x.dtype.width // 8)
        kp.copy(given[None, i], tile, to=there)
    kp.sync_threads()
    there.wait()
    add_one(tile, kp.local_tile(seen, (row,), (i,)), result, row)
    kp.fence_proxy_async()
    kp.sync_threads()
    if t == 0:
        kp.copy(result, made[None, i], to=kp.bulk_group)
        kp.bulk_commit_group()
        kp.bulk_wait_group(0)


@kp.kernel
def matrix_kernel(x, y, seen, bits: kp.Constexpr):
    row = row_of(x.dtype, bits)
    n = ROWS * row * BOXES
    rows = kp.make_layout((ROWS, (row, BOXES)), stride=(row, (1, ROWS * row)))
    layout = swizzled(
        x.dtype,
        bits,
        rows if bits > 0 else kp.make_layout((ROWS, row * BOXES), stride=(row * BOXES, 1)),
    )
    given, made = kp.make_tma(x, layout), kp.make_tma(y, layout)
    tile, result = kp.shared(x.dtype, layout), kp.shared(x.dtype, layout)
    there = kp.mbarrier()
    t, (j, i, _) = kp.thread_idx()[0], kp.block_idx()
    if t == 0:
        there.init(1)
        there.arrive_and_expect_tx(n * x.dtype.width // 8)
        kp.copy(given[None, (i, j)], tile, to=there)
    kp.sync_threads()
    there.wait()
    add_one(tile, kp.local_tile(seen, (ROWS, row * BOXES), (i, j)), result, n)
    kp.fence_proxy_async()
    kp.sync_threads()
    if t == 0:
        kp.copy(result, made[None, (i, j)], to=kp.bulk_group)
        kp.bulk_commit_group()
        kp.bulk_wait_group(0)


@kp.kernel
def cube_kernel(x, y, seen, bits: kp.Constexpr):
    row = row_of(x.dtype, bits)
    n = PLANES * ROWS * row
    cube = kp.make_layout((PLANES, ROWS, row), stride=(ROWS * row, row, 1))
    layout = swizzled(x.dtype, bits, cube)
    given, made = kp.make_tma(x, layout), kp.make_tma(y, layout)
    tile, result = kp.shared(x.dtype, layout), kp.shared(x.dtype, layout)
    there = kp.mbarrier()
    t, (k, j, i) = kp.thread_idx()[0], kp.block_idx()
    if t == 0:
        there.init(1)
        there.arrive_and_expect_tx(n * x.dtype.width // 8)
        kp.copy(given[None, (i, j, k)], tile, to=there)
    kp.sync_threads()
    there.wait()
    add_one(tile, kp.local_tile(seen, (PLANES, ROWS, row), (i, j, k)), result, n)
    kp.fence_proxy_async()
    kp.sync_threads()
    if t == 0:
        kp.copy(result, made[None, (i, j, k)], to=kp.bulk_group)
        kp.bulk_commit_group()
        kp.bulk_wait_group(0)


STAGES, WORKERS = 3, 256


@kp.kernel
def row_sums_kernel(x, y, out):
    """Of products, with one thread that brings tiles and two warpgroups that use them."""
    rows = kp.make_layout((ROWS, 32, STAGES), stride=(32, 1, ROWS * 32))
    layout = swizzled(x.dtype, 3, rows)
    tx, ty = kp.make_tma(x, layout), kp.make_tma(y, layout)
    sx, sy = kp.shared(x.dtype, layout), kp.shared(y.dtype, layout)
    load, use = kp.PipelineTmaAsync.create(
        STAGES, producers=1, consumers=WORKERS
    ).make_participants()
    tiles, steps = tx.shape[1]
    first, by = kp.block_idx()[0], kp.grid_dim()[0]
    if kp.warpgroup_idx() == 0:
        if kp.warp_idx() == 0 and kp.elect_one():
            for m in range(first, tiles, by):
                for k in range(steps):
                    stage = load.acquire_and_advance()
                    kp.copy(tx[None, (m, k)], sx[None, None, stage.index], to=stage)
                    kp.copy(ty[None, (m, k)], sy[None, None, stage.index], to=stage)
                    stage.commit()
            load.tail()
    else:
        row, column = (kp.thread_idx()[0] - 128) // 32, kp.lane_idx()
        for m in range(first, tiles, by):
            total = kp.int32(0)
            for _ in range(steps):
                stage = use.wait_and_advance()
                total += sx[row, column, stage.index] * sy[row, column, stage.index]
                stage.release()
            total = kp.warp_reduction_sum(total)
            if column == 0 and m * ROWS + row < x.shape[0]:
                out[m * ROWS + row] = total


@kp.jit(
    """
    row_sums(
        x: Tensor([m, n], int32, align=16), y: Tensor([m, n], int32, align=16), out: Tensor([m], int32, mut), blocks: int64
    ) where m > 0, n > 0, n % 4 == 0, blocks > 0, noalias(x, out), noalias(y, out)
    """
)
def row_sums(x, y, out, blocks):
    row_sums_kernel(x, y, out).launch(grid=blocks, block=128 + WORKERS)


@kp.jit(
    """
    vectors(x: Tensor([n], T, align=16), y: Tensor([k], T, align=16, mut), seen: Tensor([all], T, mut))
    where T in {int8, int16, int32}, n > 0, k > 0, k % 16 == 0, noalias(x, y), noalias(x, seen), noalias(y, seen)
    """,
)
def vectors(x, y, seen):
    grid = kp.ceil_div(x.shape[0], row_of(x.dtype, 2))
    vector_kernel(x, y, seen).launch(grid=grid, block=THREADS)


@kp.jit(
    """
    matrices(
        x: Tensor([m, n], T, align=16, strides=[s, 1]), y: Tensor([m, k], T, align=16, strides=[r, 1], mut),
        seen: Tensor([all_m, all_n], T, mut), swizzle: int64
    ) where T in {int8, int16, int32}, m > 0, n > 0, k > 0, k % 16 == 0, noalias(x, y), noalias(x, seen), noalias(y, seen)
    """,
)
def matrices(x, y, seen, swizzle):
    """`swizzle` is how many bits of an address it changes."""
    bits = kp.static(swizzle, (0, 1, 2, 3))
    grid = kp.ceil_div(x.shape[1], row_of(x.dtype, bits) * BOXES), kp.ceil_div(x.shape[0], ROWS)
    matrix_kernel(x, y, seen, bits).launch(grid=grid, block=THREADS)


@kp.jit(
    """
    cubes(
        x: Tensor([l, m, n], T, align=16, strides=[s, t, 1]), y: Tensor([l, m, k], T, align=16, strides=[q, r, 1], mut),
        seen: Tensor([all_l, all_m, all_n], T, mut), swizzle: int64
    ) where T in {int8, int16, int32}, l > 0, m > 0, n > 0, k > 0, k % 16 == 0, noalias(x, y), noalias(x, seen), noalias(y, seen)
    """,
)
def cubes(x, y, seen, swizzle):
    bits = kp.static(swizzle, (0, 1, 2, 3))
    l, m, n = x.shape
    grid = kp.ceil_div(n, row_of(x.dtype, bits)), kp.ceil_div(m, ROWS), kp.ceil_div(l, PLANES)
    cube_kernel(x, y, seen, bits).launch(grid=grid, block=THREADS)


@kp.kernel
def reduce_kernel(x, y, word: kp.Constexpr):
    """Each block combines a plane of x with y."""
    row = 1024 // x.dtype.width
    layout = swizzled(x.dtype, 3, kp.make_layout((1, ROWS, row), stride=(ROWS * row, row, 1)))
    onto = swizzled(x.dtype, 3, kp.make_layout((ROWS, row), stride=(row, 1)))
    given, made = kp.make_tma(x, layout), kp.make_tma(y, onto)
    tile, there = kp.shared(x.dtype, onto), kp.mbarrier()
    result = kp.shared(x.dtype, onto)
    brought = kp.shared(x.dtype, layout)
    t, (j, i, plane) = kp.thread_idx()[0], kp.block_idx()
    if t == 0:
        there.init(1)
        kp.prefetch(given[None, (plane, i, j)])
        there.arrive_and_expect_tx(ROWS * row * x.dtype.width // 8)
        kp.copy(given[None, (plane, i, j)], brought, to=there)
    kp.sync_threads()
    there.wait()
    for at in range(t, ROWS * row, THREADS):
        result[at] = brought[at]
    kp.fence_view_async_shared()
    kp.sync_threads()
    if t == 0:
        kp.copy(result, made[None, (i, j)], to=kp.bulk_group, reduction_kind=word)
        kp.bulk_commit_group()
        kp.bulk_wait_group(0, read=True)


def launch_reduction(x, y, word):
    planes, m, n = x.shape
    grid = kp.ceil_div(n, 1024 // x.dtype.width), kp.ceil_div(m, ROWS), planes
    reduce_kernel(x, y, word).launch(grid=grid, block=THREADS)


@kp.jit(
    """
    reduce_add(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, uint64, float16, bfloat16, float32}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_add(x, y):
    launch_reduction(x, y, "add")


@kp.jit(
    """
    reduce_min(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, int64, uint64, float16, bfloat16}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_min(x, y):
    launch_reduction(x, y, "min")


@kp.jit(
    """
    reduce_max(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, int64, uint64, float16, bfloat16}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_max(x, y):
    launch_reduction(x, y, "max")


@kp.jit(
    """
    reduce_and(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, uint64}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_and(x, y):
    launch_reduction(x, y, "and")


@kp.jit(
    """
    reduce_or(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, uint64}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_or(x, y):
    launch_reduction(x, y, "or")


@kp.jit(
    """
    reduce_xor(x: Tensor([l, m, n], T, align=16), y: Tensor([m, n], T, align=16, mut))
    where T in {int32, uint32, uint64}, l > 0, m > 0, n > 0, n % 8 == 0, noalias(x, y)
    """
)
def reduce_xor(x, y):
    launch_reduction(x, y, "xor")
