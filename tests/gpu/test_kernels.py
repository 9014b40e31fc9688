# SPDX-License-Identifier: Apache-2.0
"""The kernels of examples/kernels against references in float64."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_examples import guarded, rms_reference, within

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
# Nothing, one, a vector and a block less and more one, primes.
LENGTHS = [0, 1, 3, 4, 5, 31, 127, 255, 256, 257, 1021, 1023, 1024, 1025, 4093, 65536, 1_000_003]
WIDTHS = [1, 3, 4, 31, 127, 128, 129, 512, 1000, 1023, 1024, 1028, 4096, 4099, 16384, 16388, 20_011]
HEIGHTS = [0, 1, 7, 8, 9, 33]
HALVES = [torch.float16, torch.bfloat16]


def package(name):
    return tvm_ffi.load_module(str(FOLDER / f"kernels_{name}.so"))


def normal(*shape):
    return torch.randn(shape, device="cuda")


@pytest.mark.parametrize("n", LENGTHS)
def test_add_one(n):
    a = normal(n)
    b, is_around_kept = guarded((n,), torch.float32)
    package("add_one").add_one(a, b)
    assert torch.equal(b, a + 1) and is_around_kept()
    expected = a + 1
    package("add_one").add_one(a, a)
    assert torch.equal(a, expected)


def test_add_one_beyond_32_bits():
    n = (1 << 31) + 5
    a = torch.zeros(n, device="cuda")
    package("add_one").add_one(a, a)
    assert bool((a == 1).all())


SHAPES = [(), (5,), (7, 4), (2, 3, 5, 7), (0, 3), (64, 1024)]


@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise(shape):
    module, x = package("elementwise"), normal(*shape)
    out, is_around_kept = guarded(shape, torch.float32)
    module.relu(x, out)
    assert torch.equal(out, x.relu()) and is_around_kept()
    module.poly(x, out)
    assert torch.equal(out, x * x + 1) and is_around_kept()


SUMS = ["reduce_sum", "reduce_sum_tiled", "reduce_sum_vectors"]


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("n", WIDTHS)
@pytest.mark.parametrize("m", HEIGHTS)
def test_reduce_sum(name, n, m):
    if name == "reduce_sum_vectors" and n % 4:
        pytest.skip("whole vectors only")
    x = normal(m, n)
    out, is_around_kept = guarded((m,), torch.float32)
    package("reduce_sum")[name](x, out)
    allowed = x.double().abs().sum(-1) * torch.finfo(torch.float32).eps * (n**0.5 + 8)
    assert bool(((out.double() - x.double().sum(-1)).abs() <= allowed).all()) and is_around_kept()


def test_rows_beyond_32_bits():
    m, n = (1 << 17) + 3, 1 << 14  # 2^31 elements and three rows
    x = (torch.arange(m, device="cuda") % 127).float()[:, None].expand(m, n).contiguous()
    out = torch.empty(m, device="cuda")
    for name in SUMS:
        package("reduce_sum")[name](x, out.fill_(-1))
        assert torch.equal(out, x[:, 0] * n)
    package("softmax").softmax(x, x)
    assert bool((x == 1 / n).all())
    tall, wide = x.view(n, m), torch.empty(m, n, device="cuda")
    tall[:, -1] = torch.arange(n, device="cuda")
    package("transpose").transpose(tall, wide)
    assert torch.equal(wide[-1], tall[:, -1]) and bool((wide[:-1] == 1 / n).all())


FLOATS = [torch.float32, *HALVES]
# On both sides of what registers, shared memory, and two, four and eight blocks of a cluster hold.
LONG = [32768, 32776, 65536, 65544, 131_072, 131_080, 262_144, 262_152]


def near(actual, expected, parts):
    """Whether results are off by no more than rounding, and what the sizes of their parts add."""
    info = torch.finfo(actual.dtype)
    allowed = expected.abs() * info.eps * 0.51 + parts * 2.0**-18 + info.smallest_normal * info.eps
    return bool(((actual.double() - expected).abs() <= allowed).all())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [*WIDTHS, *LONG])
@pytest.mark.parametrize("m", HEIGHTS)
def test_softmax(n, m, dtype):
    x = (normal(m, n) * 5).to(dtype)
    out, is_around_kept = guarded((m, n), dtype)
    package("softmax").softmax(x, out)
    expected = torch.softmax(x.double(), -1)
    # The difference from the largest is rounded before it is an exponent.
    assert near(out, expected, expected * 2**3) and is_around_kept()
    package("softmax").softmax(x, x)
    assert torch.equal(x, out)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [*WIDTHS, *LONG])
@pytest.mark.parametrize("m", HEIGHTS)
def test_softmax_backward(n, m, dtype):
    y, dy = torch.softmax(normal(m, n) * 5, -1).to(dtype), normal(m, n).to(dtype)
    dx, is_around_kept = guarded((m, n), dtype)
    package("softmax").softmax_backward(y, dy, dx)
    exact, by = y.double(), dy.double()
    dot, size = ((exact * by).sum(-1, keepdim=True), (exact * by).abs().sum(-1, keepdim=True))
    assert near(dx, exact * (by - dot), exact * (by.abs() + size)) and is_around_kept()
    package("softmax").softmax_backward(y, dy, dy)
    assert torch.equal(dy, dx)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("n", [1, 3, 1021, 4096, 4100, 8192, 16392, 32768, 262_144])
@pytest.mark.parametrize("m", HEIGHTS)
def test_cross_entropy(n, m, index, dtype):
    logits = (normal(m, n) * 5).to(dtype)
    labels = torch.randint(n, (m,), device="cuda").to(index)
    labels[1::3] = -100
    kept = labels >= 0
    (loss, is_loss_kept), (lse, is_lse_kept) = (guarded((m,), torch.float32) for _ in range(2))
    module = package("cross_entropy")
    module.cross_entropy(logits, labels, loss, lse, -100)
    expected = torch.logsumexp(logits.double(), -1)
    column = labels.long().clamp(min=0)[:, None]
    losses = (expected - logits.double().gather(1, column)[:, 0]) * kept
    parts = 64 + expected.abs()
    assert near(lse, expected, parts) and near(loss, losses, parts)
    assert is_loss_kept() and is_lse_kept()
    dloss = normal(m)
    dlogits, is_around_kept = guarded((m, n), dtype)
    module.cross_entropy_backward(logits, labels, lse, dloss, dlogits, -100)
    share = torch.exp(logits.double() - lse.double()[:, None])
    apart = share.scatter_add(1, column, -torch.ones_like(share[:, :1]))
    by = (dloss * kept).double()[:, None]
    assert near(dlogits, apart * by, by.abs() * (share + apart.abs()) * 2**3) and is_around_kept()
    module.cross_entropy_backward(logits, labels, lse, dloss, logits, -100)
    assert torch.equal(logits, dlogits)


DEPTHS = [8, 16, 128, 1000, 1024, 1032, 2048, 2056, 4096, 8192, 8200, 16384, 16392, *LONG]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("d", DEPTHS)
@pytest.mark.parametrize("m", HEIGHTS)
def test_rms_norm(d, m, dtype):
    x, residual, w = normal(m, d).to(dtype), normal(m, d).to(dtype), normal(d).to(dtype)
    out, is_around_kept = guarded((m, d), dtype)
    module = package("rms_norm")
    module.rms_norm(x, w, out, 1e-6)
    assert within(out, rms_reference(x, w), 0.51) and is_around_kept()
    total = x + residual
    module.fused_add_rms_norm(x, residual, w, x, residual, 1e-6)
    assert torch.equal(residual, total) and within(x, rms_reference(total, w), 0.51)


def gradients(function, tensors, dy):
    """PyTorch's, in float64."""
    kept = [tensor.double().requires_grad_() for tensor in tensors]
    return torch.autograd.grad(function(*kept), kept, dy.double())


