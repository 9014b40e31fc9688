# SPDX-License-Identifier: Apache-2.0
"""A product of matrices in float32: tiles in shared memory, and a tile of 8 by 8 a thread."""

import kernpack as kp

BM, BN, BK = 128, 128, 16
TM, TN = 8, 8
THREADS = BM * BN // (TM * TN)


def load_tiles(a, b, held_a, held_b, row, column, step):
    """What a thread brings of the next tiles, four elements an access."""
    t = kp.thread_idx()[0]
    tile_a = kp.local_tile(a, (BM, BK), (row, step))
    tile_b = kp.local_tile(b, (BK, BN), (step, column))
    for i in kp.range_constexpr(BM * BK // 4 // THREADS):
        e = t + i * THREADS
        kp.autovec_copy(
            kp.local_tile(tile_a, (1, 4), (e // (BK // 4), e % (BK // 4))), held_a[None, i]
        )
    for i in kp.range_constexpr(BK * BN // 4 // THREADS):
        e = t + i * THREADS
        kp.autovec_copy(
            kp.local_tile(tile_b, (1, 4), (e // (BN // 4), e % (BN // 4))), held_b[None, i]
        )


def store_tiles(held_a, held_b, shared_a, shared_b):
    t = kp.thread_idx()[0]
    for i in kp.range_constexpr(BM * BK // 4 // THREADS):
        e = t + i * THREADS
        r, k = e // (BK // 4), e % (BK // 4) * 4
        for j in kp.range_constexpr(4):
            shared_a[k + j, r] = held_a[j, i]
    for i in kp.range_constexpr(BK * BN // 4 // THREADS):
        e = t + i * THREADS
        kp.autovec_copy(
            held_b[None, i], kp.local_tile(shared_b, (1, 4), (e // (BN // 4), e % (BN // 4)))
        )


@kp.kernel
def matmul_tiles(a, b, c):
    shared_a = kp.shared(kp.float32, kp.make_layout((BK, BM, 2), stride=(BM + 4, 1, BK * (BM + 4))))
    shared_b = kp.shared(kp.float32, kp.make_layout((BK, BN, 2), stride=(BN, 1, BK * BN)))
    column, row, _ = kp.block_idx()
    t = kp.thread_idx()[0]
    tx, ty = t % (BN // TN), t // (BN // TN)
    held_a = kp.make_rmem_tensor((4, BM * BK // 4 // THREADS), kp.float32)
    held_b = kp.make_rmem_tensor((4, BK * BN // 4 // THREADS), kp.float32)
    left = kp.make_rmem_tensor(TM, kp.float32)
    right = kp.make_rmem_tensor(TN, kp.float32)
    acc = kp.make_rmem_tensor((TM, TN), kp.float32)
    acc.fill(0)
    steps = a.shape[1] // BK
    load_tiles(a, b, held_a, held_b, row, column, 0)
    store_tiles(held_a, held_b, shared_a[None, None, 0], shared_b[None, None, 0])
    kp.sync_threads()
    for step in range(steps):
        now = step % 2
        if step + 1 < steps:
            load_tiles(a, b, held_a, held_b, row, column, step + 1)
        for k in kp.range_constexpr(BK):
            for i in kp.range_constexpr(TM // 4):
                kp.autovec_copy(
                    kp.local_tile(shared_a[k, None, now], (4,), (i * (BM // TM) + ty,)),
                    kp.local_tile(left, (4,), (i,)),
                )
            for j in kp.range_constexpr(TN // 4):
                kp.autovec_copy(
                    kp.local_tile(shared_b[k, None, now], (4,), (j * (BN // TN) + tx,)),
                    kp.local_tile(right, (4,), (j,)),
                )
            for i in kp.range_constexpr(TM):
                for j in kp.range_constexpr(TN):
                    acc[i, j] = kp.fma(left[i], right[j], acc[i, j])
        if step + 1 < steps:
            store_tiles(
                held_a, held_b, shared_a[None, None, 1 - now], shared_b[None, None, 1 - now]
            )
            kp.sync_threads()
    tile = kp.local_tile(c, (BM, BN), (row, column))
    for i in kp.range_constexpr(TM):
        for j in kp.range_constexpr(TN):
            r = i // 4 * (BM // TM * 4) + ty * 4 + i % 4
            s = j // 4 * (BN // TN * 4) + tx * 4 + j % 4
            tile[r, s] = acc[i, j]


@kp.jit(
    """
    matmul(
        a: Tensor([m, k], float32, align=16), b: Tensor([k, n], float32, align=16),
        c: Tensor([m, n], float32, align=16, mut)
    ) where m % 128 == 0, n % 128 == 0, k % 16 == 0, k >= 16, noalias(a, c), noalias(b, c)
    """
)
def matmul(a, b, c):
    """c = a @ b. Never in place: a block reads what others write."""
    m, n = c.shape
    matmul_tiles(a, b, c).launch(grid=(n // BN, m // BM), block=THREADS)
