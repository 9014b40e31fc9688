# SPDX-License-Identifier: Apache-2.0
"""What calls cost in programs of JAX on a GPU, kernpack's beside those of jax_tvm_ffi, of the same function, as a table in Markdown.

    speed_jax.py FOLDER

FOLDER is a bundle. Sides take turns; medians; the control is the reference once more. Exits with 1 where the target is missed by more than 3 %,
and with 0 where JAX has no GPU.
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
LENGTHS = {1: None, 10: 0.70}  # how many calls a program makes, and what they may take of jax_tvm_ffi's


def chain(call, length):
    """A program of calls, each of what the one before returned."""

    def program(x):
        for _ in range(length):
            x = call(x)
        return x

    return jax.jit(program)


def timed(program, x):
    """A function that says how many microseconds a call of a program takes, until the device has done all of them."""

    def sample():
        start = time.perf_counter_ns()
        for _ in range(N_CALLS):
            y = program(x)
        y.block_until_ready()
        return (time.perf_counter_ns() - start) / N_CALLS / 1000

    return sample


def sides(path):
    """The calls: kernpack's, and jax_tvm_ffi's where that is there."""
    calls = {"kernpack": kp.jax.call(kp.load_module(path).add_one), "x + 1": lambda x: x + 1}
    try:
        import jax_tvm_ffi
    except ImportError as error:
        print(f"\nspeed_jax: there is no jax_tvm_ffi here: {error}", file=sys.stderr)
        return calls
    jax_tvm_ffi.register_ffi_target("kernpack.bench.add_one", tvm_ffi.load_module(str(path)).add_one, platform="gpu")
    return calls | {"jax_tvm_ffi": jax.ffi.ffi_call("kernpack.bench.add_one", jax.ShapeDtypeStruct((LENGTH,), jnp.float32))}


def main(folder):
    if jax.default_backend() != "gpu":
        print("speed_jax: JAX has no GPU here")
        return
    x = jnp.arange(LENGTH, dtype=jnp.float32)
    calls = sides(folder / "xla_calls.so")
    if "jax_tvm_ffi" in calls:
        calls["again"] = calls["jax_tvm_ffi"]
    table = Table(
        f"Calls of `add_one` in one jitted program, n = {LENGTH}, until the device is done, JAX {jax.__version__}.",
        ["calls", "kernpack", "jax_tvm_ffi", "`x + 1`", "kernpack / jax_tvm_ffi", "target", "control"],
    )
    for length, target in LENGTHS.items():
        programs = {name: chain(call, length) for name, call in calls.items()}
        for name, program in programs.items():
            if not bool((program(x) == x + length).all()):
                sys.exit(f"speed_jax: {length} calls of {name} do not add {length}")
        took = interleave({name: timed(program, x) for name, program in programs.items()}, 51)
        peer = took.get("jax_tvm_ffi")
        ratio = None if peer is None else took["kernpack"] / peer
        show = lambda value, text: "" if value is None else text.format(value)
        cells = [f"{took['kernpack']:.1f} us", show(peer, "{:.1f} us"), f"{took['x + 1']:.1f} us", show(ratio, "{:.3f}"), show(target, "{:.2f}")]
        is_met = target is None or ratio is not None and ratio <= target * (1 + TOLERANCE)
        table.row(f"{length}", [*cells, show(None if peer is None else took["again"] / peer, "{:.3f}")], is_met)
    if Table.missed:
        sys.exit(f"\nspeed_jax: missed: {'; '.join(Table.missed)} calls in one program")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
