# SPDX-License-Identifier: Apache-2.0
"""What can only be seen on a GPU. `scripts/gpu-test` runs this where there is one."""

import ctypes
import os
import threading
from pathlib import Path

import pytest
import torch
import tvm_ffi
from graphs import assert_replayed, captured

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


@pytest.fixture(scope="module")
def add_one():
    return tvm_ffi.load_module(str(FOLDER / "add_one.so"))


@pytest.fixture(scope="module")
def scale():
    return tvm_ffi.load_module(str(FOLDER / "scale.so"))


def vectors(n=1000, device="cuda", dtype=torch.float32):
    a = torch.arange(n, device=device).to(dtype)
    return a, torch.zeros_like(a)


def assert_captured(module):
    """An `add_one` is captured, and takes what its tensors hold when it is replayed."""
    a, b = vectors()
    assert_replayed(captured(lambda: module.add_one(a, b)), a, lambda: torch.equal(b, a + 1))


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1 << 20])
def test_right_for_every_size(add_one, n):
    a, b = vectors(n)
    add_one.add_one(a, b)
    assert torch.equal(b, a + 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_cuda_cpp_with_a_dtype_that_the_call_chooses(scale, dtype):
    x = torch.randn(100_003, device="cuda").to(dtype)
    y = torch.zeros_like(x)
    scale.scale(x, y, 0.3)
    expected = (x.double() * float(torch.tensor(0.3, dtype=torch.float32))).to(dtype)
    assert torch.allclose(y.double(), expected.double(), rtol=torch.finfo(dtype).eps, atol=0)


def launch_on_the_environments(module, a, b, stream):
    with torch.cuda.stream(stream):
        module.add_one(a, b)


def launch_on_the_parameters(module, a, b, stream):
    module.on(a, b, ctypes.c_void_p(stream.cuda_stream))


def launch_prepared(module, a, b, stream):
    prepared = module.kernpack_prepare_add_one(a, b)
    with tvm_ffi.use_torch_stream(torch.cuda.stream(stream)):
        prepared()


@pytest.mark.parametrize(
    "launch", [launch_on_the_environments, launch_on_the_parameters, launch_prepared]
)
def test_a_launch_waits_for_its_stream(add_one, launch):
    stream = torch.cuda.Stream()
    a, b = vectors(1 << 20)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        a.mul_(2)
    launch(add_one, a, b, stream)
    stream.synchronize()
    assert torch.equal(b, a + 1)


def test_a_stream_of_another_context():
    """The driver refuses a function of the primary context there, and takes a kernel; captures go
    on.
    """
    driver = ctypes.CDLL("libcuda.so.1")
    module = tvm_ffi.load_module(str(FOLDER / "others.so"))
    a, b = vectors()
    module.on(a, b, ctypes.c_void_p(torch.cuda.Stream().cuda_stream))
    torch.cuda.synchronize()
    primary, own, stream, graph = (ctypes.c_void_p() for _ in range(4))
    assert driver.cuCtxGetCurrent(ctypes.byref(primary)) == 0
    assert driver.cuCtxCreate_v4(ctypes.byref(own), None, 0, 0) == 0
    try:
        assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
        assert driver.cuStreamBeginCapture_v2(stream, 0) == 0
        module.on(a, b, stream)
        assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0 and graph
        b.zero_()
        torch.cuda.synchronize()
        module.on(a, b, stream)
        assert driver.cuStreamSynchronize(stream) == 0
    finally:
        assert driver.cuCtxSetCurrent(primary) == 0
    assert torch.equal(b, a + 1)
    assert driver.cuCtxDestroy_v2(own) == 0


def test_a_prepared_call_launches_as_often_as_it_is_called(add_one):
    a, b = vectors()
    prepared = add_one.kernpack_prepare_add_one(a, b)
    expected = a.clone()
    del a  # The function holds what it was given.
    for _ in range(3):
        b.zero_()
        prepared()
        assert torch.equal(b, expected + 1)

    def launch():
        with tvm_ffi.use_torch_stream():
            prepared()

    graph = captured(launch)
    b.zero_()
    graph.replay()
    assert torch.equal(b, expected + 1)


def test_what_a_prepared_call_refuses(add_one):
    a, b = vectors()
    with pytest.raises(ValueError, match=r"Mismatched b.shape\[0\] on argument #1"):
        add_one.kernpack_prepare_add_one(a, b[1:])
    with pytest.raises(TypeError, match="expected 0 arguments, got 1"):
        add_one.kernpack_prepare_add_one(a, b)(a)


def test_loading_ahead(add_one):
    module = tvm_ffi.load_module(str(FOLDER / "ahead.so"))
    module.kernpack_preload_add_one(0)
    assert_captured(module)
    with pytest.raises(
        RuntimeError,
        match=r"cudaErrorInvalidDevice .* using device 99 when calling: `.*`: there are \d+ devices",
    ):
        add_one.kernpack_preload_add_one(99)


def test_captured_and_replayed(add_one):
    assert_captured(add_one)


def test_a_first_call_during_capture():
    assert_captured(tvm_ffi.load_module(str(FOLDER / "first.so")))


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (
            (4096,),
            "CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `add_one` on device 0: "
            "block 4096 exceeds the device's 1024 threads",
        ),
        (
            (32, 300_000),
            "CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `add_one` on device 0: "
            "300000 bytes of dynamic and 0 bytes of static shared memory exceed the device's ",
        ),
    ],
)
def test_a_refused_launch_says_why(add_one, arguments, expected):
    a, b = vectors()
    with pytest.raises(RuntimeError) as caught:
        add_one.wide(a, b, *arguments)
    assert str(caught.value).startswith(expected)
    add_one.add_one(a, b)
    assert torch.equal(b, a + 1)


def test_more_shared_memory_than_48_kib(add_one):
    a, b = vectors(32)
    add_one.wide(a, b, 32, 200_000)
    assert torch.equal(b, a + 1)


def test_numbers_out_of_range_never_reach_the_driver(add_one):
    a, b = vectors()
    with pytest.raises(ValueError, match=r"Out of bound launch grid\[0\] `blocks`.*got -1"):
        add_one.wide(a, b, 32, 0, -1)


def test_many_threads_at_once():
    module = tvm_ffi.load_module(str(FOLDER / "threads.so"))
    a, _ = vectors()
    outputs = [torch.zeros_like(a) for _ in range(16)]
    threads = [threading.Thread(target=module.add_one, args=(a, b)) for b in outputs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    torch.cuda.synchronize()
    assert all(torch.equal(b, a + 1) for b in outputs)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_the_device_of_the_tensors(add_one):
    assert torch.cuda.current_device() == 0
    a, b = vectors(device="cuda:1")
    add_one.add_one(a, b)
    assert torch.equal(b, a + 1)
    assert torch.cuda.current_device() == 0
    c, d = vectors(device="cuda:0")
    with pytest.raises(ValueError, match="Mismatched device index"):
        add_one.add_one(a, d)
    add_one.add_one(c, d)
    assert torch.equal(d, c + 1)
