# SPDX-License-Identifier: Apache-2.0
"""Times jit functions as far as they go without a GPU: what compiling one takes beside the assembler
of its machine code, and what finding it takes in a new process.

    python_jit.py

prints figures as `python_package.py` does. Not here: calls, which need a GPU (tests/gpu).
"""

import itertools
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import kernpack as kp
from python_package import figure, in_processes, timed

BLOCK = 256
COUNTER = itertools.count(2)
N_ROUNDS = 41


def adding(number):
    """A jit function that adds a number, which it has captured."""

    @kp.kernel
    def add_to_elements(a, b):
        i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
        if i < a.shape[0]:
            b[i] = a[i] + number

    @kp.jit(arch="compute_80")
    def add(a, b):
        assert a.shape == b.shape
        add_to_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], BLOCK), block=BLOCK)

    return add


def vector():
    return kp.fake_tensor(kp.float32, (kp.sym_int(),))


def compiled():
    """How long it takes to make PTX, which the driver assembles, of a function that is like no
    other.
    """
    function = adding(float(f"{next(COUNTER)}.{os.getpid()}"))
    return timed(lambda: function.warmup(vector(), vector()))


def main():
    with tempfile.TemporaryDirectory() as name:
        os.environ["KERNPACK_CACHE_DIR"] = str(Path(name) / "cache")
        compiled()
        took = statistics.median(compiled() for _ in range(N_ROUNDS))
        first = figure("first compile of a jit function, without an assembler", "ms", took, most=25)
        adding(1.0).warmup(vector(), vector())
        code = (
            f"import time, tvm_ffi; sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}; "
            "import kernpack as kp, python_jit as p; kp.jit; begin = time.perf_counter(); "
            "p.adding(1.0).warmup(p.vector(), p.vector()); print((time.perf_counter() - begin) * 1e3)"
        )
        found = in_processes(code)
        name = "cached jit function in a new process, behind its imports"
        print(json.dumps([first, figure(name, "ms", found, most=15)]))


if __name__ == "__main__":
    main()
