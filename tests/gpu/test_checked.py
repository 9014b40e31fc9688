# SPDX-License-Identifier: Apache-2.0
"""Kernels that check their indices: an access outside touches nothing, is told once, and leaves the
context whole; what is inside is as it would be.
"""

import kernpack as kp
import pytest
import torch
from checked_kernels import N, brought, copied, counted, moved, sent

FAR = 1 << 30


def failure():
    """What has failed; None where nothing has."""
    try:
        kp.synchronize()
    except RuntimeError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    while failure() is not None:
        pass


def outside(kernel, line, index, of, extent):
    """The beginning and the end of a message."""
    place = f"assertion failed in kernel `{kernel}`, checked_kernels.py:{line}, block ("
    return place, f": index {index} of `{of}` is out of bounds: the extent is {extent}"


def is_told(message, expected):
    begin, end = expected
    return message is not None and message.startswith(begin) and message.endswith(end)


def line_of(text):
    """The first line of the kernels with that text."""
    import checked_kernels

    lines = open(checked_kernels.__file__).read().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def flipped(x):
    return x.view(-1, 128).flip(1).reshape(-1)


def test_what_is_inside_is_not_told():
    x = torch.arange(N, device="cuda", dtype=torch.float32)
    y = torch.zeros_like(x)
    moved(x, 0, y)
    assert failure() is None
    assert torch.equal(y, flipped(x))


@pytest.mark.parametrize("by", [1, -1, FAR, -FAR])
def test_a_load_outside_gives_zero(by):
    x = torch.arange(1, N + 1, device="cuda", dtype=torch.float32)
    y = torch.full_like(x, -1)
    moved(x, by, y)
    message = failure()
    assert message is not None and "index" in message
    assert f"checked_kernels.py:{line_of('= x[i + by]')}, block (" in message
    assert message.endswith(f"of `x` is out of bounds: the extent is {N}")
    number = int(message.split(": index ")[1].split()[0])
    assert not 0 <= number < N and 0 <= number - by < N
    assert failure() is None
    at = torch.arange(N, device="cuda") + by
    inside = (at >= 0) & (at < N)
    expected = torch.where(inside, x[at.clamp(0, N - 1)], torch.zeros_like(x))
    assert torch.equal(y, flipped(expected))


def test_a_store_outside_is_left_out():
    x = torch.arange(N, device="cuda", dtype=torch.float32)
    memory = torch.full((N,), -1.0, device="cuda")
    moved(x, 0, memory[: N - 3])
    line = line_of("y[i] = tile[127")
    assert is_told(failure(), outside("move_elements", line, N - 3, "y", N - 3))
    assert torch.equal(memory[: N - 3], flipped(x)[: N - 3])
    assert torch.equal(memory[N - 3 :], torch.full((3,), -1.0, device="cuda"))


@pytest.mark.parametrize("at", [4, -1, FAR])
def test_an_atomic_operation_outside_gives_zero(at):
    counts = torch.arange(1, 5, device="cuda", dtype=torch.int32)
    old = torch.full((1,), 9, device="cuda", dtype=torch.int32)
    counted(counts, old, at)
    assert is_told(failure(), outside("count_at", line_of("kp.atomic_add"), at, "counts", 4))
    assert counts.tolist() == [1, 2, 3, 4] and old.item() == 0
    counted(counts, old, 3)
    assert failure() is None
    assert counts.tolist() == [1, 2, 3, 9] and old.item() == 4


def is_hopper():
    return torch.cuda.get_device_capability() >= (9, 0)


@pytest.mark.parametrize("copy, left", [(copied, 0.0), (sent, 0.0), (brought, 7.0)])
def test_a_copy_from_outside_is_skipped_and_nobody_waits_for_it(copy, left):
    if copy is brought and not is_hopper():
        pytest.skip("needs sm_90")
    x = torch.arange(4 * 128, device="cuda", dtype=torch.float32).view(4, 128)
    y = torch.zeros(128, device="cuda")
    copy(x, 2, y)
    assert failure() is None
    assert torch.equal(y, x[2])
    for row in (4, -1, FAR):
        copy(x, row, y)
        message = failure()
        assert message is not None
        assert message.endswith(f": index {row} of `x` is out of bounds: the extent is 4")
        assert torch.equal(y, torch.full_like(y, left))
    copy(x, 1, y)
    assert failure() is None
    assert torch.equal(y, x[1])


def test_the_next_call_raises_it_and_launches_nothing():
    x = torch.arange(N, device="cuda", dtype=torch.float32)
    y = torch.zeros_like(x)
    moved(x, 1, y)
    torch.cuda.synchronize()
    y.zero_()
    with pytest.raises(RuntimeError, match="and this one launches nothing"):
        moved(x, 0, y)
    torch.cuda.synchronize()
    assert not y.any()
    moved(x, 0, y)
    torch.cuda.synchronize()
    assert torch.equal(y, flipped(x))
