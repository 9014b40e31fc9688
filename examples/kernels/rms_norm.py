# SPDX-License-Identifier: Apache-2.0
"""RMSNorm in float16 and bfloat16, with a residual, and its gradients. Computed in float32."""

import kernpack as kp
from rows import (
    CLUSTERS,
    RESIDENT,
    WIDTH,
    WITH_CLUSTERS,
    WITHOUT,
    add,
    add_columns,
    await_held,
    hold,
    part,
    room,
    row_sum,
    stages,
    vectors,
    where,
    write,
)

# How rows are held, for ever longer ones: the threads of a block, how many such vectors each has,
# and whether these lie in shared memory.
FORWARD = (
    (32, 4, False),
    (64, 4, False),
    (256, 2, False),
    (256, 4, False),
    (512, 4, False),
    (1024, 4, True),
)
# Longer rows are read twice, where there are no clusters to hold them.
TWICE = (512, 4)
# For gradients: threads and vectors.
BACKWARD = ((128, 1), (256, 1), (256, 2), (512, 2))
BACKWARD_TWICE = (1024, 1)


def squares(held):
    """The sum of the squares of what a thread holds."""
    total = kp.float32(0)
    for k in kp.range_constexpr(held.shape[1]):
        total += (part(held, k) * part(held, k)).reduce(kp.add)
    return total


def scale_of(total, x, eps, cluster=1):
    """What all elements of a row are multiplied by, where each thread has some of its squares."""
    return kp.rsqrt(row_sum(total, cluster) / kp.float32(x.shape[1]) + eps)


def write_normed(held, scale, weight, target, first, threads):
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i < weight.shape[1]:
            write(target, i, part(held, k) * scale * part(weight, i))


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
    hold(held, vectors(x, row, WIDTH), first, threads, shared)
    added = None
    if residual is not None:
        added = room(x.element_type, WIDTH, threads, parts)
        hold(added, vectors(residual, row, WIDTH), first, threads)
    await_held(shared, cluster)
    if residual is not None:
        add(held, added, vectors(summed, row, WIDTH), first, threads)
    scale = scale_of(squares(held), x, eps, cluster)
    weight, target = kp.zipped_divide(w, (WIDTH,)), vectors(out, row, WIDTH)
    write_normed(held, scale, weight, target, first, threads)


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
            rms_rows(x, w, out, eps, threads, parts, shared, residual, summed).launch(
                grid=m, block=threads, min_blocks=1024 // threads
            )
            return
    for cluster in CLUSTERS:
        threads, parts, shared = FORWARD[len(FORWARD) - 1]
        if d <= cluster * threads * parts * WIDTH:
            rms_rows(x, w, out, eps, threads, parts, shared, residual, summed, cluster).launch(
                grid=m * cluster,
                block=threads,
                cluster=cluster,
                min_blocks=1024 // threads,
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


def dot_of(held, held_dy, weight, first, threads):
    """The sum of dy * w * x of what a thread holds."""
    dot = kp.float32(0)
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i < weight.shape[1]:
            dot += (part(held_dy, k) * part(weight, i) * part(held, k)).reduce(kp.add)
    return dot


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
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster has some of the rows, and what all of these add to dw. While it computes
    with one, the next is on its way."""
    worker, workers, first = where(threads, parts, cluster)
    weight = kp.zipped_divide(w, (WIDTH,))
    xs = stages(x.element_type, WIDTH, threads, parts)
    dys = stages(x.element_type, WIDTH, threads, parts)
    dw = kp.make_rmem_tensor((WIDTH, parts), kp.float32)
    dw.fill(0)
    hold(xs[None, None, 0], vectors(x, worker, WIDTH), first, threads, True)
    hold(dys[None, None, 0], vectors(dy, worker, WIDTH), first, threads, True)
    await_held(True, cluster)
    stage = 0
    for row in range(worker, x.shape[0], workers):
        if row + workers < x.shape[0]:
            hold(xs[None, None, 1 - stage], vectors(x, row + workers, WIDTH), first, threads, True)
            hold(
                dys[None, None, 1 - stage], vectors(dy, row + workers, WIDTH), first, threads, True
            )
        kp.commit_group()
        kp.wait_group(1)
        held, held_dy = xs[None, None, stage], dys[None, None, stage]
        dot = dot_of(held, held_dy, weight, first, threads)
        scale = scale_of(squares(held), x, eps, cluster)
        along = row_sum(dot, cluster) * scale * scale / kp.float32(x.shape[1])
        for k in kp.range_constexpr(parts):
            i = first + k * threads
            if i < weight.shape[1]:
                value, gradient = part(held, k), part(held_dy, k)
                dw[None, k].store(dw[None, k].load() + gradient * (value * scale))
                change = (gradient * part(weight, i) - value * along) * scale
                write(vectors(dx, row, WIDTH), i, change)
        stage = 1 - stage
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
    for i in range(t, weight.shape[1], threads):
        sums[None, i].fill(0)
    for row in range(block, x.shape[0], kp.grid_dim()[0]):
        total, dot = kp.float32(0), kp.float32(0)
        for first in range(t, weight.shape[1], threads * parts):
            hold(held, vectors(x, row, WIDTH), first, threads)
            hold(held_dy, vectors(dy, row, WIDTH), first, threads)
            total += squares(held)
            dot += dot_of(held, held_dy, weight, first, threads)
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
        "partial": "Tensor([device.sm_count * max(1, min(8, 16384 // d)), d], float32, align=16)"
    },
)
def rms_norm_backward(x, w, dy, dx, dw, eps, partial):
    """The gradients of rms_norm(x, w) for dy, that of its result. Works in place of dy or x."""
    m, d = x.shape
    for threads, parts in BACKWARD:
        if d <= threads * parts * WIDTH:
            blocks = min(m, kp.device.sm_count * (RESIDENT // threads))
            rms_gradient(x, w, dy, dx, partial, eps, threads, parts).launch(
                grid=blocks, block=threads, min_blocks=RESIDENT // threads
            )
            add_columns(partial, blocks, dw)
            return
    for cluster in CLUSTERS:
        threads, parts = BACKWARD[len(BACKWARD) - 1]
        blocks = min(m, max(1, kp.device.sm_count * (RESIDENT // threads) // cluster))
        if d <= cluster * threads * parts * WIDTH:
            rms_gradient(x, w, dy, dx, partial, eps, threads, parts, cluster).launch(
                grid=blocks * cluster,
                block=threads,
                cluster=cluster,
                min_blocks=RESIDENT // threads,
                arch=WITH_CLUSTERS,
            )
            threads, parts = BACKWARD_TWICE
            rms_gradient_twice(x, w, dy, dx, partial, eps, threads, parts).launch(
                grid=blocks, block=threads, arch=WITHOUT
            )
            add_columns(partial, blocks, dw)
            return
    blocks = min(m, kp.device.sm_count)
    threads, parts = BACKWARD_TWICE
    rms_gradient_twice(x, w, dy, dx, partial, eps, threads, parts).launch(
        grid=blocks, block=threads
    )
    add_columns(partial, blocks, dw)
