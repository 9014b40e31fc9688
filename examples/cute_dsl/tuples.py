# SPDX-License-Identifier: Apache-2.0
"""Tuples as arguments: plain ones, and a NamedTuple, whose fields have names in messages too."""

from typing import NamedTuple

import kernpack as kp
import torch

from add_one import THREADS
from calls import called


@kp.kernel
def device_add(a, b, c):
    i = kp.block_idx()[0] * THREADS + kp.thread_idx()[0]
    if i < a.shape[0]:
        b[i] = a[i] + c


@kp.jit
def add_of_tuple(of):
    a, b, c = of
    assert a.shape == b.shape
    device_add(a, b, c).launch(grid=kp.ceil_div(a.shape[0], THREADS), block=THREADS)


class Sum(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor
    c: kp.float32


@kp.jit
def add_of_fields(of: Sum):
    assert of.a.shape == of.b.shape
    launch = kp.ceil_div(of.a.shape[0], THREADS)
    device_add(of.a, of.b, of.c).launch(grid=launch, block=THREADS)


def compiled() -> kp.Function:
    """The function of a tuple of two float32 vectors and a number."""
    vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))
    return kp.compile(add_of_tuple, (vector, vector, kp.float32))


def main() -> None:
    a, b = torch.arange(10.0), torch.empty(10)
    print(called(compiled(), (a, b, 5))[0][1])
    print(called(add_of_fields, Sum(a, b, 4))[0][1])


if __name__ == "__main__":
    main()
