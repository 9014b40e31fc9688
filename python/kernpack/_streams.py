# SPDX-License-Identifier: Apache-2.0
"""The streams of a GPU that launches of this thread go to, as frameworks tell them.

No framework is imported: PyTorch is asked where somebody has it in use with a GPU.
"""

from __future__ import annotations

import sys
from typing import Any, Sequence

from ._argument import CUDA
from ._tvm_ffi import tvm_ffi


def torch_with_gpu() -> Any:
    """PyTorch, where it is in use with a GPU; else None."""
    torch: Any = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def of_environment(number: int) -> int | None:
    """The environment's stream for the device of that number; None where TVM-FFI is too old to tell."""
    get: Any = getattr(tvm_ffi, "get_raw_stream", None)
    return None if get is None else int(get(tvm_ffi.device("cuda", number)) or 0)


def current(number: int) -> int:
    """The stream that calls launch on: PyTorch's current one, or that of the environment.

    `RuntimeError`: nobody tells.
    """
    torch = torch_with_gpu()
    if torch is not None:
        return int(torch.cuda.current_stream(number).cuda_stream)
    stream = of_environment(number)
    if stream is None:
        raise RuntimeError(
            "nothing is measured on a GPU, as this version of apache-tvm-ffi does not tell the "
            "stream of the environment: install a later one"
        )
    return stream


def device_of(tensors: Sequence[Any]) -> int | None:
    """The number of the GPU that a call is made on which is passed these, or returns them; None where
    it is on none.
    """
    for tensor in tensors:
        kind, number = tensor.__dlpack_device__()
        if int(kind) == CUDA:
            return int(number)
    # Of what a function has of its own nobody is told.
    torch = torch_with_gpu()
    return int(torch.cuda.current_device()) if torch is not None and not tensors else None
