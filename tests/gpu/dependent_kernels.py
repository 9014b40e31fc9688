# SPDX-License-Identifier: Apache-2.0
"""Chains of ten small kernels, each of which reads what the one in front of it has written: launched
to begin before that has ended, and behind its end.
"""

import kernpack as kp

BLOCK = 256
N_LAUNCHES = 10
# The oldest that has dependent launches.
ARCH = "compute_90"


@kp.kernel
def scale_and_add(x, w, y):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        weight = w[i]
        kp.griddepcontrol_wait()
        value = x[i] * weight + 1.0
        kp.griddepcontrol_launch_dependents()
        y[i] = value


@kp.jit(
    "dependent(x: Tensor([n], float32, mut), w: Tensor([n], float32), y: Tensor([n], float32, mut)) where noalias(x, y)",
    arch=ARCH,
)
def dependent(x, w, y):
    grid = kp.ceil_div(x.shape[0], BLOCK)
    for _ in kp.range_constexpr(N_LAUNCHES // 2):
        scale_and_add(x, w, y).launch(grid=grid, block=BLOCK, pdl=("w",))
        scale_and_add(y, w, x).launch(grid=grid, block=BLOCK, pdl=("w",))


@kp.jit(
    "behind(x: Tensor([n], float32, mut), w: Tensor([n], float32), y: Tensor([n], float32, mut)) where noalias(x, y)",
    arch=ARCH,
)
def behind(x, w, y):
    grid = kp.ceil_div(x.shape[0], BLOCK)
    for _ in kp.range_constexpr(N_LAUNCHES // 2):
        scale_and_add(x, w, y).launch(grid=grid, block=BLOCK)
        scale_and_add(y, w, x).launch(grid=grid, block=BLOCK)


@kp.jit(
    "mixed(x: Tensor([n], float32, mut), w: Tensor([n], float32), y: Tensor([n], float32, mut)) where noalias(x, y)",
    arch=ARCH,
)
def mixed(x, w, y):
    """Each third launch begins when all in front of it have ended."""
    grid = kp.ceil_div(x.shape[0], BLOCK)
    for turn in kp.range_constexpr(N_LAUNCHES // 2):
        first = False if turn % 3 == 0 else ("w",)
        second = False if turn % 3 == 1 else ("w",)
        scale_and_add(x, w, y).launch(grid=grid, block=BLOCK, pdl=first)
        scale_and_add(y, w, x).launch(grid=grid, block=BLOCK, pdl=second)


def expected(x, w):
    """The numbers that either chain leaves in `x`: each operation is rounded by itself."""
    for _ in range(N_LAUNCHES):
        x = x * w + 1.0
    return x
