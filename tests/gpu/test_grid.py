# SPDX-License-Identifier: Apache-2.0
"""Cooperative launches whose blocks wait for the whole grid, launches that ask the device, and those whose
grid is all that it holds at once. `gpu-test` submits them each way.
"""

import ctypes
import re

import kernpack as kp
import pytest
import torch

BLOCK = 128
PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count


@kp.kernel
def passed_on(x, turns):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    for turn in range(turns):
        mine = x[i]
        kp.grid_sync()
        x[(i + 1037) % x.shape[0]] = mine
        kp.grid_sync()


@kp.jit("turned(x: Tensor([n], int32, mut), turns: int32) where n % 128 == 0")
def turned(x, turns):
    passed_on(x, turns).launch(grid=x.shape[0] // BLOCK, block=BLOCK, cooperative=True)


@kp.kernel
def in_three_dims(x, counts):
    bx, by, bz = kp.block_idx()
    nx, ny, _ = kp.grid_dim()
    tx, ty, tz = kp.thread_idx()
    if tx + ty + tz == 0:
        kp.atomic_add(counts, 0, kp.int32(1))
    kp.grid_sync()
    x[(bz * ny + by) * nx + bx, (tz * 3 + ty) * 5 + tx] = counts[0]


@kp.jit("counted(x: Tensor([24, 30], int32, mut), counts: Tensor([1], int32, mut))")
def counted(x, counts):
    in_three_dims(x, counts).launch(grid=(2, 3, 4), block=(5, 3, 2), cooperative=True)


@kp.kernel
def tell(out, sm_count, smem, cc):
    if kp.thread_idx()[0] == 0:
        out[kp.block_idx()[0], 0] = sm_count
        out[kp.block_idx()[0], 1] = smem
        out[kp.block_idx()[0], 2] = cc


@kp.jit("told(out: Tensor([n, 3], int64, mut))")
def told(out):
    blocks = min(kp.device.sm_count, out.shape[0])
    tell(out, kp.device.sm_count, kp.device.smem_optin, kp.device.cc).launch(grid=blocks, block=32)


@kp.kernel
def meet(out, room: kp.Constexpr):
    kept = kp.shared(kp.int32, room)
    kept[kp.thread_idx()[0]] = 1
    kp.sync_threads()
    if kp.thread_idx()[0] == 0:
        kp.atomic_add(out, 0, kept[0])
    kp.grid_sync()
    if kp.thread_idx()[0] == 0:
        out[1 + kp.block_idx()[0]] = kp.atomic_load(out, 0)


def met(out, more, threads, room):
    call = meet(out, room)
    blocks = kp.max_blocks(call, block=threads) + more
    call.launch(grid=blocks, block=threads, cooperative=True)


@kp.jit("large(out: Tensor([n], int32, mut), more: int32)")
def large(out, more):
    met(out, more, 1024, 1024)


@kp.jit("small(out: Tensor([n], int32, mut), more: int32)")
def small(out, more):
    met(out, more, 128, 128)


@kp.jit("holding(out: Tensor([n], int32, mut), more: int32)")
def holding(out, more):
    met(out, more, 128, 15000)


def blocks_of_each(function, threads, shared):
    """How many blocks of a function's kernel each multiprocessor holds, as the driver says of its PTX."""
    room = (
        1
        + PROCESSORS
        * torch.cuda.get_device_properties(0).max_threads_per_multi_processor
        // threads
    )
    # PTX is there once there is a variant.
    function(torch.zeros(room, dtype=torch.int32, device="cuda"), 0)
    cuda = ctypes.CDLL("libcuda.so.1")
    (text,) = function.ptx.values()
    name = re.search(r"\.entry\s+(\w+)", text)[1]
    module, kernel, blocks = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuModuleLoadData(ctypes.byref(module), text.encode() + b"\0") == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, name.encode()) == 0
    assert cuda.cuFuncSetAttribute(kernel, 8, shared) == 0
    asked = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
    assert asked(ctypes.byref(blocks), kernel, threads, ctypes.c_size_t(shared)) == 0
    return blocks.value


