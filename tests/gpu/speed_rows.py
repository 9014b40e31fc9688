# SPDX-License-Identifier: Apache-2.0
"""What the kernels of rows in examples/kernels reach on a GPU, as tables in Markdown.

    speed_rows.py FOLDER [WORD...]

FOLDER is a bundle, or has the packages `kernels_*.so` alone; words choose tables. Each figure stands
next to a device-to-device copy that moves as many bytes, and next to what PyTorch does, eager and
compiled, and kernels written with Triton, measured in the same run, interleaved; medians; the control
is the copy against itself. `judge` says when a target is missed. Compiling by PyTorch takes minutes:
it is left out where KERNPACK_WITHOUT_COMPILE is set.
"""

import os
import statistics
import sys
from pathlib import Path
from typing import Callable, NamedTuple

import torch
import triton_rows
import tvm_ffi
from judge import Figure, Round, Table, interleave
from speed import on_the_gpu
from torch.nn import functional

ROUNDS = 31
COLUMNS = ["rows", "kernpack", "a copy", "ratio", "target", "control"]
COLUMNS += ["torch", "torch.compile", "Triton", "beside the best of these"]
# So many elements has a matrix, of whatever width.
ELEMENTS = 1 << 28
WIDE = [1 << 16, 1 << 17, 1 << 18]
# What the geometric mean of wide rows has to reach, and each of them.
WIDE_MEAN, WIDE_LEAST = 0.95, 0.92


def load(folder, name):
    return tvm_ffi.load_module(str(folder / f"kernels_{name}.so"))


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(shape, device="cuda", dtype=dtype)


