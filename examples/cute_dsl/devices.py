# SPDX-License-Identifier: Apache-2.0
"""The device that a call runs on: that of its tensors, wherever the current one is."""

import torch

from add_one import add_one
from calls import called


def on_each() -> list[torch.Tensor]:
    """The same call on each GPU; on the interpreter, where there is none."""
    if not torch.cuda.is_available():
        return [called(add_one, torch.arange(10.0), torch.empty(10))[1]]
    left = []
    for index in range(torch.cuda.device_count()):
        a = torch.arange(10.0, device=f"cuda:{index}")
        b = torch.empty_like(a)
        add_one(a, b)
        assert torch.cuda.current_device() == 0
        left.append(b)
    return left


def main() -> None:
    for b in on_each():
        print(b)


if __name__ == "__main__":
    main()
