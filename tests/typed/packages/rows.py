# SPDX-License-Identifier: Apache-2.0
"""Kernels that are right, and some that are not."""

import kernpack as kp

THREADS = 32


@kp.kernel
def sum_rows(x, out, scale):
    row = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if row < x.shape[0]:
        total = kp.float32(0)
        for column in range(x.shape[1]):
            total += x[row, column]
        out[row] = total * scale


@kp.jit("row_sums(x: Tensor([m, n], float32), scale: float32 = 1.0) -> out: Tensor([m], float32)")
def row_sums(x, scale, out):
    sum_rows(x, out, scale).launch(grid=kp.ceil_div(x.shape[0], THREADS), block=THREADS)


@kp.kernel
def split(x, whole, rest):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < x.shape[0]:
        whole[i] = kp.floor(x[i])
        rest[i] = x[i] - kp.floor(x[i])


@kp.jit("parts(x: Tensor([n], float32)) -> whole: Tensor([n], float32), rest: Tensor([n], float32)")
def parts(x, whole, rest):
    split(x, whole, rest).launch(grid=kp.ceil_div(x.shape[0], THREADS), block=THREADS)


@kp.kernel
def double(x):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < x.shape[0]:
        x[i] = x[i] * 2


@kp.jit("double_all(x: Tensor([n], T, mut, strides=[_])) where T in {float32, int32}")
def double_all(x):
    double(x).launch(grid=kp.ceil_div(x.shape[0], THREADS), block=THREADS)


@kp.kernel
def shift(x):
    i = kp.thread_idx()[0]
    if i + 1 < x.shape[0]:
        x[i] = x[i + 1]


@kp.jit("shifted(x: Tensor([n], float32, mut)) where n <= 1024")
def shifted(x):
    shift(x).launch(grid=1, block=1024)


@kp.kernel
def overrun(x):
    x[kp.thread_idx()[0] + 1] = kp.float32(1)


@kp.jit("overrunning(x: Tensor([n], float32, mut))")
def overrunning(x):
    overrun(x).launch(grid=1, block=32)


@kp.kernel
def begin(out):
    if kp.thread_idx()[0] == 0:
        out[0] = kp.float32(1)


@kp.jit("half_written(n: int32) -> out: Tensor([n], float32)")
def half_written(n, out):
    begin(out).launch(grid=1, block=32)
