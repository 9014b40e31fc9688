# SPDX-License-Identifier: Apache-2.0
"""Makes calls of the driver of `tests/cuda-stub`, right ones and wrong ones, which replay.py makes
again on a real driver.

    record.py STUB IMAGES BUNDLE FOLDER

STUB is the stub as cargo built it, IMAGES is tests/images, BUNDLE has built packages
(scripts/gpu-bundle). FOLDER gets a log of each scene, recorded in a process of its own, and the
images that were loaded. Scenes look at no answers, so that the stub alone says what they are.
"""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

from cuda_driver import (
    CLUSTER,
    COOPERATIVE,
    PRIORITY,
    PROGRAMMATIC,
    WINDOW,
    Place,
    call,
    config,
    node_params,
    pointers,
)

GLOBAL, THREAD_LOCAL, RELAXED = range(3)
LEGACY, PER_THREAD = 1, 2
N_ATTRIBUTES = 16

# Kernels that do nothing, with limits of several kinds.
PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry none() { ret; }
.visible .entry small(.param .u64 a, .param .u32 n) .maxntid 128, 1, 1 { ret; }
.visible .entry shared() { .shared .align 4 .b8 s[1024]; .reg .u32 %r; ld.shared.u32 %r, [s]; st.shared.u32 [s+4], %r; ret; }
.visible .entry map(.param .align 64 .b8 m[128], .param .u8 b) { ret; }
"""


class Driver:
    """The stub, and short ways to call it."""

    def __init__(self, library, images):
        self.library, self.images = library, images

    def __call__(self, name, *arguments):
        return call(self.library, name, *arguments)

    def new(self, name, *arguments):
        """What a function writes to its first argument."""
        place = Place()
        self(name, place, *arguments)
        return place.number()

    def end(self, stream):
        """Ends a capture, and its graph if there is one."""
        graph = Place()
        self("cuStreamEndCapture", stream, graph)
        if graph.number():
            self("cuGraphDestroy", graph.number())

    def start(self):
        self("cuInit", 0)
        context = self.new("cuDevicePrimaryCtxRetain", 0)
        self("cuCtxSetCurrent", context)
        return context

    def load(self, image):
        """A library. The driver may read an image as long as it lives."""
        content = image.encode() + b"\0" if isinstance(image, str) else image
        code = ctypes.create_string_buffer(content, len(content))
        KEPT.append(code)
        return self.new("cuLibraryLoadData", code, None, None, 0, None, None, 0)

    def kernel(self, library, name):
        return self.new("cuLibraryGetKernel", library, name.encode())

    def launch(
        self,
        kernel,
        grid=(1, 1, 1),
        block=(32, 1, 1),
        shared=0,
        stream=0,
        attributes=(),
        arguments=(),
    ):
        params = pointers([argument.address for argument in arguments]) if arguments else None
        return self(
            "cuLaunchKernelEx",
            config(grid, block, shared, stream, attributes),
            kernel,
            params,
            None,
        )

    def graph(self):
        return self.new("cuGraphCreate", 0)

    def add(self, graph, node, after=()):
        """A new node's handle, or 0."""
        return self.new(
            "cuGraphAddKernelNode_v2", graph, pointers(after) if after else None, len(after), node
        )

    def attribute(self, node, number, *words):
        content = b"".join((word & 0xFFFF_FFFF).to_bytes(4, "little") for word in words)
        self("cuGraphKernelNodeSetAttribute", node, number, Place(content=content))

    def instantiate(self, graph, flags=0):
        return self.new("cuGraphInstantiateWithFlags", graph, flags)

    def one(self, node):
        """A graph of one node, the node, and the graph ready to be launched."""
        graph = self.graph()
        return graph, self.add(graph, node), self.instantiate(graph)

    def set(self, executable, node, params):
        self("cuGraphExecKernelNodeSetParams_v2", executable, node, params)

    def update(self, executable, node, params, stream=0):
        """Launches a graph after a node of it was to do this, be it refused or not."""
        self.set(executable, node, params)
        self("cuGraphLaunch", executable, stream)


def node(function=0, grid=(1, 1, 1), block=(32, 1, 1), shared=0, arguments=(), **others):
    params = pointers([argument.address for argument in arguments]) if arguments else None
    KEPT.append(arguments)
    return node_params(function, grid, block, shared, params, **others)


KEPT = []


def number(value, size=4):
    return Place(content=value.to_bytes(size, "little"))


def contexts(d):
    """Initialisation, devices, contexts and which is current."""
    for name in ("cuDeviceGetCount", "cuCtxGetCurrent", "cuCtxGetDevice", "cuDriverGetVersion"):
        d(name, Place())
    d("cuStreamSynchronize", 0)
    d("cuInit", 1)
    d("cuInit", 0)
    for ordinal in (0, -1, 99):
        d("cuDeviceGet", Place(), ordinal)
        d("cuDevicePrimaryCtxGetState", ordinal, Place(), Place())
        d("cuDeviceGetName", Place(), 100, ordinal)
        d("cuDeviceGetAttribute", Place(), 16, ordinal)
    for attribute in (*range(150), 9999, -1):
        d("cuDeviceGetAttribute", Place(), attribute, 0)
    d("cuDevicePrimaryCtxRetain", Place(), 99)
    d("cuDevicePrimaryCtxRelease_v2", 99)
    without_context(d)
    first = d.start()
    own = d.new("cuCtxCreate_v4", None, 0, 0)
    d("cuCtxGetCurrent", Place())
    d("cuCtxPushCurrent_v2", first)
    d("cuCtxPushCurrent_v2", None)
    d("cuCtxGetDevice", Place())
    for _ in range(4):
        d("cuCtxPopCurrent_v2", Place())
    d("cuCtxSetCurrent", own)
    d("cuCtxDestroy_v2", first)
    d("cuCtxDestroy_v2", own)
    d("cuCtxGetCurrent", Place())
    d("cuCtxDestroy_v2", None)
    d("cuCtxCreate_v4", Place(), None, 0, 99)
    d("cuCtxSetCurrent", first)
    ended_primary(d, first)


