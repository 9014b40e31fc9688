# SPDX-License-Identifier: Apache-2.0
"""Clocks by which calls are timed: a device's, by events on the stream that the calls launch on, and
the host's.

A clock times a *round*: several calls, one behind another, each by itself. Where caches are to be
cold, so much memory is written and read in front of each call that nothing else is left in them, and
next to nothing that has to be written back first, in the time of the call; where they are to be warm,
the same call runs in front of it.

On a device nothing may run dry: what is timed is submitted while the device still writes that memory,
and so it writes for as long as the host takes. Not here: which calls a round has, and what becomes of
the numbers (`_bench.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import math
import time
from typing import Any, Callable, Generator, NamedTuple, Protocol, Sequence

from ._argument import leaves
from ._driver import Device

Call = Callable[[], Any]

COLD, WARM = "cold", "warm"

_L2_BYTES = 38
"""`CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE`"""
_LAST_LEVEL = "/sys/devices/system/cpu/cpu0/cache/index3/size"
"""Where Linux says how large the last level of the host's cache is: `32768K`."""
_LEAST_BYTES = 32 << 20
"""So much is written at least for caches to be cold: who does not know a cache's size says 0."""
_N_PIECES = 32
"""It is read in so many pieces, by copies to the first of them, which is all that stays written."""
_DEVICE_SECONDS = 20e-6
"""A warm call is made so often that it takes this long: events tell half a microsecond."""
_HOST_SECONDS = 200e-6
"""The same on the host, whose clock takes some of the time itself."""
_MOST_CALLS, _MOST_CALLS_ON_HOST = 100, 10_000
_MARGIN = 2.0
"""The device is kept busy for so many times as long as the host is seen to take."""
_MOST_WRITES = 1000


class Clock(Protocol):
    """What times calls."""

    name: str
    """What it is, for whoever reads a figure."""

    def know(self, call: Call) -> None:
        """Makes a call for the first times, and learns how often a round makes it."""
        ...

    def round(self, calls: Sequence[Call], meanwhile: Call) -> list[float]:
        """Times calls one behind another: how many seconds each takes. Something is done `meanwhile`."""
        ...

    def copy(self, n_bytes: int) -> contextlib.AbstractContextManager[Call | None]:
        """A call that reads half as many bytes and writes them elsewhere; None where there is no
        room for that.
        """
        ...


class _Plan(NamedTuple):
    """How a call is timed on a device."""

    n_calls: int
    n_writes: int
    """How often memory is written in front of it."""


