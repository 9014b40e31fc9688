# SPDX-License-Identifier: Apache-2.0
"""A transposed copy, through a tile in shared memory whose columns are spread by a swizzle."""

import kernpack as kp

TILE = 64
ROWS = 16


@kp.kernel
def transpose_tiles(x, out):
    tile = kp.shared(
        kp.float32,
        kp.make_composed_layout(
            kp.make_swizzle(5, 0, 6), 0, kp.make_layout((TILE, TILE), stride=(TILE, 1))
        ),
    )
    column, row, _ = kp.block_idx()
    tx, ty, _ = kp.thread_idx()
    source = kp.local_tile(x, (TILE, TILE), (row, column))
    target = kp.local_tile(out, (TILE, TILE), (column, row))
    m, n = x.shape
    held = kp.make_rmem_tensor((TILE // ROWS, TILE // 32), kp.float32)
    held.fill(0)
    for j in kp.range_constexpr(TILE // ROWS):
        for i in kp.range_constexpr(TILE // 32):
            r, c = ty + j * ROWS, tx + i * 32
            if row * TILE + r < m and column * TILE + c < n:
                held[j, i] = source[r, c]
    for j in kp.range_constexpr(TILE // ROWS):
        for i in kp.range_constexpr(TILE // 32):
            tile[ty + j * ROWS, tx + i * 32] = held[j, i]
    kp.sync_threads()
    for j in kp.range_constexpr(TILE // ROWS):
        for i in kp.range_constexpr(TILE // 32):
            r, c = ty + j * ROWS, tx + i * 32
            if column * TILE + r < n and row * TILE + c < m:
                target[r, c] = tile[c, r]


@kp.jit(
    "transpose(x: Tensor([m, n], float32), out: Tensor([n, m], float32, mut)) where noalias(x, out)"
)
def transpose(x, out):
    """out = x.T. Never in place: another block may have overwritten what this one reads."""
    m, n = x.shape
    transpose_tiles(x, out).launch(
        grid=(kp.ceil_div(n, TILE), kp.ceil_div(m, TILE)), block=(32, ROWS)
    )
