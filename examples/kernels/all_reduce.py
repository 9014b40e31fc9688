# SPDX-License-Identifier: Apache-2.0
"""An all-reduce in one shot over two GPUs: each adds what both have, which it reads in the memory of
the other. Computed in float32."""

import kernpack as kp

RANKS = 2
THREADS = 512
# The elements of a vector: 16 bytes of bfloat16.
WIDTH = 8


def meet(flags, rank, epoch):
    """Waits until this block has come to the epoch on every rank, and sees what they did before.

    `flags[rank][block, r]` is the epoch that rank `r` has come to. Epochs are counted round: of two,
    the later one is less than half of all ahead.
    """
    block, t = kp.block_idx()[0], kp.thread_idx()[0]
    kp.sync_threads()
    for r in kp.range_constexpr(RANKS):
        if t == r:
            kp.atomic_store(flags[r], (block, rank), epoch, order="release", scope="sys")
    for r in kp.range_constexpr(RANKS):
        if rank == r and t < RANKS:
            while kp.atomic_load(flags[r], (block, t), order="acquire", scope="sys") - epoch < 0:
                pass
    kp.sync_threads()


@kp.kernel
def sum_ranks(xs, flags, out, rank):
    block, t = kp.block_idx()[0], kp.thread_idx()[0]
    epoch = kp.int32(0)
    for r in kp.range_constexpr(RANKS):
        if rank == r:
            epoch = flags[r][block, RANKS]
    meet(flags, rank, epoch + 1)
    for i in range(block * THREADS + t, out.shape[1], kp.grid_dim()[0] * THREADS):
        total = xs[0][None, i].load().to(kp.float32)
        for r in kp.range_constexpr(1, RANKS):
            total += xs[r][None, i].load().to(kp.float32)
        out[None, i].store(total.to(out.element_type))
    # Nobody writes what others may still read.
    meet(flags, rank, epoch + 2)
    for r in kp.range_constexpr(RANKS):
        if rank == r and t == 0:
            flags[r][block, RANKS] = epoch + 2


@kp.jit(
    """
    all_reduce(
        out: Tensor([n], T, align=16, mut),
        xs: Tuple(Tensor([n], T, align=16, peer), Tensor([n], T, align=16, peer)),
        flags: Tuple(Tensor([b, 3], int32, peer, mut), Tensor([b, 3], int32, peer, mut)),
        rank: int32
    ) where T in {float32, bfloat16}, n % 8 == 0, rank >= 0, rank < 2, b > 0,
        noalias(xs[0], out), noalias(xs[1], out)
    """
)
def all_reduce(out, xs, flags, rank):
    """out = xs[0] + xs[1], the same bits on both ranks.

    Rank `r` owns `xs[r]` and `flags[r]`, and `flags` are zeros before the first call. Each rank
    makes the call on its device, with the same `xs` and `flags`; behind it, it may write its `x`.
    `out` comes first: the stream of a call is that of its first tensor's device.
    """
    n, blocks = out.shape[0] // WIDTH, flags[0].shape[0]
    x, y = kp.zipped_divide(xs[0], (WIDTH,)), kp.zipped_divide(xs[1], (WIDTH,))
    sum_ranks((x, y), flags, kp.zipped_divide(out, (WIDTH,)), rank).launch(
        grid=kp.min(kp.ceil_div(n, THREADS), blocks), block=THREADS
    )
