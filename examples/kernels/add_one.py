# SPDX-License-Identifier: Apache-2.0
"""b = a + 1, with accesses of 16 bytes where the length allows them."""

import kernpack as kp

THREADS = 256


@kp.kernel
def add_one_vectors(a, b):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < a.shape[1]:
        b[None, i].store(a[None, i].load() + 1)


@kp.kernel
def add_one_scalars(a, b):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < a.shape[0]:
        b[i] = a[i] + 1


@kp.jit("add_one(a: Tensor([n], float32, align=16), b: Tensor([n], float32, align=16, mut))")
def add_one(a, b):
    """b = a + 1. Works in place."""
    n = a.shape[0]
    if n % 4 == 0:
        va, vb = kp.zipped_divide(a, (4,)), kp.zipped_divide(b, (4,))
        add_one_vectors(va, vb).launch(grid=kp.ceil_div(n // 4, THREADS), block=THREADS)
    else:
        add_one_scalars(a, b).launch(grid=kp.ceil_div(n, THREADS), block=THREADS)