def expect_turned(x, first, turns):
    assert torch.equal(x, first.roll(1037 * turns))


@pytest.mark.parametrize("blocks", [1, 2, 3, PROCESSORS, 4 * PROCESSORS])
def test_every_block_waits_for_all_others(blocks):
    first = torch.randint(1 << 30, (blocks * BLOCK,), dtype=torch.int32, device="cuda")
    for turns in (1, 2, 100, 0, 7, 1, 1):
        x = first.clone()
        turned(x, turns)
        expect_turned(x, first, turns)


def test_grids_and_blocks_of_three_dims():
    for _ in range(6):
        x = torch.zeros((24, 30), dtype=torch.int32, device="cuda")
        counts = torch.zeros(1, dtype=torch.int32, device="cuda")
        counted(x, counts)
        assert bool((x == 24).all())


def test_several_streams_have_a_barrier_each():
    streams = [torch.cuda.Stream() for _ in range(4)]
    first = torch.randint(1 << 30, (PROCESSORS // 4 * BLOCK,), dtype=torch.int32, device="cuda")
    for _ in range(20):
        all_of_them = [first.clone() for _ in streams]
        torch.cuda.synchronize()
        for stream, x in zip(streams, all_of_them):
            with torch.cuda.stream(stream):
                turned(x, 50)
        torch.cuda.synchronize()
        for x in all_of_them:
            expect_turned(x, first, 50)


def test_a_captured_launch_is_replayed():
    first = torch.randint(1 << 30, (2 * PROCESSORS * BLOCK,), dtype=torch.int32, device="cuda")
    x = first.clone()
    turned(x, 0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        turned(x, 3)
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    expect_turned(x, first, 15)


def test_a_grid_that_cannot_run_at_once_is_refused():
    first = torch.arange(1 << 20, dtype=torch.int32, device="cuda")
    many = torch.zeros(1000 * PROCESSORS * BLOCK, dtype=torch.int32, device="cuda")
    for _ in range(4):
        with pytest.raises(ValueError, match=f"at most [0-9]+ at once, got {1000 * PROCESSORS}$"):
            turned(many, 1)
        x = first[: PROCESSORS * BLOCK].clone()
        turned(x, 2)
        expect_turned(x, first[: PROCESSORS * BLOCK], 2)


def test_the_device_is_what_pytorch_says():
    major, minor = torch.cuda.get_device_capability()
    for n in (1, PROCESSORS, PROCESSORS + 5):
        out = torch.zeros((n, 3), dtype=torch.int64, device="cuda")
        told(out)
        row = [PROCESSORS, out[0, 1].item(), 10 * major + minor]
        assert row[1] >= 48 * 1024
        expected = [row if i < PROCESSORS else [0, 0, 0] for i in range(n)]
        assert out.tolist() == expected


@pytest.mark.parametrize(
    ("function", "threads", "shared"), [(large, 1024, 0), (small, 128, 0), (holding, 128, 60000)]
)
def test_a_grid_is_all_that_runs_at_once(function, threads, shared):
    at_once = PROCESSORS * blocks_of_each(function, threads, shared)
    assert at_once >= PROCESSORS
    for more in (0, -1, 0, 1 - at_once):
        out = torch.zeros(1 + at_once, dtype=torch.int32, device="cuda")
        function(out, more)
        blocks = at_once + more
        assert out.tolist() == [blocks] * (1 + blocks) + [0] * (at_once - blocks)
    out = torch.zeros(2 + at_once, dtype=torch.int32, device="cuda")
    for more in (1, 1000):
        refused = f"expected at most {at_once} at once, got {at_once + more}$"
        with pytest.raises(ValueError, match=refused):
            function(out, more)
    assert not out.any()
