# SPDX-License-Identifier: Apache-2.0
"""Processes that fork while they compile, and compilers and headers that only an environment names."""

import os
import subprocess
import sys

import pytest

ALONE = "import sys; sys.modules['torch'] = None\n"
# Threads that link one package after the other, and children that are forked meanwhile.
FORKS = """
import os, signal, threading, time
import kernpack as kp
{first}

def package(name):
    return kp.Package(name).function(f"{{name}}(x: Tensor([n], float32)) where n % 8 == 0")

def work():
    for number in range(10_000):
        package(f"of_{{threading.get_ident()}}_{{number}}").load()

def forked(wait):
    time.sleep(wait)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # Ends what hangs.
        package("of_child").load()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
print([forked(wait) for wait in {waits}], flush=True)
os._exit(0)
"""


def run(script, expect=0, **environment):
    ran = subprocess.run(
        [sys.executable, "-c", ALONE + script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == expect, ran.stdout + ran.stderr
    return ran.stdout


def test_a_child_compiles_that_was_forked_while_others_link():
    waits = [0.003 * number for number in range(10)]
    script = FORKS.format(first="package = kp.load", waits=waits)
    assert run(script, KERNPACK_CACHE="off").strip() == str([0] * 10)


@pytest.mark.parametrize("wait", [0, 0.002, 0.05, 0.3])
def test_a_child_compiles_that_was_forked_during_the_first_compile(wait):
    script = FORKS.format(first="", waits=[wait])
    assert run(script, KERNPACK_CACHE="off").strip() == "[0]"


def test_a_daemon_thread_that_compiles_as_the_process_ends():
    """The interpreter takes its time to end, and ends threads that come back to it."""
    script = """
import threading, time
import kernpack as kp

ballast = [[number] for number in range(2_000_000)]

def work():
    for number in range(10_000):
        source = f"void twice(const float* x, long n, float* y) {{ y[0] = {number}; }}"
        signature = "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
        kp.host(source, signature, args=["x", "n", "y"])

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1.5)
"""
    run(script, KERNPACK_CACHE="off")
