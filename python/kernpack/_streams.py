# SPDX-License-Identifier: Apache-2.0
"""The streams of a GPU that launches of this thread go to, as frameworks tell them.

No framework is imported: PyTorch is asked where somebody has it in use with a GPU.
"""

from __future__ import annotations

import sys
from typing import Any

from ._tvm_ffi import tvm_ffi


def torch_with_gpu() -> Any:
    """PyTorch, where it is in use with a GPU; else None."""
    torch: Any = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def of_environment(number: int) -> int | None:
    """The environment's stream for the device of that number; None where TVM-FFI is too old to tell."""
    get: Any = getattr(tvm_ffi, "get_raw_stream", None)
    return None if get is None else int(get(tvm_ffi.device("cuda", number)) or 0)
