# SPDX-License-Identifier: Apache-2.0
"""What tuning brings on a GPU, as tables in Markdown: kernels of examples/kernels/tuned.py beside the
same by their rules, how long each took to tune, and how far the winner is from the best of all configs
by exhaustive search; and what a call of a tuned function costs the host.

    speed_tuned.py FOLDER

FOLDER is a bundle, in which the examples are. Caches are cold, as they are while tuning. `judge` says
when a target is missed.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])
os.environ["KERNPACK_CACHE_DIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(FOLDER / "examples/kernels"))

import gemm
import kernpack as kp
import torch
import tuned
from judge import Figure, Round, Table, interleave
from speed_matrix import OTHERS, SQUARES

# What tuning has to bring, on average; what the winner has of the best; and seconds for a shape.
MEAN, OF_BEST, SECONDS = 1.03, 0.98, 30
# What a call may cost: so much of the raw function, and nanoseconds.
CALL, NANOSECONDS = 1.06, 30


def arguments(m, n, k):
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    return a, b, torch.empty(m, n, device="cuda", dtype=torch.bfloat16)


def by_exhaustive_search(function, tuning, args):
    """How fast the winner is beside the fastest of all, measured side by side."""
    ran = [each.config for each in tuning.contenders if each.ratio is not None]
    functions = {config.text: function.with_config(config) for config in ran}
    # Of all, the few that may be the fastest are measured once more.
    first = kp.compare({**functions, "": function.with_config(tuning.config)}, args, seconds=0.3)
    best = sorted(functions, key=lambda name: -first.rows[0].speeds[name].median)[:4]
    chosen = {name: functions[name] for name in best}
    speeds = kp.compare({**chosen, "": functions[tuning.config.text]}, args).rows[0].speeds
    return 1 / max(figure.median for figure in speeds.values())


def shapes():
    table = Table(
        "`gemm` in bfloat16, tuned, beside the same by its rules; caches are cold.",
        ["m, n, k", "tuned", "beside the rules", "control", "of the best", "tuning", "config"],
    )
    gains = []
    for shape in SQUARES + OTHERS:
        args = arguments(*shape)
        begin = time.monotonic()
        tuning = tuned.gemm.tune(*args)
        took = time.monotonic() - begin
        winner = tuned.gemm.with_config(tuning.config)

        def measure():
            compared = kp.compare({"tuned": winner, "rules": gemm.gemm}, args)
            row = compared.rows[0]
            of_best = by_exhaustive_search(tuned.gemm, tuning, args)
            gain, control = row.speeds["tuned"].median, row.control.median
            gains.append(gain)
            cells = [f"{row.times['tuned'].median * 1e6:.1f} us", f"{gain:.3f}", f"{control:.3f}"]
            cells += [f"{of_best:.3f}", f"{took:.1f} s", str(tuning.config) or "the rules"]
            figures = (
                Figure("of the best", of_best, at_least=OF_BEST),
                Figure("seconds", took, at_most=SECONDS),
            )
            return Round(cells, figures, (control,))

        table.row(", ".join(map(str, shape)), measure)
    table.row(
        "geometric mean",
        lambda: Round(
            ["", f"{statistics.geometric_mean(gains):.3f}", "", "", "", ""],
            (Figure("beside the rules", statistics.geometric_mean(gains), at_least=MEAN),),
        ),
    )


def rows():
    table = Table(
        "Other kernels, tuned, beside the same by their rules; caches are cold.",
        ["kernel", "tuned", "beside the rules", "control", "tuning", "config"],
    )
    new = lambda *shape: torch.randn(shape, device="cuda").bfloat16()
    calls = []
    for d in (1024, 2048, 4096, 8192, 16384):
        x, w, b, out = new(8192, d), new(d), new(d), new(8192, d)
        sums = [torch.empty(8192, device="cuda") for _ in range(2)]
        calls += [
            (f"rms_norm, d = {d}", tuned.rms_norm, (x, w, out, 1e-6)),
            (f"layer_norm, d = {d}", tuned.layer_norm, (x, w, b, out, *sums, 1e-5)),
            (f"softmax, n = {d}", tuned.softmax, (x, out)),
        ]
    for d in (64, 128):
        q, k, v, out = (new(4, 16, 4096, d) for _ in range(4))
        calls.append(
            (f"attention, d = {d}", tuned.attention, (q, k, v, out, None, d**-0.5, -1, -1))
        )
    for name, function, args in calls:
        begin = time.monotonic()
        tuning = function.tune(*args)
        took = time.monotonic() - begin
        winner = function.with_config(tuning.config)

        def measure():
            rules = function.with_config(function.configs[0])
            row = kp.compare({"tuned": winner, "rules": rules}, args).rows[0]
            gain, control = row.speeds["tuned"].median, row.control.median
            cells = [f"{row.times['tuned'].median * 1e6:.1f} us", f"{gain:.3f}", f"{control:.3f}"]
            return Round(
                [*cells, f"{took:.1f} s", str(tuning.config) or "the rules"], (), (control,)
            )

        table.row(name, measure)


BLOCK = 256


@kp.kernel
def scale_elements(x, y):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = 2 * x[i]


@kp.autotune(kp.Config.grid(BLOCK=(256, 128)), key=["n"])
@kp.jit("scale(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def scale(x, y):
    scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


def sampler(function, args):
    def sample(n=200):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(n):
            function(*args)
        return (time.perf_counter() - begin) / n

    return sample


def calls():
    """`gemm` looks at 18 names that it captures in each call, whether it is tuned or not."""
    table = Table(
        "What a call costs the host, beside the raw function of TVM-FFI.",
        ["function", "raw", "not tuned", "tuned", "control", "tuned beside raw"],
    )
    vectors = torch.ones(1000, device="cuda"), torch.ones(1000, device="cuda")
    cases = {
        "scale": (scale, vectors, CALL),
        "gemm": (tuned.gemm, arguments(512, 512, 512), None),
    }
    for name, (function, args, at_most) in cases.items():
        function(*args)
        plain = function.with_config(function.tune(*args).config)
        raw = plain.warmup(*args).function.raw
        plain(*args)

        def measure():
            sides = {"raw": raw, "plain": plain, "tuned": function, "control": raw}
            samples = {name: sampler(side, args) for name, side in sides.items()}
            seconds = interleave(samples, 101)
            control = seconds["control"] / seconds["raw"]
            ratio = (seconds["tuned"] - NANOSECONDS * 1e-9) / seconds["raw"]
            cells = [f"{seconds[name] * 1e9:.0f} ns" for name in ("raw", "plain", "tuned")]
            cells += [f"{control:.3f}", f"{seconds['tuned'] / seconds['raw']:.3f}"]
            figures = (Figure("call", ratio, at_most=at_most),) if at_most is not None else ()
            return Round(cells, figures, (control,))

        table.row(name, measure)


shapes()
rows()
calls()
Table.end()
