# SPDX-License-Identifier: Apache-2.0
"""Launches do the same whichever way they are submitted: what they compute, what is refused, what
attributes mean, what they hold, and what a profiler sees. test_submit_streams.py has streams,
captures and threads.
"""

import ctypes
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch
import tvm_ffi
from submitted import A_FEW, is_through_graphs, launched, vectors

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
WAYS = ["plain", "graph", "auto"]


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def empty(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), device="cuda", dtype=dtype)


def scale_calls():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        y = empty(100_003, dtype=dtype)
        yield "scale", (normal(100_003, dtype=dtype), y, 0.3), y


def rms_norm_calls():
    for dtype in (torch.float16, torch.bfloat16):
        for m, d in [(33, 136), (15, 4104), (3, 32_776)]:
            out = empty(m, d, dtype=dtype)
            yield "rms", (normal(m, d, dtype=dtype), normal(d, dtype=dtype), out), out


def gemm_calls():
    for m, n, k in [(129, 257, 72), (1000, 1500, 136)]:
        c = empty(m, n, dtype=torch.bfloat16)
        yield "gemm", (normal(m, k, dtype=torch.bfloat16), normal(n, k, dtype=torch.bfloat16), c), c


def add_one_calls():
    for n in (1, 1000):
        b = empty(n)
        yield "add_one", (normal(n), b), b


def ten_calls():
    a = normal(11)
    yield "ten", (a,), a


def softmax_calls():
    for dtype in (torch.float32, torch.bfloat16):
        y = empty(100, 1000, dtype=dtype)
        yield "softmax", (normal(100, 1000, dtype=dtype), y), y


def triton_calls():
    for version in ("3_4", "3_5", "3_6"):
        y = empty(100, 200)
        yield f"shift_{version}", (normal(100, 200), 0.5, y), y


PACKAGES = {
    "add_one": add_one_calls,
    "scale": scale_calls,
    "rms_norm": rms_norm_calls,
    "gemm": gemm_calls,
    "ten": ten_calls,
    "softmax": softmax_calls,
    "triton_versions": triton_calls,
}


def results(module, calls):
    """What calls compute that are made again and again with other numbers, all of them before
    anything waits; and the functions.
    """
    torch.manual_seed(0)
    made = [call for _ in range(A_FEW) for call in calls()]
    for name, arguments, _ in made:
        module[name](*arguments)
    torch.cuda.synchronize()
    return [out.view(torch.uint8) for _, _, out in made], {name for name, _, _ in made}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_same_bits_either_way(fresh, tell, name):
    plain, graph = fresh(name, "plain"), fresh(name, "graph")
    expected, functions = results(plain, PACKAGES[name])
    got, _ = results(graph, PACKAGES[name])
    assert all(map(torch.equal, got, expected))
    for function in sorted(functions):
        assert launched(plain, function)["graph"] == 0
        counts = launched(graph, function)
        tell(f"{name}.{function}: {counts}")
        assert counts["graph"] > counts["plain"]


def test_ten_kernels_in_a_line(fresh):
    module = fresh("ten")
    for start in range(20):
        a = torch.full((11,), -1.0, device="cuda")
        a[0] = start
        module.ten(a)
        assert a.tolist() == [start + i for i in range(11)]
    assert launched(module, "ten")["graph"] > 100


@pytest.mark.parametrize("launch", ["graph", "auto"])
def test_a_million_calls_with_other_arguments(fresh, tell, launch):
    module, n = fresh("submit", launch), 1_000_000
    x = torch.full((n,), -1, dtype=torch.int64, device="cuda")
    expected = torch.arange(n, device="cuda") * 7 + 1
    put = module.put
    free = None
    for i in range(n):
        put(x, i, 7 * i + 1)
        if i == 10_000:
            torch.cuda.synchronize()
            free = torch.cuda.mem_get_info()[0]
    torch.cuda.synchronize()
    held = free - torch.cuda.mem_get_info()[0]
    assert torch.equal(x, expected)
    counts = launched(module, "put")
    tell(f"a million calls, {launch}: {counts}, and {held} bytes of the device's memory more")
    assert held <= 1 << 20
    assert counts["plain"] + counts["graph"] == n and counts["graphs"] <= 1


