# SPDX-License-Identifier: Apache-2.0
"""Times calls inside programs of JAX, on the CPU: kernpack's against those of jax_tvm_ffi, of the same function.

    jax_calls.py PACKAGE ROUNDS CALLS

`PACKAGE` is a shared object with `add_one(x: Tensor([n], float32), y: Tensor([n], float32, mut))`. The
sides take turns, and medians are printed as JSON: nanoseconds of a jitted call, what each further
call in one program costs, and how ours compare. A second run of the reference is the control.
"""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import tvm_ffi

import kernpack.jax

LENGTH = 16
FURTHER = 100


def chain(call, length):
    """A program of that many calls, each of what the one before returned."""

    def program(x):
        for _ in range(length):
            x = call(x)
        return x

    return jax.jit(program)


def main(path, n_rounds, n_calls):
    ours = kernpack.jax.call(kernpack.load_module(path).add_one)
    name = "kernpack.bench.add_one"
    jax_tvm_ffi.register_ffi_target(name, tvm_ffi.load_module(path).add_one, platform="cpu")
    peer = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((LENGTH,), jnp.float32))
    x = jnp.zeros(LENGTH)
    sides = {"ours": ours, "reference": peer, "control": peer}
    programs = {(side, n): chain(call, n) for side, call in sides.items() for n in (1, 1 + FURTHER)}
    for (_, length), program in programs.items():
        assert program(x).tolist() == [length] * LENGTH
    samples = {key: [] for key in programs}
    keys = list(programs)
    for round in range(n_rounds):
        for turn in range(len(keys)):
            key = keys[(round + turn) % len(keys)]
            count = n_calls if key[1] == 1 else max(1, n_calls // 10)
            samples[key].append(sample(programs[key], x, count))
    medians = {key: statistics.median(values) for key, values in samples.items()}
    call = {side: medians[side, 1] for side in sides}
    further = {side: (medians[side, 1 + FURTHER] - medians[side, 1]) / FURTHER for side in sides}
    print(json.dumps({
        "call": call,
        "further": further,
        "call_ratio": call["ours"] / call["reference"],
        "control_ratio": call["control"] / call["reference"],
        "further_difference": further["ours"] - further["reference"],
        "further_control": further["control"] - further["reference"],
    }))


def sample(program, x, n_calls):
    start = time.perf_counter_ns()
    for _ in range(n_calls):
        y = program(x)
    y.block_until_ready()
    return (time.perf_counter_ns() - start) / n_calls


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