# So many rows that blocks have several, and some one more than others.
TALL = [(1, 8), (3, 1024), (5, 2056), (1057, 1024), (601, 2048), (401, 8192), (301, 16384)]
TALL += [(71, 32768), (37, 65536), (5, 65544), (2, 262_144)]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("m, d", TALL)
def test_rms_norm_backward(m, d, dtype):
    x, w, dy = normal(m, d).to(dtype), normal(d).to(dtype), normal(m, d).to(dtype)
    (dx, is_dx_kept), (dw, is_dw_kept) = guarded((m, d), dtype), guarded((d,), dtype)
    package("rms_norm").rms_norm_backward(x, w, dy, dx, dw, 1e-6)
    norm = lambda x, w: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w
    for_x, for_w = gradients(norm, (x, w), dy)
    scale = torch.rsqrt(x.double().square().mean(-1, keepdim=True))
    towards = (dy.double() * w.double()).abs()
    along = x.double().abs() * (towards * x.double().abs()).mean(-1, keepdim=True) * scale**2
    assert near(dx, for_x, (towards + along) * scale * 2)
    assert near(dw, for_w, (dy.double() * x.double() * scale).abs().sum(0) * 2)
    assert is_dx_kept() and is_dw_kept()
    again = torch.empty_like(dw)
    package("rms_norm").rms_norm_backward(x, w, dy, dy, again, 1e-6)
    assert torch.equal(dy, dx) and torch.equal(again, dw)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("d", DEPTHS)
