# SPDX-License-Identifier: Apache-2.0
"""What kernels assert as they run, as Python raises it: with the driver of `tests/cuda-stub`, under
which kernels do nothing, so that the program writes what one would.
"""

import json
import os
import subprocess
import sys

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


driver = ctypes.CDLL("libcuda.so.1")


def arguments():
    """Those of the last launch."""
    take = driver.kernpack_cuda_stub_take_log
    take.argtypes, take.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    text = ctypes.create_string_buffer(1 << 20)
    take(text, len(text))
    lines = [json.loads(line) for line in text.value.decode().splitlines()]
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
    assert told == [None, by_call, None, by_call, None, message, None, 1, 3, message]


def kernel_of(program, folder):
    """A jit function of a program in a file, and what it is compiled to."""
    file = folder / "place.py"
    file.write_text(program)
    names = {"__name__": "place", "__file__": str(file)}
    exec(compile(program, str(file), "exec"), names)
    return names["check"]


TEXT = """import kernpack as kp


@kp.kernel
def look(n):
    assert n < 4


@kp.jit("check(n: int32)")
def check(n):
    look(n).launch(grid=1, block=32)
"""


def place_in(ptx):
    """The line that the code of a kernel tells."""
    [line] = [line for line in ptx.splitlines() if "assert_text" in line and "{" in line]
    numbers = line.split("{")[1].split("}")[0].split(",")
    return bytes(int(number) for number in numbers).split(b"\0")[1]


def test_the_code_tells_the_line_where_a_function_stands(tmp_path):
    check = kernel_of(TEXT, tmp_path)
    (tmp_path / "other").mkdir()
    moved = kernel_of("# A line.\n" + TEXT, tmp_path / "other")
    texts = [
        list(kp.compile(each, arch="compute_80").package.ptx().values())[0]
        for each in (check, moved)
    ]
    assert [place_in(text) for text in texts] == [b"place.py:6", b"place.py:7"]


def test_the_interpreter_finds_it(tmp_path):
    check = kernel_of(TEXT, tmp_path)
    assert check.check(3).ok
    [finding] = check.check(4).findings
    assert (finding.code, finding.line) == ("failed-assert", 6)