REFUSED = [
    ((4096, 0, 4), "block 4096 exceeds the device's 1024 threads"),
    (
        (256, 300_000, 4),
        "300000 bytes of dynamic and 0 bytes of static shared memory exceed the device's ",
    ),
]


@pytest.mark.parametrize("launch", WAYS)
@pytest.mark.parametrize("refused, reason", REFUSED, ids=["threads", "memory"])
def test_what_is_refused_is_told_alike(fresh, launch, refused, reason):
    module = fresh("add_one", launch)
    a, b = vectors()
    message = f"CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `add_one` on device 0: {reason}"

    def right():
        b.zero_()
        module.wide(a, b, 256, 0, 4)
        return torch.equal(b, a + 1)

    assert all(right() for _ in range(A_FEW))
    for _ in range(3):
        with pytest.raises(RuntimeError) as caught:
            module.wide(a, b, *refused)
        assert str(caught.value).startswith(message)
        assert right() and right()
    if launch == "graph":
        assert is_through_graphs(module, "wide", right)


def test_more_shared_memory_than_48_kib(fresh):
    module = fresh("add_one")
    a, b = vectors(32)
    for n_bytes in (200_000, 0, 100_000, 200_000, 0):
        b.zero_()
        module.wide(a, b, 32, n_bytes)
        assert torch.equal(b, a + 1)
    assert launched(module, "wide")["graph"] > 0


def clusters(module, size):
    sizes = torch.zeros(16, dtype=torch.int32, device="cuda")
    module.clusters(sizes, size)
    assert sizes.tolist() == [size] * 16


def meet(module):
    blocks = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    arrived = torch.zeros(1, dtype=torch.int32, device="cuda")
    module.meet(arrived, blocks)
    assert arrived.item() == blocks


def add_after(module):
    stream = torch.cuda.current_stream().cuda_stream
    a = torch.arange(1 << 16, dtype=torch.int32, device="cuda")
    b, c = torch.zeros_like(a), torch.zeros_like(a)
    module.add_after(a, b, ctypes.c_void_p(stream))
    module.add_after(b, c, ctypes.c_void_p(stream))
    assert torch.equal(c, a + 2)


def scaled(module):
    a = normal(1000)
    b = empty(1000)
    module.scaled_out(a, -0.5, 1000, b)
    assert torch.equal(b, -0.5 * a)


def constants(module):
    bits = torch.zeros(8, dtype=torch.int64, device="cuda")
    module.constants(bits)
    assert bits.tolist()[:4] == [1, 0xBE00, 0x3586, -(1 << 31)]


def total(module):
    for a, b, c in [(-128, 0.5, 1 << 20), (127, 1e-3, -1)]:
        out = torch.zeros(1, dtype=torch.float64, device="cuda")
        module.total(out, a, b, c)
        assert out.item() == a + b + c + c


def matrix(module):
    # Two addresses, and so two maps.
    for a in [normal(32, 64, dtype=torch.float16) for _ in range(2)]:
        out = torch.zeros(1, 4096, dtype=torch.uint8, device="cuda")
        module.matrix(a, out)
        assert torch.equal(out, a.view(torch.uint8).reshape(1, 4096))


# Whether launches go through graphs; None where that is only told.
ATTRIBUTES = {
    "clusters of 2": ("attributes", "clusters", lambda module: clusters(module, 2), True),
    "clusters of 16": ("attributes", "clusters", lambda module: clusters(module, 16), None),
    "a cooperative grid": ("attributes", "meet", meet, True),
    "dependent launches of high priority": ("attributes", "add_after", add_after, False),
    "constants, one a struct": ("attributes", "constants", constants, True),
    "a struct by value": ("submit", "total", total, True),
    "a result": ("attributes", "scaled_out", scaled, True),
    "a tensor map": ("tensor_map", "matrix", matrix, True),
}


