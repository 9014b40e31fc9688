# SPDX-License-Identifier: Apache-2.0
"""Times calls from Python: an entry point against `testing.nop` with the same PyTorch tensors.

    python_calls.py MODULE FUNCTION ROUNDS CALLS

prints the medians of ours, the reference and the reference again, in nanoseconds a call, as JSON.
"""

import itertools
import json
import statistics
import sys
import time

import torch
import tvm_ffi

ARGUMENTS = {
    "add_one": [torch.zeros(64) for _ in range(2)],
    "blend": [torch.zeros(2, 3, 4, 8) for _ in range(5)]
    + list(range(-4, 5))
    + [i / 2 for i in range(5)],
}


def main(module, name, n_rounds, n_calls):
    ours = getattr(tvm_ffi.load_module(module), name)
    nop = tvm_ffi.get_global_func("testing.nop")
    args = ARGUMENTS[name]
    time_calls = timer(len(args))
    medians = interleave(
        n_rounds,
        lambda: time_calls(ours, n_calls, *args),
        lambda: time_calls(nop, n_calls, *args),
    )
    print(json.dumps(medians))


def interleave(n_rounds, ours, reference):
    sides = [("reference", reference), ("ours", ours), ("control", reference)]
    samples = {name: [] for name, _ in sides}
    for round in range(n_rounds):
        for turn in range(3):
            name, sample = sides[(round + turn) % 3]
            samples[name].append(sample())
    return {name: statistics.median(values) for name, values in samples.items()}


def timer(n_args):
    """A function that times calls. The arguments are its local variables: the loop unpacks nothing."""
    names = ", ".join(f"a{i}" for i in range(n_args))
    source = f"""
def time_calls(function, n_calls, {names}):
    start = clock()
    for _ in repeat(None, n_calls):
        function({names})
    return (clock() - start) / n_calls
"""
    scope = {"clock": time.perf_counter_ns, "repeat": itertools.repeat}
    exec(source, scope)
    return scope["time_calls"]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
