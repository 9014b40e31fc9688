# SPDX-License-Identifier: Apache-2.0
"""Jit functions as operators of PyTorch on a GPU, under its compilers and in its graphs."""

from typing import NamedTuple

import kernpack as kp
import kernpack.torch
import numpy as np
import pytest
import torch
from torch.library import opcheck

BLOCK = 256
VECTOR = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)


@kp.jit
def scale(x: VECTOR, y: kp.mut(VECTOR), by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


@pytest.fixture(scope="module")
def ops():
    kp.torch.op("kernpack_gpu_jit::scale", scale)
    kp.torch.op(
        "kernpack_gpu_jit::scaled",
        kp.compile(scaled, VECTOR),
        backward=lambda ctx, gradient: (gradient * 2, None),
    )
    return torch.ops.kernpack_gpu_jit


def vector(n=1000, **options):
    return torch.randn(n, device="cuda", **options)


def test_values(ops):
    x, y = vector(), vector()
    ops.scale(x, y, by=3.0)
    assert torch.equal(y, x * 3) and y._version == 1
    assert torch.equal(ops.scaled(x), x * 2)


def test_opcheck(ops):
    for operator, arguments in ((ops.scale, (vector(), vector())), (ops.scaled, (vector(), 3.0))):
        verdicts = opcheck(operator.default, arguments)
        assert set(verdicts.values()) == {"SUCCESS"}, verdicts


def test_a_whole_graph(ops):
    @torch.compile(fullgraph=True, dynamic=True)
    def model(x):
        y = torch.zeros_like(x)
        ops.scale(x, y, 4.0)
        return ops.scaled(y, 0.5) + 1

    for n in (5, 1000):
        x = vector(n)
        torch.testing.assert_close(model(x), x * 2 + 1)


def test_a_call_by_itself_is_made_between_graphs():
    @torch.compile
    def model(x):
        return scaled(x + 1) + 1

    x = vector()
    torch.testing.assert_close(model(x), (x + 1) * 2 + 1)


class Pair(NamedTuple):
    x: object
    y: object


def test_numbers_of_numpy_and_names():
    @kp.jit
    def scale_pair(p, by):
        scale_elements(p.x, p.y, by).launch(grid=1, block=BLOCK)

    x, y = vector(100), vector(100)
    for by, dtype in ((np.float16(3), "float16"), (np.int8(4), "int8"), (5, "int64")):
        scale_pair(Pair(x, y), by)
        assert torch.equal(y, x * float(by))
        assert f"by: {dtype}" in scale_pair.variants[-1].signature


def test_a_captured_call_does_not_compile():
    @kp.jit
    def fresh(x, y):
        scale_elements(x, y, 41.5).launch(grid=1, block=BLOCK)

    x, y = vector(100), vector(100)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(kp.CompileForbidden, match=r"captured: .* `fresh.warmup\(…\)`"):
        with torch.cuda.graph(graph):
            fresh(x, y)
    fresh.warmup(x, y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fresh(x, y)
    x.fill_(2)
    graph.replay()
    assert torch.equal(y, x * 41.5)