class DeviceClock:
    """The clock of a device, for calls on a stream. `restore` is done in front of each, and takes no
    part in its time; of calls with warm caches a round has several in a row.
    """

    def __init__(
        self, device: Device, stream: int, caches: str, restore: Call = lambda: None
    ) -> None:
        self.name = device.name
        self._restore = restore
        self._device, self._stream = device, ctypes.c_void_p(stream)
        self._is_warm = caches == WARM
        self._plans: dict[int, _Plan] = {}
        self._events: list[ctypes.c_void_p] = []
        self._n_bytes = max(2 * device.attribute(_L2_BYTES), _LEAST_BYTES)
        self._memory = device.allocate(self._n_bytes)

    def close(self) -> None:
        """Gives back what it holds of the device."""
        for event in self._events:
            self._device.give_back("cuEventDestroy_v2", event)
        self._device.free(self._memory)

    def know(self, call: Call) -> None:
        """See `Clock`."""
        self._restore()
        call()
        self.wait()
        host = min(self._submitted(call) for _ in range(3))
        # The first writes take longer: of a device that was idle, and of memory that is new.
        written = min(self._between(lambda: self._write(4)) for _ in range(3)) / 4
        plan = _Plan(1, self._writes(2 * host, written))
        if self._is_warm:
            self._plans[id(call)] = plan
            [took] = self.round([call], lambda: None)
            n_calls = min(max(math.ceil(_DEVICE_SECONDS / max(took, 1e-6)), 1), _MOST_CALLS)
            plan = _Plan(n_calls, self._writes((n_calls + 1) * host, written))
        self._plans[id(call)] = plan

    def round(self, calls: Sequence[Call], meanwhile: Call) -> list[float]:
        """See `Clock`."""
        events = self._first_events(2 * len(calls))
        pairs = list(zip(events[::2], events[1::2]))
        for call, (begin, end) in zip(calls, pairs):
            plan = self._plans[id(call)]
            self._restore()
            self._write(plan.n_writes)
            if self._is_warm:
                call()
            else:
                self._read()
            self._record(begin)
            for _ in itertools.repeat(None, plan.n_calls):
                call()
            self._record(end)
        meanwhile()
        self.wait()
        return [
            self._elapsed(*pair) / self._plans[id(call)].n_calls for call, pair in zip(calls, pairs)
        ]

    @contextlib.contextmanager
    def copy(self, n_bytes: int) -> Generator[Call | None, None, None]:
        """See `Clock`."""
        size = max(n_bytes // 2, 1)
        with contextlib.ExitStack() as kept:
            addresses: list[ctypes.c_uint64] = []
            try:
                for _ in range(2):
                    address = self._device.allocate(size)
                    kept.callback(self._device.free, address)
                    addresses.append(ctypes.c_uint64(address))
            except RuntimeError:
                yield None
                return
            to, source = addresses
            what = to, source, ctypes.c_size_t(size), self._stream
            yield lambda: self._device.do("cuMemcpyDtoDAsync_v2", *what)

    def _submitted(self, call: Call) -> float:
        """How many seconds the host takes for a call, and for the reads in front of it."""
        self._restore()
        begin = time.perf_counter()
        if not self._is_warm:
            self._read()
        call()
        took = time.perf_counter() - begin
        self.wait()
        return took

    def _writes(self, seconds: float, written: float) -> int:
        """How often memory is written while the host takes so many seconds, where once takes those."""
        return min(max(math.ceil(_MARGIN * seconds / max(written, 1e-6)), 1), _MOST_WRITES)

    def _between(self, work: Call) -> float:
        """How many seconds the device takes for some work."""
        begin, end = self._first_events(2)
        self._record(begin)
        work()
        self._record(end)
        self.wait()
        return self._elapsed(begin, end)

    def _first_events(self, count: int) -> list[ctypes.c_void_p]:
        """So many events, which `close` ends."""
        while len(self._events) < count:
            event = ctypes.c_void_p()
            self._device.do("cuEventCreate", ctypes.byref(event), 0)
            self._events.append(event)
        return self._events[:count]

    def _write(self, times: int) -> None:
        memory, size = ctypes.c_uint64(self._memory), ctypes.c_size_t(self._n_bytes)
        for _ in range(times):
            self._device.do("cuMemsetD8Async", memory, ctypes.c_ubyte(0), size, self._stream)

    def _read(self) -> None:
        """Reads the memory that was written."""
        piece = self._n_bytes // _N_PIECES
        to, size = ctypes.c_uint64(self._memory), ctypes.c_size_t(piece)
        for number in range(1, _N_PIECES):
            source = ctypes.c_uint64(self._memory + number * piece)
            self._device.do("cuMemcpyDtoDAsync_v2", to, source, size, self._stream)

    def _record(self, event: ctypes.c_void_p) -> None:
        self._device.do("cuEventRecord", event, self._stream)

    def _elapsed(self, begin: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        milliseconds = ctypes.c_float(0)
        self._device.do("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1000

    def wait(self) -> None:
        """Waits until the device has done what the stream has; `RuntimeError` where that failed."""
        self._device.do("cuStreamSynchronize", self._stream)


class HostClock:
    """The clock of the host, for calls that are done when they return, or whose results can be waited
    for, as those of JAX.
    """

    name = "the host"

    def __init__(self, caches: str) -> None:
        self._n_calls: dict[int, int] = {}
        self._memory = None if caches == WARM else ctypes.create_string_buffer(_host_bytes())

    def know(self, call: Call) -> None:
        """See `Clock`."""
        _finish(call())
        n_calls = 1
        if self._memory is None:
            took = min(_timed(call, 1) for _ in range(5))
            n_calls = min(max(math.ceil(_HOST_SECONDS / max(took, 1e-9)), 1), _MOST_CALLS_ON_HOST)
        self._n_calls[id(call)] = n_calls

    def round(self, calls: Sequence[Call], meanwhile: Call) -> list[float]:
        """See `Clock`."""
        meanwhile()
        return [self._time(call) for call in calls]

    def _time(self, call: Call) -> float:
        if self._memory is None:
            _finish(call())
        else:
            ctypes.memset(self._memory, 0, len(self._memory))
        n_calls = self._n_calls[id(call)]
        return _timed(call, n_calls) / n_calls

    @contextlib.contextmanager
    def copy(self, n_bytes: int) -> Generator[Call | None, None, None]:
        """See `Clock`."""
        size = max(n_bytes // 2, 1)
        try:
            to, source = (ctypes.create_string_buffer(size) for _ in range(2))
        except MemoryError:
            yield None
            return
        yield lambda: ctypes.memmove(to, source, size)


def _timed(call: Call, n_calls: int) -> float:
    """How many seconds so many calls take in all."""
    begin = time.perf_counter()
    result = None
    for _ in itertools.repeat(None, n_calls):
        result = call()
    _finish(result)
    return time.perf_counter() - begin


def _finish(result: Any) -> None:
    """Waits for what a call has returned, where that is not there yet."""
    if result is not None:
        for leaf in leaves((result,)):
            wait = getattr(leaf, "block_until_ready", None)
            if wait is not None:
                wait()


def _host_bytes() -> int:
    """Twice as much as the caches of the host hold."""
    try:
        with open(_LAST_LEVEL) as file:
            known = int(file.read().strip().rstrip("K")) << 10
    except (OSError, ValueError):
        known = 0
    return max(2 * known, _LEAST_BYTES)
