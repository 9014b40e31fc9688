# SPDX-License-Identifier: Apache-2.0
"""Calls of these examples: on the GPU where there is one, and on the interpreter where there is
none. What the examples are about stands in the other files.
"""

from typing import Any

import torch


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def on_device(value: Any) -> Any:
    """A tensor, or those of a tuple, on the GPU where there is one."""
    if type(value) is tuple:
        return tuple(on_device(part) for part in value)
    if isinstance(value, tuple):
        return type(value)(*map(on_device, value))
    return value.to(DEVICE) if isinstance(value, torch.Tensor) else value


def called(function: Any, *args: Any) -> Any:
    """The arguments as a call leaves them. The interpreter, which looks at each access of each
    thread, raises what it finds.
    """
    if not torch.cuda.is_available():
        return function.check(*args, strict=True).arguments
    args = on_device(args)
    function(*args)
    torch.cuda.synchronize()
    return args
