# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that Python itself asks the driver for: a buffer that a kernel fills for us, and
copies of what calls write.

Not here: results and workspaces of calls, which the package allocates.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Generator, Sequence

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


class Copies:
    """Copies of spans of memory, from which these are restored on a stream: addresses with numbers of
    bytes, which may overlap.
    """

    def __init__(self, of: Device, stream: int, spans: Sequence[tuple[int, int]]) -> None:
        self._device, self._stream = of, ctypes.c_void_p(stream)
        self._copied: list[tuple[int, int, int]] = []
        try:
            for address, n_bytes in _joined(spans):
                self._copied.append((address, of.allocate(n_bytes), n_bytes))
        except RuntimeError:
            self.free()
            raise
        for address, kept, n_bytes in self._copied:
            self._copy(kept, address, n_bytes)

    def restore(self) -> None:
        """Has the spans hold what they held."""
        for address, kept, n_bytes in self._copied:
            self._copy(address, kept, n_bytes)

    def _copy(self, to: int, source: int, n_bytes: int) -> None:
        places = ctypes.c_uint64(to), ctypes.c_uint64(source)
        self._device.do("cuMemcpyDtoDAsync_v2", *places, ctypes.c_size_t(n_bytes), self._stream)

    def free(self) -> None:
        """Gives the copies back, which are none then."""
        for _, kept, _ in self._copied:
            self._device.free(kept)
        self._copied = []


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same memory by spans of which none overlaps another one."""
    joined: list[tuple[int, int]] = []
    for address, n_bytes in sorted(spans):
        begin, size = joined[-1] if joined else (0, 0)
        if joined and address <= begin + size:
            joined[-1] = begin, max(size, address + n_bytes - begin)
        else:
            joined.append((address, n_bytes))
    return joined
