# SPDX-License-Identifier: Apache-2.0
"""RMSNorm in float16 and bfloat16, with a residual, and its gradients. Computed in float32."""

import kernpack as kp
from rows import (
    CLUSTERS,
    WIDTH,
    WITH_CLUSTERS,
    WITHOUT,
    add,
    add_columns,
    add_product,
    after,
    await_held,
    await_part,
    clusters_at_once,
    fetch_first,
    fetch_next,
    held_or_read,
    hold,
    part,
    room,
    row_sum,
    row_sums,
    stages,
    vectors,
    where,
    write,
    zeros,
)

# How rows are held, for ever longer ones: the threads of a block, how many such vectors each has,
# and whether these lie in shared memory.
FORWARD = (
    (32, 4, False),
    (64, 4, False),
    (256, 2, False),
    (256, 4, False),
    (512, 4, False),
    (512, 8, True),
)
# Longer rows are held by clusters, or read twice where there are none.
WIDE = (512, 8)
# How many vectors of weights a thread of a cluster reads before the sum of its row is known.
EARLY = 2
TWICE = (512, 4)
# For gradients: threads, vectors, how many rows are held, and how many blocks a multiprocessor has;
# clusters have it to themselves.
BACKWARD = ((64, 2, 2, 8), (256, 1, 4, 2), (256, 2, 2, 2), (512, 2, 2, 1), (512, 4, 2, 1))
WIDE_BACKWARD = (512, 4, 2)
BACKWARD_TWICE = (1024, 1)


def squares(held, arriving=False):
    """The sum of the squares of what a thread holds, or has begun to hold vector by vector."""
    sums = zeros(WIDTH)
    for k in kp.range_constexpr(held.shape[1]):
        await_part(held, k, arriving)
        add_product(sums, part(held, k), part(held, k))
    return sums.load().reduce(kp.add)


def scale_of(total, x, eps, cluster=1):
    """What all elements of a row are multiplied by, where each thread has some of its squares."""
    return kp.rsqrt(row_sum(total, cluster) / kp.float32(x.shape[1]) + eps)


def write_normed(held, scale, weight, target, first, threads, early=None):
    """Writes what is held, normalised. Some vectors of weights may have been read early."""
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i < weight.shape[1]:
            by = held_or_read(early, k, weight, i)
            write(target, i, part(held, k) * scale * by)


