# SPDX-License-Identifier: Apache-2.0
"""Attention, forward, in float16 and bfloat16, on sm_90a.

A block has 128 queries of one head. One thread has the device bring tiles of keys and values, the
last ones first, and two warpgroups have 64 queries each: while weights of some keys are computed, in
registers, products with others are in flight.
"""

import kernpack as kp

ROWS, KEYS, STAGES = 128, 128, 2


def tiles(x, d, first, stages):
    """Tiles of a head, from that row on, in columns as wide as the swizzle."""
    box = kp.make_layout((1, 1, ROWS, (64, d // 64)), stride=(0, 0, 64, (1, 64 * ROWS)))
    tma = kp.make_tma(x, kp.make_composed_layout(kp.make_swizzle(3, 3, 3), 0, box))
    source = kp.domain_offset(((0, 0, first, 0), 0), tma)
    layout = kp.make_smem_layout(x.element_type, (ROWS, d), stages)
    return kp.tile_pipeline(source, kp.shared(x.element_type, layout), consumers=256)


class Part:
    """The queries and keys of a block: of an element of the batch, or of one sequence among many. A
    query sees `left` keys in front of its own and `right` behind it; None is all of that side."""

    def __init__(self, q, k, starts, left, right):
        self.batch = kp.int32(kp.block_idx()[2])
        self.first_q, self.first_k = kp.int32(0), kp.int32(0)
        self.n_q, self.n_k = kp.int32(q.shape[2]), kp.int32(k.shape[2])
        if starts is not None:
            self.first_q, self.first_k = starts[0][self.batch], starts[1][self.batch]
            self.n_q = starts[0][self.batch + 1] - self.first_q
            self.n_k = starts[1][self.batch + 1] - self.first_k
            self.batch = kp.int32(0)
        ahead = self.n_k - self.n_q
        self.first = None if left is None else ahead - kp.min(left, self.n_k)
        behind = kp.min(right, self.n_q) if right is not None and right >= 0 else self.n_q
        self.end = None if right is None else ahead + behind + 1

    def first_seen(self, query):
        """The first key that a query sees."""
        return kp.int32(0) if self.first is None else kp.max(query + self.first, 0)

    def end_seen(self, query):
        """One past the last."""
        return self.n_k if self.end is None else kp.max(kp.min(query + self.end, self.n_k), 0)

    def seen(self, query, key):
        """Which keys it sees, counted from one of them."""
        first = None if self.first is None else self.first_seen(query) - key
        return first, self.end_seen(query) - key


def multiply(sums, a, b, accumulate):
    kp.wgmma_fence()
    kp.wgmma_mma(sums, a, b, accumulate)
    kp.wgmma_commit()


@kp.kernel
def attention_tiles(q, k, v, out, lse, starts, scale, left, right, d: kp.Constexpr):
    part = Part(q, k, starts, left, right)
    m, head = kp.int32(kp.block_idx()[0]), kp.int32(kp.block_idx()[1])
    is_bounded = right is not None
    if is_bounded:
        # Those with the most keys begin first.
        m = kp.int32(kp.grid_dim()[0]) - 1 - m
    row = m * ROWS
    if starts is not None and row >= part.n_q:
        return
    # Tiles of keys, of which all queries see those from `whole` to `end_whole` as a whole.
    last_row = kp.min(row + ROWS, part.n_q) - 1
    last = kp.max(kp.ceil_div(part.end_seen(last_row), KEYS) - 1, 0)
    first = kp.min(part.first_seen(row) // KEYS, last)
    end_whole = kp.max(kp.min(part.end_seen(row) // KEYS, last), first)
    whole = kp.min(kp.max(kp.ceil_div(part.first_seen(last_row), KEYS), first), end_whole)

    queries = tiles(q, d, part.first_q, 1)
    keys, values = [tiles(x, d, part.first_k, STAGES) for x in (k, v)]
    if kp.warpgroup_idx() == 0:
        kp.setmaxregister_decrease(24)
        if kp.thread_idx()[0] == 0:
            queries.fill((part.batch, head, m, 0))
            shared_head = head // kp.int32(q.shape[1] // k.shape[1])
            keys.fill((part.batch, shared_head, last, 0))
            for i in range(last - first):
                # Keys are a tile ahead of values.
                keys.fill((part.batch, shared_head, last - 1 - i, 0))
                values.fill((part.batch, shared_head, last - i, 0))
            values.fill((part.batch, shared_head, first, 0))
    else:
        kp.setmaxregister_increase(240)
        unit, thread = kp.warpgroup_idx() % 2, kp.thread_idx()[0] % 128
        own_row = row + unit * 64 + thread // 32 * 16 + thread % 32 // 4
        mma = kp.tiled_mma(q.element_type, (ROWS, d, 16), warps=8)
        acc = mma.zeros()
        sums = acc.values[None, 0, None]
        scores = kp.make_rmem_tensor((2, 2, KEYS // 8), kp.float32)
        rounded = kp.make_rmem_tensor((2, 2, KEYS // 8), q.element_type)
        softmax = kp.online_softmax(scale)

        def seen(number):
            first = kp.int32(number) * KEYS
            return part.seen(own_row, first), part.seen(own_row + 8, first)

        # While a warpgroup computes weights, the other begins products.
        if unit == 1:
            kp.barrier_arrive(1, 256)

        def step(number, is_masked):
            stage_k = keys.next()
            kp.barrier(1 + unit, 256)
            multiply(scores, own_q, stage_k.tile, False)
            stage_v = values.next()
            multiply(sums, rounded, kp.select(stage_v.tile, mode=[1, 0]), True)
            kp.barrier_arrive(2 - unit, 256)
            kp.wgmma_wait(1)
            stage_k.release()
            softmax.weigh(scores, seen(number) if is_masked else None)
            kp.wgmma_wait(0)
            stage_v.release()
            softmax.rescale(sums)
            rounded.store(scores.load().to(q.element_type))

        own_q = kp.local_tile(queries.next().tile, (64, d), (unit, 0))
        stage = keys.next()
        multiply(scores, own_q, stage.tile, False)
        kp.wgmma_wait(0)
        stage.release()
        softmax.weigh(scores, seen(last))
        rounded.store(scores.load().to(q.element_type))
        if is_bounded:
            for i in range(last - end_whole):
                step(last - 1 - i, True)
        for i in range(end_whole - whole):
            step(end_whole - 1 - i, False)
        if left is not None:
            for i in range(whole - first):
                step(whole - 1 - i, True)
        multiply(sums, rounded, kp.select(values.next().tile, mode=[1, 0]), True)
        kp.wgmma_wait(0)
        logarithms = softmax.finish(sums)
        for half in kp.range_constexpr(2):
            at = own_row + 8 * half
            if lse is not None and at < part.n_q and thread % 4 == 0:
                lse[part.batch, head, part.first_q + at] = logarithms[half]
        own = kp.domain_offset((part.first_q, 0), out[part.batch, head, None, None])
        rows = kp.make_layout((part.n_q, d), stride=(out.stride[2], 1))
        kp.store_tile(mma, acc, kp.make_tensor(own.iterator, rows), (m, 0))


@kp.kernel
def write_nothing(out, lse):
    row, head, batch = kp.block_idx()
    out[batch, head, row, kp.thread_idx()[0]] = 0
    if lse is not None and kp.thread_idx()[0] == 0:
        lse[batch, head, row] = -kp.float32.inf


def launch(q, k, v, out, lse, starts, scale, left, right, grid):
    for d in (64, 128):
        if q.shape[3] == d:
            tiles = attention_tiles(q, k, v, out, lse, starts, scale, left, right, d)
            tiles.launch(grid=grid, block=384, arch="sm_90a")


def launch_bounded(q, k, v, out, lse, starts, scale, left, right, grid):
    if k.shape[2] == 0:
        write_nothing(out, lse).launch(grid=(q.shape[2], q.shape[1], q.shape[0]), block=q.shape[3])
    elif left >= 0:
        launch(q, k, v, out, lse, starts, scale, left, right, grid)
    elif right >= 0:
        launch(q, k, v, out, lse, starts, scale, None, right, grid)
    else:
        launch(q, k, v, out, lse, starts, scale, None, None, grid)


@kp.jit(
    """
    attention(
        q: Tensor([b, h, s, d], T, strides=[_, _, _, 1], align=16),
        k: Tensor([b, g, t, d], T, strides=[_, _, _, 1], align=16),
        v: Tensor([b, g, t, d], T, strides=[_, _, _, 1], align=16),
        out: Tensor([b, h, s, d], T, strides=[x, y, z, 1], align=16, mut),
        lse: Optional[Tensor([b, h, s], float32, mut)], scale: float32, left: int32 = -1, right: int32 = -1
    ) where T in {float16, bfloat16}, d in {64, 128}, g > 0, h % g == 0, x % 8 == 0, y % 8 == 0, z % 8 == 0,
        s < 1073741824, t < 1073741824, noalias(q, out), noalias(k, out), noalias(v, out)
    """
)
def attention(q, k, v, out, lse, scale, left, right):
    """softmax(q @ k.T * scale) @ v, and the logarithms of what softmax divides by. Query i sees keys
    from i + t - s - left to i + t - s + right, and all on a side of which the number is negative."""
    grid = kp.ceil_div(q.shape[2], ROWS), q.shape[1], q.shape[0]
    launch_bounded(q, k, v, out, lse, None, scale, left, right, grid)


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
    launch_bounded(q, k, v, out, lse, (starts_q, starts_k), scale, left, right, grid)
