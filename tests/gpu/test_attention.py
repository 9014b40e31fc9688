# SPDX-License-Identifier: Apache-2.0
"""Functions of examples/kernels/attention.py against softmax in float64."""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi
from test_examples import guarded

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
HALVES = [torch.float16, torch.bfloat16]
# Of one rounding of a number in float32.
U = 2.0**-24
# Which keys are seen: all, up to the query's own place, and around that.
SEEN = [(-1, -1), (-1, 0), (200, 0), (70, 130), (0, -1)]


@pytest.fixture(scope="module")
def package():
    return tvm_ffi.load_module(str(FOLDER / "kernels_attention.so"))


def expected(q, k, v, scale, left, right):
    """Means and logarithms, and how far each may be off: what docs/kernel-examples.md says."""
    r, device = torch.finfo(q.dtype).eps / 2, q.device
    least = 2.0**-25 if q.dtype == torch.float16 else 2.0**-134
    if k.shape[2] == 0:
        nothing = torch.zeros_like(q, dtype=torch.float64)
        return nothing, nothing, nothing[..., 0] - torch.inf, nothing[..., 0]
    heads, (s, t, d) = q.shape[1] // k.shape[1], (q.shape[2], k.shape[2], q.shape[3])
    q, k, v = q.double(), *(x.double().repeat_interleave(heads, 1) for x in (k, v))
    at = torch.arange(s, device=device)[:, None] + t - s
    key = torch.arange(t, device=device)[None]
    seen = (left < 0) | (key >= at - left)
    seen = seen & ((right < 0) | (key <= at + right))
    scores = (q @ k.mT * scale).masked_fill(~seen, -torch.inf)
    size = (q.abs() @ k.abs().mT * scale).masked_fill(~seen, 0).amax(-1, keepdim=True)
    lse = scores.logsumexp(-1, keepdim=True)
    weights = (scores - lse).exp().nan_to_num(0)
    out, weighed = weights @ v, weights @ v.abs()
    of_weight = 16 * U + (3 * d + 16) * U * size
    of_sums = 2 * of_weight + 4 * (t + 128) * U
    allowed = r * out.abs() + (r + of_sums) * weighed + least * (v.abs().sum(-2, True) + 1)
    most = scores.amax(-1, keepdim=True)
    return out, allowed, lse[..., 0], (of_sums + 4 * U * (lse.abs() + most.abs()))[..., 0]


def is_near(out, q, k, v, scale):
    """Whether means of all keys are as near as they have to be."""
    exact, allowed, _, _ = expected(q, k, v, scale, -1, -1)
    return bool(((out.double() - exact).abs() <= allowed).all())


def is_close(out, lse, *args):
    exact, allowed, exact_lse, allowed_lse = expected(*args)
    is_near = ((out.double() - exact).abs() <= allowed).all()
    same = (lse.double() - exact_lse).abs() <= allowed_lse
    return bool(is_near and (same | (lse.double() == exact_lse)).all())


def normal(*shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


# Below a tile, on both sides of its edges, several; more queries than keys, and fewer.
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("left, right", SEEN)
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize(
    "s, t",
    [(1, 1), (1, 700), (5, 127), (127, 128), (128, 129), (129, 5), (257, 256), (700, 1000)],
)
def test_queries_of_any_number(package, s, t, d, left, right, dtype):
    q, k, v = normal(2, 6, s, d, dtype=dtype), *(normal(2, 2, t, d, dtype=dtype) for _ in range(2))
    (out, is_kept), (lse, is_lse_kept) = (
        guarded((2, 6, s, d), dtype),
        guarded((2, 6, s), torch.float32),
    )
    package.attention(q, k, v, out, lse, d**-0.5, left, right)
    assert is_close(out, lse, q, k, v, d**-0.5, left, right)
    assert is_kept() and is_lse_kept()
    again = torch.empty_like(out)
    package.attention(q, k, v, again, None, d**-0.5, left, right)
    assert torch.equal(out, again)


@pytest.mark.parametrize("s, t", [(0, 5), (3, 0), (0, 0)])
def test_nothing(package, s, t):
    q, k = (normal(1, 2, n, 64, dtype=torch.float16) for n in (s, t))
    out, lse = torch.ones_like(q), torch.ones(1, 2, s, device="cuda")
    package.attention(q, k, k, out, lse, 1.0)
    assert not out.any() and (lse == -torch.inf).all()


@pytest.mark.parametrize("left, right", SEEN)
def test_heads_beside_each_other(package, left, right):
    """Layouts (b, s, h, d), of which the function is passed the other order."""
    q, k, v = (
        normal(2, n, h, 128, dtype=torch.bfloat16) for n, h in [(300, 4), (500, 2), (500, 2)]
    )
    out, lse = torch.empty_like(q), torch.empty(2, 4, 300, device="cuda")
    passed = [x.transpose(1, 2) for x in (q, k, v, out)]
    package.attention(*passed, lse, 0.1, left, right)
    assert is_close(passed[3], lse, *passed[:3], 0.1, left, right)


@pytest.mark.parametrize("left, right", SEEN)
@pytest.mark.parametrize("d", [64, 128])
def test_sequences(package, d, left, right):
    """As flash-attn has them: (tokens, heads, d), and where each sequence begins."""
    lengths = [(1, 5), (0, 7), (129, 300), (3, 0), (256, 256), (77, 1)]
    n_q, n_k = (sum(lengths) for lengths in zip(*lengths))
    q, k, v = (normal(n, h, d, dtype=torch.float16) for n, h in [(n_q, 4), (n_k, 2), (n_k, 2)])
    out, lse = torch.empty_like(q), torch.empty(1, 4, n_q, device="cuda")
    starts = [
        torch.tensor([0, *n], device="cuda").cumsum(0, dtype=torch.int32) for n in zip(*lengths)
    ]
    passed = [x.transpose(0, 1)[None] for x in (q, k, v, out)]
    package.attention_varlen(*passed, lse, *starts, 256, d**-0.5, left, right)
    (ends_q, ends_k) = (x.tolist() for x in starts)
    for i in range(len(lengths)):
        own_q, own_k = slice(ends_q[i], ends_q[i + 1]), slice(ends_k[i], ends_k[i + 1])
        q, k, v, out = (x[:, :, own] for x, own in zip(passed, [own_q, own_k, own_k, own_q]))
        assert is_close(out, lse[:, :, own_q], q, k, v, d**-0.5, left, right)


def test_what_lies_beyond_the_keys_is_not_read(package):
    """Keys and values behind those that are passed are NaN."""
    q, k, v = (normal(1, 1, 256, 64, dtype=torch.float16) for _ in range(3))
    k[:, :, 130:], v[:, :, 130:] = float("nan"), float("nan")
    out, lse = torch.empty_like(q), torch.empty(1, 1, 256, device="cuda")
    k, v = k[:, :, :130], v[:, :, :130]
    package.attention(q, k, v, out, lse, 0.125)
    assert is_close(out, lse, q, k, v, 0.125, -1, -1)
