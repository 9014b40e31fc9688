# SPDX-License-Identifier: Apache-2.0
"""A small kernel, whose build is measured."""

import kernpack as kp


@kp.kernel
def add_one_elements(a, b):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    if i < a.shape[0]:
        b[i] = a[i] + 1


@kp.jit("add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))")
def add_one(a, b):
    add_one_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], 256), block=256)