@kp.kernel
def rms_rows(
    x,
    w,
    out,
    eps,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    shared: kp.Constexpr = False,
    residual=None,
    summed=None,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster a row, which it holds: it is read once."""
    row, _, first = where(threads, parts, cluster)
    held = room(x.element_type, WIDTH, threads, parts, shared)
    hold(held, vectors(x, row, WIDTH), first, threads, shared, apart=residual is None)
    if residual is not None:
        added = room(x.element_type, WIDTH, threads, parts)
        hold(added, vectors(residual, row, WIDTH), first, threads)
        await_held(shared)
        add(held, added, vectors(summed, row, WIDTH), first, threads)
    weight, target = kp.zipped_divide(w, (WIDTH,)), vectors(out, row, WIDTH)
    early = None
    if cluster > 1:
        early = room(w.element_type, WIDTH, threads, EARLY)
        hold(early, weight, first, threads)
    total = squares(held, shared and residual is None)
    await_held(False, cluster)
    scale = scale_of(total, x, eps, cluster)
    write_normed(held, scale, weight, target, first, threads, early)


@kp.kernel
def rms_twice(
    x, w, out, eps, threads: kp.Constexpr, parts: kp.Constexpr, residual=None, summed=None
):
    """A block a row of any length, which is read twice."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source, target = vectors(x, row, WIDTH), vectors(out, row, WIDTH)
    held = room(x.element_type, WIDTH, threads, parts)
    total = kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        if residual is not None:
            added = room(x.element_type, WIDTH, threads, parts)
            hold(added, vectors(residual, row, WIDTH), first, threads)
            add(held, added, vectors(summed, row, WIDTH), first, threads)
        total += squares(held)
    scale = scale_of(total, x, eps)
    if residual is not None:
        source = vectors(summed, row, WIDTH)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        write_normed(held, scale, kp.zipped_divide(w, (WIDTH,)), target, first, threads)


def normalise(x, w, out, eps, residual, summed):
    m, d = x.shape
    for threads, parts, shared in FORWARD:
        if d <= threads * parts * WIDTH:
            at_once = 3 if shared and residual is None else 1024 // threads
            rms_rows(x, w, out, eps, threads, parts, shared, residual, summed).launch(
                grid=m, block=threads, min_blocks=at_once
            )
            return
    for cluster in CLUSTERS:
        threads, parts = WIDE
        if d <= cluster * threads * parts * WIDTH:
            rms_rows(x, w, out, eps, threads, parts, True, residual, summed, cluster).launch(
                grid=m * cluster,
                block=threads,
                cluster=cluster,
                min_blocks=3 if residual is None else 2,
                arch=WITH_CLUSTERS,
            )
            threads, parts = TWICE
            rms_twice(x, w, out, eps, threads, parts, residual, summed).launch(
                grid=m, block=threads, arch=WITHOUT
            )
            return
    threads, parts = TWICE
    rms_twice(x, w, out, eps, threads, parts, residual, summed).launch(grid=m, block=threads)


@kp.jit(
    """
    rms_norm(
        x: Tensor([m, d], T, align=16), w: Tensor([d], T, align=16),
        out: Tensor([m, d], T, align=16, mut), eps: float32 = 1e-6
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8, noalias(w, out)
    """
)
def rms_norm(x, w, out, eps):
    """out = x / sqrt(mean(x * x) + eps) * w. Works in place."""
    normalise(x, w, out, eps, None, None)


@kp.jit(
    """
    fused_add_rms_norm(
        x: Tensor([m, d], T, align=16), residual: Tensor([m, d], T, align=16),
        w: Tensor([d], T, align=16), out: Tensor([m, d], T, align=16, mut),
        residual_out: Tensor([m, d], T, align=16, mut), eps: float32 = 1e-6
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8,
        noalias(w, out), noalias(w, residual_out), noalias(out, residual_out)
    """
)
def fused_add_rms_norm(x, residual, w, out, residual_out, eps):
    """residual_out = x + residual; out = rms_norm(residual_out, w). Works in place."""
    normalise(x, w, out, eps, residual, residual_out)


def dot_of(held, held_dy, by):
    """The sum of dy * w * x of what a thread holds."""
    dots = zeros(WIDTH)
    for k in kp.range_constexpr(held.shape[1]):
        add_product(dots, part(held_dy, k) * part(by, k), part(held, k))
    return dots.load().reduce(kp.add)


@kp.kernel
def rms_gradient(
    x,
    w,
    dy,
    dx,
    partial,
    eps,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    depth: kp.Constexpr,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster has some of the rows, and what all of these add to dw. While it computes
    with one, the next are on their way."""
    worker, workers, first = where(threads, parts, cluster)
    weight = kp.zipped_divide(w, (WIDTH,))
    by = room(w.element_type, WIDTH, threads, parts)
    hold(by, weight, first, threads)
    rooms = [stages(x.element_type, WIDTH, threads, parts, depth) for _ in range(2)]
    dw = zeros((WIDTH, parts))
    one = 1 / kp.float32(x.shape[1])
    fetch_first(rooms, (x, dy), worker, workers, first, threads)
    await_held(False, cluster)
    stage, turn = 0, 0
    for row in range(worker, x.shape[0], workers):
        fetch_next(rooms, (x, dy), row, workers, stage, first, threads)
        held, held_dy = [room[None, None, stage] for room in rooms]
        dot = dot_of(held, held_dy, by)
        total, dot = row_sums(squares(held), dot, threads, turn, cluster)
        scale = kp.rsqrt(total * one + eps)
        along = dot * scale * scale * scale * one
        for k in kp.range_constexpr(parts):
            i = first + k * threads
            if i < weight.shape[1]:
                value, gradient = part(held, k), part(held_dy, k) * scale
                add_product(dw[None, k], gradient, value)
                change = kp.fma(value, -along, gradient * part(by, k))
                write(vectors(dx, row, WIDTH), i, change)
        stage, turn = after(stage, rooms), 1 - turn
    for k in kp.range_constexpr(parts):
        write(vectors(partial, worker, WIDTH), first + k * threads, dw[None, k].load())


@kp.kernel
def rms_gradient_twice(x, w, dy, dx, partial, eps, threads: kp.Constexpr, parts: kp.Constexpr):
    """The same for rows of any length, which are read twice; what they add to dw is in memory."""
    block = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    weight = kp.zipped_divide(w, (WIDTH,))
    sums = vectors(partial, block, WIDTH)
    held = room(x.element_type, WIDTH, threads, parts)
    held_dy = room(x.element_type, WIDTH, threads, parts)
    by = room(w.element_type, WIDTH, threads, parts)
    for i in range(t, weight.shape[1], threads):
        sums[None, i].fill(0)
    for row in range(block, x.shape[0], kp.grid_dim()[0]):
        total, dot = kp.float32(0), kp.float32(0)
        for first in range(t, weight.shape[1], threads * parts):
            hold(held, vectors(x, row, WIDTH), first, threads)
            hold(held_dy, vectors(dy, row, WIDTH), first, threads)
            hold(by, weight, first, threads)
            total += squares(held)
            dot += dot_of(held, held_dy, by)
        scale = scale_of(total, x, eps)
        along = kp.block_reduction_sum(dot) * scale * scale / kp.float32(x.shape[1])
        for first in range(t, weight.shape[1], threads * parts):
            hold(held, vectors(x, row, WIDTH), first, threads)
            hold(held_dy, vectors(dy, row, WIDTH), first, threads)
            for k in kp.range_constexpr(parts):
                i = first + k * threads
                if i < weight.shape[1]:
                    value, gradient = part(held, k), part(held_dy, k)
                    sums[None, i].store(sums[None, i].load() + gradient * (value * scale))
                    change = (gradient * part(weight, i) - value * along) * scale
                    write(vectors(dx, row, WIDTH), i, change)


@kp.jit(
    """
    rms_norm_backward(
        x: Tensor([m, d], T, align=16), w: Tensor([d], T, align=16),
        dy: Tensor([m, d], T, align=16), dx: Tensor([m, d], T, align=16, mut),
        dw: Tensor([d], T, align=16, mut), eps: float32 = 1e-6
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8,
        noalias(w, dx), noalias(w, dw), noalias(dw, dx)
    """,
    workspace={
        "partial": "Tensor([device.sm_count * max(1, min(16, 16384 // d)), d], float32, align=16)"
    },
)
def rms_norm_backward(x, w, dy, dx, dw, eps, partial):
    """The gradients of rms_norm(x, w) for dy, that of its result. Works in place of dy or x."""
    m, d = x.shape
    for threads, parts, depth, at_once in BACKWARD:
        if d <= threads * parts * WIDTH:
            blocks = min(m, kp.device.sm_count * at_once)
            rms_gradient(x, w, dy, dx, partial, eps, threads, parts, depth).launch(
                grid=blocks, block=threads, min_blocks=at_once
            )
            add_columns((partial,), blocks, (dw,))
            return
    for cluster in CLUSTERS:
        threads, parts, depth = WIDE_BACKWARD
        blocks = min(m, clusters_at_once(cluster))
        if d <= cluster * threads * parts * WIDTH:
            rms_gradient(x, w, dy, dx, partial, eps, threads, parts, depth, cluster).launch(
                grid=blocks * cluster,
                block=threads,
                cluster=cluster,
                arch=WITH_CLUSTERS,
            )
            threads, parts = BACKWARD_TWICE
            rms_gradient_twice(x, w, dy, dx, partial, eps, threads, parts).launch(
                grid=blocks, block=threads, arch=WITHOUT
            )
            add_columns((partial,), blocks, (dw,))
            return
    blocks = min(m, kp.device.sm_count)
    threads, parts = BACKWARD_TWICE
    rms_gradient_twice(x, w, dy, dx, partial, eps, threads, parts).launch(
        grid=blocks, block=threads
    )
    add_columns((partial,), blocks, (dw,))
