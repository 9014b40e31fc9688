# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch whose kernels run on a GPU: devices, streams, graphs and compilers."""

import kernpack as kp
import kernpack.torch
import pytest
import torch
from conftest import FOLDER
from graphs import assert_replayed, captured
from torch.library import opcheck

A_WHILE = 20_000_000  # cycles: about 10 ms


@pytest.fixture(scope="module")
def ops():
    module = kp.load_module(FOLDER / "operators.so")
    kp.torch.op("kernpack_gpu::add_one_to", module.add_one_to, functional=True)
    kp.torch.op("kernpack_gpu::added", module.added)
    kp.torch.op("kernpack_gpu::smooth", module.added, backward=lambda ctx, gradient: gradient * 1)
    return torch.ops.kernpack_gpu


def ramp(n=1000, **options):
    return torch.arange(n, device="cuda", dtype=torch.float32, **options)


def test_values(ops):
    a, b = ramp(), torch.zeros(1000, device="cuda")
    assert ops.add_one_to(a, b) is None
    assert torch.equal(b, a + 1) and b._version == 1
    assert torch.equal(ops.added(a), a + 1)
    assert torch.equal(ops.add_one_to_functional(a, a), a + 1)
    ops.added_out(a, b.zero_())
    assert torch.equal(b, a + 1)
    assert ops.added(a[:0]).shape == (0,)


def test_a_tensor_of_another_device_is_refused_in_the_functions_words(ops):
    with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
        ops.added(torch.ones(3))
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #1 .*, expected device_type=cuda, got cpu"
    ):
        ops.add_one_to(ramp(3), torch.zeros(3))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_results_are_on_the_device_of_the_arguments(ops):
    a = ramp().to("cuda:1")
    assert ops.added(a).device == a.device
    assert torch.equal(ops.added(a), a + 1)
    with pytest.raises(ValueError, match="device"):
        ops.add_one_to(a, torch.zeros(1000, device="cuda:0"))


def test_fake_results_are_on_the_device_of_the_arguments(ops):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert ops.added(torch.empty(3, device="cuda")).device.type == "cuda"


def test_opcheck(ops):
    for operator, arguments in (
        (ops.add_one_to, (ramp(), ramp())),
        (ops.add_one_to_functional, (ramp(), ramp())),
        (ops.added, (ramp(),)),
        (ops.added_out, (ramp(), ramp())),
        (ops.smooth, (ramp(requires_grad=True),)),
    ):
        assert set(opcheck(operator.default, arguments).values()) == {"SUCCESS"}


def test_launches_go_to_the_current_stream(ops):
    a, b = ramp(1 << 20), torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    stream, done = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(A_WHILE)
        a.fill_(41)
        ops.add_one_to(a, b)
        c = ops.added(b)
        done.record()
    assert not done.query(), "behind a kernel that sleeps"
    stream.synchronize()
    assert torch.all(b == 42) and torch.all(c == 43)


def test_capture(ops):
    a, b = ramp(), torch.zeros(1000, device="cuda")
    ops.add_one_to(a, b)
    results = []
    graph = captured(lambda: (ops.add_one_to(a, b), results.append(ops.added(b))))
    assert_replayed(graph, a, lambda: torch.equal(b, a + 1) and torch.equal(results[-1], a + 2))


def chain(a):
    b = torch.zeros_like(a)
    torch.ops.kernpack_gpu.add_one_to(a, b)
    return torch.ops.kernpack_gpu.added(b * 2) + a


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(ops, mode):
    compiled = torch.compile(chain, fullgraph=True, dynamic=mode == "default", mode=mode)
    for n in (1000, 1000, 1000, 513):
        torch.compiler.cudagraph_mark_step_begin()
        torch.testing.assert_close(compiled(ramp(n)), chain(ramp(n)))


def test_exported(ops):
    class Model(torch.nn.Module):
        def forward(self, a):
            return chain(a)

    program = torch.export.export(
        Model(), (ramp(8),), dynamic_shapes=({0: torch.export.Dim("n", min=2)},)
    )
    torch.testing.assert_close(program.module()(ramp(100)), chain(ramp(100)))


def test_gradients(ops):
    a = ramp(requires_grad=True)
    with pytest.raises(
        RuntimeError, match="`kernpack_gpu::added` has no backward, and `a` requires grad"
    ):
        ops.added(a)
    ops.smooth(a).sum().backward()
    assert torch.equal(a.grad, torch.ones_like(a))


def test_views(ops):
    base = torch.zeros(1000, device="cuda")
    ops.add_one_to(torch._neg_view(ramp()), torch._neg_view(base))
    assert torch.equal(base, ramp() - 1)
    with pytest.raises(ValueError, match=r"Mismatched a\.strides\[0\]"):
        ops.added(ramp()[::2])
    x = ramp(12).reshape(3, 4)
    assert torch.equal(torch.func.vmap(ops.added)(x), x + 1)
