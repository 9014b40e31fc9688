# SPDX-License-Identifier: Apache-2.0
"""Times jit functions as far as they go without a GPU: what compiling one takes beside the assembler
of its machine code, and what finding it takes in a new process.

    python_jit.py

prints figures as `python_package.py` does. Not here: calls, which need a GPU (tests/gpu).
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/gpu"))

import jit_kernels
import kernpack as kp
from python_package import figure, in_processes, timed

N_ROUNDS = 41
# The library of the compiler is loaded within what is timed.
NEW_PROCESS = f"""
import sys, time, tvm_ffi
sys.path[:0] = {sys.path!r}
import kernpack as kp
kp.jit
begin = time.perf_counter()
import jit_kernels
vector = kp.fake_tensor(kp.float32, (kp.sym_int(),))
kp.compile(jit_kernels.adding(1.0), vector, vector, arch="compute_80")
print((time.perf_counter() - begin) * 1e3)
"""


def to_ptx(function):
    """Compiles a jit function for vectors, as far as the driver takes it from there."""
    vector = kp.fake_tensor(kp.float32, (kp.sym_int(),))
    kp.compile(function, vector, vector, arch="compute_80")


def compiled():
    function = jit_kernels.like_no_other()
    return timed(lambda: to_ptx(function))


def main():
    with tempfile.TemporaryDirectory() as name:
        os.environ["KERNPACK_CACHE_DIR"] = str(Path(name) / "cache")
        compiled()
        took = statistics.median(compiled() for _ in range(N_ROUNDS))
        first = figure("first compile of a jit function, without an assembler", "ms", took, most=25)
        to_ptx(jit_kernels.adding(1.0))
        found = in_processes(NEW_PROCESS)
        name = "cached jit function in a new process, behind its imports"
        print(json.dumps([first, figure(name, "ms", found, most=15)]))


if __name__ == "__main__":
    main()
