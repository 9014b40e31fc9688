# SPDX-License-Identifier: Apache-2.0
"""Element by element, tensors of any rank, with the function passed in."""

import kernpack as kp

THREADS = 256


@kp.kernel
def map_vectors(f: kp.Constexpr, x, out):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < x.shape[1]:
        out[None, i].store(f(x[None, i].load()))


@kp.kernel
def map_scalars(f: kp.Constexpr, x, out):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < x.shape[0]:
        out[i] = f(x[i])


def apply(f: kp.Constexpr, x, out):
    n = x.shape[0]
    if n % 4 == 0:
        vx, vout = kp.zipped_divide(x, (4,)), kp.zipped_divide(out, (4,))
        map_vectors(f, vx, vout).launch(grid=kp.ceil_div(n // 4, THREADS), block=THREADS)
    else:
        map_scalars(f, x, out).launch(grid=kp.ceil_div(n, THREADS), block=THREADS)


def square_plus_one(v):
    return v * v + 1


@kp.jit("relu(x: Tensor([*s], float32, align=16), out: Tensor([*s], float32, align=16, mut))")
def relu(x, out):
    """out = max(x, 0). Works in place."""
    apply(lambda v: kp.max(v, 0), x, out)


@kp.jit("poly(x: Tensor([*s], float32, align=16), out: Tensor([*s], float32, align=16, mut))")
def poly(x, out):
    """out = x * x + 1. Works in place."""
    apply(square_plus_one, x, out)
