# SPDX-License-Identifier: Apache-2.0
"""The cross entropy of each row of logits with its label, and its gradient. Computed in float32."""

import kernpack as kp
from rows import hold, part, room, vectors, width_of, write
from softmax import LEAST, grown, power

# The threads of a block for ever longer rows, how many vectors each has at once, and how often.
FORWARD = (64, 128, 256)
PARTS, TIMES = 4, 4
# For gradients a block has a part of a row: its threads, and how many vectors of ever longer rows
# each has.
THREADS_BACKWARD, BACKWARD = 256, (2, 4)


@kp.kernel
def losses(
    logits,
    labels,
    loss,
    lse,
    ignore_index,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    width: kp.Constexpr,
):
    """A block a row of any length, which is read once."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source = vectors(logits, row, width)
    held = room(logits.element_type, width, threads, parts)
    most, total = LEAST, kp.float32(0)
    for first in range(t, source.shape[1], threads * parts):
        hold(held, source, first, threads, beyond=-logits.element_type.inf)
        most, total = grown(most, total, held.load().to(kp.float32))
    all_most = kp.block_reduction_max(most)
    total = kp.block_reduction_sum(total * power(most - all_most))
    if t == 0:
        whole = all_most + kp.log(total)
        lse[row] = whole
        label = kp.int64(labels[row])
        loss[row] = 0 if label == ignore_index else whole - kp.float32(logits[row, label])


@kp.jit(
    """
    cross_entropy(
        logits: Tensor([m, n], T, align=16), labels: Tensor([m], L),
        loss: Tensor([m], float32, mut), lse: Tensor([m], float32, mut), ignore_index: int64 = -100
    ) where T in {float16, bfloat16, float32}, L in {int32, int64}, n >= 1,
        noalias(logits, loss), noalias(logits, lse), noalias(labels, loss), noalias(labels, lse)
    """
)
def cross_entropy(logits, labels, loss, lse, ignore_index):
    """lse = logsumexp(logits, dim=-1); loss = lse - logits[label], and 0 where that is ignored."""
    m, n = logits.shape
    width = width_of(logits)
    if n % width == 0:
        for threads in FORWARD:
            if n <= TIMES * threads * PARTS * width or threads == FORWARD[len(FORWARD) - 1]:
                losses(logits, labels, loss, lse, ignore_index, threads, PARTS, width).launch(
                    grid=m, block=threads
                )
                return
    losses(logits, labels, loss, lse, ignore_index, FORWARD[0], PARTS, 1).launch(
        grid=m, block=FORWARD[0]
    )


@kp.kernel
def logit_gradients(
    logits,
    labels,
    lse,
    dloss,
    dlogits,
    ignore_index,
    threads: kp.Constexpr,
    parts: kp.Constexpr,
    width: kp.Constexpr,
):
    """A block a part of a row."""
    blocks = kp.ceil_div(logits.shape[1], threads * parts * width)
    row, block = kp.block_idx()[0] // blocks, kp.block_idx()[0] % blocks
    first = block * threads * parts + kp.thread_idx()[0]
    target = vectors(dlogits, row, width)
    held = room(logits.element_type, width, threads, parts)
    hold(held, vectors(logits, row, width), first, threads)
    label = kp.int64(labels[row])
    by = 0 if label == ignore_index else dloss[row]
    share = kp.make_rmem_tensor((width,), kp.float32)
    for k in kp.range_constexpr(parts):
        i = first + k * threads
        share.store(power(part(held, k) - lse[row]))
        if i * width <= label < (i + 1) * width:
            for j in kp.range_constexpr(width):
                share[j] -= 1.0 if i * width + j == label else 0.0
        write(target, i, share.load() * by)


@kp.jit(
    """
    cross_entropy_backward(
        logits: Tensor([m, n], T, align=16), labels: Tensor([m], L), lse: Tensor([m], float32),
        dloss: Tensor([m], float32), dlogits: Tensor([m, n], T, align=16, mut),
        ignore_index: int64 = -100
    ) where T in {float16, bfloat16, float32}, L in {int32, int64},
        noalias(labels, dlogits), noalias(lse, dlogits), noalias(dloss, dlogits)
    """
)
def cross_entropy_backward(logits, labels, lse, dloss, dlogits, ignore_index):
    """dlogits = (softmax(logits) - one_hot(label)) * dloss, and 0 where that is ignored. Works in
    place."""
    m, n = logits.shape
    width = width_of(logits)
    if n % width != 0:
        width = 1
    threads = THREADS_BACKWARD
    for parts in BACKWARD:
        if n <= threads * parts * width or parts == BACKWARD[len(BACKWARD) - 1]:
            logit_gradients(
                logits, labels, lse, dloss, dlogits, ignore_index, threads, parts, width
            ).launch(grid=m * kp.ceil_div(n, threads * parts * width), block=threads)
            return
