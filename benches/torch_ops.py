# SPDX-License-Identifier: Apache-2.0
"""Times operators of PyTorch: those that `kernpack.torch.op` makes, the same by hand with the same checks, and `custom_op`.

    torch_ops.py PACKAGE [ROUNDS [CALLS]]

PACKAGE is a shared object with `scale(x, y mut, alpha = 2.0)`, `scaled(x, alpha = 2.0) -> y` and `gather(index, x) -> y`, which
`python-tests/test_torch_op.py` has. Prints medians of interleaved rounds, in nanoseconds a call, and their ratios, as JSON.
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

is_grad_enabled = torch.is_grad_enabled
increment_version = torch._C._increment_version


def refuse(*tensors):
    raise RuntimeError("no gradient")


def by_hand(module):
    """The operators as one would write them, by define and impl."""
    library = torch.library.Library("by_hand", "FRAGMENT")

    def scale(x, y, alpha=2.0):
        if ((x.requires_grad or y.requires_grad) and is_grad_enabled()) or forward_ad._current_level >= 0:
            refuse(x, y)
        function(x, y, alpha)
        increment_version([y])

    def scaled(x, alpha=2.0):
        if (x.requires_grad and is_grad_enabled()) or forward_ad._current_level >= 0:
            refuse(x)
        return scaled_function(x, alpha)

    function, scaled_function = module.scale, module.scaled
    library.define("scale(Tensor x, Tensor(a!) y, float alpha=2.0) -> ()")
    library.define("scaled(Tensor x, float alpha=2.0) -> Tensor")
    library.define("gather(Tensor index, Tensor x) -> Tensor")
    for name, kernel in (("scale", scale), ("scaled", scaled), ("gather", module.gather)):
        library.impl(name, kernel, "CPU")
    return library


def by_custom_op(module):
    """The operators as `torch.library.custom_op` makes them, with no check of gradients."""
    function, scaled_function, gather_function = module.scale, module.scaled, module.gather

    @torch.library.custom_op("by_custom_op::scale", mutates_args=("y",))
    def scale(x: torch.Tensor, y: torch.Tensor, alpha: float = 2.0) -> None:
        function(x, y, alpha)

    @torch.library.custom_op("by_custom_op::scaled", mutates_args=())
    def scaled(x: torch.Tensor, alpha: float = 2.0) -> torch.Tensor:
        return scaled_function(x, alpha)

    @torch.library.custom_op("by_custom_op::gather", mutates_args=())
    def gather(index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return gather_function(index, x)

    return scale, scaled, gather


def timed(call, args, n_calls):
    """The seconds that so many calls take."""
    calls = itertools.repeat(None, n_calls)
    start = time.perf_counter()
    for _ in calls:
        call(*args)
    return time.perf_counter() - start


def main(package, n_rounds=31, n_calls=5000):
    module = kp.load_module(package)
    for name in ("scale", "scaled", "gather"):
        kp.torch.op(f"by_kernpack::{name}", module[name])
    held = by_hand(module), by_custom_op(module)
    x, index = torch.zeros(64), torch.zeros(4, dtype=torch.int64)
    arguments = {"scale": (x, torch.zeros(64), 3.0), "scaled": (x, 3.0), "gather": (index, index)}
    ways = ["by_kernpack", "by_hand", "by_custom_op", "raw"]
    gc.disable()
    report = {}
    for name, args in arguments.items():
        calls = {way: getattr(getattr(torch.ops, way), name).default for way in ways[:-1]}
        calls["raw"] = module[name]
        rounds = [{way: timed(calls[way], args, n_calls) for way in ways} for _ in range(n_rounds + 2)][2:]
        figures = {way: statistics.median(it[way] for it in rounds) / n_calls * 1e9 for way in ways}
        for other in ways[1:]:
            ratio = statistics.median(it["by_kernpack"] / it[other] for it in rounds)
            figures[f"of {other}"] = round(ratio, 3)
        report[name] = {key: round(figure, 3) for key, figure in figures.items()}
    del held
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
