# SPDX-License-Identifier: Apache-2.0
"""A kernel, and a function that launches it: called, compiled for what stands for tensors, and for
tensors whose dims lie in memory in another order.
"""

import kernpack as kp
import torch

from calls import called

THREADS = 128


@kp.kernel
def device_add_one(a, b):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < a.shape[0]:
        b[i] = a[i] + 1.0


@kp.jit
def add_one(a, b):
    assert a.shape == b.shape
    device_add_one(a, b).launch(grid=kp.ceil_div(a.shape[0], THREADS), block=THREADS)


def compiled() -> kp.Function:
    """The function of float32 vectors of any one length, which no array is needed for."""
    n = kp.sym_int("n")
    vector = kp.fake_compact_tensor(kp.float32, (n,))
    return kp.compile(add_one, vector, vector)


@kp.kernel
def device_add_planes(a, b):
    i, j, k = kp.thread_idx()
    b[i, j, k] = a[i, j, k] + 1.0


@kp.jit
def add_planes(a, b):
    assert a.shape == b.shape
    device_add_planes(a, b).launch(grid=1, block=a.shape)


def in_order(*stride_order: int) -> kp.Function:
    """The function of 2 by 3 by 4 tensors, of whose dims the one with the least number is the
    fastest: (0, 1, 2) is column-major, and (2, 1, 0) row-major.
    """
    planes = kp.fake_compact_tensor(kp.float32, (2, 3, 4), stride_order=stride_order)
    return kp.compile(add_planes, planes, planes)


def main() -> None:
    a, b = torch.arange(10.0), torch.empty(10)
    print(called(add_one, a, b)[1])
    print(called(compiled(), a, b)[1])
    for function in (in_order(0, 1, 2), in_order(2, 1, 0)):
        print(function.signature)


if __name__ == "__main__":
    main()
