# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that Python itself asks the driver for: a buffer that a kernel fills for us.

Not here: results and workspaces of calls, which the package allocates.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Generator

from ._driver import Device, device


class Buffer:
    """Memory of a device, with this in it at first."""

    def __init__(self, of: Device, content: bytes) -> None:
        self._device, self.address = of, of.allocate(len(content))
        size = ctypes.c_size_t(len(content))
        of.do("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), content, size)
        # Streams of others do not wait for copies.
        of.do("cuCtxSynchronize")

    def read(self, n_bytes: int) -> bytes:
        """Its first bytes, once all that was launched is done."""
        content = ctypes.create_string_buffer(n_bytes)
        self._device.do("cuCtxSynchronize")
        size = ctypes.c_size_t(n_bytes)
        self._device.do("cuMemcpyDtoH_v2", content, ctypes.c_uint64(self.address), size)
        return content.raw

    def free(self) -> None:
        """Gives it back."""
        self._device.free(self.address)


@contextlib.contextmanager
def buffer(library: ctypes.CDLL, number: int, content: bytes) -> Generator[Buffer, None, None]:
    """A buffer on the device of that number."""
    with device(library, number) as of:
        made = Buffer(of, content)
        try:
            yield made
        finally:
            made.free()
