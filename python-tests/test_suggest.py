# SPDX-License-Identifier: Apache-2.0
"""What limits the kernels of a call: what each rule looks at, and where it says nothing. On a GPU with
the driver of `tests/cuda-stub`, under which kernels take no time.
"""

import dataclasses

import numpy
import pytest
from test_bench import on_stub

import kernpack as kp
from kernpack import _check, _emitted, _errors, _suggest

TILE = numpy.ones((32, 32), "float32")


@kp.kernel
def transpose_tile(x, y, row: kp.Constexpr):
    tile = kp.shared(kp.float32, kp.make_layout((32, 32), stride=(row, 1)))
    i, j, _ = kp.thread_idx()
    tile[j, i] = x[j, i]
    kp.sync_threads()
    y[j, i] = tile[i, j]


SIGNATURE = "(x: Tensor([32, 32], float32), y: Tensor([32, 32], float32, mut)) where noalias(x, y)"


@kp.jit(f"transpose{SIGNATURE}")
def transpose(x, y):
    transpose_tile(x, y, 32).launch(grid=1, block=(32, 32))


@kp.jit(f"transpose_padded{SIGNATURE}")
def transpose_padded(x, y):
    transpose_tile(x, y, 33).launch(grid=1, block=(32, 32))


@kp.kernel
def copy_four(x, y, step: kp.Constexpr):
    i = kp.thread_idx()[0] * step
    for j in kp.range_constexpr(4):
        y[i + j] = x[i + j]


@kp.jit
def copied(x, y, step: kp.Constexpr = 4):
    copy_four(x, y, step).launch(grid=1, block=32)


def found(suggestions):
    return [(each.found.partition(":")[0], each.line) for each in suggestions.suggestions]


def line_of(kernel, text):
    """The line of a kernel's text, from 1."""
    code = kernel.function.__code__
    with open(code.co_filename) as file:
        lines = list(enumerate(file, 1))
    return next(n for n, line in lines if n > code.co_firstlineno and text in line)


def test_conflicts_of_banks_are_told_by_line():
    suggested = kp.suggest(transpose, TILE, TILE.copy())
    [one] = suggested.suggestions
    assert (one.kernel, one.file) == ("transpose_tile", __file__)
    assert one.line == line_of(transpose_tile, "y[j, i] = tile[i, j]")
    assert one.found == (
        "reads `tile`, and waits 32.0 times as often for banks as it has to: 94 % of all turns"
    )
    assert "a swizzle" in one.help
    assert str(suggested) == f"{__file__}:{one.line}: {one.found}\n    {one.help}"
    assert suggested.measured is None and len(suggested.traffic) == 4
    padded = kp.suggest(transpose_padded, TILE, TILE.copy())
    assert padded.suggestions == () and str(padded) == "nothing to suggest"


def test_narrow_accesses_are_told_with_what_is_missing():
    x = numpy.ones(128, "float32")
    room = numpy.ones(129, "float32")
    suggested = kp.suggest(copied, room[1:], x)
    line = line_of(copy_four, "y[i + j] = x[i + j]")
    assert found(suggested) == [
        ("reads `x`, and takes 4.1 times as many sectors as its elements have", line),
        ("writes `y`, and takes 4.0 times as many sectors as its elements have", line),
        ("writes `y` 4 bytes at once, of 16 that lie side by side", line),
        ("reads `x` 4 bytes at once, of 16 that lie side by side", line),
    ]
    assert [each.help for each in suggested.suggestions[2:]] == [
        "all at once would need `align=16` of `y`",
        "all at once would need `align=16` of `x`",
    ]


def test_other_arguments_are_counted():
    # Every fifth element of more than the interpreter is asked for.
    x = numpy.ones(1 << 20, "float32")
    counted = numpy.ones(160, "float32"), numpy.zeros(160, "float32"), 5
    suggested = kp.suggest(copied, x, x.copy(), counted=counted)
    assert sum(each.threads for each in suggested.traffic) == 2 * 4 * 32


def test_functions_of_packages_and_keywords_are_taken():
    function = kp.compile(transpose)
    assert found(kp.suggest(function, TILE, y=TILE.copy())) == found(
        kp.suggest(transpose, x=TILE, y=TILE.copy())
    )


