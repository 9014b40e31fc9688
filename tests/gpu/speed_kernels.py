# SPDX-License-Identifier: Apache-2.0
"""What the kernels of examples/kernels reach on a GPU, as tables in Markdown.

    speed_kernels.py FOLDER

FOLDER is a bundle. Each figure stands next to what it is held against, measured in the same run,
interleaved; medians; the control is the reference against itself. `judge` says when a target is
missed.
"""

import functools
import sys
from pathlib import Path

import torch
import tvm_ffi
from judge import Figure, Round, Table, interleave
from speed import beside, on_the_gpu

ROUNDS = 31
# How often the 4 GiB are read for a rate.
READS = 11
COLUMNS = ["shape", "kernpack", "reference", "ratio", "target", "control", "of the best known"]
# What a read of 4 GiB by `torch.sum` reached where the best known rates were measured, in GB/s.
BEST_READ = 4390
# Shape, and the best known rate of a sum of its rows there, in GB/s.
SUMS = [
    ((4096, 4096), 3613),
    ((16384, 16384), 4531),
    ((65536, 1024), 3400),
    ((1024, 262144), 4380),
    ((32768, 4096), 4300),
]
BEST_RATIO = 0.98


def load(folder, name):
    return tvm_ffi.load_module(str(folder / f"kernels_{name}.so"))


def compare(table, shape, ours, reference, n_bytes, target, best=None):
    """A row: the rate of ours, and of what it is held against, for so many bytes. `best` is the best
    known rate, scaled by what a sum of 4 GiB reads right behind: in between it would take the caches."""
    reference = on_the_gpu(reference, 3)
    sides = {"ours": on_the_gpu(ours, 3), "reference": reference, "control": reference}

    def measure():
        seconds = interleave(sides, ROUNDS)
        rate = {name: n_bytes / seconds[name] / 1e9 for name in ("ours", "reference", "control")}
        ratio, control = rate["ours"] / rate["reference"], rate["control"] / rate["reference"]
        cells = [f"{rate['ours']:.0f} GB/s", f"{rate['reference']:.0f} GB/s", f"{ratio:.3f}"]
        cells += [f"{target:.2f}", f"{control:.3f}"]
        figures = [Figure("ratio", ratio, at_least=target)]
        if not best:
            return Round([*cells, ""], tuple(figures), (control,))
        read = on_the_gpu(lambda: torch.sum(full()), 1)
        seconds = interleave({"read": read, "again": read}, READS)
        best_rate = best * full().nbytes / seconds["read"] / 1e9 / BEST_READ
        of_best = rate["ours"] / best_rate
        figures.append(Figure("of the best known", of_best, at_least=BEST_RATIO))
        controls = (control, seconds["again"] / seconds["read"])
        return Round([*cells, f"{of_best:.3f}"], tuple(figures), controls)

    table.row(" x ".join(map(str, shape)), measure)


@functools.cache
def full():
    """A tensor of 4 GiB."""
    return torch.ones(1 << 30, device="cuda")


def sums(folder):
    reduce_sum = load(folder, "reduce_sum").reduce_sum_vectors
    table = Table("`reduce_sum_vectors`, float32, against `torch.sum(dim=-1, out=)`.", COLUMNS)
    for shape, best in SUMS:
        x, out = torch.randn(shape, device="cuda"), torch.empty(shape[0], device="cuda")
        compare(
            table,
            shape,
            lambda: reduce_sum(x, out),
            lambda: torch.sum(x, -1, out=out),
            x.nbytes,
            1.0,
            best,
        )


def softmaxes(folder):
    softmax = load(folder, "softmax").softmax
    table = Table("`softmax`, float32, against `torch.softmax(out=)`.", COLUMNS)
    for shape, target in [
        ((4096, 4096), 1.0),
        ((65536, 1024), 1.0),
        ((32768, 4096), 1.0),
        ((16384, 16384), 0.95),
    ]:
        x = torch.randn(shape, device="cuda")
        out = torch.empty_like(x)
        compare(
            table,
            shape,
            lambda: softmax(x, out),
            lambda: torch.softmax(x, -1, out=out),
            2 * x.nbytes,
            target,
        )


def copies(folder):
    title = "Against a device-to-device copy of as many bytes."
    table = Table(title, COLUMNS)

    def row(name, shape, ours, x, out, target):
        n_bytes = x.nbytes + out.nbytes
        flat = out.view(-1).view(x.dtype)
        compare(table, (name, *shape), ours, lambda: flat.copy_(x.view(-1)), n_bytes, target)

    n = 1 << 28
    x, out = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
    add_one, element = load(folder, "add_one").add_one, load(folder, "elementwise")
    row("add_one", (n,), lambda: add_one(x, out), x, out, 0.97)
    row("poly", (n,), lambda: element.poly(x, out), x, out, 0.97)
    square = x.view(16384, 16384)
    transposed = out.view(16384, 16384)
    transpose = load(folder, "transpose").transpose
    row("transpose", square.shape, lambda: transpose(square, transposed), square, transposed, 0.85)
    rms = load(folder, "rms_norm").rms_norm
    for d, dtype in [
        (1024, torch.bfloat16),
        (4096, torch.float16),
        (4096, torch.bfloat16),
        (8192, torch.bfloat16),
        (16384, torch.bfloat16),
    ]:
        rows = torch.randn((1 << 29) // d, d, device="cuda").to(dtype)
        w, normed = torch.randn(d, device="cuda").to(dtype), torch.empty_like(rows)
        name = f"rms_norm {str(dtype)[6:]}"
        row(name, rows.shape, lambda: rms(rows, w, normed, 1e-6), rows, normed, 0.95)


def products(folder):
    matmul = load(folder, "matmul").matmul
    torch.backends.cuda.matmul.allow_tf32 = False
    table = Table(
        "`matmul`, float32, against `torch.matmul` without TF32.",
        ["m, n, k", "kernpack", "torch.matmul", "ratio", "control", "target"],
    )
    n, target = 4096, 0.6
    a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
    c = torch.empty_like(a)
    reference = on_the_gpu(lambda: torch.matmul(a, b, out=c), 3)
    ours = on_the_gpu(lambda: matmul(a, b, c), 3)
    sides = {"ours": ours, "torch": reference, "control": reference}
    rate = lambda seconds: f"{2 * n**3 / seconds / 1e12:.1f} TFLOPS"
    table.row(f"{n}, {n}, {n}", lambda: beside(sides, "torch", rate, target))


def main(folder):
    sums(folder)
    softmaxes(folder)
    copies(folder)
    products(folder)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
