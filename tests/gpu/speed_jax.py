# SPDX-License-Identifier: Apache-2.0
"""What calls cost in programs of JAX on a GPU, kernpack's beside those of jax_tvm_ffi, of the same
function, as a table in Markdown.

    speed_jax.py FOLDER

FOLDER is a bundle. Sides take turns; medians; the control is the reference once more. Exits with 1
where the target is missed by more than 3 %, and with 0 where JAX has no GPU.
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import kernpack as kp
import kernpack.jax
import tvm_ffi
from speed import TOLERANCE, Table, interleave

LENGTH = 1000
N_CALLS = 100
LENGTHS = (1, 10)  # how many calls a program makes
FURTHER_RATIO = (
    0.70  # what calls behind the first may take of jax_tvm_ffi's, whatever JAX takes for a program
)


def chain(call, length):
    """A program of calls, each of what the one before returned."""

    def program(x):
        for _ in range(length):
            x = call(x)
        return x

    return jax.jit(program)


def timed(program, x):
    """A function that says how many microseconds a call of a program takes, until the device has
    done all of them.
    """

    def sample():
        start = time.perf_counter_ns()
        for _ in range(N_CALLS):
            y = program(x)
        y.block_until_ready()
        return (time.perf_counter_ns() - start) / N_CALLS / 1000

    return sample


def sides(path):
    """The calls: kernpack's, and jax_tvm_ffi's where that is there."""
    calls = {
        "kernpack": kp.jax.call(kp.load_module(path).add_one),
        # Kernels of XLA's own, as many as calls: nothing may be one kernel with what is beyond the
        # barrier.
        "x + 1": lambda x: jax.lax.optimization_barrier(x + 1),
    }
    try:
        import jax_tvm_ffi
    except ImportError as error:
        print(f"\nspeed_jax: there is no jax_tvm_ffi here: {error}", file=sys.stderr)
        return calls
    jax_tvm_ffi.register_ffi_target(
        "kernpack.bench.add_one", tvm_ffi.load_module(str(path)).add_one, platform="gpu"
    )
    result = jax.ShapeDtypeStruct((LENGTH,), jnp.float32)
    return calls | {"jax_tvm_ffi": jax.ffi.ffi_call("kernpack.bench.add_one", result)}


def measure(calls, x, length):
    """The microseconds of a program of so many calls, of each side."""
    programs = {name: chain(call, length) for name, call in calls.items()}
    for name, program in programs.items():
        if not bool((program(x) == x + length).all()):
            sys.exit(f"speed_jax: {length} calls of {name} do not add {length}")
    return interleave({name: timed(program, x) for name, program in programs.items()}, 51)


def cells(took):
    """A row's figures, but for the target."""
    peer = took.get("jax_tvm_ffi")
    ours = [
        f"{took['kernpack']:.1f} us",
        "" if peer is None else f"{peer:.1f} us",
        f"{took['x + 1']:.1f} us",
    ]
    return [*ours, "" if peer is None else f"{took['kernpack'] / peer:.3f}"]


def main(folder):
    if jax.default_backend() != "gpu":
        print("speed_jax: JAX has no GPU here")
        return
    x = jnp.arange(LENGTH, dtype=jnp.float32)
    calls = sides(folder / "xla_calls.so")
    if "jax_tvm_ffi" in calls:
        calls["control"] = calls["jax_tvm_ffi"]
    table = Table(
        f"Calls of `add_one` in one jitted program, n = {LENGTH}, until the device is done, JAX {jax.__version__}.",
        ["calls", "kernpack", "jax_tvm_ffi", "`x + 1`", "kernpack / jax_tvm_ffi", "target"],
    )
    measured = {length: measure(calls, x, length) for length in LENGTHS}
    for length, took in measured.items():
        table.row(f"{length}", [*cells(took), ""], True)
    one, ten = (measured[length] for length in LENGTHS)
    more = {name: ten[name] - one[name] for name in calls}
    is_met = "jax_tvm_ffi" not in calls or more["kernpack"] <= FURTHER_RATIO * more[
        "jax_tvm_ffi"
    ] * (1 + TOLERANCE)
    table.row("ten more than one", [*cells(more), f"{FURTHER_RATIO:.2f}"], is_met)
    if "control" in calls:
        print(
            f"control, of jax_tvm_ffi: {one['control'] / one['jax_tvm_ffi']:.3f}, {ten['control'] / ten['jax_tvm_ffi']:.3f}"
        )
    if Table.missed:
        sys.exit(f"\nspeed_jax: missed: {'; '.join(Table.missed)} calls in one program")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