def without_context(d):
    """What needs a current context, where there is none."""
    for name in ("cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxPopCurrent_v2"):
        d(name, Place())
    d("cuCtxSynchronize")
    d("cuStreamCreate", Place(), 0)
    d("cuMemAlloc_v2", Place(), 16)
    library = d.load(PTX)
    kernel = d.kernel(library, "none")
    d("cuKernelGetFunction", Place(), kernel)
    d("cuLibraryGetModule", Place(), library)
    d("cuKernelGetAttribute", Place(), 0, kernel, 0)
    for stream in (0, LEGACY, PER_THREAD):
        d("cuStreamQuery", stream)
        d("cuStreamSynchronize", stream)
        d("cuStreamGetCtx", stream, Place())
        d("cuStreamGetCtx_v2", stream, Place(), Place())
        d("cuStreamIsCapturing", stream, Place())
        d.launch(kernel, stream=stream)
    d("cuLibraryUnload", library)


def ended_primary(d, context):
    """A primary context whose last holder lets go."""
    active = Place()
    d("cuDevicePrimaryCtxRetain", Place(), 0)
    for _ in range(2):
        d("cuDevicePrimaryCtxRelease_v2", 0)
        d("cuDevicePrimaryCtxGetState", 0, Place(), active)
    d("cuDevicePrimaryCtxRelease_v2", 0)
    d("cuCtxGetCurrent", Place())
    d("cuCtxGetDevice", Place())
    d("cuCtxSynchronize")
    d("cuMemAlloc_v2", Place(), 16)
    d("cuStreamCreate", Place(), 0)
    d("cuCtxSetCurrent", context)
    d("cuCtxPushCurrent_v2", context)
    d("cuDevicePrimaryCtxRetain", Place(), 0)
    d("cuCtxSetCurrent", context)
    d("cuCtxSynchronize")


def libraries(d):
    """Images for this and for other devices, kernels, and what is asked of them."""
    d.start()
    images = [path.read_bytes() for path in sorted(d.images.glob("*.cubin"))]
    elf = b"\x7fELF garbage".ljust(128, b"\0")
    images += [
        elf,
        "garbage",
        "",
        PTX,
        PTX.replace("sm_90", "sm_80"),
        PTX.replace("sm_90", "sm_90a"),
    ]
    images += [
        PTX.replace("8.0", "8.7").replace("sm_90", "sm_100"),
        PTX.replace(".version 8.0", ""),
    ]
    for image in images:
        library = d.load(image)
        for name in ("count", "none", "missing"):
            kernel = d.kernel(library, name)
            if kernel:
                d("cuKernelGetFunction", Place(), kernel)
                d("cuKernelGetFunction", Place(), kernel)
                d("cuKernelGetName", Place(), kernel)
        d("cuLibraryGetModule", Place(), library)
        d("cuLibraryGetModule", Place(), library)
        d("cuLibraryUnload", library)
    library = d.load(PTX)
    for name in ("none", "small", "shared"):
        occupancy(d, d.new("cuKernelGetFunction", d.kernel(library, name)))
    for name in ("small", "shared", "map"):
        asked(d, d.kernel(library, name))
    d("cuLibraryGetKernel", Place(), library, None)
    d("cuLibraryGetKernel", Place(), None, b"none")
    d("cuLibraryLoadData", Place(), None, None, None, 0, None, None, 0)
    unused = d.kernel(library, "none")
    d("cuLibraryUnload", library)
    d("cuLibraryUnload", library)
    d("cuLibraryUnload", None)
    d("cuKernelGetFunction", Place(), unused)
    d.launch(unused)
    d.launch(None)


def asked(d, kernel):
    """Parameters and attributes of a kernel, set and read."""
    function = d.new("cuKernelGetFunction", kernel)
    for index in range(4):
        d("cuKernelGetParamInfo", kernel, index, Place(), Place())
    d("cuKernelGetParamInfo", kernel, 0, Place(), None)
    d("cuKernelGetParamInfo", kernel, 0, None, None)
    for attribute in (*range(N_ATTRIBUTES + 1), 99):
        d("cuKernelGetAttribute", Place(), attribute, kernel, 0)
        d("cuFuncGetAttribute", Place(), attribute, function)
        for value in (0, 1, -1, 49152, 231_424, 231_425, 232_448, 232_449):
            d("cuKernelSetAttribute", attribute, value, kernel, 0)
            d("cuKernelGetAttribute", Place(), attribute, kernel, 0)
        d("cuFuncSetAttribute", function, attribute, 1)
        d("cuFuncGetAttribute", Place(), attribute, function)
    d("cuKernelGetAttribute", Place(), 0, kernel, 99)
    d("cuKernelSetAttribute", 8, 1, kernel, 99)


def occupancy(d, function):
    d("cuFuncSetAttribute", function, 14, 0)
    for threads, shared in (
        (1, 0),
        (32, 0),
        (128, 0),
        (129, 0),
        (1024, 0),
        (1025, 0),
        (2048, 0),
        (0, 0),
        (32, 100_000),
        (32, 300_000),
    ):
        d("cuOccupancyMaxActiveBlocksPerMultiprocessor", Place(), function, threads, shared)
    for size in (1, 2, 8, 16, 17):
        shape = config((16 * size, 1, 1), (128, 1, 1), 0, 0, [(CLUSTER, (size, 1, 1))])
        d("cuOccupancyMaxActiveClusters", Place(), function, shape)
    for wanted in (0, 1):
        d("cuFuncSetAttribute", function, 14, wanted)
        d(
            "cuOccupancyMaxPotentialClusterSize",
            Place(),
            function,
            config((16, 1, 1), (32, 1, 1), 0, 0, []),
        )


def launches(d):
    """Launches of every shape, on every stream."""
    d.start()
    library = d.load(PTX)
    kernel, small = d.kernel(library, "none"), d.kernel(library, "small")
    function = d.new("cuKernelGetFunction", kernel)
    arguments = number(0, 8), number(3)
    for axis in range(3):
        for size in (0, 1, 2, 64, 65, 128, 129, 1024, 1025, 4096, 65535, 65536, 2**31 - 1, 2**31):
            shape = [1, 1, 1]
            shape[axis] = size
            d.launch(kernel, block=shape)
            d.launch(small, block=shape, arguments=arguments)
            if size < 2**31 - 1:
                d.launch(kernel, grid=shape, block=(1, 1, 1))
    d.launch(kernel, grid=(2**31, 1, 1))
    d.launch(kernel, block=(32, 33, 1))
    d.launch(kernel, block=(2, 2, 2), grid=(2, 2, 2))
    d.launch(small)
    shared_memory(d, library)
    clusters(d, kernel)
    cooperative(d, kernel, function)
    attributes(d, kernel)
    streams_of_launches(d, kernel, function)
    d("cuCtxSynchronize")


