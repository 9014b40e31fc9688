# SPDX-License-Identifier: Apache-2.0
"""The functions of rows as they are written with Triton: a program a row, which it holds where that is
of at most 65,536 elements, and reads again where it is longer; gradients of weights by as many programs
as the GPU has multiprocessors. `speed_rows.py` measures them beside ours.
"""

import torch
import triton
import triton.language as tl

MOST_HELD, LOOPED = 65536, 8192


def shape_of(width):
    """How a program has a row: options of a launch."""
    held = width <= MOST_HELD
    block = triton.next_power_of_2(width) if held else LOOPED
    num_warps = 4 if block <= 1024 else 8 if block <= 4096 else 16 if block <= 16384 else 32
    return {"n": width, "BLOCK": block, "HELD": held, "num_warps": num_warps}


@triton.jit
def softmax_rows(x, out, n, BLOCK: tl.constexpr, HELD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    columns = tl.arange(0, BLOCK)
    if HELD:
        values = tl.load(x + row + columns, columns < n, -float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(out + row + columns, powers / tl.sum(powers, 0), columns < n)
    else:
        most, total = -float("inf"), 0.0
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(x + row + at, at < n, -float("inf")).to(tl.float32)
            now = tl.maximum(most, tl.max(values, 0))
            total = total * tl.exp(most - now) + tl.sum(tl.exp(values - now), 0)
            most = now
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(x + row + at, at < n, -float("inf")).to(tl.float32)
            tl.store(out + row + at, tl.exp(values - most) / total, at < n)


@triton.jit
def softmax_gradient_rows(y, dy, dx, n, BLOCK: tl.constexpr, HELD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    columns = tl.arange(0, BLOCK)
    if HELD:
        values = tl.load(y + row + columns, columns < n, 0).to(tl.float32)
        given = tl.load(dy + row + columns, columns < n, 0).to(tl.float32)
        dot = tl.sum(values * given, 0)
        tl.store(dx + row + columns, values * (given - dot), columns < n)
    else:
        dot = 0.0
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(y + row + at, at < n, 0).to(tl.float32)
            dot += tl.sum(values * tl.load(dy + row + at, at < n, 0).to(tl.float32), 0)
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(y + row + at, at < n, 0).to(tl.float32)
            given = tl.load(dy + row + at, at < n, 0).to(tl.float32)
            tl.store(dx + row + at, values * (given - dot), at < n)


@triton.jit
def rms_rows(
    x,
    residual,
    w,
    out,
    summed,
    n,
    eps,
    FUSED: tl.constexpr,
    BLOCK: tl.constexpr,
    HELD: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * n
    columns = tl.arange(0, BLOCK)
    if HELD:
        values = tl.load(x + row + columns, columns < n, 0)
        if FUSED:
            values += tl.load(residual + row + columns, columns < n, 0)
            tl.store(summed + row + columns, values, columns < n)
        values = values.to(tl.float32)
        scale = tl.rsqrt(tl.sum(values * values, 0) / n + eps)
        weight = tl.load(w + columns, columns < n, 0).to(tl.float32)
        tl.store(out + row + columns, values * scale * weight, columns < n)
    else:
        total = 0.0
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(x + row + at, at < n, 0).to(tl.float32)
            total += tl.sum(values * values, 0)
        scale = tl.rsqrt(total / n + eps)
        for first in range(0, n, BLOCK):
            at = first + columns
            values = tl.load(x + row + at, at < n, 0).to(tl.float32)
            weight = tl.load(w + at, at < n, 0).to(tl.float32)
            tl.store(out + row + at, values * scale * weight, at < n)


@triton.jit
def rms_gradient_rows(x, w, dy, dx, partial, rows, n, eps, BLOCK: tl.constexpr, HELD: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    weight = tl.load(w + columns, columns < n, 0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    for number in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = number.to(tl.int64) * n
        values = tl.load(x + row + columns, columns < n, 0).to(tl.float32)
        given = tl.load(dy + row + columns, columns < n, 0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(values * values, 0) / n + eps)
        weighted = given * weight
        along = tl.sum(weighted * values, 0) * scale * scale / n
        dw += given * values * scale
        tl.store(dx + row + columns, (weighted - values * along) * scale, columns < n)
    tl.store(partial + tl.program_id(0) * n + columns, dw, columns < n)


@triton.jit
def layer_rows(x, w, b, out, mean, rstd, n, eps, BLOCK: tl.constexpr, HELD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row + columns, columns < n, 0).to(tl.float32)
    middle = tl.sum(values, 0) / n
    apart = tl.where(columns < n, values - middle, 0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / n + eps)
    tl.store(mean + tl.program_id(0), middle)
    tl.store(rstd + tl.program_id(0), scale)
    weight = tl.load(w + columns, columns < n, 0).to(tl.float32)
    bias = tl.load(b + columns, columns < n, 0).to(tl.float32)
    tl.store(out + row + columns, apart * scale * weight + bias, columns < n)


@triton.jit
def layer_gradient_rows(
    x, w, mean, rstd, dy, dx, dws, dbs, rows, n, BLOCK: tl.constexpr, HELD: tl.constexpr
):
    columns = tl.arange(0, BLOCK)
    weight = tl.load(w + columns, columns < n, 0).to(tl.float32)
    dw, db = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for number in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = number.to(tl.int64) * n
        middle, scale = tl.load(mean + number), tl.load(rstd + number)
        values = tl.load(x + row + columns, columns < n, 0).to(tl.float32)
        given = tl.load(dy + row + columns, columns < n, 0).to(tl.float32)
        normed = tl.where(columns < n, (values - middle) * scale, 0)
        weighted = given * weight
        dot, total = tl.sum(weighted * normed, 0) / n, tl.sum(weighted, 0) / n
        dw += given * normed
        db += given
        change = (weighted - total - normed * dot) * scale
        tl.store(dx + row + columns, change, columns < n)
    tl.store(dws + tl.program_id(0) * n + columns, dw, columns < n)
    tl.store(dbs + tl.program_id(0) * n + columns, db, columns < n)


@triton.jit
def entropy_rows(logits, labels, loss, lse, n, BLOCK: tl.constexpr, HELD: tl.constexpr):
    number = tl.program_id(0)
    row = number.to(tl.int64) * n
    most, total = -float("inf"), 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(logits + row + at, at < n, -float("inf")).to(tl.float32)
        now = tl.maximum(most, tl.max(values, 0))
        total = total * tl.exp(most - now) + tl.sum(tl.exp(values - now), 0)
        most = now
    whole = most + tl.log(total)
    tl.store(lse + number, whole)
    label = tl.load(labels + number)
    tl.store(loss + number, whole - tl.load(logits + row + label).to(tl.float32))


@triton.jit
def entropy_gradient_rows(
    logits, labels, lse, dloss, dlogits, n, BLOCK: tl.constexpr, HELD: tl.constexpr
):
    number = tl.program_id(0)
    row = number.to(tl.int64) * n
    whole, label = tl.load(lse + number), tl.load(labels + number)
    given = tl.load(dloss + number)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(logits + row + at, at < n, -float("inf")).to(tl.float32)
        chosen = tl.where(at == label, 1.0, 0.0)
        tl.store(dlogits + row + at, (tl.exp(values - whole) - chosen) * given, at < n)


def softmax(x, out):
    softmax_rows[(len(x),)](x, out, **shape_of(x.shape[1]))


def softmax_backward(y, dy, dx):
    softmax_gradient_rows[(len(y),)](y, dy, dx, **shape_of(y.shape[1]))


def rms_norm(x, w, out, eps):
    rms_rows[(len(x),)](x, x, w, out, out, eps=eps, FUSED=False, **shape_of(x.shape[1]))


def fused_add_rms_norm(x, residual, w, out, summed, eps):
    options = shape_of(x.shape[1])
    rms_rows[(len(x),)](x, residual, w, out, summed, eps=eps, FUSED=True, **options)


def partial_of(x):
    """Room for what each program adds to the gradient of a weight."""
    n = torch.cuda.get_device_properties(x.device).multi_processor_count
    return torch.empty(n, x.shape[1], device=x.device)


def rms_norm_backward(x, w, dy, dx, dw, eps):
    partial, options = partial_of(x), shape_of(x.shape[1])
    rms_gradient_rows[(len(partial),)](x, w, dy, dx, partial, len(x), eps=eps, **options)
    dw.copy_(partial.sum(0))


def layer_norm(x, w, b, out, mean, rstd, eps):
    layer_rows[(len(x),)](x, w, b, out, mean, rstd, eps=eps, **shape_of(x.shape[1]))


def layer_norm_backward(x, w, mean, rstd, dy, dx, dw, db):
    dws, dbs, options = partial_of(x), partial_of(x), shape_of(x.shape[1])
    layer_gradient_rows[(len(dws),)](x, w, mean, rstd, dy, dx, dws, dbs, len(x), **options)
    dw.copy_(dws.sum(0))
    db.copy_(dbs.sum(0))


def cross_entropy(logits, labels, loss, lse):
    options = shape_of(min(logits.shape[1], LOOPED * 4)) | {"n": logits.shape[1]}
    entropy_rows[(len(logits),)](logits, labels, loss, lse, **options)


def cross_entropy_backward(logits, labels, lse, dloss, dlogits):
    options = shape_of(min(logits.shape[1], LOOPED * 4)) | {"n": logits.shape[1]}
    entropy_gradient_rows[(len(logits),)](logits, labels, lse, dloss, dlogits, **options)