@pytest.mark.parametrize("m", [0, 1, 9])
def test_layer_norm(d, m, dtype):
    x, residual = (normal(m, d).to(dtype) for _ in range(2))
    w, b = (normal(d).to(dtype) for _ in range(2))
    out, is_around_kept = guarded((m, d), dtype)
    mean, rstd = (torch.full((m,), float("nan"), device="cuda") for _ in range(2))
    module = package("layer_norm")

    def check(x, out):
        exact = x.double()
        middle, size = exact.mean(-1, keepdim=True), exact.abs().mean(-1, keepdim=True)
        scale = torch.rsqrt((exact - middle).square().mean(-1, keepdim=True) + 1e-5)
        expected = (exact - middle) * scale * w.double() + b.double()
        parts = w.double().abs() * scale * ((exact - middle).abs() + size) + b.double().abs()
        assert near(out, expected, parts * 2)
        assert near(mean, middle[:, 0], size[:, 0]) and near(rstd, scale[:, 0], scale[:, 0] * 2)

    module.layer_norm(x, w, b, out, mean, rstd, 1e-5)
    check(x, out)
    assert is_around_kept()
    total = x + residual
    module.fused_add_layer_norm(x, residual, w, b, x, residual, mean, rstd, 1e-5)
    assert torch.equal(residual, total)
    check(total, x)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("m, d", TALL)
def test_layer_norm_backward(m, d, dtype):
    x, dy = (normal(m, d).to(dtype) for _ in range(2))
    w, b = (normal(d).to(dtype) for _ in range(2))
    mean, rstd = (torch.empty(m, device="cuda") for _ in range(2))
    module = package("layer_norm")
    module.layer_norm(x, w, b, torch.empty_like(x), mean, rstd, 1e-5)
    (dx, is_dx_kept), (dw, is_dw_kept) = guarded((m, d), dtype), guarded((d,), dtype)
    db, is_db_kept = guarded((d,), dtype)
    module.layer_norm_backward(x, w, mean, rstd, dy, dx, dw, db)
    norm = lambda x, w, b: torch.nn.functional.layer_norm(x, (d,), w, b, 1e-5)
    for_x, for_w, for_b = gradients(norm, (x, w, b), dy)
    scale = rstd.double()[:, None]
    normed = ((x.double() - mean.double()[:, None]) * scale).abs()
    gradient = (dy.double() * w.double()).abs()
    parts = gradient + gradient.mean(-1, keepdim=True)
    parts += normed * (gradient * normed).mean(-1, keepdim=True)
    assert near(dx, for_x, parts * scale * 2)
    assert near(dw, for_w, (dy.double().abs() * normed).sum(0) * 2)
    assert near(db, for_b, dy.double().abs().sum(0))
    assert is_dx_kept() and is_dw_kept() and is_db_kept()


@pytest.mark.parametrize("n", [1, 31, 63, 64, 65, 127, 1021, 2048])
@pytest.mark.parametrize("m", [0, 1, 31, 63, 64, 65, 127, 1021, 2048])
def test_transpose(m, n):
    x = normal(m, n)
    out, is_around_kept = guarded((n, m), torch.float32)
    package("transpose").transpose(x, out)
    assert torch.equal(out, x.t()) and is_around_kept()


@pytest.mark.parametrize("k", [16, 128, 1040])
@pytest.mark.parametrize("n", [128, 640])
@pytest.mark.parametrize("m", [128, 384])
def test_matmul(m, n, k):
    a, b = normal(m, k), normal(k, n)
    c, is_around_kept = guarded((m, n), torch.float32)
    package("matmul").matmul(a, b, c)
    allowed = (a.double().abs() @ b.double().abs()) * torch.finfo(torch.float32).eps * k**0.5
    assert (
        bool(((c.double() - a.double() @ b.double()).abs() <= allowed).all()) and is_around_kept()
    )
