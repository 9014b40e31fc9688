# SPDX-License-Identifier: Apache-2.0
"""Jit functions beside what NVIDIA's CuTe DSL exports of kernels like theirs, as tables in Markdown.

    speed_cute.py FOLDER CUTE

FOLDER is a bundle, CUTE has what `cute/export.py` makes. Each figure stands next to what it is held
against, measured in the same run, interleaved; medians. `judge` says when a target is missed.
"""

import ctypes
import sys
from pathlib import Path

import jit_kernels
import torch
import tvm_ffi
from judge import Figure, Round, Table, interleave
from speed import in_python, on_the_gpu, pairs_of_vectors
from speed_kernels import SUMS, load
from speed_python import add_one_of, call_round

# On an H200. A host of another card may take longer for the launch itself, which both make: there
# the ratio is told, and held against nothing.
CALL_RATIO = 0.75
RATE_RATIO = 0.98


def calls(cute):
    """Calls of `add_one`, as Python makes them."""
    theirs = tvm_ffi.load_module(str(cute / "add_one.so")).add_one
    pairs = pairs_of_vectors()
    for function in (jit_kernels.add_one, jit_kernels.add_one_said, theirs):
        add_one_of(lambda function=function: function(*pairs[0]), pairs[0])
    sides = {name: in_python(one, *pairs) for name, one in jit_kernels.FUNCTIONS.items()}
    sides |= {"cute": in_python(theirs, *pairs), "cute again": in_python(theirs, *pairs)}
    table = Table(
        "Calls of `add_one` with two PyTorch tensors, n = 1, host time: jit functions against the same kernel that CuTe DSL exported.",
        ["call", "jit", "CuTe DSL", "ratio", "more", "target", "control"],
    )
    target = CALL_RATIO if "H200" in torch.cuda.get_device_name() else None
    for name in jit_kernels.FUNCTIONS:
        table.row(name, lambda name=name: call_round(sides, name, "cute", target))


def sums(folder, cute):
    """Sums of rows: a jit function against itself exported, and against CuTe DSL's."""
    sys.path.insert(0, str(folder / "examples/kernels"))
    import reduce_sum

    exported = load(folder, "reduce_sum").reduce_sum_vectors
    table = Table(
        "`reduce_sum_vectors`, float32, as a jit function, against the same function exported and the sum of rows that CuTe DSL exported.",
        ["shape", "jit", "exported", "ratio", "CuTe DSL", "ratio", "target", "control"],
    )
    for shape, _ in SUMS:
        theirs = getattr(
            tvm_ffi.load_module(str(cute / f"sum_rows_{shape[1]}.so")), f"sum_rows_{shape[1]}"
        )
        x = torch.randn(shape, device="cuda")
        out = torch.empty(shape[0], device="cuda")
        expected = x.sum(-1)
        sides = {}
        for name, function in {
            "jit": reduce_sum.reduce_sum_vectors,
            "exported": exported,
            "cute": theirs,
        }.items():
            out.fill_(7)
            function(x, out)
            torch.testing.assert_close(out, expected, rtol=1e-4, atol=0.05)
            sides[name] = on_the_gpu(lambda function=function: function(x, out), 3)
        sides["again"] = sides["exported"]

        def measure():
            seconds = interleave(sides, 31)
            rate = {name: x.nbytes / took / 1e9 for name, took in seconds.items()}
            ratios = [rate["jit"] / rate[other] for other in ("exported", "cute")]
            control = rate["again"] / rate["exported"]
            cells = [f"{rate['jit']:.0f} GB/s", f"{rate['exported']:.0f} GB/s", f"{ratios[0]:.3f}"]
            cells += [f"{rate['cute']:.0f} GB/s", f"{ratios[1]:.3f}", f"{RATE_RATIO}"]
            figures = tuple(
                Figure(f"of {name}", ratio, at_least=RATE_RATIO)
                for name, ratio in zip(("the exported one's", "CuTe DSL's"), ratios)
            )
            return Round([*cells, f"{control:.3f}"], figures, (control,))

        table.row(" x ".join(map(str, shape)), measure)


def main(folder, cute):
    ctypes.CDLL(str(cute / "libcute_dsl_runtime.so"), ctypes.RTLD_GLOBAL)
    torch.zeros(1, device="cuda")
    calls(cute)
    sums(folder, cute)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
