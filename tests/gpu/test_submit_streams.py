# SPDX-License-Identifier: Apache-2.0
"""Launches keep their order and their place whichever way they are submitted: on streams of every
kind, under captures, from many threads.
"""

import ctypes
import statistics
import struct
import threading
import time

import pytest
import torch
from cuda_driver import WINDOW, Place, call
from graphs import assert_replayed, captured
from submitted import A_FEW, is_through_graphs, launched, vectors

WAYS = ["plain", "graph", "auto"]
A_WHILE = 20_000_000  # cycles: about 10 ms
DRIVER = ctypes.CDLL("libcuda.so.1")


def must(name, *arguments):
    status = call(DRIVER, name, *arguments)
    assert status == 0, f"{name}: {status}"


def made(name, *arguments):
    """The handle that a function of the driver writes to its first argument."""
    place = Place()
    must(name, place, *arguments)
    return place.number()


def blocking_stream():
    """A stream that waits for the NULL stream, and has it wait."""
    return torch.cuda.ExternalStream(made("cuStreamCreate", 0))


def stream_of_its_own():
    """One that is nobody else's, now or later: every 32nd that PyTorch makes is the same, and one
    of them is where it captures.
    """
    non_blocking = 1
    return torch.cuda.ExternalStream(made("cuStreamCreate", non_blocking))


def give_graph(module, a, b, stream):
    """Calls until the use has a graph, if it may have one."""
    with torch.cuda.stream(stream):
        for _ in range(A_FEW):
            module.add_one(a, b)
    torch.cuda.synchronize()


STREAMS = {
    "NULL": torch.cuda.default_stream,
    "own": torch.cuda.Stream,
    "blocking": blocking_stream,
    "high": lambda: torch.cuda.Stream(priority=-1),
}


@pytest.mark.parametrize("launch", WAYS)
@pytest.mark.parametrize("kind", STREAMS)
def test_order_with_other_work_of_the_stream(fresh, kind, launch):
    module, stream = fresh("add_one", launch), STREAMS[kind]()
    a, b = vectors()
    sum = torch.zeros_like(b)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for i in range(300):
            if i % 100 == 50:
                torch.cuda._sleep(A_WHILE)
            a.fill_(i)
            module.add_one(a, b)
            sum.add_(b)
    torch.cuda.synchronize()
    assert torch.equal(sum, torch.full_like(sum, 300 * 301 / 2))
    counts = launched(module, "add_one")
    assert counts["plain"] + counts["graph"] == 300
    if launch != "auto":
        assert counts[launch] > 290


@pytest.mark.parametrize(
    "handle, has_graph",
    [(0, True), (1, True), (2, False)],
    ids=["NULL", "legacy", "each thread's own"],
)
def test_streams_without_an_object(fresh, handle, has_graph):
    module = fresh("add_one")
    a, b = vectors()
    torch.cuda.synchronize()
    for _ in range(A_FEW):
        module.on(a, b, ctypes.c_void_p(handle))
        must("cuStreamSynchronize", handle)
        assert torch.equal(b, a + 1)
        a.add_(1)
        torch.cuda.synchronize()
    assert (launched(module, "on")["graph"] > 0) == has_graph


def test_the_null_stream_and_one_that_waits_for_it(fresh):
    module, blocking, null = fresh("add_one"), blocking_stream(), torch.cuda.default_stream()
    a, b = vectors(1 << 20)
    for stream in (blocking, null):
        give_graph(module, a, b, stream)
    assert launched(module, "add_one")["graphs"] == 2
    for i in range(10):
        first, second = (blocking, null) if i % 2 else (null, blocking)
        with torch.cuda.stream(first):
            torch.cuda._sleep(A_WHILE)
            a.fill_(i)
        with torch.cuda.stream(second):
            module.add_one(a, b)
        # And the other way round: a graph is waited for.
        with torch.cuda.stream(first):
            b.add_(1)
        torch.cuda.synchronize()
        assert torch.equal(b, a + 2)
    assert launched(module, "add_one")["graph"] >= 20


