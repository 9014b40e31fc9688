# SPDX-License-Identifier: Apache-2.0
"""Functions of the language that are written in it. Packed functions call them by their rows."""

import kernpack as kp

THREADS = 256
EACH = 8


@kp.kernel
def write_zeros(x):
    first = kp.int64(kp.block_idx()[0]) * (THREADS * EACH) + kp.thread_idx()[0]
    for turn in kp.range_constexpr(EACH):
        i = first + turn * THREADS
        if i < x.shape[0]:
            x[i] = 0


def clear(x):
    n = kp.size(x)
    flat = kp.view(x, kp.make_layout(n))
    write_zeros(flat).launch(grid=kp.ceil_div(n, THREADS * EACH), block=THREADS)
