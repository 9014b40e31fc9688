# SPDX-License-Identifier: Apache-2.0
"""Timelines of kernels with roles: the results are those of a call, each role waits for what it should,
times add up, and what is written down is what `globaltimer` and events of CUDA say."""

import importlib.util
import json
import os
import re
import sys
import time
from pathlib import Path

import kernpack as kp
import pytest
import torch

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"]) / "examples/kernels"
needs_hopper = pytest.mark.skipif(
    torch.cuda.get_device_capability()[0] != 9, reason="the kernels are for sm_90a"
)


def module(name):
    """A file of kernels, as a program has it."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def halves(*shape):
    return torch.randn(shape, device="cuda").to(torch.bfloat16)


def microseconds(call):
    """How long the device takes for a call that was made before."""
    call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


def is_in_order(timeline):
    """Whether each warp's waits are in its time, one behind the other."""
    for warp in timeline.warps:
        times = [warp.begin, *(t for e in warp.events for t in (e.begin, e.end)), warp.end]
        if times != sorted(times):
            return False
    return True


def waits(timeline, number):
    """What warps of that number wait for: names with arrays or groups."""
    events = [
        event.wait for warp in timeline.warps if warp.number == number for event in warp.events
    ]
    return {(wait.name, wait.array if wait.left is None else wait.left) for wait in events}


@needs_hopper
def test_gemm(tell, tmp_path):
    gemm = module("gemm").gemm
    m, n, k = 2048, 2048, 2048
    a, b, c, again = halves(m, k), halves(n, k), halves(m, n), halves(m, n)
    gemm(a, b, c)
    timeline = gemm.timeline(a, b, again)
    assert torch.equal(c, again)
    assert is_in_order(timeline) and timeline.lost_warps == 0
    assert not any(warp.lost for warp in timeline.warps)
    # A warp fills stages, and the two warpgroups behind the first one use them.
    assert waits(timeline, 0) == {("barrier", None), ("mbarrier.wait", "empty")}
    assert waits(timeline, 1) == {("barrier", None)}
    users = {("barrier", None), ("mbarrier.wait", "full"), ("wgmma.wait", 1), ("wgmma.wait", 0)}
    assert all(waits(timeline, number) == users for number in range(4, 12))
    # Each stage is filled as often as it is used by a warp.
    steps = {}
    for warp in timeline.warps:
        own = [event.stage for event in warp.events if event.wait.name == "mbarrier.wait"]
        steps.setdefault(warp.block, set()).update([tuple(own)] if own else [])
    assert all(len(own) == 1 for own in steps.values())
    bare = microseconds(lambda: gemm(a, b, c))
    timed = max(warp.end for warp in timeline.warps) / 1e3
    tell(f"gemm {m}x{n}x{k}: {bare:.1f} us between events, {timed:.1f} us in its timeline")
    assert bare / 4 < timed < bare * 4
    timeline.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len([each for each in trace if each["ph"] == "X"]) == len(timeline.events) + len(
        timeline.warps
    )
    for line in str(timeline).splitlines():
        tell(line)


@needs_hopper
def test_room_that_is_too_small():
    gemm = module("gemm").gemm
    a, b, c = halves(1024, 1024), halves(1024, 1024), halves(1024, 1024)
    timeline = gemm.timeline(a, b, c, events=4, warps=10)
    assert torch.allclose(c.double(), a.double() @ b.double().t(), rtol=0.01, atol=0.5)
    assert len(timeline.warps) == 10 and timeline.lost_warps > 0
    assert all(len(warp.events) <= 4 for warp in timeline.warps)
    assert any(warp.lost for warp in timeline.warps)
    assert re.search(r"more warps were not recorded", str(timeline))


@needs_hopper
@pytest.mark.parametrize("d", [64, 128])
def test_attention(tell, d):
    attention = module("attention").attention
    q, k, v = (halves(1, 8, 1024, d) for _ in range(3))
    out, again = torch.empty_like(q), torch.empty_like(q)
    attention(q, k, v, out, None, d**-0.5)
    timeline = attention.timeline(q, k, v, again, None, d**-0.5)
    assert torch.equal(out, again)
    assert is_in_order(timeline) and timeline.lost_warps == 0
    assert any(event.wait.name == "wgmma.wait" for event in timeline.events)
    for line in str(timeline).splitlines():
        tell(line)


@kp.kernel
def sleeper(nanoseconds: kp.int32):
    """The second warp waits for the first, which does nothing for a while."""
    done = kp.mbarrier()
    if kp.thread_idx()[0] == 0:
        done.init(32)
    kp.sync_threads()
    if kp.warp_idx() == 0:
        begin = kp.globaltimer()
        while kp.globaltimer() - begin < nanoseconds:
            pass
        done.arrive()
    else:
        done.wait(0)


@kp.jit("sleep(n: int32)")
def sleep(n):
    sleeper(n).launch(grid=4, block=64)


def test_a_wait_is_as_long_as_it_is(tell):
    for microseconds in (20, 200, 2000):
        timeline = sleep.timeline(1000 * microseconds)
        waited = [e for e in timeline.events if e.wait.name == "mbarrier.wait"]
        times = [(e.end - e.begin) / 1e3 for e in waited]
        assert len(times) == 4 and {e.block[0] for e in waited} == {0, 1, 2, 3}
        tell(f"a wait for {microseconds} us: {min(times):.2f} to {max(times):.2f} us")
        assert all(microseconds * 0.9 - 2 < each < microseconds * 1.1 + 5 for each in times)


def test_it_costs_no_call_anything():
    """Calls beside a timeline are of the code that they were of before."""
    sleep(1000)
    before = sleep.variants[0].function.package.digest
    sleep.timeline(1000)
    assert sleep.variants[0].function.package.digest == before
    begin = time.perf_counter()
    sleep(1000)
    assert time.perf_counter() - begin < 1