def test_events(fresh):
    module, streams = fresh("add_one"), [torch.cuda.Stream() for _ in range(2)]
    a, b = vectors(1 << 20)
    c = torch.zeros_like(b)
    give_graph(module, a, b, streams[0])
    give_graph(module, b, c, streams[1])
    for i in range(10):
        done = torch.cuda.Event()
        with torch.cuda.stream(streams[0]):
            torch.cuda._sleep(A_WHILE)
            a.fill_(i)
            module.add_one(a, b)
            done.record()
        assert not done.query(), "behind a kernel that sleeps"
        with torch.cuda.stream(streams[1]):
            streams[1].wait_event(done)
            module.add_one(b, c)
        done.synchronize()
        streams[1].synchronize()
        assert torch.equal(c, a + 2)
    assert launched(module, "add_one")["graph"] >= 30


@pytest.mark.parametrize("launch", WAYS)
def test_a_stream_of_high_priority_overtakes_a_flood(fresh, tell, launch):
    module = fresh("submit", launch)
    low, high = torch.cuda.Stream(priority=0), torch.cuda.Stream(priority=-1)
    x, spun = (
        torch.zeros(8, dtype=torch.int64, device="cuda"),
        torch.zeros(1, dtype=torch.int32, device="cuda"),
    )
    blocks = 200 * torch.cuda.get_device_properties(0).multi_processor_count

    def flood():
        with torch.cuda.stream(low):
            module.spin(spun, 100_000, blocks, 1024)

    def behind_a_flood(stream):
        torch.cuda.synchronize()
        flood()
        time.sleep(0.0003)
        start = time.perf_counter()
        with torch.cuda.stream(stream):
            module.put(x, 0, 1)
        stream.synchronize()
        return time.perf_counter() - start

    for stream in (low, high) * A_FEW:
        behind_a_flood(stream)
    took = {
        name: statistics.median(behind_a_flood(stream) for _ in range(9))
        for name, stream in (("low", low), ("high", high))
    }
    told = ", ".join(
        f"{1e6 * seconds:.0f} us in the {name} stream" for name, seconds in took.items()
    )
    tell(f"a launch behind a flood, {launch}: {told}; {launched(module, 'put')}")
    assert took["high"] < took["low"] / 5
    if launch == "graph":
        assert launched(module, "put")["graphs"] == 2


@pytest.mark.parametrize("launch", WAYS)
def test_two_streams_overlap(fresh, tell, launch):
    module = fresh("submit", launch)
    streams = [torch.cuda.Stream() for _ in range(2)]
    spun = [torch.zeros(1, dtype=torch.int32, device="cuda") for _ in streams]

    def spin(n):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for stream, x in zip(streams[:n], spun):
            with torch.cuda.stream(stream):
                module.spin(x, 4_000_000)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    for _ in range(A_FEW):
        spin(2)
    one, two = (statistics.median(spin(n) for _ in range(9)) for n in (1, 2))
    tell(f"a spinning kernel, {launch}: {1e6 * one:.0f} us, two on two streams {1e6 * two:.0f} us")
    assert two < 1.5 * one
    assert [x.item() for x in spun] == [A_FEW + 18, A_FEW + 9]
    if launch == "graph":
        assert launched(module, "spin")["graphs"] == 2


def test_a_stream_with_a_window_of_memory(fresh):
    module, stream = fresh("add_one"), stream_of_its_own()
    a, b = vectors(1 << 18)
    persisting, streaming = 2, 1
    window = struct.pack("<QQfii", a.data_ptr(), a.nbytes, 1.0, persisting, streaming)
    must("cuStreamSetAttribute", stream.cuda_stream, WINDOW, Place(content=window))
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for i in range(3 * A_FEW):
            a.fill_(i)
            module.add_one(a, b)
            assert torch.equal(b, a + 1)
    assert launched(module, "add_one")["graph"] == 0