def shared_memory(d, library):
    for name in ("none", "shared"):
        kernel = d.kernel(library, name)
        for opted in (None, 1024, 49153, 231_424, 232_448):
            if opted is not None:
                d("cuKernelSetAttribute", 8, opted, kernel, 0)
            for size in (
                0,
                1024,
                1025,
                48 * 1024 - 1024,
                48 * 1024,
                48 * 1024 + 1,
                231_424,
                231_425,
                232_448,
                232_449,
                2**32 - 1,
            ):
                d.launch(kernel, shared=size)


def clusters(d, kernel):
    for non_portable in (0, 1):
        d("cuKernelSetAttribute", 14, non_portable, kernel, 0)
        for grid, cluster in (
            ((2, 1, 1), (2, 1, 1)),
            ((8, 1, 1), (8, 1, 1)),
            ((6, 1, 1), (3, 1, 1)),
            ((3, 1, 1), (2, 1, 1)),
            ((9, 1, 1), (9, 1, 1)),
            ((16, 1, 1), (16, 1, 1)),
            ((17, 1, 1), (17, 1, 1)),
            ((32, 1, 1), (32, 1, 1)),
            ((8, 1, 1), (4, 2, 1)),
            ((8, 2, 1), (4, 2, 1)),
            ((2, 2, 2), (2, 2, 2)),
            ((2, 2, 2), (1, 2, 4)),
            ((1, 1, 1), (0, 1, 1)),
            ((1, 1, 1), (1, 0, 1)),
            ((1, 1, 1), (0, 0, 0)),
            ((0, 1, 1), (2, 1, 1)),
            ((2**16, 1, 1), (2**16, 2**16, 1)),
        ):
            d.launch(kernel, grid=grid, attributes=[(CLUSTER, cluster)])
    d("cuKernelSetAttribute", 14, 0, kernel, 0)
    d.launch(kernel, grid=(4, 1, 1), attributes=[(CLUSTER, (3, 1, 1)), (CLUSTER, (2, 1, 1))])
    d.launch(kernel, grid=(4, 1, 1), attributes=[(CLUSTER, (2, 1, 1)), (CLUSTER, (3, 1, 1))])
    d.launch(kernel, grid=(4, 1, 1), block=(1025, 1, 1), attributes=[(CLUSTER, (3, 1, 1))])
    d.launch(kernel, grid=(4, 1, 1), attributes=[(CLUSTER, (3, 1, 1)), (99, (1,))])


def cooperative(d, kernel, function):
    for grid in (1, 264, 265, 2112, 4224, 4225, 10_000):
        for block in (32, 512, 1024):
            for value in (0, 1):
                d.launch(
                    kernel,
                    grid=(grid, 1, 1),
                    block=(block, 1, 1),
                    attributes=[(COOPERATIVE, (value,))],
                )
            d("cuLaunchCooperativeKernel", function, grid, 1, 1, block, 1, 1, 0, 0, None)
    d.launch(
        kernel,
        grid=(265, 1, 1),
        block=(1024, 1, 1),
        attributes=[(COOPERATIVE, (1,)), (CLUSTER, (2, 1, 1))],
    )
    d.launch(
        kernel,
        grid=(264, 1, 1),
        block=(1024, 1, 1),
        attributes=[(COOPERATIVE, (1,)), (CLUSTER, (2, 1, 1))],
    )
    d.launch(
        kernel,
        grid=(266, 1, 1),
        block=(1024, 1, 1),
        attributes=[(COOPERATIVE, (1,)), (CLUSTER, (2, 1, 1))],
    )


def attributes(d, kernel):
    for value in (0, 1, 2):
        d.launch(kernel, attributes=[(PROGRAMMATIC, (value,))])
        d.launch(kernel, attributes=[(PROGRAMMATIC, (value,)), (COOPERATIVE, (1,))])
    for priority in (0, 1, -1, -5, -6, 100, -100):
        d.launch(kernel, attributes=[(PRIORITY, (priority,))])
    for number in (0, 17, 18, 50, 99, 255, 2**31):
        d.launch(kernel, attributes=[(number, (1,))])


def streams_of_launches(d, kernel, function):
    """Kernels and functions on streams of this and of other contexts, of one device."""
    stream = d.new("cuStreamCreate", 1)
    first = d.new("cuCtxGetCurrent")
    other = d.new("cuCtxCreate_v4", None, 0, 0)
    foreign = d.new("cuStreamCreate", 0)
    here = d.new("cuKernelGetFunction", kernel)
    for context in (first, other, None):
        d("cuCtxSetCurrent", context)
        for launched in (kernel, function, here):
            for on in (0, LEGACY, PER_THREAD, stream, foreign):
                d.launch(launched, stream=on)
                d("cuLaunchKernel", launched, 1, 1, 1, 32, 1, 1, 0, on, None, None)
        for on in (stream, foreign):
            d("cuStreamSynchronize", on)
    d("cuCtxSetCurrent", first)
    d("cuLaunchKernel", kernel, 1, 1, 1, 0, 1, 1, 0, 0, None, None)
    d("cuCtxDestroy_v2", other)


def streams(d):
    """Streams, and captures in every mode."""
    d.start()
    for flags in (0, 1, 2, -1):
        d("cuStreamCreate", Place(), flags)
    stream, blocking = d.new("cuStreamCreate", 1), d.new("cuStreamCreate", 0)
    kernel = d.kernel(d.load(PTX), "none")
    memory = d.new("cuMemAlloc_v2", 64)
    d.launch(kernel)
    for on in (0, LEGACY, PER_THREAD, stream, blocking):
        d("cuStreamGetCtx", on, Place())
        d("cuStreamSynchronize", on)
        d("cuStreamQuery", on)
        d("cuStreamIsCapturing", on, Place())
        for mode in (GLOBAL, THREAD_LOCAL, RELAXED, 3):
            captured(d, on, mode, kernel, memory)
    for on in (0, LEGACY, PER_THREAD):
        d("cuStreamDestroy_v2", on)
    d("cuGraphDestroy", None)
    for mode in (RELAXED, GLOBAL, 3, THREAD_LOCAL, GLOBAL):
        d("cuThreadExchangeStreamCaptureMode", number(mode))
    d("cuStreamDestroy_v2", stream)
    d("cuStreamDestroy_v2", blocking)
    d("cuCtxSynchronize")


