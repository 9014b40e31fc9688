# SPDX-License-Identifier: Apache-2.0
"""Calls that are refused, each with what it says; and launches that no GPU takes."""

from typing import Any, Iterator

import kernpack as kp
import torch

from add_one import add_one, device_add_one
from calls import DEVICE, called


def compiled() -> kp.Function:
    """The function of float32 vectors at multiples of 16 bytes, with a multiple of 16 elements."""
    n = kp.sym_int("n", divisibility=16)
    vector = kp.fake_tensor(kp.float32, (n,), align=16)
    return kp.compile(add_one, vector, vector)


def refused() -> Iterator[tuple[Any, ...]]:
    """Arguments that are refused."""
    a, b, long = (torch.zeros(n, device=DEVICE) for n in (128, 128, 129))
    yield a, 1  # no tensor
    yield a, b[:126]  # not as long as the other
    yield a[:126], b[:126]  # no multiple of 16 elements
    yield long[1:], long[1:]  # at no multiple of 16 bytes
    yield a, b.double()  # of another type
    yield a, b.reshape(8, 16)  # of another rank
    yield (a,)  # one too few


def said(function: Any, *args: Any) -> str:
    """What a call raises."""
    try:
        called(function, *args)
    except (TypeError, ValueError, RuntimeError, kp.CompileError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("the call was not refused")


@kp.jit
def too_many_threads(a, b):
    assert a.shape == b.shape
    device_add_one(a, b).launch(grid=1, block=4096)


@kp.jit
def as_many_threads(a, b, threads: kp.int32):
    assert a.shape == b.shape
    device_add_one(a, b).launch(grid=1, block=threads)


def main() -> None:
    function = compiled()
    for args in refused():
        print(said(function, *args))
    a, b = torch.zeros(10), torch.zeros(10)
    # What is known while compiling is told then, and else by the call.
    print(said(too_many_threads, a, b))
    print(said(as_many_threads, a, b, 4096))


if __name__ == "__main__":
    main()
