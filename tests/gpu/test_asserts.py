# SPDX-License-Identifier: Apache-2.0
"""What kernels assert as they run: which failure is told, when and how often, and that threads go on
behind one.
"""

import threading

import kernpack as kp
import pytest
import torch
from assert_kernels import bare, halved, shown

N = 1024


def tensors(device="cuda"):
    x = torch.arange(N, device=device, dtype=torch.float32)
    return x, torch.zeros_like(x)


def failure(call, *args):
    """What a call raises; None where it raises nothing."""
    try:
        call(*args)
    except RuntimeError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    torch.cuda.synchronize()
    while failure(kp.synchronize) is not None:
        pass


TOLD = (
    "assertion failed in kernel `halve_elements`, assert_kernels.py:10, block (2, 0, 0), "
    "thread (88, 0, 0): x[600] is -1.0"
)
BY_CALL = "; an earlier call launched the kernel, and this one launches nothing"


def test_what_holds_is_not_told():
    x, y = tensors()
    for _ in range(20):
        halved(x, y)
    kp.synchronize()
    assert torch.equal(y, x / 2)


def test_waiting_raises_a_failure_once_and_threads_go_on():
    x, y = tensors()
    x[600] = -1
    halved(x, y)
    assert failure(kp.synchronize) == TOLD
    assert failure(kp.synchronize) is None
    assert torch.equal(y, x / 2)


def test_the_next_call_raises_it_and_launches_nothing():
    x, y = tensors()
    x[600] = -1
    halved(x, y)
    torch.cuda.synchronize()
    other = torch.zeros_like(y)
    assert failure(halved, x.abs(), other) == TOLD + BY_CALL
    torch.cuda.synchronize()
    assert bool((other == 0).all())
    assert failure(halved, x.abs(), other) is None
    torch.cuda.synchronize()
    assert torch.equal(other, x.abs() / 2)


def test_of_many_that_fail_one_is_told():
    x, y = tensors()
    for _ in range(50):
        halved(-x - 1, y)
        message = failure(kp.synchronize)
        assert message is not None and "halve_elements" in message
        number = int(message.split("x[")[1].split("]")[0])
        block, thread = divmod(number, 256)
        assert (
            f"block ({block}, 0, 0), thread ({thread}, 0, 0): x[{number}] is -{number + 1}.0"
            in message
        )
        assert failure(kp.synchronize) is None


def test_numbers_are_shown_as_they_are():
    shown(5, (1 << 64) - 1, 0.1, True)
    assert failure(kp.synchronize).endswith(": 5 18446744073709551615 0.1 true")
    shown(0, 0, -2.5e-300, False)
    assert failure(kp.synchronize).endswith(": 0 0 -2.5e-300 false")


def test_a_captured_graph_fails_as_it_runs():
    x, y = tensors()
    halved(x, y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        halved(x, y)
    graph.replay()
    kp.synchronize()
    x[600] = -1
    graph.replay()
    assert failure(kp.synchronize) == TOLD


@pytest.mark.parametrize("how", ["call", "prepared"])
def test_calls_by_graphs_of_ours_tell_it_too(how):
    x, y = tensors()
    call = halved.prepare(x, y) if how == "prepared" else lambda: halved(x, y)
    for _ in range(200):
        call()
    torch.cuda.synchronize()
    x[600] = -1
    call()
    torch.cuda.synchronize()
    assert failure(call) == TOLD + BY_CALL
    x[600] = 1
    assert failure(call) is None


def test_threads_are_told_once_together():
    x, y = tensors()
    x[600] = -1
    halved(x, y)
    torch.cuda.synchronize()
    x[600] = 1
    told = []
    threads = [
        threading.Thread(target=lambda: told.append(failure(halved, x, y))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(None) == 7 and told.count(TOLD + BY_CALL) == 1


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_each_device_has_its_own():
    x, y = tensors("cuda:1")
    x[600] = -1
    halved(x, y)
    torch.cuda.synchronize(1)
    assert failure(halved, *tensors("cuda:0")) is None
    assert failure(halved, x, y) == TOLD + BY_CALL


def test_without_assertions_nothing_is_told():
    x, y = tensors()
    bare(-x, y)
    kp.synchronize()
    assert torch.equal(y, -x / 2)
