# SPDX-License-Identifier: Apache-2.0
"""Times calls inside programs of JAX, on the CPU: kernpack's against those of jax_tvm_ffi, of the
same function.

    jax_calls.py [ROUNDS [CALLS]]

The sides take turns, and medians are printed as a JSON list of figures, as `python_package.py`
does: a jitted call, and what each further call in one program costs. A second run of the reference
is the control.
"""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import tvm_ffi

import kernpack as kp

LENGTH = 16
FURTHER = 100


def chain(call, length):
    """A program of that many calls, each of what the one before returned."""

    def program(x):
        for _ in range(length):
            x = call(x)
        return x

    return jax.jit(program)


def main(n_rounds=151, n_calls=300):
    built = kp.host(
        "void add_one(const float *x, float *y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }",
        "add_one(x: Tensor([n], float32), y: Tensor([n], float32, mut))",
        args=["x", "y", "n"],
    )
    ours = kp.jax.call(built)
    name = "kernpack.bench.add_one"
    jax_tvm_ffi.register_ffi_target(
        name, tvm_ffi.load_module(built.package.path).add_one, platform="cpu"
    )
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
    call = {side: medians[side, 1] / 1000 for side in sides}
    further = {side: (medians[side, 1 + FURTHER] - medians[side, 1]) / FURTHER for side in sides}
    print(
        json.dumps(
            [
                {
                    "name": "jitted call of JAX, beside jax_tvm_ffi's",
                    "unit": "us",
                    **call,
                    "ratio": 1.03,
                },
                {
                    "name": "each further call in one program of JAX, more than jax_tvm_ffi's",
                    "unit": "ns",
                    "ours": further["ours"] - further["reference"],
                    # What is compared is a difference: the control says how far two of the same are
                    # apart.
                    "reference": 1000,
                    "control": 1000 + further["control"] - further["reference"],
                    "most": 50,
                },
            ]
        )
    )


def sample(program, x, n_calls):
    start = time.perf_counter_ns()
    for _ in range(n_calls):
        y = program(x)
    y.block_until_ready()
    return (time.perf_counter_ns() - start) / n_calls


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
