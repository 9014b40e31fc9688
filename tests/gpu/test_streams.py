# SPDX-License-Identifier: Apache-2.0
"""Streams as Python has them, where tvm_ffi has to be told: prepared calls, and CuPy.
`examples/hosts_cuda` has the rest.
"""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from graphs import assert_replayed, captured

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


@pytest.fixture(scope="module")
def add_one():
    return tvm_ffi.load_module(str(FOLDER / "add_one.so"))


def test_a_prepared_call_is_captured(add_one):
    a = torch.arange(1000, device="cuda", dtype=torch.float32)
    b = torch.zeros_like(a)
    prepared = add_one.kernpack_prepare_add_one(a, b)
    torch.cuda.synchronize()
    graph = captured(prepared, lambda graph: tvm_ffi.use_torch_stream(torch.cuda.graph(graph)))
    torch.cuda.synchronize()
    assert not b.any(), "captured, not run"
    assert_replayed(graph, a, lambda: torch.equal(b, a + 1))


def test_a_prepared_call_on_a_stream_that_is_already_current(add_one):
    a = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
    b = torch.zeros_like(a)
    prepared = add_one.kernpack_prepare_add_one(a, b)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream), tvm_ffi.use_torch_stream():
        torch.cuda._sleep(50_000_000)
        a.mul_(2)
        prepared()
    stream.synchronize()
    assert torch.equal(b, a + 1)


@pytest.mark.parametrize(
    "pass_on", [lambda stream: stream, lambda stream: stream.ptr], ids=["object", "handle"]
)
def test_a_stream_of_cupy_is_a_stream_parameter(add_one, pass_on):
    cupy = pytest.importorskip("cupy")
    a = cupy.arange(1 << 20, dtype="float32")
    b = cupy.zeros_like(a)
    busy = cupy.eye(8192, dtype="float32")
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device(0).synchronize()
    with stream:
        for _ in range(3):
            busy = busy @ busy
        a *= 2
        add_one.on(a, b, pass_on(stream))
        assert (b == a + 1).all()
