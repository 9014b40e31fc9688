# SPDX-License-Identifier: Apache-2.0
"""The softmax of each row. A row up to 16,384 elements stays in registers and is read once."""

import kernpack as kp

# The least finite float32. What is masked with minus infinity is less, and has no part in a sum.
LEAST = -3.4028234663852886e38


@kp.kernel
def softmax_registers(x, out, threads: kp.Constexpr, parts: kp.Constexpr):
    """A block a row; a thread has `parts` times four elements of it."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source = kp.zipped_divide(x[row, None], (4,))
    target = kp.zipped_divide(out[row, None], (4,))
    n = source.shape[1]
    held = kp.make_rmem_tensor((4, parts), kp.float32)
    for k in kp.range_constexpr(parts):
        i = t + k * threads
        if i < n:
            held[None, k].store(source[None, i].load())
        else:
            held[None, k].fill(-kp.float32.inf)
    most = kp.block_reduction_max(held.load().reduce(kp.max))
    held.store(kp.exp(held.load() - most))
    total = kp.block_reduction_sum(held.load().reduce(kp.add))
    scale = 1 / total
    for k in kp.range_constexpr(parts):
        i = t + k * threads
        if i < n:
            target[None, i].store(held[None, k].load() * scale)


@kp.kernel
def softmax_twice(x, out, threads: kp.Constexpr):
    """A block a row of any length, which is read twice."""
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    n = x.shape[1]
    most = LEAST
    total = kp.float32(0)
    for i in range(t, n, threads):
        value = x[row, i]
        if value > most:
            total = total * kp.exp(most - value) + 1
            most = value
        else:
            total += kp.exp(value - most)
    all_most = kp.block_reduction_max(most)
    total = kp.block_reduction_sum(total * kp.exp(most - all_most))
    scale = 1 / total
    for i in range(t, n, threads):
        out[row, i] = kp.exp(x[row, i] - all_most) * scale


@kp.jit(
    "softmax(x: Tensor([m, n], float32, align=16), out: Tensor([m, n], float32, align=16, mut)) where n >= 1"
)
def softmax(x, out):
    """out = softmax(x, dim=-1). Works in place."""
    m, n = x.shape
    if n % 4 == 0 and n <= 1024:
        softmax_registers(x, out, 64, 4).launch(grid=m, block=64)
    elif n % 4 == 0 and n <= 4096:
        softmax_registers(x, out, 128, 8).launch(grid=m, block=128)
    elif n % 4 == 0 and n <= 16384:
        softmax_registers(x, out, 256, 16).launch(grid=m, block=256)
    else:
        softmax_twice(x, out, 512).launch(grid=m, block=512)
