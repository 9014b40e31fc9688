# SPDX-License-Identifier: Apache-2.0
"""Attention of one query for each sequence to keys and values in pages, on sm_90.

A block has up to 8 heads that share keys, and a part of a sequence. One thread has the device bring
64 keys and values at a time from their pages, and four warps have 16 of them each. What each warp sums is
put together by a second launch.
"""

import kernpack as kp

KEYS, WARPS, HEADS = 64, 4, 8
LOG2_E = 1.4426950408889634


def swizzled(shape, stride):
    return kp.make_composed_layout(
        kp.make_swizzle(3, 3, 3), 0, kp.make_layout(shape, stride=stride)
    )


def stages(d):
    """So many that a block has 96 KiB on their way."""
    return 384 // d


def tiles(page, d):
    """Stages of 64 rows from pages, each in columns as wide as the swizzle."""
    shape = (page, KEYS // page), (64, d // 64), stages(d)
    return swizzled(shape, ((64, page * d), (1, 64 * page), KEYS * d))


def pages(x, page, d):
    return kp.make_tma(x, swizzled((1, page, 1, (64, d // 64)), (0, 64, 0, (1, 64 * page))))


@kp.kernel
def decode_parts(q, k, v, table, lengths, parts, scale, page: kp.Constexpr, d: kp.Constexpr):
    split, place, sequence = kp.block_idx()
    warp, lane = kp.warp_idx(), kp.lane_idx()
    group = kp.int32(q.shape[1] // k.shape[2])
    shared_head = place // kp.ceil_div(group, HEADS)
    within = place % kp.ceil_div(group, HEADS) * HEADS
    n_keys = lengths[sequence]
    steps = kp.ceil_div(n_keys, KEYS)
    each = kp.ceil_div(steps, kp.int32(kp.grid_dim()[0]))
    first, end = split * each, kp.min(split * each + each, steps)

    from_k, from_v = pages(k, page, d), pages(v, page, d)
    tiles_k, tiles_v = (
        kp.shared(q.element_type, tiles(page, d)),
        kp.shared(q.element_type, tiles(page, d)),
    )
    load, use = kp.PipelineTmaAsync.create(stages(d), 1, 32 * WARPS).make_participants()
    if warp == WARPS:
        if lane == 0:
            for i in range(first, end):
                last = kp.ceil_div(n_keys, page) - 1
                at = [
                    kp.min(i * (KEYS // page) + p, last) for p in kp.range_constexpr(KEYS // page)
                ]
                numbers = [table[sequence, p] for p in at]
                stage = load.acquire_and_advance()
                for p in kp.range_constexpr(KEYS // page):
                    box = numbers[p], 0, shared_head, 0
                    kp.copy(from_k[None, box], tiles_k[(None, p), None, stage.index], to=stage)
                    kp.copy(from_v[None, box], tiles_v[(None, p), None, stage.index], to=stage)
                stage.commit()
    else:
        row, column = lane // 4, lane % 4 * 2
        is_head, head = within + row < group, shared_head * group + within + row
        query = kp.make_rmem_tensor((2, 2, 2, d // 16), q.element_type)
        query.fill(0)
        if is_head:
            for c in kp.range_constexpr(d // 16):
                for half in kp.range_constexpr(2):
                    for e in kp.range_constexpr(2):
                        query[e, 0, half, c] = q[sequence, head, 16 * c + 8 * half + column + e]
        # Rows behind the 8 heads are zeros, and so are their sums.
        own = kp.make_rmem_tensor((2, 2, d // 8), kp.float32)
        weights = kp.make_rmem_tensor((2, 2, 2), q.element_type)
        part = kp.make_rmem_tensor((4, 2), q.element_type)
        scores = kp.make_rmem_tensor((2, 2, 2), kp.float32)
        own.fill(0)
        weights.fill(0)
        most, total = -kp.float32.inf, kp.float32(0)
        for i in range(first, end):
            filled = use.wait_and_advance()
            keys = kp.local_tile(tiles_k[None, None, filled.index], (16, d), (warp, 0))
            values = kp.local_tile(tiles_v[None, None, filled.index], (16, d), (warp, 0))
            n_left = n_keys - i * KEYS - warp * 16
            if n_left < 16:
                # What lies behind the last key may be no numbers. Nothing is brought to here again.
                for x in range(kp.max(n_left, 0) * d + lane, 16 * d, 32):
                    values[x // d, x % d] = 0
                kp.sync_warp()
            scores.fill(0)
            for c in kp.range_constexpr(d // 16):
                at = kp.local_tile(
                    keys[lane // 16 * 8 + lane % 8, None], (8,), (2 * c + lane // 8 % 2,)
                )
                part.store(kp.ldmatrix(at))
                for j in kp.range_constexpr(2):
                    scores[None, None, j].store(
                        kp.mma_sync(
                            query[None, None, None, c], part[None, j], scores[None, None, j]
                        )
                    )
            high = most
            for j in kp.range_constexpr(2):
                for e in kp.range_constexpr(2):
                    is_seen = 8 * j + column + e < n_left
                    scores[e, 0, j] = scores[e, 0, j] if is_seen else -kp.float32.inf
                    high = kp.max(high, scores[e, 0, j])
            high = kp.warp_reduction_max(high, threads_in_group=4)
            base = high * (scale * LOG2_E) if high != -kp.float32.inf else kp.float32(0)
            shrink = kp.fast_exp2(kp.fma(most, scale * LOG2_E, -base))
            most, total = high, total * shrink
            for j in kp.range_constexpr(2):
                for e in kp.range_constexpr(2):
                    weight = kp.fast_exp2(kp.fma(scores[e, 0, j], scale * LOG2_E, -base))
                    weights[e, 0, j] = q.element_type(weight)
                    total += weight
            for c in kp.range_constexpr(d // 16):
                at = kp.local_tile(values[lane % 16, None], (8,), (2 * c + lane // 16,))
                part.store(kp.ldmatrix(at, transpose=True))
                for j in kp.range_constexpr(2):
                    of_c = own[None, None, 2 * c + j]
                    for e in kp.range_constexpr(2):
                        of_c[e, 0] = of_c[e, 0] * shrink
                    of_c.store(kp.mma_sync(weights, part[None, j], of_c))
            filled.release()
        total = kp.warp_reduction_sum(total, threads_in_group=4)
        if is_head:
            number = split * WARPS + warp
            for c in kp.range_constexpr(d // 8):
                for e in kp.range_constexpr(2):
                    parts[sequence, head, number, 8 * c + column + e] = own[e, 0, c]
            if column == 0:
                parts[sequence, head, number, d] = most * (scale * LOG2_E)
                parts[sequence, head, number, d + 1] = total


@kp.kernel
def put_together(parts, out):
    head, sequence = kp.block_idx()[0], kp.block_idx()[1]
    column, d = kp.thread_idx()[0], out.shape[2]
    high = -kp.float32.inf
    for i in range(parts.shape[2]):
        high = kp.max(high, parts[sequence, head, i, d])
    base = high if high != -kp.float32.inf else kp.float32(0)
    total, mean = kp.float32(0), kp.float32(0)
    for i in range(parts.shape[2]):
        by = kp.fast_exp2(parts[sequence, head, i, d] - base)
        total += by * parts[sequence, head, i, d + 1]
        mean += by * parts[sequence, head, i, column]
    out[sequence, head, column] = out.element_type(mean / total if total != 0 else kp.float32(0))


def launch(q, k, v, table, lengths, out, parts, scale, page, d):
    heads = k.shape[2] * kp.ceil_div(q.shape[1] // k.shape[2], HEADS)
    grid = parts.shape[2] // WARPS, heads, q.shape[0]
    decode = decode_parts(q, k, v, table, lengths, parts, scale, page, d)
    decode.launch(grid=grid, block=32 * (WARPS + 1), min_blocks=2, arch="sm_90")
    put_together(parts, out).launch(grid=(q.shape[1], q.shape[0]), block=d)


@kp.jit(
    """
    paged_decode(
        q: Tensor([b, h, d], T), k: Tensor([n, page, g, d], T, strides=[_, _, _, 1], align=16),
        v: Tensor([n, page, g, d], T, strides=[_, _, _, 1], align=16), table: Tensor([b, w], int32),
        lengths: Tensor([b], int32), out: Tensor([b, h, d], T, mut), scale: float32
    ) where T in {float16, bfloat16}, d in {64, 128}, page in {16, 64}, n > 0, g > 0, h % g == 0,
        noalias(k, out), noalias(v, out), noalias(q, out)
    """,
    # As many parts as keep the device busy, and none of fewer than 256 keys.
    workspace={
        "parts": """Tensor([
            b, h, 4 * max(1, min((4 * device.sm_count + b * g - 1) // max(1, b * g), w * page // 256)), d + 2
        ], float32)"""
    },
)
def paged_decode(q, k, v, table, lengths, out, scale, parts):
    """softmax(q @ keys.T * scale) @ values for each sequence, of which key i is row i % page of page
    table[sequence, i // page]; it has lengths[sequence] of them."""
    if k.shape[1] == 16 and q.shape[2] == 64:
        launch(q, k, v, table, lengths, out, parts, scale, 16, 64)
    elif k.shape[1] == 16:
        launch(q, k, v, table, lengths, out, parts, scale, 16, 128)
    elif q.shape[2] == 64:
        launch(q, k, v, table, lengths, out, parts, scale, 64, 64)
    else:
        launch(q, k, v, table, lengths, out, parts, scale, 64, 128)