def rows_of(width, dtype=torch.bfloat16):
    return normal(ELEMENTS // width, width, dtype=dtype)


class Torch(NamedTuple):
    """A call of PyTorch, and what makes the same of compiled functions."""

    eager: Callable
    compiled: Callable


def by_torch(call):
    """A call of PyTorch and the same compiled, for its shape alone."""
    return Torch(call, lambda: torch.compile(call, dynamic=False))


def gradient(function, parameters, dy):
    """A call of PyTorch's gradient of a function."""
    parameters = [tensor.detach().requires_grad_() for tensor in parameters]

    def call(function):
        out = function(*parameters)
        given = dy.to(out.dtype)
        return lambda: torch.autograd.grad(out, parameters, given, retain_graph=True)

    return Torch(call(function), lambda: call(torch.compile(function, dynamic=False)))


def compare(table, ratios, shape, ours, theirs, by_triton, n_bytes, target):
    """A row: the rate of ours for so many bytes, read and written, of a copy, and of the others. What
    the last round gives for the shape is in `ratios`."""
    source = torch.empty(n_bytes // 2, dtype=torch.uint8, device="cuda")
    target_of_copy = torch.empty_like(source)
    copy = on_the_gpu(lambda: target_of_copy.copy_(source), 3)
    sides = {"ours": on_the_gpu(ours, 3), "copy": copy, "control": copy}
    others = {"torch": theirs.eager, "Triton": by_triton}
    if "KERNPACK_WITHOUT_COMPILE" not in os.environ:
        torch._dynamo.reset()
        others["torch.compile"] = theirs.compiled()
    others = {name: on_the_gpu(other, 3) for name, other in others.items()}

    def measure():
        seconds = interleave(sides | others, ROUNDS)
        rate = {name: n_bytes / taken / 1e9 for name, taken in seconds.items()}
        ratio, control = rate["ours"] / rate["copy"], rate["control"] / rate["copy"]
        ratios[shape] = ratio
        cells = [f"{rate['ours']:.0f} GB/s", f"{rate['copy']:.0f} GB/s", f"{ratio:.3f}"]
        cells += [f"{target:.2f}", f"{control:.3f}"]
        for name in ["torch", "torch.compile", "Triton"]:
            cells.append(f"{rate[name]:.0f} GB/s" if name in rate else "")
        cells.append(f"{rate['ours'] / max(rate[name] for name in others):.2f}")
        return Round(cells, (Figure("ratio", ratio, at_least=target),), (control,))

    table.row(" x ".join(map(str, shape)), measure)


def table_of(title, made, widths, target, wide=False):
    """A table: `made(width)` gives the shape, our call, PyTorch's and Triton's, and how many bytes they
    move."""
    table = Table(title, COLUMNS)
    for width in widths:
        compare(table, {}, *made(width), target)
    ratios = {}
    for width in WIDE if wide else []:
        compare(table, ratios, *made(width), WIDE_LEAST)
    if ratios:
        mean = statistics.geometric_mean(ratios.values())
        figures = (Figure("geometric mean", mean, at_least=WIDE_MEAN),)
        cells = ["", "", f"{mean:.3f}", f"{WIDE_MEAN:.2f}", "", "", "", "", ""]
        table.row("wide rows, geometric mean", lambda: Round(cells, figures))


def rms_norm(folder):
    module = load(folder, "rms_norm")

    def forward(width):
        x, w = rows_of(width), normal(width)
        out = torch.empty_like(x)
        ours = lambda: module.rms_norm(x, w, out, 1e-6)
        theirs = by_torch(lambda: functional.rms_norm(x, (width,), w, 1e-6))
        by_triton = lambda: triton_rows.rms_norm(x, w, out, 1e-6)
        return x.shape, ours, theirs, by_triton, 2 * x.nbytes

    def fused(width):
        x, residual, w = rows_of(width), rows_of(width), normal(width)
        out, total = torch.empty_like(x), torch.empty_like(x)
        ours = lambda: module.fused_add_rms_norm(x, residual, w, out, total, 1e-6)
        theirs = by_torch(lambda: fused_by_torch(x, residual, w))
        by_triton = lambda: triton_rows.fused_add_rms_norm(x, residual, w, out, total, 1e-6)
        return x.shape, ours, theirs, by_triton, 4 * x.nbytes

    def backward(width):
        x, dy, w = rows_of(width), rows_of(width), normal(width)
        dx, dw = torch.empty_like(x), torch.empty_like(w)
        ours = lambda: module.rms_norm_backward(x, w, dy, dx, dw, 1e-6)
        norm = lambda x, w: functional.rms_norm(x, (width,), w, 1e-6)
        theirs = gradient(norm, (x, w), dy)
        by_triton = lambda: triton_rows.rms_norm_backward(x, w, dy, dx, dw, 1e-6)
        return x.shape, ours, theirs, by_triton, 3 * x.nbytes

    widths = [1 << n for n in range(10, 16)]
    table_of("`rms_norm`, bfloat16.", forward, widths, 0.97, wide=True)
    table_of("`fused_add_rms_norm`, bfloat16.", fused, widths, 0.95)
    table_of("`rms_norm_backward`, bfloat16.", backward, widths, 0.90)


def fused_by_torch(x, residual, w):
    total = x + residual
    return total, functional.rms_norm(total, w.shape, w, 1e-6)


def layer_norm(folder):
    module = load(folder, "layer_norm")

    def forward(width):
        x, w, b = rows_of(width), normal(width), normal(width)
        out = torch.empty_like(x)
        mean, rstd = (torch.empty(len(x), device="cuda") for _ in range(2))
        ours = lambda: module.layer_norm(x, w, b, out, mean, rstd, 1e-5)
        theirs = by_torch(lambda: functional.layer_norm(x, (width,), w, b, 1e-5))
        by_triton = lambda: triton_rows.layer_norm(x, w, b, out, mean, rstd, 1e-5)
        return x.shape, ours, theirs, by_triton, 2 * x.nbytes

    def backward(width):
        x, dy, w, b = rows_of(width), rows_of(width), normal(width), normal(width)
        dx, dw, db, out = (torch.empty_like(tensor) for tensor in (x, w, b, x))
        mean, rstd = (torch.empty(len(x), device="cuda") for _ in range(2))
        module.layer_norm(x, w, b, out, mean, rstd, 1e-5)
        ours = lambda: module.layer_norm_backward(x, w, mean, rstd, dy, dx, dw, db)
        norm = lambda x, w, b: functional.layer_norm(x, (width,), w, b, 1e-5)
        theirs = gradient(norm, (x, w, b), dy)
        by_triton = lambda: triton_rows.layer_norm_backward(x, w, mean, rstd, dy, dx, dw, db)
        return x.shape, ours, theirs, by_triton, 3 * x.nbytes

    widths = [1 << n for n in range(10, 16)]
    table_of("`layer_norm`, bfloat16.", forward, widths, 0.95)
    table_of("`layer_norm_backward`, bfloat16.", backward, widths, 0.90)


def softmax(folder):
    module = load(folder, "softmax")

    def forward(width, dtype=torch.bfloat16):
        x = rows_of(width, dtype)
        out = torch.empty_like(x)
        ours = lambda: module.softmax(x, out)
        by_triton = lambda: triton_rows.softmax(x, out)
        return x.shape, ours, by_torch(lambda: torch.softmax(x, -1)), by_triton, 2 * x.nbytes

    def backward(width):
        y, dy = torch.softmax(rows_of(width), -1), rows_of(width)
        dx = torch.empty_like(y)
        ours = lambda: module.softmax_backward(y, dy, dx)
        theirs = by_torch(lambda: torch._softmax_backward_data(dy, y, -1, y.dtype))
        by_triton = lambda: triton_rows.softmax_backward(y, dy, dx)
        return y.shape, ours, theirs, by_triton, 3 * y.nbytes

    widths = [1 << n for n in range(12, 16)]
    table_of("`softmax`, bfloat16.", forward, widths, 0.95, wide=True)
    table_of("`softmax_backward`, bfloat16.", backward, widths, 0.95, wide=True)
    table_of("`softmax`, float32.", lambda n: forward(n, torch.float32), [1 << 14], 0.95)


def cross_entropy(folder):
    module = load(folder, "cross_entropy")

    def inputs(width):
        logits = rows_of(width)
        labels = torch.randint(width, (len(logits),), device="cuda")
        loss, lse = (torch.empty(len(logits), device="cuda") for _ in range(2))
        return logits, labels, loss, lse

    def forward(width):
        logits, labels, loss, lse = inputs(width)
        ours = lambda: module.cross_entropy(logits, labels, loss, lse, -100)
        theirs = by_torch(lambda: functional.cross_entropy(logits, labels, reduction="none"))
        by_triton = lambda: triton_rows.cross_entropy(logits, labels, loss, lse)
        return logits.shape, ours, theirs, by_triton, logits.nbytes

    def backward(width):
        logits, labels, loss, lse = inputs(width)
        module.cross_entropy(logits, labels, loss, lse, -100)
        dloss, dlogits = torch.randn_like(loss), torch.empty_like(logits)
        ours = lambda: module.cross_entropy_backward(logits, labels, lse, dloss, dlogits, -100)
        loss_of = lambda logits: functional.cross_entropy(logits, labels, reduction="none")
        theirs = gradient(loss_of, (logits,), dloss)
        by_triton = lambda: triton_rows.cross_entropy_backward(logits, labels, lse, dloss, dlogits)
        return logits.shape, ours, theirs, by_triton, 2 * logits.nbytes

    widths = [1 << n for n in range(12, 16)]
    table_of("`cross_entropy`, bfloat16.", forward, widths, 0.95, wide=True)
    table_of("`cross_entropy_backward`, bfloat16.", backward, widths, 0.95, wide=True)


TABLES = (rms_norm, layer_norm, softmax, cross_entropy)


def main(folder, words):
    for tables in TABLES:
        if not words or any(word in tables.__name__ for word in words):
            tables(folder)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