@pytest.mark.parametrize("case", ATTRIBUTES)
def test_attributes_and_arguments(fresh, tell, case):
    package, name, call, is_expected = ATTRIBUTES[case]
    module = fresh(package)
    is_graph = is_through_graphs(module, name, lambda: call(module))
    tell(f"{case}: {launched(module, name)}")
    assert is_expected in (is_graph, None)


def test_clusters_of_changing_sizes(fresh):
    module = fresh("attributes")
    for size in [1, 2, 8, 16, 2, 2, 1] * A_FEW:
        clusters(module, size)


def test_a_cooperative_grid_that_is_too_large(fresh):
    module = fresh("attributes")
    for _ in range(A_FEW):
        meet(module)
    for _ in range(3):
        with pytest.raises(ValueError, match="Too many blocks .*, got 1000000$"):
            module.meet(torch.zeros(1, dtype=torch.int32, device="cuda"), 1_000_000)
        meet(module)


@pytest.mark.parametrize("launch", WAYS)
def test_launches_that_depend_on_one_another(fresh, launch):
    """With programmatic dependences, between launches that have none."""
    module, add_one = fresh("attributes", launch), fresh("add_one", launch)
    stream = torch.cuda.Stream()
    raw = ctypes.c_void_p(stream.cuda_stream)
    n = 1 << 20
    a, b, c = (torch.zeros(n, dtype=torch.int32, device="cuda") for _ in range(3))
    x, y = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for i in range(100):
            a.fill_(i)
            module.add_after(a, b, raw)
            module.add_after(b, c, raw)
            x.copy_(c)
            add_one.add_one(x, y)
            add_one.add_one(y, x)
            a.copy_(x)
            module.add_after(a, b, raw)
            assert i % 10 or int(b.min()) == int(b.max()) == i + 5


def memory():
    torch.cuda.synchronize()
    return torch.cuda.mem_get_info()[0]


def test_what_three_hundred_packages_hold(monkeypatch, tmp_path, tell):
    monkeypatch.setenv("KERNPACK_LAUNCH", "graph")
    n = 300
    a, b = vectors(1)
    start = memory()
    modules = []
    for i in range(n):
        copy = tmp_path / f"{i}.so"
        shutil.copy(FOLDER / "add_one.so", copy)
        modules.append(tvm_ffi.load_module(str(copy)))
        modules[-1].add_one(a, b)
    loaded = memory()
    for module in modules:
        assert is_through_graphs(module, "add_one", lambda: module.add_one(a, b))
        assert launched(module, "add_one")["graphs"] == 1
    end = memory()
    images, graphs = (start - loaded) / n / 1024, (loaded - end) / n / 1024
    tell(
        f"{n} packages of one kernel hold {images:.1f} KiB of the device's memory each, and {graphs:.1f} KiB for a graph"
    )
    assert graphs < 200


def profiled(module, path):
    """Kernels as a profiler sees them, and the ranges on the device."""
    a, b = vectors()
    for _ in range(A_FEW):
        module.add_one(a, b)
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for count in (20, 7):
            with torch.profiler.record_function(f"{count} calls"):
                for _ in range(count):
                    module.add_one(a, b)
        torch.cuda.synchronize()
    profile.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    shown = Counter(
        (event["name"], *event["args"]["grid"], *event["args"]["block"], event["args"]["stream"])
        for event in kernels
    )
    ranges = [event for event in events if event.get("cat") == "gpu_user_annotation"]
    middles = [kernel["ts"] + kernel["dur"] / 2 for kernel in kernels]
    within = {
        range["name"]: sum(
            range["ts"] <= middle <= range["ts"] + range["dur"] for middle in middles
        )
        for range in ranges
    }
    return shown, within


def test_what_a_profiler_sees(fresh, tmp_path):
    plain = profiled(fresh("add_one", "plain"), tmp_path / "plain.json")
    module = fresh("add_one", "graph")
    graph = profiled(module, tmp_path / "graph.json")
    assert launched(module, "add_one")["graph"] >= 27
    assert graph == plain
    [(name, *_)] = graph[0]
    assert name == "add_one" and sum(graph[0].values()) == 27
    assert graph[1] == {"20 calls": 20, "7 calls": 7}
