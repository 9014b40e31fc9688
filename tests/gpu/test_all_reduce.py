# SPDX-License-Identifier: Apache-2.0
"""The all-reduce of examples/kernels over two GPUs of one process: what it computes beside a sum in
float32, again and again and in graphs, and what it takes beside NCCL. Nothing is allocated while one
rank waits for the other.
"""

import os
import statistics
import time
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
BLOCKS = 64
DTYPES = [torch.float32, torch.bfloat16]

pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")


@pytest.fixture(scope="module")
def module():
    module = tvm_ffi.load_module(str(FOLDER / "kernels_all_reduce.so"))
    for device in range(2):
        module.kernpack_preload_all_reduce(device)
    return module


class Ranks:
    """The tensors of both ranks, and a generator of what they hold."""

    def __init__(self, n, dtype, seed=0):
        self.random = torch.Generator().manual_seed(seed)
        make = lambda rank, *shape, of=dtype: torch.zeros(shape, dtype=of, device=f"cuda:{rank}")
        self.xs = tuple(make(rank, n) for rank in range(2))
        self.flags = tuple(make(rank, BLOCKS, 3, of=torch.int32) for rank in range(2))
        self.outs = [make(rank, n) for rank in range(2)]
        synchronize()

    def fill(self):
        for x in self.xs:
            x.copy_(torch.randn(x.shape, generator=self.random).to(x.dtype))
        synchronize()

    def reduce(self, module):
        for rank in range(2):
            with torch.cuda.device(rank):
                module.all_reduce(self.outs[rank], self.xs, self.flags, rank)

    def expected(self):
        x, y = (x.cpu().to(torch.float32) for x in self.xs)
        return (x + y).to(self.xs[0].dtype)

    def expect(self):
        synchronize()
        expected = self.expected()
        for out in self.outs:
            assert torch.equal(out.cpu(), expected)


def synchronize():
    for device in range(2):
        torch.cuda.synchronize(device)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 8, 4096, 4104, 512 * 8 * BLOCKS, 3_000_008])
def test_both_ranks_have_the_sum(module, n, dtype):
    ranks = Ranks(n, dtype, seed=n)
    for _ in range(3):
        ranks.fill()
        ranks.reduce(module)
        ranks.expect()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_thousand_calls_in_a_row(module, dtype):
    """Each rank writes its own `x` right behind the call, from what it has got: who is ahead would
    spoil what the other one reads."""
    ranks = Ranks(65_536, dtype)
    ranks.fill()
    x, y = (x.cpu().to(torch.float32) for x in ranks.xs)
    for turn in range(1000):
        ranks.reduce(module)
        for rank, (x_, out) in enumerate(zip(ranks.xs, ranks.outs)):
            with torch.cuda.device(rank):
                torch.mul(out, 0.25 * (rank + 1), out=x_)
    synchronize()
    for turn in range(1000):
        out = (x + y).to(dtype)
        x, y = (torch.mul(out, 0.25 * (rank + 1)).to(torch.float32) for rank in range(2))
    for found in ranks.outs:
        assert torch.equal(found.cpu(), out)
    assert all(int(flags[0, 2]) == 2000 for flags in ranks.flags)


def test_in_graphs(module):
    ranks = Ranks(65_536, torch.float32)
    ranks.fill()
    ranks.reduce(module)
    ranks.expect()
    graphs = []
    for rank in range(2):
        with torch.cuda.device(rank):
            graph = torch.cuda.CUDAGraph()
            # Where none is named, PyTorch takes one of whatever device came first.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                module.all_reduce(ranks.outs[rank], ranks.xs, ranks.flags, rank)
            graphs.append(graph)
    for _ in range(100):
        ranks.fill()
        for rank, graph in enumerate(graphs):
            with torch.cuda.device(rank):
                graph.replay()
        ranks.expect()


def median_us(call, turns=20, calls=50):
    """Microseconds a call, of calls in a row."""
    times = []
    for _ in range(turns):
        synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        synchronize()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times)


def test_time_beside_nccl(module, tell):
    for n in (4096, 65_536, 1 << 20, 1 << 23):
        ranks = Ranks(n, torch.bfloat16)
        ranks.fill()
        ours = median_us(lambda: ranks.reduce(module))
        nccl = median_us(lambda: torch.cuda.nccl.all_reduce(ranks.xs, ranks.outs))
        tell(f"all-reduce over two GPUs, {2 * n} bytes: {ours:.1f} us, NCCL {nccl:.1f} us")
