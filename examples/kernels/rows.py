# SPDX-License-Identifier: Apache-2.0
"""Rows of a matrix, each of a block or of a cluster of blocks: what kernels of rows have in common."""

import kernpack as kp

# The elements of halves that have 16 bytes.
WIDTH = 8
# The blocks of a cluster, and the architectures that have clusters.
CLUSTERS = (2, 4, 8)
WITH_CLUSTERS, WITHOUT = "compute_90", "compute_80"


def width_of(x):
    """How many elements have 16 bytes."""
    return 128 // x.element_type.width


def clusters_at_once(cluster):
    """How many clusters of so many blocks, each with a multiprocessor to itself, run at once. These lie
    in groups of unlike sizes, of which a cluster has one, so that some of the last 16 may stay idle."""
    processors = kp.device.sm_count
    in_groups = processors if cluster == 2 else processors // 16 * 16 - 8
    return max(1, in_groups // cluster)


def where(threads, parts, cluster=1):
    """The number of what works on a row, a block or a cluster; how many of these there are; and the
    first vector of this thread, which has every `threads`-th of its block's."""
    t = kp.thread_idx()[0]
    if cluster == 1:
        return kp.block_idx()[0], kp.grid_dim()[0], t
    # Before others reach this block's memory, it has to have begun: `await_held` waits for that.
    kp.cluster_arrive()
    first = kp.block_idx_in_cluster() * threads * parts + t
    return kp.cluster_idx()[0], kp.cluster_dim()[0], first


def vectors(x, row, width):
    """A row as vectors of so many elements."""
    return kp.zipped_divide(x[row, None], (width,))


def room(dtype, width, threads, parts, shared=False):
    """Where a thread holds its part of a row: `parts` vectors, in registers or in shared memory."""
    if shared:
        block = kp.make_ordered_layout((width, threads, parts), (0, 1, 2))
        return kp.shared(dtype, block)[None, kp.thread_idx()[0], None]
    return kp.make_rmem_tensor((width, parts), dtype)


def stages(dtype, width, threads, parts, depth):
    """So many rooms in shared memory, the last mode: some fill while one is in use."""
    block = kp.make_ordered_layout((width, threads, parts, depth), (0, 1, 2, 3))
    return kp.shared(dtype, block)[None, kp.thread_idx()[0], None, None]


def hold(held, source, first, threads, shared=False, beyond=0, apart=False):
    """Reads a thread's part of a row, every `threads`-th vector from `first` on; what is beyond the
    row is `beyond`. In shared memory it is there behind `await_held`, or vector by vector behind
    `await_part`, where these are read `apart`."""
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i >= source.shape[1]:
            held[None, k].fill(beyond)
        elif shared:
            kp.copy(source[None, i], held[None, k], to=kp.async_group)
        else:
            held[None, k].store(source[None, i].load())
        if shared and apart:
            kp.commit_group()


def await_part(held, k, shared):
    """Waits for one vector of what this thread has begun to hold apart from the others."""
    if shared:
        kp.wait_group(held.shape[1] - 1 - k)


def fetch(rooms, sources, row, stage, first, threads):
    """Begins to hold a row of each source, if there is that row, in a stage of its room."""
    for j in kp.range_constexpr(len(rooms)):
        if row < sources[j].shape[0]:
            source = vectors(sources[j], row, rooms[j].shape[0])
            hold(rooms[j][None, None, stage], source, first, threads, True)
    kp.commit_group()


def fetch_first(rooms, sources, worker, workers, first, threads):
    """Begins to hold the first rows of a worker, one less than there are stages."""
    for stage in kp.range_constexpr(rooms[0].shape[2] - 1):
        fetch(rooms, sources, worker + stage * workers, stage, first, threads)


def fetch_next(rooms, sources, row, workers, stage, first, threads):
    """Begins to hold the row that comes so many turns later, in the stage of the last one. Waits for
    what is held of this row, which no other thread touches."""
    ahead = rooms[0].shape[2] - 1
    free = ahead if stage == 0 else stage - 1
    fetch(rooms, sources, row + ahead * workers, free, first, threads)
    kp.wait_group(ahead)


def after(stage, rooms):
    """The stage of the next row."""
    return 0 if stage == rooms[0].shape[2] - 1 else stage + 1


def await_held(shared, cluster=1):
    """Waits for what this thread has begun to hold, which no other thread touches, and for the other
    blocks of a cluster to begin."""
    if shared:
        kp.commit_group()
        kp.wait_group(0)
    if cluster > 1:
        kp.cluster_wait()


def gathered(value, function, cluster):
    """What a function makes of a block's number and those of the other blocks of its cluster."""
    if cluster == 1:
        return value
    values = kp.shared(kp.float32, cluster)
    if kp.thread_idx()[0] < cluster:
        kp.map_shared(values, kp.thread_idx()[0])[kp.block_idx_in_cluster()] = value
    kp.cluster_sync()
    whole = values[0]
    for other in kp.range_constexpr(1, cluster):
        whole = function(whole, values[other])
    return whole


def zeros(shape):
    """Sums in registers, of nothing yet."""
    sums = kp.make_rmem_tensor(shape, kp.float32)
    sums.fill(0)
    return sums


def add_product(sums, a, b):
    """Adds `a * b`, which is not rounded by itself."""
    sums.store(kp.fma(a, b, sums.load()))


def row_sum(value, cluster=1):
    """The sum over all threads that work on a row."""
    return gathered(kp.block_reduction_sum(value), kp.add, cluster)


def meet(cluster):
    """All threads that work on a row wait for one another."""
    if cluster == 1:
        kp.sync_threads()
    else:
        kp.cluster_sync()


def row_sums(a, b, threads, turn, cluster=1):
    """The sums of `a` and of `b` over all threads that work on a row: half of the lanes of a warp add
    those of `a`, the others those of `b`. It has one barrier, as rows take turns with the room for
    what warps have: `turn` is 0 for every other row, else 1."""
    here = threads // 32
    warps = here * cluster
    width = min(warps, 16)
    half, lane = kp.lane_idx() // 16, kp.lane_idx() % 16
    sums = kp.shared(kp.float32, (warps, 2, 2))
    kept, given = (a, b) if half == 0 else (b, a)
    own = kp.warp_reduction_sum(kept + kp.shuffle_sync_bfly(given, 16), threads_in_group=16)
    if lane < cluster:
        if cluster == 1:
            sums[kp.warp_idx(), half, turn] = own
        else:
            there = kp.map_shared(sums, lane)
            there[kp.block_idx_in_cluster() * here + kp.warp_idx(), half, turn] = own
    meet(cluster)
    total = kp.float32(0)
    for warp in kp.range_constexpr(0, warps, width):
        total += sums[warp + lane % width, half, turn]
    total = kp.warp_reduction_sum(total, threads_in_group=width)
    return kp.shuffle_sync(total, 0), kp.shuffle_sync(total, 16)


def held_or_read(held, k, source, i):
    """Vector `k` of what a thread holds, if it holds that, or vector `i` of a row, which is the same:
    as float32."""
    is_held = held is not None and k < held.shape[1]
    return part(held, k) if is_held else part(source, i)


def write(target, i, value):
    """Writes vector `i` of a row, if it has that many."""
    if i < target.shape[1]:
        target[None, i].store(value.to(target.element_type))


def add(held, added, target, first, threads):
    """Adds what is held to it, and writes the sums."""
    for k in kp.range_constexpr(held.shape[1]):
        held[None, k].store(held[None, k].load() + added[None, k].load())
        write(target, first + k * threads, held[None, k].load())


def part(held, k):
    """Vector `k` of what a thread holds, as float32."""
    return held[None, k].load().to(kp.float32)


# The warps of a block, and how many rows each reads before it adds them.
WARPS, AHEAD = 32, 8


@kp.kernel
def sum_columns(matrices, rows, outs):
    """A block has 32 columns of one of the matrices, a lane one of these, and a warp every 32nd of the
    first rows."""
    sums = kp.shared(kp.float32, (32, WARPS))
    for j in kp.range_constexpr(len(matrices)):
        if kp.block_idx()[1] == j:
            sum_32_columns(matrices[j], rows, outs[j], sums)


def sum_32_columns(x, rows, out, sums):
    """Adds the first rows of 32 columns, by way of the sums that warps have."""
    lane, warp = kp.lane_idx(), kp.warp_idx()
    column = kp.block_idx()[0] * 32 + lane
    total = kp.float32(0)
    if column < out.shape[0]:
        for first in range(warp, rows, WARPS * AHEAD):
            for j in kp.range_constexpr(AHEAD):
                row = first + j * WARPS
                value = x[kp.min(row, rows - 1), column]
                total += value if row < rows else kp.float32(0)
    sums[lane, warp] = total
    kp.sync_threads()
    if warp == 0 and column < out.shape[0]:
        for other in kp.range_constexpr(1, WARPS):
            total += sums[lane, other]
        out[column] = total.to(out.element_type)


def add_columns(matrices, rows, outs):
    """Launches what adds the first rows of matrices of one shape."""
    grid = (kp.ceil_div(outs[0].shape[0], 32), len(outs))
    sum_columns(matrices, rows, outs).launch(grid=grid, block=32 * WARPS)