def green_stream():
    """A stream of some of the device's multiprocessors, and what it is of."""
    multiprocessors, default_stream, non_blocking = 1, 1, 1
    resource, first, rest, n_groups = Place(), Place(), Place(), Place(content=struct.pack("<I", 1))
    must("cuDeviceGetDevResource", 0, resource, multiprocessors)
    must("cuDevSmResourceSplitByCount", first, n_groups, resource, rest, 0, 16)
    description = made("cuDevResourceGenerateDesc", first, 1)
    context = made("cuGreenCtxCreate", description, 0, default_stream)
    return context, made("cuGreenCtxStreamCreate", context, non_blocking, 0)


@pytest.mark.parametrize("launch", WAYS)
def test_a_stream_of_a_green_context(fresh, tell, launch):
    module = fresh("add_one", launch)
    a, b = vectors()
    context, stream = green_stream()
    torch.cuda.synchronize()
    for i in range(3 * A_FEW):
        module.on(a, b, ctypes.c_void_p(stream))
        must("cuStreamSynchronize", stream)
        assert torch.equal(b, a + 1)
        a.add_(1)
        torch.cuda.synchronize()
    counts = launched(module, "on")
    tell(f"a stream of a green context, {launch}: {counts}")
    assert counts["graph"] == 0
    must("cuStreamDestroy_v2", stream)
    must("cuGreenCtxDestroy", context)


@pytest.mark.parametrize("launch", WAYS)
def test_a_capture_between_calls(fresh, launch):
    """Of the same stream, with a graph before and after; the capture has the kernel, and nothing
    runs.
    """
    module, stream = fresh("add_one", launch), torch.cuda.Stream()
    a, b = vectors()
    give_graph(module, a, b, stream)
    for mode in ("global", "thread_local", "relaxed") * 2:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            module.add_one(a, b)
            stream.synchronize()
            b.zero_()
            stream.synchronize()
            graph.capture_begin(capture_error_mode=mode)
            module.add_one(a, b)
            graph.capture_end()
            stream.synchronize()
            assert not b.any(), "captured, not run"
            module.add_one(a, b)
        torch.cuda.synchronize()
        assert torch.equal(b, a + 1)
        b.zero_()
        assert_replayed(graph, a, lambda: torch.equal(b, a + 1))
    if launch == "graph":
        with torch.cuda.stream(stream):
            assert is_through_graphs(module, "add_one", lambda: module.add_one(a, b))


@pytest.mark.parametrize("is_first", [True, False])
def test_torch_captures(fresh, is_first):
    module = fresh("add_one")
    a, b = vectors()
    if not is_first:
        give_graph(module, a, b, torch.cuda.current_stream())
    graph = captured(lambda: [module.add_one(a, b) for _ in range(A_FEW)])
    assert launched(module, "add_one")["graph"] == (0 if is_first else A_FEW - 1)
    assert_replayed(graph, a, lambda: torch.equal(b, a + 1))
    assert is_through_graphs(module, "add_one", lambda: module.add_one(a, b))


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("is_first", [True, False])
def test_calls_while_another_stream_captures(fresh, is_first, mode):
    """The use gets its graph before, or while the other captures."""
    module, other = fresh("add_one"), stream_of_its_own()
    a, b = vectors()
    x, y = vectors()
    if not is_first:
        give_graph(module, a, b, other)
    b.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        module.add_one(x, y)
        with torch.cuda.stream(other):
            for _ in range(2 * A_FEW):
                module.add_one(a, b)
        module.add_one(y, y)
    torch.cuda.synchronize()
    assert torch.equal(b, a + 1) and not y.any()
    assert launched(module, "add_one")["graph"] >= A_FEW
    assert_replayed(graph, x, lambda: torch.equal(y, x + 2))


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("is_first", [True, False])
def test_calls_while_another_thread_captures(fresh, is_first, mode):
    module = fresh("add_one")
    a, b = vectors()
    x, y = vectors()
    stream = stream_of_its_own()
    torch.cuda.synchronize()
    if not is_first:
        give_graph(module, a, b, stream)
    b.zero_()
    torch.cuda.synchronize()
    began, ends, graphs = threading.Event(), threading.Event(), []

    def capture():
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(), capture_error_mode=mode):
                module.add_one(x, y)
                began.set()
                ends.wait(60)
                module.add_one(y, y)
            graphs.append(graph)
        finally:
            began.set()

    thread = threading.Thread(target=capture)
    thread.start()
    assert began.wait(60)
    with torch.cuda.stream(stream):
        for _ in range(1000):
            module.add_one(a, b)
    ends.set()
    thread.join()
    torch.cuda.synchronize()
    assert torch.equal(b, a + 1) and not y.any()
    assert launched(module, "add_one")["graph"] > 900
    [graph] = graphs
    assert_replayed(graph, x, lambda: torch.equal(y, x + 2))


