# SPDX-License-Identifier: Apache-2.0
"""Kernels that assert as they run, and one of them without its assertions."""

import kernpack as kp


@kp.kernel
def halve_elements(x, y):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    assert x[i] >= 0.0, f"x[{i}] is {x[i]}"
    kp.sync_threads()
    y[i] = x[i] * 0.5


@kp.jit("halved(x: Tensor([n], float32), y: Tensor([n], float32, mut)) where n % 256 == 0")
def halved(x, y):
    halve_elements(x, y).launch(grid=x.shape[0] // 256, block=256)


@kp.jit(
    "bare(x: Tensor([n], float32), y: Tensor([n], float32, mut)) where n % 256 == 0", asserts=False
)
def bare(x, y):
    halve_elements(x, y).launch(grid=x.shape[0] // 256, block=256)


@kp.kernel
def show_numbers(a, b, c, d):
    assert a < 0, f"{a} {b} {c} {d}"


@kp.jit("shown(a: int8, b: uint64, c: float64, d: bool)")
def shown(a, b, c, d):
    show_numbers(a, b, c, d).launch(grid=1, block=1)
