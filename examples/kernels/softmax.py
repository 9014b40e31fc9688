# SPDX-License-Identifier: Apache-2.0
"""The softmax of each row, and its gradient. Computed in float32."""

import kernpack as kp
from rows import (
    CLUSTERS,
    WITH_CLUSTERS,
    WITHOUT,
    await_held,
    await_part,
    hold,
    meet,
    part,
    room,
    row_sum,
    vectors,
    where,
    width_of,
    write,
)

LOG2_E = 1.4426950408889634
# The least finite float32. What is masked with minus infinity is less, and has no part in a sum.
LEAST = -3.4028234663852886e38
# How rows are held, for ever longer ones: the threads of a block, how many times 16 bytes each has,
# and whether these lie in shared memory.
FORWARD = ((64, 4, False), (128, 4, False), (256, 4, False), (512, 4, False), (512, 8, True))
# Longer rows are held by clusters, in shared memory.
WIDE = (512, 8)
# The same for gradients.
BACKWARD = ((128, 2, False), (256, 2, False), (512, 2, False), (512, 4, True))
# The same for clusters, which come first, and whether dy lies in shared memory, too.
WIDE_BACKWARD = ((2, 512, 4, True), (4, 512, 4, True), (8, 512, 4, True), (8, 128, 32, False))
# Longer rows are read twice, where there are no clusters to hold them.
TWICE = (512, 4)


def power(x):
    """The exponential of `x`."""
    return kp.fast_exp2(x * LOG2_E)


def grown(most, total, values):
    """The maximum and the sum of exponentials of what was seen before and of some values."""
    now = kp.max(most, values.reduce(kp.max))
    return now, total * power(most - now) + power(values - now).reduce(kp.add)


def of_row(most, total, threads, cluster):
    """The maximum and the sum of a row, where each thread has its own: its sum is of exponentials
    beside its maximum. All of them meet once."""
    here = threads // 32
    warps = here * cluster
    lane, own = kp.lane_idx(), most
    most = kp.warp_reduction_max(most)
    total = kp.warp_reduction_sum(total * power(own - most))
    mosts, totals = [kp.shared(kp.float32, warps) for _ in range(2)]
    if lane < cluster:
        if cluster == 1:
            mosts[kp.warp_idx()], totals[kp.warp_idx()] = most, total
        else:
            warp = kp.block_idx_in_cluster() * here + kp.warp_idx()
            kp.map_shared(mosts, lane)[warp] = most
            kp.map_shared(totals, lane)[warp] = total
    meet(cluster)
    width = min(warps, 32)
    most, total = LEAST, kp.float32(0)
    for first in kp.range_constexpr(0, warps, width):
        most = kp.max(most, mosts[first + lane % width])
    most = kp.warp_reduction_max(most)
    for first in kp.range_constexpr(0, warps, width):
        warp = first + lane % width
        total += totals[warp] * power(mosts[warp] - most)
    return most, kp.warp_reduction_sum(total, threads_in_group=width)


@kp.kernel
def softmax_once(
    x,
    out,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    shared: kp.Constexpr,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster a row, which it holds: it is read once."""
    row, _, first = where(threads, parts, cluster)
    held = room(x.element_type, width_of(x), threads, parts, shared)
    source, target = vectors(x, row, width_of(x)), vectors(out, row, width_of(x))
    hold(held, source, first, threads, shared, beyond=-x.element_type.inf, apart=True)
    most, total = LEAST, kp.float32(0)
    for k in kp.range_constexpr(parts):
        await_part(held, k, shared)
        most, total = grown(most, total, part(held, k))
    await_held(False, cluster)
    most, total = of_row(most, total, threads, cluster)
    scale = 1 / total
    for k in kp.range_constexpr(parts):
        write(target, first + k * threads, power(part(held, k) - most) * scale)


@kp.kernel
def softmax_twice(x, out, threads: kp.Constexpr, parts: kp.Constexpr, width: kp.Constexpr):
    """A block a row of any length, which is read twice."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source, target = vectors(x, row, width), vectors(out, row, width)
    held = room(x.element_type, width, threads, parts)
    most, total = LEAST, kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads, beyond=-x.element_type.inf)
        most, total = grown(most, total, held.load().to(kp.float32))
    all_most = kp.block_reduction_max(most)
    scale = 1 / kp.block_reduction_sum(total * power(most - all_most))
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads, beyond=-x.element_type.inf)
        for k in kp.range_constexpr(parts):
            write(target, first + k * threads, power(part(held, k) - all_most) * scale)