def captured(d, stream, mode, kernel, memory):
    """A capture that goes well, one that is ended elsewhere, and each that something spoils."""
    begin = lambda: d("cuStreamBeginCapture_v2", stream, mode)
    begin()
    d("cuStreamIsCapturing", stream, Place())
    d.launch(kernel, stream=stream)
    d.launch(kernel, stream=stream, block=(0, 1, 1))
    d("cuMemcpyDtoDAsync_v2", memory, memory + 32, 16, stream)
    d.end(stream)
    d.end(stream)
    spoilers = [
        lambda: d("cuStreamBeginCapture_v2", stream, RELAXED),
        lambda: d("cuStreamSynchronize", stream),
        lambda: d("cuStreamQuery", stream),
        lambda: d("cuStreamGetId", stream, Place()),
        lambda: d("cuStreamGetId", 0, Place()),
        lambda: d("cuStreamGetCtx", stream, Place()),
        lambda: d("cuStreamGetCtx", 0, Place()),
        lambda: d("cuStreamGetCtx_v2", 0, Place(), Place()),
        lambda: d("cuStreamSynchronize", 0),
        lambda: d("cuCtxSynchronize"),
        lambda: d("cuMemAlloc_v2", Place(), 16),
        lambda: d.launch(kernel),
        lambda: d.launch(kernel, stream=PER_THREAD),
        lambda: d("cuMemcpyDtoDAsync_v2", memory, memory + 32, 16, 0),
        lambda: elsewhere(lambda: d("cuMemAlloc_v2", Place(), 16)),
        lambda: elsewhere(lambda: d("cuStreamEndCapture", stream, Place())),
    ]
    for spoil in spoilers:
        begin()
        spoil()
        d("cuStreamIsCapturing", stream, Place())
        d.launch(kernel, stream=stream)
        d.end(stream)
    for own in (GLOBAL, THREAD_LOCAL, RELAXED):
        begin()
        d("cuThreadExchangeStreamCaptureMode", number(own))
        d("cuMemAlloc_v2", Place(), 16)
        d("cuThreadExchangeStreamCaptureMode", number(GLOBAL))
        d.end(stream)