@pytest.mark.parametrize("launch", WAYS)
@pytest.mark.parametrize("n_streams", [1, 4, 16])
def test_sixteen_threads(fresh, tell, n_streams, launch):
    module, n_threads, n = fresh("submit", launch), 16, 1000
    streams = [torch.cuda.Stream() for _ in range(n_streams)]
    x = torch.full((n_threads, n), -1, dtype=torch.int64, device="cuda")
    rows, problems, start = list(x.unbind()), [], threading.Barrier(n_threads)
    torch.cuda.synchronize()

    def work(number):
        try:
            with torch.cuda.stream(streams[number % n_streams]):
                # PyTorch makes the device's context current when it first needs it in a thread.
                # Without it, launches are plain.
                if number > 0:
                    torch.zeros(1, device="cuda")
                start.wait(60)
                for i in range(n):
                    module.put(rows[number], i, 1_000_000 * number + i)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not problems
    torch.cuda.synchronize()
    assert torch.equal(
        x,
        1_000_000 * torch.arange(n_threads, device="cuda")[:, None]
        + torch.arange(n, device="cuda"),
    )
    counts = launched(module, "put")
    tell(f"16 threads on {n_streams} streams, {launch}: {counts}")
    assert counts["plain"] + counts["graph"] == n_threads * n
    if launch == "graph":
        assert counts["graph"] > 0


def test_uses_come_and_go(fresh):
    """More streams in turn than a kernel has graphs for, which one after the other are used alone."""
    module = fresh("add_one")
    a, b = vectors()
    streams = [torch.cuda.Stream() for _ in range(12)]
    torch.cuda.synchronize()
    for stream in streams:
        with torch.cuda.stream(stream):
            for i in range(100):
                a.fill_(i)
                module.add_one(a, b)
            assert torch.equal(b, a + 1)
    for i in range(600):
        with torch.cuda.stream(streams[i % len(streams)]):
            a.fill_(i)
            module.add_one(a, b)
            assert i % 50 or torch.equal(b, a + 1)
        torch.cuda.synchronize()
    assert launched(module, "add_one")["graphs"] <= 4


def test_prepared_calls(fresh):
    module = fresh("add_one")
    pairs = [vectors() for _ in range(3)]
    prepared = [module.kernpack_prepare_add_one(a, b) for a, b in pairs]
    for i in range(5 * A_FEW):
        for (a, b), function in zip(pairs, prepared):
            a.fill_(i)
            b.zero_()
            function()
            assert torch.equal(b, a + 1)
    counts = launched(module, "add_one")
    assert counts["graphs"] == 3 and counts["graph"] > counts["plain"]
    del function, prepared
    assert launched(module, "add_one")["graphs"] == 0