def kernel_of(**numbers):
    """Resources that nothing is wrong with, but for these."""
    plain = _emitted.Resources("k", "sm_90", 256, 32, 0, 0, 0, 1, 8, 1.0)
    return dataclasses.replace(plain, **numbers)


def known(copy=None, resources=(), traffic=(), accesses=()):
    measured = None
    if copy is not None:
        one = kp.Figure(1.0, 0.0)
        times = (one, one, 10, kp.Figure(copy, 0.0))
        measured = kp.Measured("f", "", *times, "cold", "GPU", None)
    return _suggest._Known(measured, traffic, resources, accesses)


def test_a_call_as_fast_as_memory_is_told_so():
    [one] = _suggest._memory(known(copy=0.8))
    assert one.found.startswith("it is 0.80 times as fast as a copy of as many bytes")
    assert str(one).startswith("the call: it is")
    assert not list(_suggest._memory(known(copy=0.7))) and not list(_suggest._memory(known()))


def test_spills_and_few_threads_are_told():
    spilling = kernel_of(spilled_bytes=200)
    [one] = _suggest._spills(
        known(resources=[spilling, kernel_of(), kernel_of(spilled_bytes=None)])
    )
    assert (
        one.found == ("each thread writes 200 bytes to memory for want of registers (sm_90)")
        and one.kernel == "k"
    )
    few = kernel_of(occupancy=0.125, registers=255)
    [one] = _suggest._threads(known(copy=0.5, resources=[few, kernel_of()]))
    assert one.found.startswith(
        "a multiprocessor has 12 % of the threads that it could, by 255 reg"
    )
    # Where memory is busy all the time, more threads do not help.
    assert not list(_suggest._threads(known(copy=0.9, resources=[few])))
    assert not list(_suggest._threads(known(resources=[kernel_of(occupancy=None)])))


def traffic(line, taken, least, memory="shared"):
    return _check.Traffic("k", "k.py", line, 1, "reads", "t", memory, 4, 1, 32, taken, least, "")


def test_lines_that_take_the_most_come_first():
    lines = [traffic(1, 20, 10), traffic(2, 100, 50), traffic(3, 12, 10), traffic(4, 50, 10)]
    told = [each.line for each in _suggest._banks(known(traffic=lines))]
    assert told == [2, 4, 1]
    assert not list(_suggest._sectors(known(traffic=lines)))
    far = [traffic(5, 80, 20, "global"), traffic(6, 20, 20, "global")]
    [one] = _suggest._sectors(known(traffic=[*lines, *far]))
    assert one.found == (
        "reads `t`, and takes 4.0 times as many sectors as its elements have: 60 % of all sectors"
    )


def test_without_an_assembler_the_rest_is_told(monkeypatch):
    error = _errors.CompileError("none", [{"code": "gpu-assembler"}])

    def refuse(_):
        raise error

    monkeypatch.setattr(_emitted, "resources", refuse)
    suggested = kp.suggest(transpose, TILE, TILE.copy())
    assert suggested.resources == () and len(suggested.suggestions) == 1
    error.diagnostics.append({"code": "kernel-malformed"})
    with pytest.raises(kp.CompileError):
        kp.suggest(transpose, TILE, TILE.copy())


def test_what_is_refused():
    with pytest.raises(TypeError, match="what limits a function of kernpack's is told, got <built"):
        kp.suggest(len, TILE)
    add = kp.host(
        "void add(const float *x, long n) {}", "add(x: Tensor([n], float32))", args=["x", "n"]
    )
    with pytest.raises(TypeError, match="`add` cannot run on the interpreter"):
        kp.suggest(add, TILE[0])
    with pytest.raises(ValueError, match="Mismatched"):
        kp.suggest(transpose, TILE, TILE[1:].copy())


ON_GPU = """
import numpy

arrays = numpy.ones((2, 64), "float32")
suggested = kp.suggest(twice, x, y, counted=tuple(arrays))
print(suggested.measured.by, suggested.measured.n_bytes)
print(str(suggested).splitlines()[0])
"""


def test_a_call_on_a_gpu_is_measured(tmp_path):
    by, *rest = on_stub(tmp_path, ON_GPU).splitlines()
    assert by == "NVIDIA H200 8000"
    assert rest == ["twice(float32 [1000], float32 [1000])"]
