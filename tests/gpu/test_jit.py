# SPDX-License-Identifier: Apache-2.0
"""Kernels of a running program on a GPU: what jit functions compute, which variant a call finds, and
what captured graphs and threads make of them.
"""

import ctypes
import sys
import threading
from typing import NamedTuple

import kernpack as kp
import numpy as np
import pytest
import torch

BLOCK = 256
BY = 2.0


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * by


@kp.jit
def scale(x, y, by=2.0):
    assert x.shape == y.shape
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit("scale_said(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 2.0)")
def scale_said(x, y, by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


@kp.kernel
def add_tiles(x, y, width: kp.Constexpr):
    row, first = kp.block_idx()[0], kp.thread_idx()[0]
    source, target = (
        kp.zipped_divide(x[row, None], (width,)),
        kp.zipped_divide(y[row, None], (width,)),
    )
    for i in range(first, kp.size(source, mode=[1]), BLOCK):
        for j in kp.range_constexpr(width):
            if i * width + j < x.shape[1]:
                target[j, i] = source[j, i] + 1.0


@kp.jit
def add_one_2d(x, y):
    assert x.shape == y.shape
    add_tiles(x, y, 4).launch(grid=x.shape[0], block=BLOCK)


def vector(n, **more):
    return torch.randn(n, device="cuda", **more)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 100_003])
@pytest.mark.parametrize("function", [scale, scale_said])
def test_a_call_computes(function, n):
    x = vector(n)
    y = torch.full_like(x, 7)
    function(x, y, by=3.0)
    assert torch.equal(y, x * 3.0)
    function(x, y)
    assert torch.equal(y, x * 2.0)


def test_each_dtype_has_a_variant_and_extents_have_none():
    before = len(scale.variants)
    for dtype in (torch.float64, torch.float64, torch.int64):
        for n in (5, 1000):
            x = torch.arange(n, device="cuda", dtype=dtype)
            y = torch.empty_like(x)
            scale(x, y, 3)
            assert torch.equal(y, x * 3)
    assert len(scale.variants) == before + 2


def test_a_call_is_refused_as_any_other():
    x = vector(8)
    with pytest.raises(ValueError, match=r"^Mismatched y.shape\[0\] on argument #1 when calling"):
        scale(x, vector(3))
    with pytest.raises(ValueError, match="expected cuda, got cpu"):
        scale(x.cpu(), x)
    y = torch.empty_like(x)
    scale(x, y)
    assert torch.equal(y, x * 2)


def test_strides_and_alignment():
    rows = torch.randn(40, 36, device="cuda")
    views = [
        rows,
        rows[:, :32],
        rows[:, 1:],
        rows[:, ::2],
        rows.t(),
        rows[3:4],
        rows[:, :1],
        rows.flatten()[1:1436].view(7, 205)[:, :204],
    ]
    for x in views:
        y = torch.full(x.shape, 7.0, device="cuda")
        add_one_2d(x, y)
        assert torch.equal(y, x + 1), x.stride()
        z = x.clone()
        out = torch.empty_like(rows)[: x.shape[0], : x.shape[1]] if x.shape[1] <= 36 else z
        if out.shape == x.shape:
            add_one_2d(x, out)
            assert torch.equal(out, x + 1)
    assert len(add_one_2d.variants) < 16


def test_results():
    x = vector(1000)
    y = scaled(x)
    assert torch.equal(y, x * 2) and y.device == x.device
    assert torch.equal(scaled(x, 0.5), x * 0.5)
    assert scaled(x[:0]).shape == (0,)


