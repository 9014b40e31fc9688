# SPDX-License-Identifier: Apache-2.0
"""Times operators of PyTorch: those that `kernpack.torch.op` makes, the same by hand with the same
checks, and `custom_op`.

    torch_ops.py [ROUNDS [CALLS]]

Prints medians of interleaved rounds, in nanoseconds a call, and their ratios, as JSON; fails where
ours are slower than they may be. `control` is what is written by hand against itself. `smooth` has
a backward, of which nothing is asked in `smooth` and a graph recorded in `smooth with grad`;
`custom_op` never checks gradients.
"""

import gc
import itertools
import json
import statistics
import sys
import time

import torch
from torch.autograd import forward_ad

import kernpack as kp
import kernpack.torch

SOURCE = """
#include <stdint.h>

void scale(const float *x, float *y, int64_t n, float alpha) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * alpha;
}

void gather(const int64_t *index, const int64_t *x, int64_t *y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[index[i]];
}
"""
MOST = {"by_hand": 1.05, "by_custom_op": 1.0}
WORDS = {"by_hand": "the same by hand", "by_custom_op": "that of custom_op"}
TENSOR = "Tensor([n], float32)"
SIGNATURES = {
    "scale": f"scale(x: {TENSOR}, y: Tensor([n], float32, mut), alpha: float32 = 2.0)",
    "scaled": f"scaled(x: {TENSOR}, alpha: float32 = 2.0) -> y: {TENSOR}",
    "gather": "gather(index: Tensor([n], int64), x: Tensor([m], int64)) -> y: Tensor([n], int64)",
}

is_grad_enabled = torch.is_grad_enabled
increment_version = torch._C._increment_version


def refuse(*tensors):
    raise RuntimeError("no gradient")


def setup_context(ctx, inputs, output):
    ctx.alpha = inputs[1]


def backward(ctx, gradient):
    return gradient * ctx.alpha, None


def by_hand(functions):
    """The operators as one would write them, by define and impl."""
    library = torch.library.Library("by_hand", "FRAGMENT")

    def scale(x, y, alpha=2.0):
        if (
            (x.requires_grad or y.requires_grad) and is_grad_enabled()
        ) or forward_ad._current_level >= 0:
            refuse(x, y)
        function(x, y, alpha)
        increment_version([y])

    def scaled(x, alpha=2.0):
        if (x.requires_grad and is_grad_enabled()) or forward_ad._current_level >= 0:
            refuse(x)
        return scaled_function(x, alpha)

    function, scaled_function = functions["scale"], functions["scaled"]
    library.define("scale(Tensor x, Tensor(a!) y, float alpha=2.0) -> ()")
    library.define("scaled(Tensor x, float alpha=2.0) -> Tensor")
    library.define("gather(Tensor index, Tensor x) -> Tensor")
    library.define("smooth(Tensor x, float alpha=2.0) -> Tensor")
    kernels = {
        "scale": scale,
        "scaled": scaled,
        "gather": functions["gather"],
        "smooth": scaled_function,
    }
    for name, kernel in kernels.items():
        library.impl(name, kernel, "CPU")
    torch.library.register_autograd(
        "by_hand::smooth", backward, setup_context=setup_context, lib=library
    )
    return library


def by_custom_op(functions):
    """The operators as `torch.library.custom_op` makes them."""
    function, scaled_function, gather_function = (
        functions[name] for name in ("scale", "scaled", "gather")
    )

    @torch.library.custom_op("by_custom_op::scale", mutates_args=("y",))
    def scale(x: torch.Tensor, y: torch.Tensor, alpha: float = 2.0) -> None:
        function(x, y, alpha)

    @torch.library.custom_op("by_custom_op::scaled", mutates_args=())
    def scaled(x: torch.Tensor, alpha: float = 2.0) -> torch.Tensor:
        return scaled_function(x, alpha)

    @torch.library.custom_op("by_custom_op::gather", mutates_args=())
    def gather(index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return gather_function(index, x)

    @torch.library.custom_op("by_custom_op::smooth", mutates_args=())
    def smooth(x: torch.Tensor, alpha: float = 2.0) -> torch.Tensor:
        return scaled_function(x, alpha)

    smooth.register_autograd(backward, setup_context=setup_context)
    return scale, scaled, gather, smooth


def timed(call, args, n_calls):
    """The seconds that so many calls take."""
    calls = itertools.repeat(None, n_calls)
    start = time.perf_counter()
    for _ in calls:
        call(*args)
    return time.perf_counter() - start


def built():
    """The functions, by name."""
    functions = {}
    for name, signature in SIGNATURES.items():
        is_gather = name == "gather"
        args = ["index", "x", "y", "n"] if is_gather else ["x", "y", "n", "alpha"]
        functions[name] = kp.host(
            SOURCE, signature, kernel="gather" if is_gather else "scale", args=args
        )
    return functions


def main(n_rounds=31, n_calls=5000):
    functions = built()
    for name, function in functions.items():
        kp.torch.op(f"by_kernpack::{name}", function)
    kp.torch.op(
        "by_kernpack::smooth", functions["scaled"], backward=backward, setup_context=setup_context
    )
    held = by_hand(functions), by_custom_op(functions)
    x, index = torch.zeros(64), torch.zeros(4, dtype=torch.int64)
    arguments = {
        "scale": (x, torch.zeros(64), 3.0),
        "scaled": (x, 3.0),
        "gather": (index, index),
        "smooth": (x, 3.0),
        "smooth with grad": (torch.zeros(64, requires_grad=True), 3.0),
    }
    ways = ["by_kernpack", "by_hand", "by_custom_op", "control"]
    gc.disable()
    report = []
    for name, args in arguments.items():
        name_of_op = name.split()[0]
        calls = {way: getattr(getattr(torch.ops, way), name_of_op).default for way in ways[:3]}
        calls["control"] = calls["by_hand"]
        # Each way comes first as often as the others.
        orders = [ways[at % len(ways) :] + ways[: at % len(ways)] for at in range(n_rounds + 2)]
        rounds = [{way: timed(calls[way], args, n_calls) for way in order} for order in orders][2:]
        medians = {way: statistics.median(it[way] for it in rounds) / n_calls * 1e6 for way in ways}
        for other, most in MOST.items():
            report.append(
                {
                    "name": f"operator of PyTorch, {name}, beside {WORDS[other]}",
                    "unit": "us",
                    "ours": medians["by_kernpack"],
                    "reference": medians[other],
                    "control": medians["control"] / medians["by_hand"] * medians[other],
                    "ratio": most,
                }
            )
    del held
    print(json.dumps(report))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
