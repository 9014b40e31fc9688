# SPDX-License-Identifier: Apache-2.0
"""LayerNorm in float16 and bfloat16, with a residual, and its gradients. Computed in float32."""

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

# How rows are held, for ever longer ones: the threads of a block, how many times 16 bytes each has,
# and whether these lie in shared memory.
FORWARD = (
    (32, 4, False),
    (64, 4, False),
    (128, 4, False),
    (256, 4, False),
    (512, 4, False),
    (512, 8, True),
)
# Longer rows are held by clusters, in shared memory.
WIDE = (512, 8)
# For gradients: threads, vectors, how many rows are held, and how many blocks a multiprocessor has;
# clusters have it to themselves.
BACKWARD = ((64, 2, 2, 8), (128, 2, 3, 4), (256, 2, 2, 2), (256, 4, 2, 2), (512, 4, 2, 1))
WIDE_BACKWARD = (512, 4, 2)
# A thread that has no more vectors than these has registers for their weights, too.
FEW = 2
# Longer rows are read again, where there are no clusters to hold them.
TWICE = (512, 4)
BACKWARD_TWICE = 512


def total_of(held):
    total = kp.float32(0)
    for k in kp.range_constexpr(held.shape[1]):
        total += part(held, k).reduce(kp.add)
    return total


def squares_from(mean, held, n, first, threads):
    """The sum of the squares of how far a thread's part of a row of `n` vectors is from the mean."""
    total = kp.float32(0)
    for k in kp.range_constexpr(held.shape[1]):
        if first + k * threads < n:
            apart = part(held, k) - mean
            total += (apart * apart).reduce(kp.add)
    return total


def mean_of(total, x, cluster=1):
    """The mean of a row, where each thread has a part of the sum."""
    return row_sum(total, cluster) / kp.float32(x.shape[1])


def write_normed(held, mean, scale, weight, bias, target, first, threads):
    for k in kp.range_constexpr(held.shape[1]):
        i = first + k * threads
        if i < weight.shape[1]:
            normed = (part(held, k) - mean) * scale
            write(target, i, normed * part(weight, i) + part(bias, i))


@kp.kernel
def layer_rows(
    x,
    w,
    b,
    out,
    mean,
    rstd,
    eps,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    shared: kp.Constexpr,
    residual,
    summed,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster a row, which it holds: it is read once."""
    row, _, first = where(threads, parts, cluster)
    weight, bias = kp.zipped_divide(w, (WIDTH,)), kp.zipped_divide(b, (WIDTH,))
    held = room(x.element_type, WIDTH, threads, parts, shared)
    hold(held, vectors(x, row, WIDTH), first, threads, shared)
    added = None
    if residual is not None:
        added = room(x.element_type, WIDTH, threads, parts)
        hold(added, vectors(residual, row, WIDTH), first, threads)
    await_held(shared, cluster)
    if residual is not None:
        add(held, added, vectors(summed, row, WIDTH), first, threads)
    middle = mean_of(total_of(held), x, cluster)
    spread = mean_of(squares_from(middle, held, weight.shape[1], first, threads), x, cluster)
    scale = kp.rsqrt(spread + eps)
    write_normed(held, middle, scale, weight, bias, vectors(out, row, WIDTH), first, threads)
    if first == 0:
        mean[row] = middle
        rstd[row] = scale


@kp.kernel
def layer_thrice(
    x,
    w,
    b,
    out,
    mean,
    rstd,
    eps,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    residual,
    summed,
):
    """A block a row of any length, which is read three times."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source, target = vectors(x, row, WIDTH), vectors(out, row, WIDTH)
    weight, bias = kp.zipped_divide(w, (WIDTH,)), kp.zipped_divide(b, (WIDTH,))
    held = room(x.element_type, WIDTH, threads, parts)
    total = kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        if residual is not None:
            added = room(x.element_type, WIDTH, threads, parts)
            hold(added, vectors(residual, row, WIDTH), first, threads)
            add(held, added, vectors(summed, row, WIDTH), first, threads)
        total += total_of(held)
    middle = mean_of(total, x)
    if residual is not None:
        source = vectors(summed, row, WIDTH)
    total = kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        total += squares_from(middle, held, weight.shape[1], first, threads)
    scale = kp.rsqrt(mean_of(total, x) + eps)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads)
        write_normed(held, middle, scale, weight, bias, target, first, threads)
    if t == 0:
        mean[row] = middle
        rstd[row] = scale


