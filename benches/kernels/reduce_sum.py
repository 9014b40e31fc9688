# SPDX-License-Identifier: Apache-2.0
"""A kernel with loops, shuffles and a barrier, whose build is measured."""

import kernpack as kp


@kp.kernel
def sum_rows(x, out, threads: kp.Constexpr):
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    tiles = kp.zipped_divide(x[row, None], (4,))
    acc = kp.float32(0)
    for i in range(t, tiles.shape[1], threads):
        acc += tiles[None, i].load().reduce(kp.add)
    acc = kp.block_reduction_sum(acc)
    if t == 0:
        out[row] = acc


@kp.jit(
    "reduce_sum(x: Tensor([m, n], float32, align=16), out: Tensor([m], float32, mut)) where n % 4 == 0"
)
def reduce_sum(x, out):
    sum_rows(x, out, 256).launch(grid=x.shape[0], block=256)
