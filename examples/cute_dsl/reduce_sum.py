# SPDX-License-Identifier: Apache-2.0
"""The sum of each row of a matrix, from a kernel as in CUDA to one in which layouts say which
elements a thread has.
"""

import kernpack as kp
import torch

from calls import called

THREADS = 128
WARPS = THREADS // 32


@kp.kernel
def device_sum_rows(x, out):
    """A block a row: each thread sums every 128th element, then the warp, then the block."""
    partial = kp.shared(kp.float32, WARPS)
    row, t = kp.block_idx()[0], kp.thread_idx()[0]
    acc = kp.float32(0)
    for i in range(t, x.shape[1], THREADS):
        acc += x[row, i]
    acc = kp.warp_reduction_sum(acc)
    if kp.lane_idx() == 0:
        partial[kp.warp_idx()] = acc
    kp.sync_threads()
    if kp.warp_idx() == 0:
        acc = kp.warp_reduction_sum(partial[kp.lane_idx()] if kp.lane_idx() < WARPS else 0.0)
        if kp.lane_idx() == 0:
            out[row] = acc


@kp.jit
def sum_rows(x, out):
    assert x.shape[0] == out.shape[0]
    device_sum_rows(x, out).launch(grid=x.shape[0], block=THREADS)


def sum_rows_of(n: int) -> kp.Function:
    """The function of rows of that length, which is part of its code; there may be any number."""
    m = kp.sym_int("m")
    return kp.compile(
        sum_rows, kp.fake_tensor(kp.float32, (m, n)), kp.fake_tensor(kp.float32, (m,))
    )


VALUES = 4


@kp.kernel
def device_sum_tiles(tiles, out, n, tv: kp.Constexpr, tiler: kp.Constexpr):
    """The same over tiles of a row: `tv` says which elements of a tile a thread has. An identity
    tensor, which is divided as the matrix was, says where in it they are: the last tile of a row
    reaches beyond it.
    """
    row, t = kp.block_idx()[0], kp.thread_idx()[0]
    places = kp.zipped_divide(kp.make_identity_tensor((out.shape[0], n)), tiler)
    acc = kp.float32(0)
    for tile in range(tiles.shape[1][1]):
        at = ((0, None), (row, tile))
        mine = kp.composition(tiles[at], tv)[t, None]
        where = kp.composition(places[at], tv)[t, None]
        for v in kp.range_constexpr(kp.size(mine)):
            if where[v][1] < n:
                acc += mine[v]
    acc = kp.block_reduction_sum(acc)
    if t == 0:
        out[row] = acc


@kp.jit
def sum_tiles(x, out):
    assert x.shape[0] == out.shape[0]
    (width,), tv = kp.make_layout_tv(kp.make_layout((THREADS,)), kp.make_layout((VALUES,)))
    tiler = (1, width)
    tiles = kp.zipped_divide(x, tiler)
    device_sum_tiles(tiles, out, x.shape[1], tv, tiler).launch(grid=x.shape[0], block=THREADS)


def off(function: object, m: int, n: int) -> float:
    """How far sums are from those in float64, in terms of the sum of what was added."""
    x = torch.randn(m, n)
    _, out = called(function, x, torch.empty(m))
    exact, whole = x.double().sum(dim=-1), x.double().abs().sum(dim=-1)
    return float(((out.cpu().double() - exact).abs() / whole).max())


def main() -> None:
    for function in (sum_rows, sum_tiles, sum_rows_of(300)):
        print(function.__name__, off(function, 4, 300) < 1e-6)
    # Other extents are the same function, and it was compiled once.
    print(off(sum_rows, 3, 32) < 1e-6, len(sum_rows.variants))


if __name__ == "__main__":
    main()