def test_a_changed_global_is_seen_by_the_next_call():
    global BY

    @kp.kernel
    def by_global(x, y):
        i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
        if i < x.shape[0]:
            y[i] = x[i] * BY

    @kp.jit
    def f(x, y):
        assert x.shape == y.shape
        by_global(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

    x, y = vector(100), vector(100)
    for BY in (2.0, 3.0, 2.0):
        f(x, y)
        assert torch.equal(y, x * BY)
    assert len(f.variants) == 2


class Pair(NamedTuple):
    x: object
    y: object


def test_tuples_and_constants():
    @kp.jit
    def f(p: Pair, mode, by: kp.Constexpr):
        if mode == "double":
            scale_elements(p.x, p.y, by * 2).launch(grid=1, block=BLOCK)
        else:
            scale_elements(p.x, p.y, by).launch(grid=1, block=BLOCK)

    x, y = vector(100), vector(100)
    for mode, by, expected in [("double", 3, 6), ("once", 3, 3), ("double", 1, 2)]:
        with pytest.warns(kp.CompileWarning, match="unrelated-extents"):
            f(Pair(x, y), mode, by)
        assert torch.equal(y, x * expected)
    assert len(f.variants) == 3


def test_16_threads_make_the_first_call():
    @kp.jit
    def f(x, y):
        assert x.shape == y.shape
        scale_elements(x, y, 5.0).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

    x = vector(1000)
    outputs = [torch.empty_like(x) for _ in range(16)]
    threads = [threading.Thread(target=f, args=(x, y)) for y in outputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert all(torch.equal(y, x * 5) for y in outputs)
    assert len(f.variants) == 1


def test_a_captured_graph_launches_again():
    x, y = vector(100), vector(100)
    scale(x, y)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale(x, y)
    x.fill_(3)
    graph.replay()
    assert torch.equal(y, x * 2)


def test_a_stream_of_the_caller():
    x, y = vector(100), vector(100)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        scale(x, y)
    stream.synchronize()
    assert torch.equal(y, x * 2)


def test_prepared_and_exported(tmp_path):
    x, y = vector(100), vector(100)
    prepared = scale.prepare(x, y, 4.0)
    prepared()
    assert torch.equal(y, x * 4)
    n = kp.sym_int("n")
    one = kp.fake_tensor(kp.float32, (n,))
    kp.compile(scale, one, one).export(tmp_path / "scale.so")
    kp.load_module(tmp_path / "scale.so").scale(x, y, by=5.0)
    assert torch.equal(y, x * 5)


def test_a_check_of_tensors_on_the_gpu():
    x, y = vector(100), torch.full((100,), 7.0, device="cuda")
    checked = scale.check(x, y, by=3.0)
    assert checked.ok and torch.equal(checked.arguments[1], x * 3) and bool((y == 7).all())
    assert np.isclose(checked.arguments[1].cpu().numpy()[0], (x * 3)[0].item())


def test_many_calls_leave_nothing():
    x, y = vector(16), vector(16)
    for _ in range(1000):
        scale(x, y)
    before = sys.getrefcount(x), _resident()
    for _ in range(200_000):
        scale(x, y)
    torch.cuda.synchronize()
    assert sys.getrefcount(x) == before[0] and _resident() - before[1] < 4096


def _resident():
    """The memory of this process, in kilobytes."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


@kp.kernel
def count_values(x, counts):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        kp.atomic_add(counts, (x[i] % 2, x[i] % 3), 1)


@kp.jit
def counted(x):
    counts = kp.zeros((2, 3), kp.int32)
    count_values(x, counts).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return counts


def test_memory_of_zeros_is_written_on_the_stream_of_the_call():
    x = torch.arange(100_000, dtype=torch.int32, device="cuda")
    expected = torch.zeros(2, 3, dtype=torch.int32, device="cuda")
    expected.index_put_((x % 2, x % 3), torch.ones_like(x), accumulate=True)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = [counted(x) for _ in range(20)]
    torch.cuda.synchronize()
    assert all(torch.equal(each, expected) for each in found)


@pytest.mark.parametrize("n", [0, 1, 2047, 5_000_001])
def test_zeros_of_any_size(n):
    @kp.jit
    def cleared(x, dtype):
        y = kp.zeros(x.shape, dtype)
        return y

    x = torch.empty(n, dtype=torch.int8, device="cuda")
    for dtype in (torch.bfloat16, torch.uint8, torch.float64):
        torch.full((n,), 7, dtype=dtype, device="cuda")
        made = cleared(x, dtype)
        assert made.dtype == dtype and made.shape == x.shape and not made.any()


def test_the_driver_says_the_same_of_resources(tmp_path):
    cuda = ctypes.CDLL("libcuda.so.1")
    major, minor = torch.cuda.get_device_capability()
    for f in (scale, add_one_2d, counted):
        made = kp.compile(f, *SPECS[f](), arch=f"sm_{major}{minor}")
        (image,) = [
            each for each in kp._native.images(made.package.path) if each["kind"] == "cubin"
        ]
        content = made.package.read()[image["offset"] : image["offset"] + image["size"]]
        module, function, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        assert cuda.cuModuleLoadData(ctypes.byref(module), content) == 0
        for of in made.resources:
            name = of.kernel.encode()
            assert cuda.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
            # CU_FUNC_ATTRIBUTE_NUM_REGS and CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
            for attribute, expected in ((4, of.registers), (3, of.local_bytes)):
                assert cuda.cuFuncGetAttribute(ctypes.byref(value), attribute, function) == 0
                assert value.value == expected, (of, attribute)
            at_once = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
            assert at_once(ctypes.byref(value), function, of.threads, ctypes.c_size_t(0)) == 0
            assert value.value == of.blocks_at_once, of


def any_vector(dtype=kp.float32):
    return kp.fake_tensor(dtype, (kp.sym_int(),))


def any_matrix():
    return kp.fake_tensor(kp.float32, (kp.sym_int(), kp.sym_int()))


SPECS = {
    scale: lambda: (any_vector(), any_vector()),
    add_one_2d: lambda: (any_matrix(), any_matrix()),
    counted: lambda: (any_vector(kp.int32),),
}
