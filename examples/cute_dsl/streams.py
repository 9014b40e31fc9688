# SPDX-License-Identifier: Apache-2.0
"""Launches on a stream that is an argument, and on the one that the environment has."""

from typing import Any

import kernpack as kp
import torch

from add_one import THREADS, device_add_one
from calls import called, on_device


@kp.jit
def add_one_on(a, b, stream):
    assert a.shape == b.shape
    launch = kp.ceil_div(a.shape[0], THREADS)
    device_add_one(a, b).launch(grid=launch, block=THREADS, stream=stream)


def compiled(stream: Any) -> kp.Function:
    """The function for a stream, which is `kp.fake_stream()`, or `kp.fake_stream(env=True)` where
    no caller passes one.
    """
    vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))
    return kp.compile(add_one_on, vector, vector, stream)


def main() -> None:
    a, b = on_device((torch.arange(10.0), torch.empty(10)))
    if torch.cuda.is_available():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        compiled(kp.fake_stream())(a, b, side)
        # PyTorch's stream is the environment's, in functions without a stream too.
        with torch.cuda.stream(side):
            compiled(kp.fake_stream(env=True))(a, b)
        side.synchronize()
    else:
        # None is the default stream.
        called(compiled(kp.fake_stream()), a, b, None)
        b = called(compiled(kp.fake_stream(env=True)), a, b)[1]
    print(b)


if __name__ == "__main__":
    main()
