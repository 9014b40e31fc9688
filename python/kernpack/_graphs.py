# SPDX-License-Identifier: Apache-2.0
"""Whether a call is being captured into a CUDA graph: by PyTorch, or by whoever has captured the
stream that launches go to.

No framework is imported, and no driver loaded: who captures has done both. Not here: how captured
launches are submitted, which is the packages' own business.
"""

from __future__ import annotations

import ctypes
import os

from ._streams import of_environment, torch_with_gpu

_ACTIVE = 1
"""`CU_STREAM_CAPTURE_STATUS_ACTIVE`"""


def is_capturing() -> bool:
    """Whether what this thread launches now would be captured."""
    torch = torch_with_gpu()
    if torch is not None and torch.cuda.is_current_stream_capturing():
        return True
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    device, status = ctypes.c_int(), ctypes.c_int()
    if driver.cuCtxGetDevice(ctypes.byref(device)) != 0:
        return False
    stream = of_environment(device.value)
    if stream is None:
        return False
    is_told = driver.cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status)) == 0
    return is_told and status.value == _ACTIVE
