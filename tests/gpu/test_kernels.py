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


@pytest.mark.parametrize("n", WIDTHS)
@pytest.mark.parametrize("m", HEIGHTS)
def test_softmax(n, m):
    x = normal(m, n) * 5
    out, is_around_kept = guarded((m, n), torch.float32)
    package("softmax").softmax(x, out)
    expected = torch.softmax(x.double(), -1)
    # The difference from the largest is rounded before it is an exponent.
    assert within(out, expected, 64) and is_around_kept()
    package("softmax").softmax(x, x)
    assert torch.equal(x, out)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("d", [8, 16, 128, 1000, 1024, 1032, 4096, 8192, 8200, 16384])
@pytest.mark.parametrize("m", HEIGHTS)
def test_rms_norm(d, m, dtype):
    x, w = normal(m, d).to(dtype), normal(d).to(dtype)
    out, is_around_kept = guarded((m, d), dtype)
    package("rms_norm").rms_norm(x, w, out, 1e-6)
    assert within(out, rms_reference(x, w), 0.51) and is_around_kept()
    package("rms_norm").rms_norm(x, w, x, 1e-6)
    assert torch.equal(x, out)


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


@pytest.mark.parametrize("d", [16392, 100_000])
def test_what_a_kernel_has_no_room_for_is_refused(d):
    x, w = normal(1, d).half(), normal(d).half()
    with pytest.raises(ValueError, match="d <= 16384"):
        package("rms_norm").rms_norm(x, w, x, 1e-6)
