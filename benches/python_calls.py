# SPDX-License-Identifier: Apache-2.0
"""Times calls from Python, with PyTorch tensors: accepted ones against `testing.nop`, refused ones
against those of another module.

    python_calls.py OURS REFERENCE CALL ROUNDS CALLS

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
# Of `add_one`.
REFUSED = {
    "an extent that does not match": [torch.zeros(64), torch.zeros(128)],
    "no tensor": [1.0, torch.zeros(64)],
}


def main(ours, reference, call, n_rounds, n_calls):
    ours = tvm_ffi.load_module(ours)
    if call in REFUSED:
        args, is_refused = REFUSED[call], True
        ours, reference = ours.add_one, tvm_ffi.load_module(reference).add_one
    else:
        args, is_refused = ARGUMENTS[call], False
        ours, reference = getattr(ours, call), tvm_ffi.get_global_func("testing.nop")
    time_calls = timer(len(args), is_refused)
    medians = interleave(
        n_rounds,
        lambda: time_calls(ours, n_calls, *args),
        lambda: time_calls(reference, n_calls, *args),
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


def timer(n_args, is_refused):
    """A function that times calls. The arguments are its local variables: the loop unpacks nothing."""
    names = ", ".join(f"a{i}" for i in range(n_args))
    call = f"function({names})"
    if is_refused:
        call = f"""try: {call}
        except (TypeError, ValueError): pass
        else: raise SystemExit("accepted")"""
    source = f"""
def time_calls(function, n_calls, {names}):
    start = clock()
    for _ in repeat(None, n_calls):
        {call}
    return (clock() - start) / n_calls
"""
    scope = {"clock": time.perf_counter_ns, "repeat": itertools.repeat}
    exec(source, scope)
    return scope["time_calls"]


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))
