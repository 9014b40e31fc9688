# SPDX-License-Identifier: Apache-2.0
"""Attention, forward, in float16 and bfloat16, on sm_90a.

A block has 128 queries of one head. One thread has the device bring tiles of keys and values, the
last ones first, and two warpgroups have 64 queries each: while weights of some keys are computed, in
registers, products with others are in flight.
"""

import kernpack as kp

ROWS, KEYS, STAGES = 128, 128, 2
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453
# Which keys a query sees: all, those up to one, or those between two.
ALL, UP_TO, BETWEEN = 0, 1, 2


def swizzled(shape, stride):
    return kp.make_composed_layout(
        kp.make_swizzle(3, 3, 3), 0, kp.make_layout(shape, stride=stride)
    )


def tiles(d, stages):
    """Tiles of so many rows in columns as wide as the swizzle."""
    return swizzled((ROWS, (64, d // 64), stages), (64, (1, 64 * ROWS), ROWS * d))


def boxes(x, d, first):
    """The same of a head, from that row on."""
    box = swizzled((1, 1, ROWS, (64, d // 64)), (0, 0, 64, (1, 64 * ROWS)))
    return kp.domain_offset(((0, 0, first, 0), 0), kp.make_tma(x, box))


class Part:
    """The queries and keys of a block: of an element of the batch, or of one sequence among many."""

    def __init__(self, q, k, starts, left, right):
        self.batch = kp.int32(kp.block_idx()[2])
        self.first_q, self.first_k = kp.int32(0), kp.int32(0)
        self.n_q, self.n_k = kp.int32(q.shape[2]), kp.int32(k.shape[2])
        if starts is not None:
            self.first_q, self.first_k = starts[0][self.batch], starts[1][self.batch]
            self.n_q = starts[0][self.batch + 1] - self.first_q
            self.n_k = starts[1][self.batch + 1] - self.first_k
            self.batch = kp.int32(0)
        self.left = kp.min(left, self.n_k)
        self.right = kp.min(right, self.n_q) if right >= 0 else self.n_q

    def first_seen(self, query):
        """The first key that a query sees."""
        return kp.max(query + self.n_k - self.n_q - self.left, 0)

    def end_seen(self, query):
        """One past the last."""
        return kp.max(kp.min(query + self.n_k - self.n_q + self.right + 1, self.n_k), 0)


def multiply(sums, a, b, accumulate):
    kp.wgmma_fence()
    kp.wgmma_mma(sums, a, b, accumulate)
    kp.wgmma_commit()


class Weights:
    """Of a thread's two rows the largest score so far, and its part of the sum of weights."""

    def __init__(self, scale):
        self.scale = scale
        self.most = kp.make_rmem_tensor(2, kp.float32)
        self.total = kp.make_rmem_tensor(2, kp.float32)
        self.shrink = kp.make_rmem_tensor(2, kp.float32)
        self.most.fill(-kp.float32.inf)
        self.total.fill(0.0)

    def replace(self, scores, is_masked):
        """Makes weights of scores, and says by what the sums before shrink."""
        for half in kp.range_constexpr(2):
            high = self.most[half]
            for i in kp.range_constexpr(KEYS // 8):
                high = kp.max(high, kp.max(scores[0, half, i], scores[1, half, i]))
            high = kp.warp_reduction_max(high, threads_in_group=4)
            base = high * self.scale
            if is_masked:
                # Who has seen no key yet has no weights.
                base = base if high != -kp.float32.inf else kp.float32(0)
            self.shrink[half] = kp.fast_exp2(kp.fma(self.most[half], self.scale, -base))
            self.most[half] = high
            part = kp.float32(0)
            for i in kp.range_constexpr(KEYS // 8):
                for e in kp.range_constexpr(2):
                    scores[e, half, i] = kp.fast_exp2(kp.fma(scores[e, half, i], self.scale, -base))
                    part += scores[e, half, i]
            self.total[half] = kp.fma(self.total[half], self.shrink[half], part)


@kp.kernel
def attention_tiles(
    q, k, v, out, lse, starts, scale, left, right, d: kp.Constexpr, seen: kp.Constexpr
):
    part = Part(q, k, starts, left, right)
    m, head = kp.int32(kp.block_idx()[0]), kp.int32(kp.block_idx()[1])
    if seen != ALL:
        # Those with the most keys begin first.
        m = kp.int32(kp.grid_dim()[0]) - 1 - m
    row = m * ROWS
    if starts is not None and row >= part.n_q:
        return
    # Tiles of keys, of which all queries see those from `whole` to `end_whole` as a whole.
    last_row = kp.min(row + ROWS, part.n_q) - 1
    end = part.n_k if seen == ALL else part.end_seen(last_row)
    end_whole = part.n_k if seen == ALL else part.end_seen(row)
    last = kp.max(kp.ceil_div(end, KEYS) - 1, 0)
    first, whole = kp.int32(0), kp.int32(0)
    if seen == BETWEEN:
        first = kp.min(part.first_seen(row) // KEYS, last)
        whole = kp.ceil_div(part.first_seen(last_row), KEYS)
    end_whole = kp.max(kp.min(end_whole // KEYS, last), first)
    whole = kp.min(kp.max(whole, first), end_whole)

    from_q = boxes(q, d, part.first_q)
    from_k, from_v = boxes(k, d, part.first_k), boxes(v, d, part.first_k)
    tile_q = kp.shared(q.element_type, tiles(d, 1))
    tiles_k = kp.shared(q.element_type, tiles(d, STAGES))
    tiles_v = kp.shared(q.element_type, tiles(d, STAGES))
    load_q, use_q = kp.PipelineTmaAsync.create(1, 1, 256).make_participants()
    load_k, use_k = kp.PipelineTmaAsync.create(STAGES, 1, 256).make_participants()
    load_v, use_v = kp.PipelineTmaAsync.create(STAGES, 1, 256).make_participants()
    if kp.warpgroup_idx() == 0:
        kp.setmaxregister_decrease(24)
        if kp.thread_idx()[0] == 0:

            def load(pipeline, source, head, number, target):
                stage = pipeline.acquire_and_advance()
                at = part.batch, head, number, 0
                kp.copy(source[None, at], target[None, None, stage.index], to=stage)
                stage.commit()

            load(load_q, from_q, head, m, tile_q)
            shared_head = head // kp.int32(q.shape[1] // k.shape[1])
            load(load_k, from_k, shared_head, last, tiles_k)
            for i in range(last - first):
                # Keys are a tile ahead of values.
                load(load_k, from_k, shared_head, last - 1 - i, tiles_k)
                load(load_v, from_v, shared_head, last - i, tiles_v)
            load(load_v, from_v, shared_head, first, tiles_v)
    else:
        kp.setmaxregister_increase(240)
        mma = kp.make_tiled_mma(kp.wgmma(q.element_type, kp.float32, (64, d, 16)), (2, 1, 1))
        unit, thread = kp.warpgroup_idx() % 2, kp.thread_idx()[0] % 128
        own_row = row + unit * 64 + thread // 32 * 16 + thread % 32 // 4
        own_q = kp.local_tile(tile_q[None, None, 0], (64, d), (unit, 0))
        acc = mma.get_slice(thread).make_fragment_C((ROWS, d))
        sums = acc.values[None, 0, None]
        scores = kp.make_rmem_tensor((2, 2, KEYS // 8), kp.float32)
        rounded = kp.make_rmem_tensor((2, 2, KEYS // 8), q.element_type)
        weights = Weights(scale * LOG2_E)
        acc.clear()

        def mask(number):
            at = kp.int32(number) * KEYS + thread % 4 * 2
            for half in kp.range_constexpr(2):
                query = own_row + 8 * half
                end = (part.n_k if seen == ALL else part.end_seen(query)) - at
                first = part.first_seen(query) - at if seen == BETWEEN else kp.int32(0)
                for i in kp.range_constexpr(KEYS // 8):
                    for e in kp.range_constexpr(2):
                        is_seen = 8 * i + e < end and (seen != BETWEEN or 8 * i + e >= first)
                        score = scores[e, half, i]
                        scores[e, half, i] = score if is_seen else -kp.float32.inf

        def multiply_values(stage):
            values = kp.select(tiles_v[None, None, stage.index], mode=[1, 0])
            multiply(sums, rounded, values, True)

        # While a warpgroup computes weights, the other begins products.
        if unit == 1:
            kp.barrier_arrive(1, 256)

        def step(number, is_masked):
            stage_k = use_k.wait_and_advance()
            kp.barrier(1 + unit, 256)
            multiply(scores, own_q, tiles_k[None, None, stage_k.index], False)
            stage_v = use_v.wait_and_advance()
            multiply_values(stage_v)
            kp.barrier_arrive(2 - unit, 256)
            kp.wgmma_wait(1)
            stage_k.release()
            if is_masked:
                mask(number)
            weights.replace(scores, is_masked)
            kp.wgmma_wait(0)
            stage_v.release()
            for i in kp.range_constexpr(kp.size(sums)):
                sums[i] = sums[i] * weights.shrink[i // 2 % 2]
            rounded.store(scores.load().to(q.element_type))

        use_q.wait_and_advance()
        stage = use_k.wait_and_advance()
        multiply(scores, own_q, tiles_k[None, None, stage.index], False)
        kp.wgmma_wait(0)
        stage.release()
        mask(last)
        weights.replace(scores, True)
        rounded.store(scores.load().to(q.element_type))
        if seen != ALL:
            for i in range(last - end_whole):
                step(last - 1 - i, True)
        for i in range(end_whole - whole):
            step(end_whole - 1 - i, False)
        if seen == BETWEEN:
            for i in range(whole - first):
                step(whole - 1 - i, True)
        multiply_values(use_v.wait_and_advance())
        kp.wgmma_wait(0)
        for half in kp.range_constexpr(2):
            total = kp.warp_reduction_sum(weights.total[half], threads_in_group=4)
            by = kp.fast_rcp(total)
            for i in kp.range_constexpr(d // 8):
                for e in kp.range_constexpr(2):
                    sums[(e, half), i] = sums[(e, half), i] * by if total != 0 else kp.float32(0)
            at = own_row + 8 * half
            if lse is not None and at < part.n_q and thread % 4 == 0:
                logarithm = weights.most[half] * scale + kp.log2(total) * LN_2
                lse[part.batch, head, part.first_q + at] = logarithm
        own = kp.domain_offset((part.first_q, 0), out[part.batch, head, None, None])
        rows = kp.make_layout((part.n_q, d), stride=(out.stride[2], 1))
        kp.store_tile(mma, acc, kp.make_tensor(own.iterator, rows), (m, 0))


@kp.kernel
def write_nothing(out, lse):
    row = kp.block_idx()[0] * ROWS + kp.thread_idx()[0]
    if row < out.shape[2]:
        for i in range(out.shape[3]):
            out[kp.block_idx()[2], kp.block_idx()[1], row, i] = 0
        if lse is not None:
            lse[kp.block_idx()[2], kp.block_idx()[1], row] = -kp.float32.inf


def launch(q, k, v, out, lse, starts, scale, left, right, grid, seen):
    if k.shape[2] == 0:
        rows = kp.ceil_div(q.shape[2], ROWS), q.shape[1], q.shape[0]
        write_nothing(out, lse).launch(grid=rows, block=ROWS)
    elif q.shape[3] == 64:
        tiles = attention_tiles(q, k, v, out, lse, starts, scale, left, right, 64, seen)
        tiles.launch(grid=grid, block=384, arch="sm_90a")
    else:
        tiles = attention_tiles(q, k, v, out, lse, starts, scale, left, right, 128, seen)
        tiles.launch(grid=grid, block=384, arch="sm_90a")


def launch_seen(q, k, v, out, lse, starts, scale, left, right, grid):
    if left < 0 and right < 0:
        launch(q, k, v, out, lse, starts, scale, left, right, grid, ALL)
    elif left < 0:
        launch(q, k, v, out, lse, starts, scale, left, right, grid, UP_TO)
    else:
        launch(q, k, v, out, lse, starts, scale, left, right, grid, BETWEEN)


@kp.jit(
    """
    attention(
        q: Tensor([b, h, s, d], T, strides=[_, _, _, 1], align=16),
        k: Tensor([b, g, t, d], T, strides=[_, _, _, 1], align=16),
        v: Tensor([b, g, t, d], T, strides=[_, _, _, 1], align=16),
        out: Tensor([b, h, s, d], T, strides=[x, y, z, 1], align=16, mut),
        lse: Optional[Tensor([b, h, s], float32, mut)],
        scale: float32, left: int32 = -1, right: int32 = -1
    ) where T in {float16, bfloat16}, d in {64, 128}, g > 0, h % g == 0, x % 8 == 0, y % 8 == 0, z % 8 == 0,
        s < 1073741824, t < 1073741824, noalias(q, out), noalias(k, out), noalias(v, out)
    """
)
def attention(q, k, v, out, lse, scale, left, right):
    """softmax(q @ k.T * scale) @ v, and the logarithms of what softmax divides by. Query i sees keys
    from i + t - s - left to i + t - s + right, and all on a side of which the number is negative."""
    grid = kp.ceil_div(q.shape[2], ROWS), q.shape[1], q.shape[0]
    launch_seen(q, k, v, out, lse, None, scale, left, right, grid)


@kp.jit(
    """
    attention_varlen(
        q: Tensor([1, h, s, d], T, strides=[_, _, _, 1], align=16),
        k: Tensor([1, g, t, d], T, strides=[_, _, _, 1], align=16),
        v: Tensor([1, g, t, d], T, strides=[_, _, _, 1], align=16),
        out: Tensor([1, h, s, d], T, strides=[_, y, z, 1], align=16, mut),
        lse: Optional[Tensor([1, h, s], float32, mut)],
        starts_q: Tensor([n + 1], int32), starts_k: Tensor([n + 1], int32), longest: int32,
        scale: float32, left: int32 = -1, right: int32 = -1
    ) where T in {float16, bfloat16}, d in {64, 128}, g > 0, h % g == 0, y % 8 == 0, z % 8 == 0,
        s < 1073741824, t < 1073741824, noalias(q, out), noalias(k, out), noalias(v, out)
    """
)
def attention_varlen(q, k, v, out, lse, starts_q, starts_k, longest, scale, left, right):
    """The same of n sequences one behind the other, of which sequence i has the queries from
    starts_q[i] to starts_q[i + 1], `longest` or fewer, and the keys from starts_k[i] on."""
    grid = kp.ceil_div(longest, ROWS), q.shape[1], starts_q.shape[0] - 1
    launch_seen(q, k, v, out, lse, (starts_q, starts_k), scale, left, right, grid)
