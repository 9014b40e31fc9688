# SPDX-License-Identifier: Apache-2.0
"""The functions of `kernels.so`. With kernpack they take keywords, and NumPy's arrays where they
allocate.
"""

from pathlib import Path
from typing import Any

try:
    from kernpack import load_module
except ImportError:
    from tvm_ffi import load_module  # pyright: ignore[reportUnknownVariableType]

_module = load_module(str(Path(__file__).with_name("kernels.so")))


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