def elsewhere(work):
    """Does something in another thread, which has no current context."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def events(d):
    """Events, and copies between host and device on streams."""
    first = d.start()
    for flags in range(10):
        d("cuEventCreate", Place(), flags)
    d("cuEventCreate", None, 0)
    event, late, own = (d.new("cuEventCreate", 2) for _ in range(3))
    stream, blocking = d.new("cuStreamCreate", 1), d.new("cuStreamCreate", 0)
    for on in (0, LEGACY, PER_THREAD, stream, blocking):
        d("cuEventRecord", event, on)
        for flags in (0, 1, 2):
            d("cuStreamWaitEvent", on, event, flags)
    d("cuEventRecord", None, stream)
    d("cuStreamWaitEvent", stream, None, 0)
    d("cuEventDestroy_v2", None)
    timed, never = (d.new("cuEventCreate", 0) for _ in range(2))
    d("cuEventRecord", timed, stream)
    d("cuStreamSynchronize", stream)
    for start, end in ((timed, never), (never, timed), (timed, event), (event, timed)):
        d("cuEventElapsedTime", Place(), start, end)
    for of in (timed, never):
        d("cuEventDestroy_v2", of)
    memory, host = d.new("cuMemAlloc_v2", 64), ctypes.create_string_buffer(64)
    record = lambda of, on: lambda: d("cuEventRecord", of, on)
    wait = lambda on, of: lambda: d("cuStreamWaitEvent", on, of, 0)
    into = lambda source: lambda: d("cuMemcpyHtoDAsync_v2", memory, source, 16, stream)
    out_of = lambda place: lambda: d("cuMemcpyDtoHAsync_v2", place, memory, 16, stream)
    zero = lambda size: lambda: d("cuMemsetD8Async", memory, 0, size, stream)
    captures = [
        (stream, wait(stream, late)),
        (stream, wait(stream, event)),
        (stream, record(own, stream), wait(stream, own)),
        (stream, record(event, 0), wait(0, event)),
        (blocking, record(event, 0)),
        (blocking, wait(0, event)),
        (stream, lambda: d("cuEventCreate", Place(), 2)),
        (stream, into(host), zero(16), out_of(host)),
    ]
    for captured, *calls in captures:
        d("cuStreamBeginCapture_v2", captured, GLOBAL)
        for made in calls:
            made()
        d("cuStreamIsCapturing", captured, Place())
        d.end(captured)
    for made in (wait(stream, own), record(own, stream), wait(stream, own)):
        made()
    for made in (
        into(host),
        out_of(host),
        into(None),
        out_of(None),
        zero(0),
        zero(16),
        out_of(host),
    ):
        made()
    other = d.new("cuCtxCreate_v4", None, 0, 0)
    foreign, of_other = d.new("cuStreamCreate", 1), d.new("cuEventCreate", 2)
    for made in (record(event, foreign), wait(foreign, event), record(of_other, stream)):
        made()
    for made in (record(event, 0), wait(0, event)):
        made()
    d("cuEventDestroy_v2", of_other)
    d("cuCtxDestroy_v2", other)
    d("cuCtxSetCurrent", first)
    for ended in (event, late, own):
        d("cuEventDestroy_v2", ended)


def stream_properties(d):
    """Priorities, ids and attributes of streams."""
    d.start()
    d("cuCtxGetStreamPriorityRange", Place(), Place())
    d("cuCtxGetStreamPriorityRange", None, Place())
    made = [
        d.new("cuStreamCreateWithPriority", flags, priority)
        for flags in (0, 1)
        for priority in (0, -1, -5, -6, 7)
    ]
    d("cuStreamCreateWithPriority", Place(), 2, 0)
    for stream in (0, LEGACY, PER_THREAD, *made):
        d("cuStreamGetPriority", stream, Place())
        for _ in range(2):
            d("cuStreamGetId", stream, Place())
        for attribute in (WINDOW, PRIORITY):
            d("cuStreamGetAttribute", stream, attribute, Place())
    d("cuStreamSetAttribute", made[0], WINDOW, Place())
    d("cuStreamGetAttribute", made[0], WINDOW, Place())
    elsewhere(
        lambda: [d("cuStreamGetId", stream, Place()) for stream in (0, LEGACY, PER_THREAD, made[0])]
    )
    own = d.new("cuCtxCreate_v4", None, 0, 0)
    for stream in (0, LEGACY, PER_THREAD, made[0]):
        d("cuStreamGetId", stream, Place())
    d("cuCtxDestroy_v2", own)
    for _ in range(3):
        again = d.new("cuStreamCreate", 1)
        d("cuStreamGetId", again, Place())
        d("cuStreamDestroy_v2", again)


def resets(d):
    """Ids of contexts, and a primary context that is reset."""
    d("cuInit", 0)
    d("cuCtxGetId", None, Place())
    for device in (0, 99):
        d("cuDevicePrimaryCtxReset_v2", device)
    context = d.start()
    own = d.new("cuCtxCreate_v4", None, 0, 0)
    for asked in (context, own, None):
        d("cuCtxGetId", asked, Place())
    d("cuCtxDestroy_v2", own)
    d("cuCtxSetCurrent", context)
    for _ in range(2):
        reset(d, context)
    for _ in range(3):
        d("cuDevicePrimaryCtxRelease_v2", 0)
        d("cuDevicePrimaryCtxGetState", 0, Place(), Place())
    d("cuCtxGetId", context, Place())
    d("cuDevicePrimaryCtxRetain", Place(), 0)
    d("cuCtxGetId", context, Place())


def reset(d, context):
    d("cuDevicePrimaryCtxReset_v2", 0)
    d("cuDevicePrimaryCtxGetState", 0, Place(), Place())
    d("cuCtxGetCurrent", Place())
    d("cuCtxGetDevice", Place())
    for asked in (context, None):
        d("cuCtxGetId", asked, Place())
    d("cuCtxSynchronize")
    d("cuMemAlloc_v2", Place(), 16)
    d("cuStreamCreate", Place(), 0)
    d("cuCtxSetCurrent", context)
    d("cuDevicePrimaryCtxRetain", Place(), 0)
    d("cuDevicePrimaryCtxGetState", 0, Place(), Place())
    for asked in (context, None):
        d("cuCtxGetId", asked, Place())
    d("cuCtxSynchronize")


def graphs(d):
    """Graphs of kernels, made, changed and launched, rightly and wrongly."""
    first = d.start()
    for flags in (0, 1):
        d("cuGraphCreate", Place(), flags)
    library = d.load(PTX)
    kernel, small = d.kernel(library, "none"), d.kernel(library, "small")
    function, of_small = (d.new("cuKernelGetFunction", asked) for asked in (kernel, small))
    stream, blocking = d.new("cuStreamCreate", 1), d.new("cuStreamCreate", 0)
    graph, only, executable = d.one(node(function))
    for on in (0, LEGACY, PER_THREAD, stream, blocking):
        d.update(executable, only, node(function, grid=(2, 3, 4), block=(4, 2, 1)), on)
    for flags in (1, 8, 16):
        d("cuGraphInstantiateWithFlags", Place(), graph, flags)
    shapes_of_nodes(d, function, of_small)
    dependencies(d, function)
    attributes_of_nodes(d, function)
    contexts_of_nodes(d, kernel, function, first, stream)
    captures_of_graphs(d, function, stream, blocking)
    # The node goes with its graph, and the executable stays.
    d("cuGraphDestroy", graph)
    d.update(executable, only, node(function))
    d("cuCtxSetCurrent", None)
    for on in (0, LEGACY, PER_THREAD, stream):
        d("cuGraphLaunch", executable, on)
    d("cuGraphExecDestroy", executable)
    d("cuCtxSetCurrent", first)
    d("cuGraphDestroy", None)
    d("cuGraphExecDestroy", None)
    d("cuGraphLaunch", None, stream)
    d("cuGraphInstantiateWithFlags", Place(), None, 0)
    d("cuCtxSynchronize")


def shapes_of_nodes(d, function, small):
    """Shapes that a node cannot have, when it is added and when it is changed: the graph keeps what
    it had.
    """
    arguments = number(0, 8), number(3)
    graph, only, executable = d.one(node(small, arguments=arguments))
    wrong = [
        node(small, arguments=arguments, block=(129, 1, 1)),
        node(function, block=(1025, 1, 1)),
        node(function, block=(32, 33, 1)),
        node(function, block=(1, 1, 65)),
        node(function, block=(0, 1, 1)),
        node(function, grid=(0, 1, 1)),
        node(function, grid=(1, 65536, 1)),
        node(function, grid=(2**31, 1, 1)),
        node(function, shared=48 * 1024 + 1),
        node(function, shared=232_449),
        node(small, arguments=arguments, extra=pointers([0])),
        node(),
        None,
    ]
    for params in wrong:
        d.add(graph, params)
        d.update(executable, only, params)
    # Another function, and back.
    for params in (
        node(function, block=(1024, 1, 1)),
        node(small, arguments=arguments, grid=(7, 1, 1)),
    ):
        d.update(executable, only, params)
    d("cuFuncSetAttribute", function, 8, 200_000)
    d.update(executable, only, node(function, shared=200_000))
    d.set(executable, None, node(function))
    d("cuGraphExecDestroy", executable)
    d("cuGraphDestroy", graph)


def dependencies(d, function):
    """Lines of nodes, and nodes that depend on what they cannot."""
    graph, other = d.graph(), d.graph()
    line = []
    for _ in range(5):
        line.append(d.add(graph, node(function), after=line[-1:]))
    foreign = d.add(other, node(function))
    for after in ([line[0], line[3]], [line[0], line[0]], [foreign]):
        d("cuGraphAddKernelNode_v2", Place(), graph, pointers(after), len(after), node(function))
    executable = d.instantiate(graph)
    for index, asked in enumerate((*line, foreign)):
        d.update(executable, asked, node(function, grid=(2 + index, 1, 1)))
    empty = d.graph()
    nothing = d.instantiate(empty)
    d("cuGraphLaunch", nothing, 0)
    for ended in (executable, nothing):
        d("cuGraphExecDestroy", ended)
    for ended in (graph, other, empty):
        d("cuGraphDestroy", ended)


def attributes_of_nodes(d, function):
    for name, words, grids in (
        (CLUSTER, (2, 1, 1), (4, 6, 5, 4)),
        (CLUSTER, (8, 1, 1), (8, 16, 4)),
        (CLUSTER, (0, 0, 0), (4, 5)),
        (COOPERATIVE, (1,), (4, 100_000, 4)),
        (PRIORITY, (-5,), (4, 5)),
        (PRIORITY, (-100,), (4, 5)),
    ):
        graph = d.graph()
        only = d.add(graph, node(function, grid=(16, 1, 1)))
        d.attribute(only, name, *words)
        executable = d.instantiate(graph, flags=8)
        for grid in grids:
            d.update(executable, only, node(function, grid=(grid, 1, 1)))
        d("cuGraphExecDestroy", executable)
        d("cuGraphDestroy", graph)
    graph = d.graph()
    only = d.add(graph, node(function, grid=(16, 1, 1)))
    for name, words in (
        (CLUSTER, (3, 1, 1)),
        (CLUSTER, (16, 1, 1)),
        (CLUSTER, (0, 1, 1)),
        (PROGRAMMATIC, (1,)),
        (99, (1,)),
    ):
        d.attribute(only, name, *words)
    d("cuGraphDestroy", graph)


def contexts_of_nodes(d, kernel, function, first, stream):
    """Nodes that name a kernel and a context, and graphs of one context in another."""
    graph, only, executable = d.one(node(kernel=kernel))
    other = d.new("cuCtxCreate_v4", None, 0, 0)
    foreign = d.new("cuStreamCreate", 1)
    there = d.new("cuKernelGetFunction", kernel)
    for current in (other, first):
        d("cuCtxSetCurrent", current)
        for params in (
            node(there),
            node(function),
            node(kernel=kernel),
            node(kernel=kernel, context=first),
            node(kernel=kernel, context=other),
        ):
            d.set(executable, only, params)
        for on in (0, stream, foreign):
            d("cuGraphLaunch", executable, on)
    for on in (stream, foreign):
        d("cuStreamSynchronize", on)
    d("cuGraphExecDestroy", executable)
    d("cuGraphDestroy", graph)
    d("cuCtxDestroy_v2", other)
    d("cuCtxSetCurrent", first)


def captures_of_graphs(d, function, stream, blocking):
    """What graphs do to captures, in every mode."""
    graph, only, executable = d.one(node(function))
    for mode in (GLOBAL, THREAD_LOCAL, RELAXED):
        for captured in (stream, PER_THREAD, blocking):
            d("cuStreamBeginCapture_v2", captured, mode)
            d.set(executable, only, node(function))
            d("cuStreamIsCapturing", captured, Place())
            for on in (other for other in (stream, blocking) if other != captured):
                d("cuGraphLaunch", executable, on)
                d("cuStreamIsCapturing", captured, Place())
            d("cuGraphLaunch", executable, 0)
            d("cuStreamIsCapturing", captured, Place())
            d.end(captured)
            d("cuStreamBeginCapture_v2", captured, mode)
            d("cuGraphLaunch", executable, captured)
            d("cuStreamIsCapturing", captured, Place())
            d.end(captured)
        unsafe_calls(d, graph, function, stream, mode)
    d("cuGraphExecDestroy", executable)
    d("cuGraphDestroy", graph)


def unsafe_calls(d, graph, function, stream, mode):
    """What may spoil a capture, and ends by another thread of spoilt captures and of good ones."""
    executables, graphs = [d.instantiate(graph) for _ in range(2)], []
    calls = [
        lambda: graphs.append(d.graph()),
        lambda: d("cuGraphDestroy", graphs.pop()),
        lambda: d("cuGraphAddKernelNode_v2", Place(), graph, None, 0, node(function)),
        lambda: d("cuGraphInstantiateWithFlags", Place(), graph, 0),
        lambda: d("cuGraphExecDestroy", executables.pop()),
    ]
    for unsafe in calls:
        for own in (GLOBAL, RELAXED):
            d("cuStreamBeginCapture_v2", stream, mode)
            d("cuThreadExchangeStreamCaptureMode", number(own))
            unsafe()
            d("cuThreadExchangeStreamCaptureMode", number(GLOBAL))
            elsewhere(lambda: d("cuStreamEndCapture", stream, Place()))
            d.end(stream)


def memory(d):
    """Memory, copies, and what is known of addresses."""
    d.start()
    for size in (0, 1, 2**50):
        d("cuMemAlloc_v2", Place(), size)
    first = d.new("cuMemAlloc_v2", 1024)
    host = ctypes.create_string_buffer(bytes(range(256)) * 4, 1024)
    for offset, size in ((0, 1024), (16, 64), (0, 0), (1024, 0)):
        d("cuMemcpyHtoD_v2", first + offset, host, size)
        d("cuMemcpyDtoH_v2", ctypes.create_string_buffer(1024), first + offset, size)
    d("cuMemcpyDtoD_v2", first, first + 512, 512)
    d("cuMemcpyHtoD_v2", first, None, 16)
    d("cuMemcpyDtoH_v2", None, first, 16)
    for attribute in (1, 2, 3, 4, 8, 9, 11, 12, 13, 99):
        for address in (first, first + 100, None):
            d("cuPointerGetAttribute", Place(), attribute, address)
    d("cuPointerGetAttribute", None, 9, first)
    d("cuMemFree_v2", first + 16)
    d("cuMemFree_v2", first)
    d("cuMemFree_v2", first)
    d("cuMemFree_v2", None)


def stream_memory(d):
    """Memory that comes and goes in the order of a stream, and in a capture."""
    context = d.start()
    stream = d.new("cuStreamCreate", 1)
    for size in (0, 1, 2**50):
        d("cuMemAllocAsync", Place(), size, stream)
    memory = d.new("cuMemAllocAsync", 1024, stream)
    d("cuMemFreeAsync", None, stream)
    d("cuMemFreeAsync", memory + 16, stream)
    d("cuMemFreeAsync", memory, stream)
    memory = d.new("cuMemAllocAsync", 1024, stream)
    d("cuMemFreeAsync", memory, None)
    memory = d.new("cuMemAllocAsync", 1024, stream)
    d("cuCtxSynchronize")
    d("cuMemFree_v2", memory)
    d("cuCtxSetCurrent", None)
    memory = d.new("cuMemAllocAsync", 1024, stream)
    d("cuMemFreeAsync", memory, stream)
    d("cuMemAllocAsync", Place(), 1024, None)
    d("cuCtxSetCurrent", context)
    for mode in (GLOBAL, THREAD_LOCAL, RELAXED):
        d("cuStreamBeginCapture_v2", stream, mode)
        memory = d.new("cuMemAllocAsync", 1024, stream)
        d("cuStreamGetId", stream, Place())
        d("cuMemFreeAsync", memory, stream)
        d.end(stream)


# A matrix of float32, all right: what each case changes of it.
TENSOR = {
    "type": 7,
    "rank": 2,
    "address": 0x1000,
    "dims": [64, 8],
    "strides": [256],
    "box": [32, 8],
    "steps": [1, 1],
    "interleave": 0,
    "swizzle": 0,
    "promotion": 0,
    "fill": 0,
}
CUBE = {
    "rank": 3,
    "dims": [64, 8, 4],
    "strides": [256, 2048],
    "box": [32, 8, 2],
    "steps": [1, 1, 1],
}


def encode(d, place=None, **changes):
    t = TENSOR | changes
    numbers = lambda kind, values: None if values is None else (kind * 6)(*values)
    d(
        "cuTensorMapEncodeTiled",
        Place() if place is None else place,
        t["type"],
        t["rank"],
        t["address"],
        numbers(ctypes.c_uint64, t["dims"]),
        numbers(ctypes.c_uint64, t["strides"]),
        numbers(ctypes.c_uint32, t["box"]),
        numbers(ctypes.c_uint32, t["steps"]),
        t["interleave"],
        t["swizzle"],
        t["promotion"],
        t["fill"],
    )


def tensor_maps(d):
    """Tensor maps that are right, and wrong in each way."""
    d.start()
    encode(d)
    encode(d, place=Place(offset=64))
    encode(d, place=Place(offset=32))
    for rank in (0, 6):
        encode(d, rank=rank)
    encode(d, rank=1, strides=[], dims=[64], box=[32], steps=[1])
    encode(d, rank=1, strides=None, dims=[64], box=[32], steps=[1])
    for rank in (3, 4, 5):
        shape = {
            "dims": [16] * rank,
            "strides": [64 * 16**i for i in range(rank - 1)],
            "box": [4] * rank,
            "steps": [1] * rank,
        }
        encode(d, rank=rank, **shape)
    for name in ("dims", "strides", "box", "steps"):
        encode(d, **{name: None})
    one_field(d)
    for kind in range(18):
        for first in (1, 4, 8, 16, 32, 64, 128, 256):
            encode(d, type=kind, box=[first, 2])
    for swizzle in range(8):
        for interleave in range(4):
            for first in (2, 4, 8, 9, 16, 32, 64):
                encode(d, swizzle=swizzle, interleave=interleave, **CUBE | {"box": [first, 8, 2]})
    interleaved(d)
    sub_byte(d)


def one_field(d):
    """One thing at a time."""
    for address in (0, 1, 8, 16, 32, 0x1010):
        encode(d, address=address)
    for promotion in range(5):
        encode(d, promotion=promotion)
    for fill in range(3):
        for kind in range(14):
            encode(d, fill=fill, type=kind)
    for dim in (0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40):
        encode(d, dims=[64, dim])
        encode(d, dims=[dim, 8], strides=[2**36])
    for stride in (0, 8, 16, 24, 32, 128, 240, 264, 272, 2**40 - 16, 2**40, 2**40 + 16):
        encode(d, strides=[stride])
    # Whether the second stride has to hold the rows before it.
    encode(d, **CUBE | {"strides": [256, 16]})
    encode(d, **CUBE | {"strides": [256, 272]})
    for extent in (0, 1, 8, 255, 256, 257):
        encode(d, box=[32, extent])
        encode(d, box=[extent, 8])
    for step in (0, 1, 2, 3, 8, 9):
        encode(d, steps=[1, step])
        encode(d, steps=[step, 1])
    encode(d, box=[32, 16])
    encode(d, box=[128, 256])


def interleaved(d):
    """Layouts of slices of 16 and 32 bytes."""
    for interleave in (1, 2):
        encode(d, interleave=interleave)
        for kind in (0, 1, 6, 7, 8):
            for first in (1, 2, 4, 8, 16, 32):
                encode(d, interleave=interleave, type=kind, **CUBE | {"box": [first, 8, 2]})
        for address in (16, 32, 48):
            encode(d, interleave=interleave, address=address, **CUBE)
        for stride in (16, 32, 48, 240, 256, 272):
            encode(d, interleave=interleave, **CUBE | {"strides": [stride, 2048]})
        for swizzle in range(4):
            encode(d, interleave=interleave, swizzle=swizzle, **CUBE | {"box": [8, 8, 2]})


def sub_byte(d):
    """Elements of fewer bits than a byte, which have rules of their own."""
    for kind in (13, 14, 15):
        for first in (64, 96, 128, 256):
            for dim in (64, 96, 128, 256, 512):
                for address in (0x1000, 0x1010):
                    encode(
                        d, type=kind, address=address, dims=[dim, 8], strides=[512], box=[first, 8]
                    )
        for swizzle in range(7):
            encode(d, type=kind, swizzle=swizzle, dims=[256, 8], strides=[512], box=[128, 8])


class Tensor:
    """A tensor of the stub's memory, as DLPack has it."""

    # DLTensor's and then DLManagedTensor's own fields.
    class Managed(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_uint64),
            ("device_type", ctypes.c_int32),
            ("device", ctypes.c_int32),
            ("n_dims", ctypes.c_int32),
            ("code", ctypes.c_uint8),
            ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("byte_offset", ctypes.c_uint64),
            ("context", ctypes.c_void_p),
            ("deleter", ctypes.c_void_p),
        ]

    CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4}

    def __init__(self, d, dtype, *shape, device=0):
        code = dtype.rstrip("0123456789")
        bits = int(dtype.removeprefix(code))
        n = 1
        for extent in shape:
            n *= extent
        strides = [1] * len(shape)
        for axis in range(len(shape) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * shape[axis]
        size = n * bits // 8
        data = d.new("cuMemAlloc_v2", size)
        # Kernels that wait for a number would wait for ever where memory is not zero.
        d("cuMemcpyHtoD_v2", data, ctypes.create_string_buffer(size), size)
        numbers = ctypes.c_int64 * len(shape)
        kind, cuda = self.CODES[code], 2
        self.managed = self.Managed(
            data,
            cuda,
            device,
            len(shape),
            kind,
            bits,
            1,
            numbers(*shape),
            numbers(*strides),
            0,
            None,
            None,
        )
        KEPT.append(self.managed)

    def __dlpack_device__(self):
        return 2, self.managed.device

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        return new(ctypes.addressof(self.managed), b"dltensor", None)


def packages(d):
    """Packages, called rightly and wrongly: what their code asks of the driver."""
    # TVM-FFI looks for PyTorch, which would make calls of its own.
    sys.modules["torch"] = None
    import tvm_ffi

    def tensor(dtype, *shape, device=0):
        return tvm_ffi.from_dlpack(Tensor(d, dtype, *shape, device=device))

    def tried(module, name, *arguments):
        try:
            getattr(module, name)(*arguments)
        except (RuntimeError, ValueError, TypeError) as error:
            print(f"{name}: {error}")

    d.start()
    module = {name: tvm_ffi.load_module(str(BUNDLE / f"{name}.so")) for name in PACKAGES}
    stream = d.new("cuStreamCreate", 1)
    a, b = tensor("float32", 1000), tensor("float32", 1000)
    for arguments in ((a, b), (a, b)):
        tried(module["add_one"], "add_one", *arguments)
    for threads, size, blocks in (
        (256, 0, 4),
        (0, 0, 1),
        (4096, 0, 1),
        (32, 49152, 1),
        (32, 100_000, 1),
        (32, 300_000, 1),
        (32, 0, -1),
        (32, 0, 0),
    ):
        tried(module["add_one"], "wide", a, b, threads, size, blocks)
    for on in (0, LEGACY, PER_THREAD, stream):
        tried(module["add_one"], "on", a, b, on)
    for mode in (GLOBAL, THREAD_LOCAL, RELAXED):
        d("cuStreamBeginCapture_v2", stream, mode)
        tried(module["add_one"], "on", a, b, stream)
        d.end(stream)
    sizes = tensor("int32", 48)
    for size in (1, 2, 3, 8, 16, 5, 0, -1):
        tried(module["attributes"], "clusters", sizes, size)
    for blocks in (1, 132, 264, 4224, 4225, 100_000):
        tried(module["attributes"], "meet", tensor("int32", 1), blocks)
    whole = tensor("int32", 300), tensor("int32", 300)
    tried(module["attributes"], "add_after", *whole, stream)
    tried(module["attributes"], "cubin", tensor("int32", 1))
    tried(module["scale"], "scale", tensor("float16", 1001), tensor("float16", 1001), 0.5)
    for m, width in ((3, 136), (2, 4104)):
        tried(
            module["rms_norm"],
            "rms",
            tensor("float16", m, width),
            tensor("float16", width),
            tensor("float16", m, width),
        )
    for m, n, k in ((129, 257, 72), (300, 520, 328)):
        tried(
            module["gemm"],
            "gemm",
            tensor("bfloat16", m, k),
            tensor("bfloat16", n, k),
            tensor("bfloat16", m, n),
        )
    tried(module["tensor_map"], "matrix", tensor("float16", 64, 128), tensor("uint8", 4, 4096))
    tried(module["tensor_map"], "matrix", tensor("float16", 64, 100), tensor("uint8", 4, 4096))
    tried(
        module["tensor_map"], "swizzled", tensor("float16", 128, 64), tensor("uint8", 4, 4096), 64
    )
    d("cuStreamSynchronize", stream)
    d("cuCtxSynchronize")


PACKAGES = ("add_one", "attributes", "gemm", "rms_norm", "scale", "tensor_map")


def two_devices(d):
    """Contexts, kernels and streams of two devices."""
    first = d.start()
    second = d.new("cuDevicePrimaryCtxRetain", 1)
    library = d.load(PTX)
    kernel = d.kernel(library, "none")
    streams, functions = [], []
    for context in (first, second):
        d("cuCtxSetCurrent", context)
        d("cuCtxGetDevice", Place())
        streams.append(d.new("cuStreamCreate", 1))
        functions.append(d.new("cuKernelGetFunction", kernel))
    d("cuKernelSetAttribute", 8, 100_000, kernel, 1)
    for context in (first, second, None):
        d("cuCtxSetCurrent", context)
        for launched in (kernel, *functions):
            for stream in (0, LEGACY, PER_THREAD, *streams):
                d.launch(launched, stream=stream)
                d.launch(launched, stream=stream, shared=100_000)
    for stream in streams:
        d("cuStreamGetCtx", stream, Place())
        d("cuStreamSynchronize", stream)
    d("cuCtxSetCurrent", first)
    for stream in streams:
        for mode in (GLOBAL, RELAXED):
            d("cuStreamBeginCapture_v2", stream, mode)
            d("cuMemAlloc_v2", Place(), 16)
            d.launch(kernel)
            d.end(stream)
    d("cuDevicePrimaryCtxRelease_v2", 1)


# Each scene, and how many devices it is recorded with.
SCENES = {
    contexts: 1,
    resets: 1,
    libraries: 1,
    launches: 1,
    graphs: 1,
    streams: 1,
    events: 1,
    stream_properties: 1,
    memory: 1,
    stream_memory: 1,
    tensor_maps: 1,
    packages: 1,
    two_devices: 2,
}


def record(stub, images, bundle, folder):
    """Runs each scene in a process that has the stub as its driver."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    library = folder / "libcuda.so.1"
    library.unlink(missing_ok=True)
    library.symlink_to(stub.resolve())
    for scene, devices in SCENES.items():
        log, told = folder / f"{scene.__name__}.jsonl", folder / "stub.txt"
        log.unlink(missing_ok=True)
        # The driver of CUDA 13.0 loads libraries under every capture.
        told.write_text(
            f"devices {devices}\ncapture-loads allowed\nlog {log}\nimages {folder / 'images'}\n"
        )
        environment = os.environ | {"LD_LIBRARY_PATH": str(folder), "KERNPACK_CUDA_STUB": str(told)}
        command = [sys.executable, __file__, str(images), str(bundle), scene.__name__]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        print(f"{scene.__name__}: {len(log.read_text().splitlines())} calls")
    told.unlink()
    library.unlink()


if __name__ == "__main__":
    paths = [Path(argument).absolute() for argument in sys.argv[1:]]
    if len(paths) == 4:
        record(*paths)
    else:
        images, BUNDLE, name = *paths[:2], sys.argv[3]
        scenes = {scene.__name__: scene for scene in SCENES}
        scenes[name](Driver(ctypes.CDLL("libcuda.so.1"), images))
