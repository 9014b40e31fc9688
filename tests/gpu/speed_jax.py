# SPDX-License-Identifier: Apache-2.0
"""What calls cost in programs of JAX on a GPU: kernpack's beside those of jax_tvm_ffi, of the same
function, and beside as many kernels of XLA's own, as a table in Markdown.

    speed_jax.py FOLDER

FOLDER is a bundle. Sides take turns; medians; the control is XLA's own once more. `judge` says when
a target is missed. Exits with 0 where JAX has no GPU.
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
from judge import Figure, Round, Table, interleave

LENGTH = 1000
N_CALLS = 100
N_ROUNDS = 51
LENGTHS = (1, 10)  # how many calls a program makes
OWN_RATIO = 1.05  # what a program may take of one with as many kernels of XLA's own
PEER_RATIO = 0.70  # what ten calls more than one may take of jax_tvm_ffi's
OWN, PEER = "XLA's own", "jax_tvm_ffi"


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
        # A barrier keeps its kernels apart, which XLA would make one.
        OWN: lambda x: jax.lax.optimization_barrier(x + 1),
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


def samples(calls, x, length):
    """What says how many microseconds a program of so many calls takes, of each side."""
    programs = {name: chain(call, length) for name, call in calls.items()}
    for name, program in programs.items():
        if not bool((program(x) == x + length).all()):
            sys.exit(f"speed_jax: {length} calls of {name} do not add {length}")
    return {name: timed(program, x) for name, program in programs.items()}


def beside(took):
    """What jax_tvm_ffi took, and ours by it."""
    peer = took.get(PEER)
    return ["", ""] if peer is None else [f"{peer:.1f} us", f"{took['kernpack'] / peer:.3f}"]


def main(folder):
    if jax.default_backend() != "gpu":
        print("speed_jax: JAX has no GPU here")
        return
    x = jnp.arange(LENGTH, dtype=jnp.float32)
    calls = sides(folder / "xla_calls.so")
    calls["control"] = calls[OWN]
    table = Table(
        f"Calls of `add_one` in one jitted program, n = {LENGTH}, until the device is done, "
        f"JAX {jax.__version__}; XLA's own are as many kernels that it wrote itself.",
        ["calls", "kernpack", OWN, "ratio", "target", "control", PEER, "ratio", "target"],
    )
    programs = {length: samples(calls, x, length) for length in LENGTHS}
    for length in LENGTHS:
        table.row(f"{length}", lambda: one_program(programs[length]))
    table.row("ten more than one", lambda: ten_more(programs))
    Table.end()


def one_program(sides):
    """Measures a program of ours beside XLA's own."""
    took = interleave(sides, N_ROUNDS)
    ours, own = took["kernpack"], took[OWN]
    control = took["control"] / own
    cells = [f"{ours:.1f} us", f"{own:.1f} us", f"{ours / own:.3f}", f"{OWN_RATIO}"]
    cells += [f"{control:.3f}", *beside(took), ""]
    return Round(cells, (Figure("ratio", ours / own, at_most=OWN_RATIO),), (control,))


def ten_more(programs):
    """Measures what ten calls take more than one, beside jax_tvm_ffi. A host drifts by more than
    that, so that a difference is of two programs that run one after the other.
    """
    one, ten = (programs[length] for length in LENGTHS)
    more = interleave({name: lambda name=name: ten[name]() - one[name]() for name in one}, N_ROUNDS)
    cells = [f"{more['kernpack']:.1f} us", f"{more[OWN]:.1f} us", "", ""]
    control = more["control"] / more[OWN]
    cells += [f"{control:.3f}", *beside(more), f"{PEER_RATIO:.2f}"]
    if PEER not in more:
        return Round(cells)
    figure = Figure("of jax_tvm_ffi's", more["kernpack"] / more[PEER], at_most=PEER_RATIO)
    return Round(cells, (figure,), (control,))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
