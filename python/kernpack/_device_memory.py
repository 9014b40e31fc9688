# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that Python itself asks the driver for: a buffer that a kernel fills for us.

Not here: results and workspaces of calls, which the package allocates.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Generator


def driver() -> ctypes.CDLL:
    """The driver of NVIDIA's GPUs; `RuntimeError` where there is none, or no device."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise RuntimeError(f"there is no GPU: the CUDA driver cannot be loaded: {error}") from None
    _try(library, "cuInit", 0)
    count = ctypes.c_int(0)
    _try(library, "cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        raise RuntimeError("there is no GPU: the CUDA driver sees none")
    return library


def _try(library: ctypes.CDLL, name: str, *args: Any) -> None:
    status = getattr(library, name)(*args)
    if status != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorName(status, ctypes.byref(text))
        why = (text.value or b"an error").decode()
        raise RuntimeError(f"{name} failed with {why} ({status})")


class Buffer:
    """Memory of a device, with this in it at first."""

    def __init__(self, library: ctypes.CDLL, context: ctypes.c_void_p, content: bytes) -> None:
        self._library, self._context = library, context
        address, size = ctypes.c_uint64(0), ctypes.c_size_t(len(content))
        with self._current():
            _try(library, "cuMemAlloc_v2", ctypes.byref(address), size)
            self.address = address.value
            _try(library, "cuMemcpyHtoD_v2", address, content, size)
            # Streams of others do not wait for copies.
            _try(library, "cuCtxSynchronize")

    def read(self, n_bytes: int) -> bytes:
        """Its first bytes, once all that was launched is done."""
        content = ctypes.create_string_buffer(n_bytes)
        with self._current():
            _try(self._library, "cuCtxSynchronize")
            size = ctypes.c_size_t(n_bytes)
            _try(self._library, "cuMemcpyDtoH_v2", content, ctypes.c_uint64(self.address), size)
        return content.raw

    def free(self) -> None:
        """Gives it back. What is wrong with the device was raised by whoever waited for it."""
        with self._current():
            self._library.cuMemFree_v2(ctypes.c_uint64(self.address))

    @contextlib.contextmanager
    def _current(self) -> Generator[None, None, None]:
        """Has the device's context current in this thread meanwhile."""
        _try(self._library, "cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


@contextlib.contextmanager
def buffer(library: ctypes.CDLL, device: int, content: bytes) -> Generator[Buffer, None, None]:
    """A buffer on the device of that number."""
    handle, context = ctypes.c_int(0), ctypes.c_void_p()
    _try(library, "cuDeviceGet", ctypes.byref(handle), device)
    _try(library, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    try:
        made = Buffer(library, context, content)
        try:
            yield made
        finally:
            made.free()
    finally:
        library.cuDevicePrimaryCtxRelease_v2(handle)
