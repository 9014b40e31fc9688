# SPDX-License-Identifier: Apache-2.0
"""Rows of a matrix, each of a block or of a cluster of blocks: what kernels of rows have in common."""

import kernpack as kp

# The elements of halves that have 16 bytes.
WIDTH = 8
# The threads that a multiprocessor has at once where it shares rows for gradients with the others.
RESIDENT = 1024
# The blocks of a cluster, and the architectures that have clusters.
CLUSTERS = (2, 4, 8)
WITH_CLUSTERS, WITHOUT = "compute_90", "compute_80"


def width_of(x):
    """How many elements have 16 bytes."""
    return 128 // x.element_type.width


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


def stages(dtype, width, threads, parts):
    """Two such rooms in shared memory, the last mode: one fills while the other is in use."""
    block = kp.make_ordered_layout((width, threads, parts, 2), (0, 1, 2, 3))
    return kp.shared(dtype, block)[None, kp.thread_idx()[0], None, None]


def hold(held, source, first, threads, shared=False, beyond=0):
    """Reads a thread's part of a row, every `threads`-th vector from `first` on; what is beyond the
    row is `beyond`. In shared memory it is there behind `await_held`."""
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i >= source.shape[1]:
            held[None, k].fill(beyond)
        elif shared:
            kp.copy(source[None, i], held[None, k], to=kp.async_group)
        else:
            held[None, k].store(source[None, i].load())


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


def row_sum(value, cluster=1):
    """The sum over all threads that work on a row."""
    return gathered(kp.block_reduction_sum(value), kp.add, cluster)


def row_max(value, cluster=1):
    """The largest of all threads that work on a row."""
    return gathered(kp.block_reduction_max(value), kp.max, cluster)


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


WARPS = 16


@kp.kernel
def sum_columns(x, rows, out):
    """A column a lane; a warp has every 16th of the first rows."""
    sums = kp.shared(kp.float32, (32, WARPS))
    lane, warp = kp.lane_idx(), kp.warp_idx()
    column = kp.block_idx()[0] * 32 + lane
    total = kp.float32(0)
    if column < out.shape[0]:
        for row in range(warp, rows, WARPS):
            total += x[row, column]
    sums[lane, warp] = total
    kp.sync_threads()
    if warp == 0 and column < out.shape[0]:
        for other in kp.range_constexpr(1, WARPS):
            total += sums[lane, other]
        out[column] = total.to(out.element_type)


def add_columns(x, rows, out):
    """Launches what adds the first rows of `x`."""
    sum_columns(x, rows, out).launch(grid=kp.ceil_div(out.shape[0], 32), block=32 * WARPS)