def normalise(x, w, b, out, mean, rstd, eps, residual, summed):
    m, d = x.shape
    for threads, parts, shared in FORWARD:
        if d <= threads * parts * WIDTH:
            layer_rows(
                x, w, b, out, mean, rstd, eps, threads, parts, shared, residual, summed
            ).launch(grid=m, block=threads, min_blocks=1024 // threads)
            return
    for cluster in CLUSTERS:
        threads, parts = WIDE
        if d <= cluster * threads * parts * WIDTH:
            layer_rows(
                x, w, b, out, mean, rstd, eps, threads, parts, True, residual, summed, cluster
            ).launch(
                grid=m * cluster,
                block=threads,
                cluster=cluster,
                min_blocks=1024 // threads,
                arch=WITH_CLUSTERS,
            )
            threads, parts = TWICE
            layer_thrice(x, w, b, out, mean, rstd, eps, threads, parts, residual, summed).launch(
                grid=m, block=threads, arch=WITHOUT
            )
            return
    threads, parts = TWICE
    layer_thrice(x, w, b, out, mean, rstd, eps, threads, parts, residual, summed).launch(
        grid=m, block=threads
    )


@kp.jit(
    """
    layer_norm(
        x: Tensor([m, d], T, align=16), w: Tensor([d], T, align=16), b: Tensor([d], T, align=16),
        out: Tensor([m, d], T, align=16, mut), mean: Tensor([m], float32, mut),
        rstd: Tensor([m], float32, mut), eps: float32 = 1e-5
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8,
        noalias(w, out), noalias(b, out), noalias(x, mean), noalias(x, rstd),
        noalias(w, mean), noalias(w, rstd), noalias(b, mean), noalias(b, rstd)
    """
)
def layer_norm(x, w, b, out, mean, rstd, eps):
    """out = (x - mean(x)) / sqrt(var(x) + eps) * w + b; the mean of each row, and one over its
    deviation. Works in place."""
    normalise(x, w, b, out, mean, rstd, eps, None, None)


@kp.jit(
    """
    fused_add_layer_norm(
        x: Tensor([m, d], T, align=16), residual: Tensor([m, d], T, align=16),
        w: Tensor([d], T, align=16), b: Tensor([d], T, align=16),
        out: Tensor([m, d], T, align=16, mut), residual_out: Tensor([m, d], T, align=16, mut),
        mean: Tensor([m], float32, mut), rstd: Tensor([m], float32, mut), eps: float32 = 1e-5
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8, noalias(out, residual_out),
        noalias(w, out), noalias(w, residual_out), noalias(b, out), noalias(b, residual_out),
        noalias(x, mean), noalias(x, rstd), noalias(residual, mean), noalias(residual, rstd),
        noalias(w, mean), noalias(w, rstd), noalias(b, mean), noalias(b, rstd)
    """
)
def fused_add_layer_norm(x, residual, w, b, out, residual_out, mean, rstd, eps):
    """residual_out = x + residual; out = layer_norm(residual_out, w, b). Works in place."""
    normalise(x, w, b, out, mean, rstd, eps, residual, residual_out)


@kp.kernel
def layer_gradient(
    x,
    w,
    mean,
    rstd,
    dy,
    dx,
    dws,
    dbs,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    depth: kp.Constexpr,
    cluster: kp.Constexpr = 1,
):
    """A block or a cluster has some of the rows, and what all of these add to dw and db. While it
    computes with one, the next are on their way."""
    worker, workers, first = where(threads, parts, cluster)
    weight = kp.zipped_divide(w, (WIDTH,))
    by = None
    if parts <= FEW:
        by = room(w.element_type, WIDTH, threads, parts)
        hold(by, weight, first, threads)
    rooms = [stages(x.element_type, WIDTH, threads, parts, depth) for _ in range(2)]
    dw, db = zeros((WIDTH, parts)), zeros((WIDTH, parts))
    one = 1 / kp.float32(x.shape[1])
    fetch_first(rooms, (x, dy), worker, workers, first, threads)
    await_held(False, cluster)
    stage, turn = 0, 0
    next_middle, next_scale = mean[worker], rstd[worker]
    for row in range(worker, x.shape[0], workers):
        fetch_next(rooms, (x, dy), row, workers, stage, first, threads)
        held, held_dy = [room[None, None, stage] for room in rooms]
        middle, scale = next_middle, next_scale
        next_row = kp.min(row + workers, x.shape[0] - 1)
        next_middle, next_scale = mean[next_row], rstd[next_row]
        totals, dots = zeros(WIDTH), zeros(WIDTH)
        for k in kp.range_constexpr(parts):
            i = first + k * threads
            if i < weight.shape[1]:
                gradient = part(held_dy, k) * held_or_read(by, k, weight, i)
                totals.store(totals.load() + gradient)
                add_product(dots, gradient, part(held, k) - middle)
        total, dot = totals.load().reduce(kp.add), dots.load().reduce(kp.add)
        total, dot = row_sums(total, dot, threads, turn, cluster)
        total, along = total * scale * one, dot * scale * scale * scale * one
        for k in kp.range_constexpr(parts):
            i = first + k * threads
            if i < weight.shape[1]:
                apart, gradient = part(held, k) - middle, part(held_dy, k)
                db[None, k].store(db[None, k].load() + gradient)
                gradient = gradient * scale
                add_product(dw[None, k], gradient, apart)
                by_weight = kp.fma(gradient, held_or_read(by, k, weight, i), -total)
                change = kp.fma(apart, -along, by_weight)
                write(vectors(dx, row, WIDTH), i, change)
        stage, turn = after(stage, rooms), 1 - turn
    for k in kp.range_constexpr(parts):
        write(vectors(dws, worker, WIDTH), first + k * threads, dw[None, k].load())
        write(vectors(dbs, worker, WIDTH), first + k * threads, db[None, k].load())


@kp.kernel
def layer_gradient_twice(x, w, mean, rstd, dy, dx, dws, dbs, threads: kp.Constexpr):
    """The same for rows of any length, which are read twice; what they add to dw and db is in
    memory."""
    block = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    weight = kp.zipped_divide(w, (WIDTH,))
    dw, db = vectors(dws, block, WIDTH), vectors(dbs, block, WIDTH)
    for i in range(t, weight.shape[1], threads):
        dw[None, i].fill(0)
        db[None, i].fill(0)
    for row in range(block, x.shape[0], kp.grid_dim()[0]):
        source, source_dy = vectors(x, row, WIDTH), vectors(dy, row, WIDTH)
        total, dot = kp.float32(0), kp.float32(0)
        for i in range(t, weight.shape[1], threads):
            gradient = part(source_dy, i) * part(weight, i)
            total += gradient.reduce(kp.add)
            dot += (gradient * ((part(source, i) - mean[row]) * rstd[row])).reduce(kp.add)
        total, dot = mean_of(total, x), mean_of(dot, x)
        for i in range(t, weight.shape[1], threads):
            normed, gradient = (part(source, i) - mean[row]) * rstd[row], part(source_dy, i)
            dw[None, i].store(dw[None, i].load() + gradient * normed)
            db[None, i].store(db[None, i].load() + gradient)
            change = (gradient * part(weight, i) - total - normed * dot) * rstd[row]
            write(vectors(dx, row, WIDTH), i, change)


@kp.jit(
    """
    layer_norm_backward(
        x: Tensor([m, d], T, align=16), w: Tensor([d], T, align=16), mean: Tensor([m], float32),
        rstd: Tensor([m], float32), dy: Tensor([m, d], T, align=16),
        dx: Tensor([m, d], T, align=16, mut), dw: Tensor([d], T, align=16, mut),
        db: Tensor([d], T, align=16, mut)
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8,
        noalias(w, dx), noalias(mean, dx), noalias(rstd, dx),
        noalias(dw, dx), noalias(db, dx), noalias(db, dw)
    """,
    workspace={
        "dws": "Tensor([device.sm_count * max(1, min(16, 16384 // d)), d], float32, align=16)",
        "dbs": "Tensor([device.sm_count * max(1, min(16, 16384 // d)), d], float32, align=16)",
    },
)
def layer_norm_backward(x, w, mean, rstd, dy, dx, dw, db, dws, dbs):
    """The gradients of layer_norm(x, w, b) for dy, that of its result. Works in place of dy or x."""
    m, d = x.shape
    for threads, parts, depth, at_once in BACKWARD:
        if d <= threads * parts * WIDTH:
            blocks = min(m, kp.device.sm_count * at_once)
            layer_gradient(x, w, mean, rstd, dy, dx, dws, dbs, threads, parts, depth).launch(
                grid=blocks, block=threads, min_blocks=at_once
            )
            add_columns((dws, dbs), blocks, (dw, db))
            return
    for cluster in CLUSTERS:
        threads, parts, depth = WIDE_BACKWARD
        blocks = min(m, clusters_at_once(cluster))
        if d <= cluster * threads * parts * WIDTH:
            layer_gradient(
                x, w, mean, rstd, dy, dx, dws, dbs, threads, parts, depth, cluster
            ).launch(
                grid=blocks * cluster,
                block=threads,
                cluster=cluster,
                arch=WITH_CLUSTERS,
            )
            layer_gradient_twice(x, w, mean, rstd, dy, dx, dws, dbs, BACKWARD_TWICE).launch(
                grid=blocks, block=BACKWARD_TWICE, arch=WITHOUT
            )
            add_columns((dws, dbs), blocks, (dw, db))
            return
    blocks = min(m, kp.device.sm_count)
    layer_gradient_twice(x, w, mean, rstd, dy, dx, dws, dbs, BACKWARD_TWICE).launch(
        grid=blocks, block=BACKWARD_TWICE
    )
    add_columns((dws, dbs), blocks, (dw, db))
