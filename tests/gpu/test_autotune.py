# SPDX-License-Identifier: Apache-2.0
"""Tuned functions on a GPU: the effect of a call that tunes, who measures where many call, what is kept
where one is killed, captures, and configs that the device refuses.
"""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import kernpack as kp
import pytest
import torch

N = 1 << 24
ADD = """
import sys
import kernpack as kp

BLOCK, EACH = 128, 1


@kp.kernel
def add_rows(x, y):
    first = (kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]) * EACH
    for j in range(EACH):
        if first + j < x.shape[0]:
            y[first + j] += x[first + j]


@kp.autotune(kp.Config.grid(BLOCK=(128, 32, 512), EACH=(1, 4, 32)), key=["n"], seconds=20)
@kp.jit("add(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def add(x, y):
    add_rows(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK * EACH), block=BLOCK)
"""
CALL = """
import time
import torch
from kernpack import _tuner
from tuned_add import add

run, measured = _tuner.run, []
_tuner.run = lambda *args: measured.append(1) or run(*args)
x, y = torch.ones({n}, device="cuda"), torch.zeros({n}, device="cuda")
add(x, y)
torch.cuda.synchronize()
print(len(measured), float(y.min()), float(y.max()))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "tuned_add.py").write_text(ADD)
    (tmp_path / "call.py").write_text(CALL.format(n=N))
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ['PYTHONPATH']}")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("tuned_add", None)


def begun(folder):
    return subprocess.Popen(
        [sys.executable, "call.py"], cwd=folder, stdout=subprocess.PIPE, text=True
    )


def timings(folder):
    files = list((folder / "cache/timings").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_a_call_that_tunes_has_the_effect_of_one(folder):
    from tuned_add import add

    x, whole = torch.rand(N, device="cuda"), torch.rand(2 * N, device="cuda")
    # What is written lies within what is read.
    before, y = whole.clone(), whole[N // 2 : N // 2 + N]
    add(x, y)
    expected = before.clone()
    expected[N // 2 : N // 2 + N] += x
    assert torch.equal(whole, expected)
    tuning = add.tune(x, y)
    assert torch.equal(whole, expected)
    assert tuning.device == torch.cuda.get_device_name() and len(tuning.contenders) == 9
    assert tuning.contenders[0].config == tuning.config and tuning.contenders[0].ratio == 1
    # A thread that adds 32 numbers in a row reads memory badly.
    assert tuning.contenders[-1].config.values["EACH"] == 32
    functions = {each.config.text: add.given(**each.config.values) for each in tuning.contenders}
    speeds = kp.compare({**functions, "tuned": add}, (x, y)).rows[0].speeds
    assert max(figure.median for figure in speeds.values()) < 1.02


def test_one_of_many_processes_measures(folder):
    processes = [begun(folder) for _ in range(8)]
    printed = [process.communicate()[0].split() for process in processes]
    assert all(line[1:] == ["1.0", "1.0"] for line in printed), printed
    assert sorted(line[0] for line in printed) == ["0"] * 7 + ["1"]
    # One that comes later tunes nothing.
    assert begun(folder).communicate()[0].split() == ["0", "1.0", "1.0"]


def test_what_is_killed_loses_no_round(folder):
    process = begun(folder)
    while sum("round" in line for line in timings(folder)) < 2:
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = timings(folder)
    assert begun(folder).communicate()[0].split() == ["1", "1.0", "1.0"]
    after = timings(folder)
    assert after[: len(before)] == before
    # The race goes on: nobody enters again.
    assert sum("enter" in line for line in after) == 1


def test_nothing_is_tuned_in_a_capture(folder):
    from tuned_add import add

    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    # What the first config becomes is compiled before.
    add.given(**add.configs[0].values)(x, y)
    y.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with pytest.warns(kp.TuneWarning, match="a CUDA graph is being captured"):
        with torch.cuda.graph(graph):
            add(x, y)
    assert not timings(folder)
    graph.replay()
    torch.cuda.synchronize()
    assert y.eq(1).all()
    # Outside, the next call tunes.
    add(x, y)
    assert y.eq(2).all() and timings(folder)
    with warnings.catch_warnings(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        warnings.simplefilter("error")
        add(x, y)


def test_what_another_thread_captures_stays_whole(folder):
    from tuned_add import add

    x, y, z = (
        torch.ones(N, device="cuda"),
        torch.zeros(N, device="cuda"),
        torch.zeros(8, device="cuda"),
    )
    graph, is_begun, is_tuned = torch.cuda.CUDAGraph(), threading.Event(), threading.Event()

    def capture():
        with torch.cuda.graph(graph):
            z.add_(1)
            is_begun.set()
            assert is_tuned.wait(60)
            z.add_(1)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        captured = pool.submit(capture)
        assert is_begun.wait(60)
        add(x, y)
        is_tuned.set()
        captured.result()
    assert timings(folder)
    graph.replay()
    torch.cuda.synchronize()
    assert y.eq(1).all() and z.eq(2).all()


def test_torch_compile_has_calls_tuned_between_graphs(folder):
    from tuned_add import add

    def step(x, y):
        z = x * 2
        add(z, y)
        return y + 1

    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    assert torch.compile(step)(x, y).eq(3).all() and y.eq(2).all() and timings(folder)


def test_what_the_device_refuses_takes_no_part(folder):
    from tuned_add import add

    # No block has so many threads, which only the launch tells.
    configs = [*add.configs[:2], kp.Config(BLOCK=2048)]
    more = kp.autotune(configs, key=["n"])(add.given(EACH=1))
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    tuning = more.tune(x, y)
    [refused] = [each for each in tuning.contenders if each.ratio is None]
    assert refused.config == configs[-1] and refused.failed
    more(x, y)
    assert y.eq(1).all()


def test_other_processes_compile(folder):
    from tuned_add import add

    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    context = __import__("multiprocessing").get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(4, context) as pool:
        tuned = kp.autotune(add.configs, key=["n"], executor=pool)(add.given(EACH=1))
        tuned(x, y)
    assert y.eq(1).all()
    assert sum(variant.is_cached for variant in tuned.variants) >= 8


def test_what_limits_a_kernel_is_measured(folder):
    from tuned_add import add

    x, y = torch.ones(1 << 14, device="cuda"), torch.zeros(1 << 14, device="cuda")
    suggested = kp.suggest(add.given(BLOCK=32, EACH=32), x, y)
    assert suggested.measured.by == torch.cuda.get_device_name()
    assert suggested.measured.time.median > 0 and suggested.suggestions
    assert any(each.line is not None for each in suggested.suggestions)
