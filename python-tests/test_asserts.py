# SPDX-License-Identifier: Apache-2.0
"""What kernels assert as they run, as Python raises it: with the driver of `tests/cuda-stub`, under
which kernels do nothing, so that the program writes what one would.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import REPOSITORY

import kernpack as kp

PROGRAM = '''
import ctypes, json, os, sys

import cuda_stub

cuda_stub.begin()

import kernpack as kp


@kp.kernel
def look(n):
    assert n < 4, f"{n} of {4 * n}"


@kp.jit("check(n: int32)")
def check(n):
    look(n).launch(grid=1, block=32)


@kp.jit("bare(n: int32)", asserts=False)
def bare(n):
    look(n).launch(grid=1, block=32)


@kp.kernel
def put(n):
    tile = kp.shared(kp.int32, 4)
    tile[n] = n


@kp.jit("kept(n: int32)", checked=True)
def kept(n):
    put(n).launch(grid=1, block=32)


@kp.jit("relied(n: int32)")
def relied(n):
    put(n).launch(grid=1, block=32)


driver = ctypes.CDLL("libcuda.so.1")


def arguments():
    """Those of the last launch."""
    lines = cuda_stub.log()
    launches = [line["launch"] for line in lines if "launch" in line]
    launches += [each for line in lines for each in line.get("launches", [])]
    return [bytes.fromhex(each["bytes"]) for each in launches[-1]["arguments"]]


def fail(record):
    """Writes down what the kernel would."""
    memory = (ctypes.c_char * 1152).from_address(record)
    numbers = [1, 0, 0, 2, 0, 0]
    memory[8:32] = b"".join(number.to_bytes(4, "little") for number in numbers)
    memory[32:48] = (5).to_bytes(8, "little") + (20).to_bytes(8, "little")
    text = b"look\\0check.py:12\\0ss\\0\\0 of \\0\\0"
    memory[64 : 64 + len(text)] = text
    told = int.from_bytes(memory[1024:1028], "little")
    memory[0:4] = (told + 1).to_bytes(4, "little")


def raised(call, *args):
    try:
        call(*args)
    except RuntimeError as error:
        return str(error)
    return None


kp.synchronize()
check(1)
n, record = arguments()
record = int.from_bytes(record, "little")
told = [raised(kp.synchronize)]
for call in (lambda: check(2), check.prepare(2), kp.synchronize):
    fail(record)
    told += [raised(call), raised(call)]
bare(1)
told.append(len(arguments()))
relied(1)
told.append(len(arguments()))
kept(1)
n, record_of_kept = arguments()
fail(int.from_bytes(record_of_kept, "little"))
told += [raised(kept, 1), raised(kept, 1)]
# A child has no launches to wait for.
fail(record)
child = os.fork()
if child == 0:
    os._exit(3 if raised(kp.synchronize) is None else 4)
told.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
told.append(raised(kp.synchronize))
print(json.dumps(told))
'''


def test_a_failure_is_raised_by_the_next_call_or_by_waiting(tmp_path):
    program = tmp_path / "check.py"
    program.write_text(PROGRAM)
    path = os.pathsep.join([str(REPOSITORY / "python-tests"), str(REPOSITORY / "python")])
    path = os.pathsep.join([path, os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    message = (
        "assertion failed in kernel `look`, check.py:12, block (1, 0, 0), thread (2, 0, 0): 5 of 20"
    )
    by_call = f"{message}; an earlier call launched the kernel, and this one launches nothing"
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told == [
        None,
        by_call,
        None,
        by_call,
        None,
        message,
        None,
        1,
        1,
        by_call,
        None,
        3,
        message,
    ]


def functions_of(program, folder):
    """What a program in a file defines."""
    file = folder / "place.py"
    file.write_text(program)
    names = {"__name__": "place", "__file__": str(file)}
    exec(compile(program, str(file), "exec"), names)
    return names


def kernel_of(program, folder):
    """A jit function of a program in a file."""
    return functions_of(program, folder)["check"]


TEXT = """import kernpack as kp


@kp.kernel
def look(n):
    assert n < 4


@kp.jit("check(n: int32)")
def check(n):
    look(n).launch(grid=1, block=32)
"""


def places_in(ptx):
    """The lines that the code of a kernel tells."""
    lines = [line for line in ptx.splitlines() if "assert_text" in line and "{" in line]
    texts = [line.split("{")[1].split("}")[0].split(",") for line in lines]
    return [bytes(int(number) for number in text).split(b"\0")[1] for text in texts]


def test_the_code_tells_the_line_where_a_function_stands(tmp_path):
    check = kernel_of(TEXT, tmp_path)
    (tmp_path / "other").mkdir()
    moved = kernel_of("# A line.\n" + TEXT, tmp_path / "other")
    texts = [
        list(kp.compile(each, arch="compute_80").package.ptx().values())[0]
        for each in (check, moved)
    ]
    assert [places_in(text) for text in texts] == [[b"place.py:6"], [b"place.py:7"]]


def test_the_interpreter_finds_it(tmp_path):
    check = kernel_of(TEXT, tmp_path)
    assert check.check(3).ok
    [finding] = check.check(4).findings
    assert (finding.code, finding.line) == ("failed-assert", 6)


SHIFT = """import kernpack as kp


@kp.kernel
def move(x, y, by):
    i = kp.thread_idx()[0]
    y[i] = x[i + by]


@kp.jit("check(x: Tensor([n], float32), by: int32) -> y: Tensor([n], float32)", checked=True)
def check(x, by, y):
    move(x, y, by).launch(grid=1, block=x.shape[0])


@kp.jit("bare(x: Tensor([n], float32), by: int32) -> y: Tensor([n], float32)")
def bare(x, by, y):
    move(x, y, by).launch(grid=1, block=x.shape[0])
"""


def test_indices_are_checked_where_that_is_asked_for(tmp_path):
    functions = functions_of(SHIFT, tmp_path)
    (tmp_path / "other").mkdir()
    moved = functions_of("# A line.\n" + SHIFT, tmp_path / "other")
    places = [
        places_in(list(kp.compile(function, arch="compute_80").package.ptx().values())[0])
        for function in (functions["check"], functions["bare"], moved["check"])
    ]
    assert places == [[b"place.py:7"] * 2, [], [b"place.py:8"] * 2]


def test_the_interpreter_skips_what_is_outside(tmp_path):
    functions = functions_of(SHIFT, tmp_path)
    x = np.arange(1, 4, dtype="float32")
    assert functions["check"].check(x, 0).ok
    for name in ("check", "bare"):
        checked = functions[name].check(x, 1)
        [finding] = checked.findings
        assert (finding.code, finding.line) == ("index-out-of-bounds", 7)
        assert checked.results.tolist() == [2.0, 3.0, 0.0]
    assert "index 3 of `x` is out of bounds: the extent is 3" in str(functions["check"].check(x, 1))


def test_functions_are_joined_with_those_that_are_checked_alike(tmp_path):
    functions = functions_of(SHIFT, tmp_path)
    both = [kp.compile(functions[name], arch="compute_80") for name in ("check", "bare")]
    with pytest.raises(ValueError, match="some functions were compiled with `checked=True`"):
        kp.export(both, str(tmp_path / "both.so"))
