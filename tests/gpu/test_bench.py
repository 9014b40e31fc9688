# SPDX-License-Identifier: Apache-2.0
"""Measuring on a GPU, held against events of PyTorch's: what a call takes, warm and cold, and that the
device waits for no host.
"""

import json
import os
import subprocess
import time
from pathlib import Path

import kernpack as kp
import pytest
import torch
from speed import on_the_gpu

EXAMPLES = Path(os.environ["KERNPACK_GPU_BUNDLE"]) / "examples/kernels"


def test_long_calls_take_what_pytorch_says():
    x = torch.randn(1 << 28, device="cuda")
    out = torch.empty_like(x)
    call = lambda: torch.mul(x, 2, out=out)
    for caches in ("cold", "warm"):
        measured = kp.bench(call, caches=caches)
        assert measured.time.median == pytest.approx(on_the_gpu(call, 10)(), rel=0.05)
        assert measured.control.median == pytest.approx(1, abs=0.03)
        assert measured.by == torch.cuda.get_device_name()


def test_a_copy_is_as_fast_as_a_copy():
    x = torch.randn(1 << 27, device="cuda")
    out = torch.empty_like(x)
    measured = kp.bench(lambda x, out: out.copy_(x), x, out)
    assert measured.n_bytes == 2 * x.nbytes
    assert measured.copy.median == pytest.approx(1, abs=0.05)
    assert measured.clocks is None or 0 < measured.clocks.sm[0] <= measured.clocks.sm[1]


def test_what_is_in_the_cache_is_read_sooner():
    # 16 MiB, which the second level of cache holds.
    x = torch.randn(1 << 22, device="cuda")
    cold, warm = (kp.bench(torch.sum, x, caches=caches).time.median for caches in ("cold", "warm"))
    assert warm < 0.8 * cold


def test_the_device_waits_for_no_host():
    x = torch.zeros(64, device="cuda")

    def slow(x):
        time.sleep(3e-4)
        x.add_(1)

    for caches in ("cold", "warm"):
        compared = kp.compare({"slow": slow, "plain": lambda x: x.add_(1)}, (x,), caches=caches)
        assert all(figure.median < 2e-5 for figure in compared.rows[0].times.values())


def test_streams_of_pytorch_are_measured():
    x = torch.zeros(1 << 24, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        measured = kp.bench(lambda x: x.add_(1), x)
    assert measured.time.median == pytest.approx(on_the_gpu(lambda: x.add_(1), 20)(), rel=0.3)


def test_captures_are_refused():
    x = torch.zeros(64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), pytest.raises(RuntimeError, match="a CUDA graph is captured"):
        kp.bench(lambda x: x.add_(1), x)


def of_command_line(file, *arguments):
    """What `kernpack bench` answers."""
    command = [os.environ["KERNPACK_CLI"], "--json", "bench", str(EXAMPLES / file), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("caches", ["cold", "warm"])
def test_the_command_line_tells_the_same(caches):
    x = torch.randn(8192, 4096, device="cuda")
    transpose = kp.load(EXAMPLES / "transpose.py").transpose
    measured = kp.bench(transpose, x, torch.empty(4096, 8192, device="cuda"), caches=caches)
    answer = of_command_line("transpose.py", "transpose", "m=8192", "n=4096", "--caches", caches)
    assert answer["gpu"] == measured.by == torch.cuda.get_device_name()
    assert answer["bytes"] == measured.n_bytes
    assert answer["time"]["median"] == pytest.approx(measured.time.median, rel=0.05)
    assert answer["copy"]["median"] == pytest.approx(measured.copy.median, rel=0.05)
    assert answer["control"]["median"] == pytest.approx(1, abs=0.03)


def test_the_command_line_measures_kernels_that_take_maps():
    shape = "m=4096", "n=4096", "k=4096", "T=float16"
    answer = of_command_line("gemm.py", "gemm", *shape, "--arch", "sm_90a")
    assert 2 * 4096**3 / answer["time"]["median"] > 4e14
