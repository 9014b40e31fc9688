# SPDX-License-Identifier: Apache-2.0
"""Processes that fork while others of their threads import and compile, and that end meanwhile."""

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


# `package` is a function, and `forked(act)` what becomes of a child that does this.
CHILD = """
import os, signal, threading, time
import kernpack as kp
from kernpack import _forks, _native

def package(name):
    return kp.Package(name).function(f"{name}(x: Tensor([n], float32))").load()[name]

def forked(act):
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # Ends what hangs.
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

began, goes_on = threading.Event(), threading.Event()
"""
# A module that another thread imports, and that needs the compiler to become whole.
SLOW_MODULE = """
import importlib.abc, importlib.machinery

class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "kernpack.jax" else None

    def exec_module(self, module):
        began.set()
        time.sleep(0.2)
        _native.compiler()
        module.call = 5

sys.meta_path.insert(0, Slow())
"""


def test_two_threads_import_a_module_that_loads_the_compiler():
    script = """
def first():
    import kernpack.jax

thread = threading.Thread(target=first, daemon=True)
thread.start()
began.wait()
signal.alarm(10)
print(kp.jax.call)
"""
    assert run(CHILD + SLOW_MODULE + script).strip() == "5"


def test_a_fork_waits_for_what_another_thread_imports():
    script = """
threading.Thread(target=lambda: kp.jax, daemon=True).start()
began.wait()
print(forked(lambda: kp.jax.call + 1))
"""
    assert run(CHILD + SLOW_MODULE + script).strip() == "0"


def test_a_child_loads_that_was_forked_when_the_waiting_was_in_vain():
    script = """
package("of_parent")
_forks._PATIENCE = 0.1

def hold():
    with _forks.LOCK:
        began.set()
        goes_on.wait()

thread = threading.Thread(target=hold)
thread.start()
began.wait()
print(forked(lambda: package("of_child")), flush=True)
goes_on.set()
thread.join()
print(forked(lambda: package("of_child")))
"""
    assert run(CHILD + script).split() == ["0", "0"]


def test_a_child_describes_one_function_that_was_forked_while_another_is_described():
    script = """
one, other, describe = package("one"), package("other"), _native.describe

def slow(*texts):
    began.set()
    goes_on.wait()
    return describe(*texts)

_native.describe = slow
thread = threading.Thread(target=lambda: one.description)
thread.start()
began.wait()
_native.describe = describe
print(forked(lambda: other.description))
goes_on.set()
thread.join()
print(one.description["name"], one.description is one.description)
"""
    assert run(CHILD + script).split() == ["0", "one", "True"]


def test_what_python_calls_as_it_ends_compiles_nothing_more():
    """What is registered first is called last, when compilers were ended already."""
    script = """
import atexit
import kernpack as kp

def compiled(factor):
    source = f"void twice(const float* x, long n, float* y) {{ y[0] = {factor}; }}"
    signature = "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
    return kp.host(source, signature, args=["x", "n", "y"])

def late():
    try:
        compiled(2)
    except kp.CompileError as error:
        print("the process is ending" in str(error))

atexit.register(late)
compiled(1)
"""
    assert run(script, KERNPACK_CACHE="off").strip() == "True"
