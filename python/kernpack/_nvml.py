# SPDX-License-Identifier: Apache-2.0
"""The clocks of a GPU while something runs, and what holds them down, by NVIDIA's management library,
which comes with the driver. Numbers and names are those of `nvml.h`.
"""

from __future__ import annotations

import ctypes
import dataclasses

from ._driver import Device

# `CUdevice_attribute`s: where a device is on the bus.
_PCI_BUS, _PCI_DEVICE, _PCI_DOMAIN = 33, 34, 50

# `nvmlClockType_t`
_SM, _MEMORY = 1, 2

_REASONS = {
    0x2: "clocks that were set",
    0x4: "power",
    0x8: "a slowdown of the hardware",
    0x10: "other GPUs",
    0x20: "heat",
    0x40: "heat, by the hardware",
    0x80: "power, by the hardware",
    0x100: "clocks that were set for displays",
}
"""`nvmlClocksEventReason…`: what keeps clocks from being higher. That nothing runs is none of them."""


@dataclasses.dataclass(frozen=True)
class Clocks:
    """The clocks of a GPU while something was measured."""

    sm: tuple[int, int]
    """The least and the most that the multiprocessors' clock was seen to be, in MHz."""
    memory: tuple[int, int]
    """The same of the memory's clock."""
    limits: tuple[str, ...]
    """What held them down: `power`, `heat`, …; nothing where nothing did."""

    def __str__(self) -> str:
        sm, memory = (str(a) if a == b else f"{a} to {b}" for a, b in (self.sm, self.memory))
        held = f", held down by {' and '.join(self.limits)}" if self.limits else ""
        return f"multiprocessors {sm} MHz, memory {memory} MHz{held}"


class Watch:
    """Looks at the clocks of a device now and then."""

    def __init__(self, library: ctypes.CDLL, handle: ctypes.c_void_p) -> None:
        self._library, self._handle = library, handle
        self._sm: list[int] = []
        self._memory: list[int] = []
        self._reasons = 0

    def look(self) -> None:
        """Looks once."""
        for kind, seen in ((_SM, self._sm), (_MEMORY, self._memory)):
            clock = ctypes.c_uint(0)
            if self._library.nvmlDeviceGetClockInfo(self._handle, kind, ctypes.byref(clock)) == 0:
                seen.append(clock.value)
        reasons = ctypes.c_ulonglong(0)
        # The name that each version of the library has.
        ask = self._library.nvmlDeviceGetCurrentClocksThrottleReasons
        if ask(self._handle, ctypes.byref(reasons)) == 0:
            self._reasons |= reasons.value

    @property
    def seen(self) -> Clocks | None:
        """What was seen; None where the device tells nothing."""
        if not self._sm or not self._memory:
            return None
        limits = tuple(name for bit, name in _REASONS.items() if self._reasons & bit)
        ends = [(min(clocks), max(clocks)) for clocks in (self._sm, self._memory)]
        return Clocks(ends[0], ends[1], limits)


def watch(device: Device) -> Watch | None:
    """A watch of a device; None where there is no such library, or it does not know the device."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    place = [device.attribute(number) for number in (_PCI_DOMAIN, _PCI_BUS, _PCI_DEVICE)]
    bus = "{:08x}:{:02x}:{:02x}.0".format(*place).encode()
    handle = ctypes.c_void_p()
    is_known = (
        library.nvmlInit_v2() == 0
        and library.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(handle)) == 0
    )
    return Watch(library, handle) if is_known else None
