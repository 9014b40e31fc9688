# SPDX-License-Identifier: Apache-2.0
"""The sum of each row, in three steps: as in CUDA, with layouts, and with wide accesses."""

import kernpack as kp


@kp.kernel
def sum_rows(x, out, threads: kp.Constexpr):
    """A block a row, an element a thread and turn."""
    partial = kp.shared(kp.float32, threads // 32)
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    acc = kp.float32(0)
    for i in range(t, x.shape[1], threads):
        acc += x[row, i]
    acc = kp.warp_reduction_sum(acc)
    if kp.lane_idx() == 0:
        partial[kp.warp_idx()] = acc
    kp.sync_threads()
    if kp.warp_idx() == 0:
        acc = partial[kp.lane_idx()] if kp.lane_idx() < threads // 32 else 0.0
        acc = kp.warp_reduction_sum(acc)
        if kp.lane_idx() == 0:
            out[row] = acc


@kp.jit(
    "reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut)) where noalias(x, out)"
)
def reduce_sum(x, out):
    """out[i] = x[i, :].sum(). Never in place: a sum would overwrite what another block reads."""
    sum_rows(x, out, 512).launch(grid=x.shape[0], block=512)


@kp.kernel
def sum_row_tiles(x, out, tv: kp.Constexpr, tiler: kp.Constexpr):
    """The same, where a layout says which elements of a tile are a thread's."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    tiles = kp.zipped_divide(x[row, None], tiler)
    index = kp.zipped_divide(kp.make_identity_tensor(x.shape[1]), tiler)
    acc = kp.float32(0)
    for tile in range(tiles.shape[1]):
        mine = kp.composition(tiles[None, tile], tv)[t, None]
        where = kp.composition(index[None, tile], tv)[t, None]
        for v in kp.range_constexpr(kp.size(mine)):
            if where[v][0] < x.shape[1]:
                acc += mine[v]
    acc = kp.block_reduction_sum(acc)
    if t == 0:
        out[row] = acc


@kp.jit(
    "reduce_sum_tiled(x: Tensor([m, n], float32), out: Tensor([m], float32, mut)) where noalias(x, out)"
)
def reduce_sum_tiled(x, out):
    """out[i] = x[i, :].sum(). Never in place: a sum would overwrite what another block reads."""
    tiler, tv = kp.make_layout_tv(kp.make_layout(128), kp.make_layout(4))
    sum_row_tiles(x, out, tv, tiler).launch(grid=x.shape[0], block=128)


@kp.kernel
def sum_row_vectors(x, out, threads: kp.Constexpr, unroll: kp.Constexpr):
    """A block a row, four elements an access, several accesses under way at once."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    tiles = kp.zipped_divide(x[row, None], (4,))
    n = tiles.shape[1]
    acc = kp.float32(0)
    whole = n // (threads * unroll) * (threads * unroll)
    for i in range(t, whole, threads * unroll):
        parts = [tiles[None, i + u * threads].load() for u in kp.range_constexpr(unroll)]
        for u in kp.range_constexpr(unroll):
            acc += parts[u].reduce(kp.add)
    for i in range(whole + t, n, threads):
        acc += tiles[None, i].load().reduce(kp.add)
    acc = kp.block_reduction_sum(acc)
    if t == 0:
        out[row] = acc


@kp.kernel
def sum_warp_vectors(x, out, warps: kp.Constexpr):
    """A warp a row, for short rows."""
    row = kp.block_idx()[0] * warps + kp.warp_idx()
    if row < x.shape[0]:
        tiles = kp.zipped_divide(x[row, None], (4,))
        acc = kp.float32(0)
        for i in range(kp.lane_idx(), tiles.shape[1], 32):
            acc += tiles[None, i].load().reduce(kp.add)
        acc = kp.warp_reduction_sum(acc)
        if kp.lane_idx() == 0:
            out[row] = acc


@kp.jit(
    """
    reduce_sum_vectors(x: Tensor([m, n], float32, align=16), out: Tensor([m], float32, mut))
    where n % 4 == 0, noalias(x, out)
    """
)
def reduce_sum_vectors(x, out):
    """out[i] = x[i, :].sum(). Never in place: a sum would overwrite what another block reads."""
    m, n = x.shape
    if n <= 1024:
        sum_warp_vectors(x, out, 8).launch(grid=kp.ceil_div(m, 8), block=256)
    else:
        sum_row_vectors(x, out, 256, 2).launch(grid=m, block=256)