@kp.jit(
    """
    softmax(x: Tensor([m, n], T, align=16), out: Tensor([m, n], T, align=16, mut))
    where T in {float16, bfloat16, float32}, n >= 1
    """
)
def softmax(x, out):
    """out = softmax(x, dim=-1). Works in place."""
    m, n = x.shape
    width = width_of(x)
    if n % width == 0:
        for threads, parts, shared in FORWARD:
            if n <= threads * parts * width:
                softmax_once(x, out, threads, parts, shared).launch(
                    grid=m, block=threads, min_blocks=1024 // threads
                )
                return
        for cluster in CLUSTERS:
            threads, parts = WIDE
            if n <= cluster * threads * parts * width:
                softmax_once(x, out, threads, parts, True, cluster).launch(
                    grid=m * cluster,
                    block=threads,
                    cluster=cluster,
                    min_blocks=3,
                    arch=WITH_CLUSTERS,
                )
                threads, parts = TWICE
                softmax_twice(x, out, threads, parts, width).launch(
                    grid=m, block=threads, arch=WITHOUT
                )
                return
    threads, parts = TWICE
    if n % width == 0:
        softmax_twice(x, out, threads, parts, width).launch(grid=m, block=threads)
    else:
        softmax_twice(x, out, threads, parts, 1).launch(grid=m, block=threads)


@kp.kernel
def gradient_once(
    y,
    dy,
    dx,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    shared: kp.Constexpr,
    shared_dy: kp.Constexpr,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster a row, of which it holds y and dy: they are read once."""
    row, _, first = where(threads, parts, cluster)
    target = vectors(dx, row, width_of(y))
    held = room(y.element_type, width_of(y), threads, parts, shared)
    held_dy = room(y.element_type, width_of(y), threads, parts, shared_dy)
    hold(held, vectors(y, row, width_of(y)), first, threads, shared)
    hold(held_dy, vectors(dy, row, width_of(y)), first, threads, shared_dy)
    await_held(shared, cluster)
    dot = kp.float32(0)
    for k in kp.range_constexpr(parts):
        dot += (part(held, k) * part(held_dy, k)).reduce(kp.add)
    dot = row_sum(dot, cluster)
    for k in kp.range_constexpr(parts):
        write(target, first + k * threads, part(held, k) * (part(held_dy, k) - dot))


@kp.kernel
def gradient_twice(y, dy, dx, threads: kp.Constexpr, parts: kp.Constexpr, width: kp.Constexpr):
    """A block a row of any length: y and dy are read twice."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source, source_dy = vectors(y, row, width), vectors(dy, row, width)
    target = vectors(dx, row, width)
    held = room(y.element_type, width, threads, parts)
    held_dy = room(y.element_type, width, threads, parts)
    dot = kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        hold(held_dy, source_dy, first, threads)
        dot += (held.load().to(kp.float32) * held_dy.load().to(kp.float32)).reduce(kp.add)
    dot = kp.block_reduction_sum(dot)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        hold(held_dy, source_dy, first, threads)
        for k in kp.range_constexpr(parts):
            write(target, first + k * threads, part(held, k) * (part(held_dy, k) - dot))


@kp.jit(
    """
    softmax_backward(
        y: Tensor([m, n], T, align=16), dy: Tensor([m, n], T, align=16),
        dx: Tensor([m, n], T, align=16, mut)
    ) where T in {float16, bfloat16, float32}
    """
)
def softmax_backward(y, dy, dx):
    """The gradient of y = softmax(x, dim=-1) for dy: dx = y * (dy - sum(dy * y)). Works in place."""
    m, n = y.shape
    width = width_of(y)
    if n % width == 0:
        for threads, parts, shared in BACKWARD:
            if n <= threads * parts * width:
                gradient_once(y, dy, dx, threads, parts, shared, shared).launch(
                    grid=m, block=threads
                )
                return
        for cluster, threads, parts, shared_dy in WIDE_BACKWARD:
            if n <= cluster * threads * parts * width:
                gradient_once(y, dy, dx, threads, parts, True, shared_dy, cluster).launch(
                    grid=m * cluster,
                    block=threads,
                    cluster=cluster,
                    min_blocks=2,
                    arch=WITH_CLUSTERS,
                )
                threads, parts = TWICE
                gradient_twice(y, dy, dx, threads, parts, width).launch(
                    grid=m, block=threads, arch=WITHOUT
                )
                return
    threads, parts = TWICE
    if n % width == 0:
        gradient_twice(y, dy, dx, threads, parts, width).launch(grid=m, block=threads)
    else:
        gradient_twice(y, dy, dx, threads, parts, 1).launch(grid=m, block=threads)
