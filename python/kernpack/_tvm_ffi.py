# SPDX-License-Identifier: Apache-2.0
"""Imports TVM-FFI, and leaves the process able to fork and then use CUDA.

TVM-FFI asks PyTorch, where that is installed, whether there is a GPU as it is imported. PyTorch
asks the CUDA driver, which no child of the process can use from then on, unless it is told to ask
NVML. Everything here imports `tvm_ffi` from this module. Where somebody else has imported it
before, or decided what PyTorch asks, nothing is done.
"""

from __future__ import annotations

import os
import sys

__all__ = ["tvm_ffi"]

_VARIABLE = "PYTORCH_NVML_BASED_CUDA_CHECK"
_is_ours = "tvm_ffi" not in sys.modules and _VARIABLE not in os.environ
if _is_ours:
    os.environ[_VARIABLE] = "1"
try:
    import tvm_ffi
finally:
    if _is_ours:
        del os.environ[_VARIABLE]
