# SPDX-License-Identifier: Apache-2.0
"""The driver of NVIDIA's GPUs, for the little that Python itself asks of it: functions by their names,
and what they fail with.

Not here: launches, and the memory of calls, which are the packages' own business.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Generator

_RELAXED = 2
"""`CU_STREAM_CAPTURE_MODE_RELAXED`"""


def driver() -> ctypes.CDLL:
    """The driver; `RuntimeError` where there is none, or no device."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise RuntimeError(f"there is no GPU: the CUDA driver cannot be loaded: {error}") from None
    attempt(library, "cuInit", 0)
    count = ctypes.c_int(0)
    attempt(library, "cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        raise RuntimeError("there is no GPU: the CUDA driver sees none")
    return library


def attempt(library: ctypes.CDLL, name: str, *args: Any) -> None:
    """Calls a function of the driver; `RuntimeError` with the name of the error where it fails."""
    status = getattr(library, name)(*args)
    if status != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorName(status, ctypes.byref(text))
        why = (text.value or b"an error").decode()
        raise RuntimeError(f"{name} failed with {why} ({status})")


class Device:
    """A device whose primary context is held."""

    def __init__(
        self, library: ctypes.CDLL, handle: ctypes.c_int, context: ctypes.c_void_p
    ) -> None:
        self._library, self._handle, self._context = library, handle, context

    def do(self, name: str, *args: Any) -> None:
        """Calls a function of the driver, with the device's context current in this thread meanwhile."""
        with self._current():
            attempt(self._library, name, *args)

    def allocate(self, n_bytes: int) -> int:
        """The address of new memory of the device."""
        address = ctypes.c_uint64(0)
        self.do("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(n_bytes))
        return address.value

    def free(self, address: int) -> None:
        """Gives memory back."""
        self.give_back("cuMemFree_v2", ctypes.c_uint64(address))

    def give_back(self, name: str, what: Any) -> None:
        """Has the driver end something. What is wrong with the device was raised by whoever waited
        for it.
        """
        with contextlib.suppress(RuntimeError):
            self.do(name, what)

    def attribute(self, number: int) -> int:
        """What the device says of itself by a number of `CUdevice_attribute`."""
        value = ctypes.c_int(0)
        attempt(self._library, "cuDeviceGetAttribute", ctypes.byref(value), number, self._handle)
        return value.value

    @property
    def name(self) -> str:
        """Its name, as `NVIDIA H200`."""
        text = ctypes.create_string_buffer(256)
        attempt(self._library, "cuDeviceGetName", text, len(text), self._handle)
        return text.value.decode()

    @contextlib.contextmanager
    def _current(self) -> Generator[None, None, None]:
        attempt(self._library, "cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


@contextlib.contextmanager
def device(library: ctypes.CDLL, number: int) -> Generator[Device, None, None]:
    """The device of that number, with its primary context held meanwhile. A graph that another thread
    captures stays whole, whatever this one does.
    """
    handle, context = ctypes.c_int(0), ctypes.c_void_p()
    attempt(library, "cuDeviceGet", ctypes.byref(handle), number)
    attempt(library, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    mode = ctypes.c_int(_RELAXED)
    library.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    try:
        yield Device(library, handle, context)
    finally:
        library.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        library.cuDevicePrimaryCtxRelease_v2(handle)
