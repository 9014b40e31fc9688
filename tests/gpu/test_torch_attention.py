# SPDX-License-Identifier: Apache-2.0
"""The operator of examples/kernels/attention_torch.py, and its gradients, beside softmax in float64."""

import os
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(os.environ["KERNPACK_GPU_BUNDLE"]) / "examples/kernels"))
from attention_torch import attention


def expected(q, k, v, scale, left, right):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.mT * scale
    at = torch.arange(q.shape[2], device="cuda")[:, None] + k.shape[2] - q.shape[2]
    key = torch.arange(k.shape[2], device="cuda")
    if right >= 0:
        scores = scores.masked_fill(key > at + right, -torch.inf)
    if left >= 0:
        scores = scores.masked_fill(key < at - left, -torch.inf)
    return scores.softmax(-1) @ v


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("left, right", [(-1, -1), (-1, 0), (9, 0), (70, -1)])
@pytest.mark.parametrize("heads", [2, 8])
@pytest.mark.parametrize("s, t, d", [(5, 5, 64), (300, 300, 128), (200, 700, 64)])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_values_and_gradients(s, t, d, heads, left, right, is_compiled, dtype):
    # It compiles a function for no more than eight kinds of arguments.
    torch.compiler.reset()
    q, k, v = (
        torch.randn(2, h, n, d, device="cuda").to(dtype).requires_grad_()
        for h, n in [(8, s), (heads, t), (heads, t)]
    )

    def run(q, k, v):
        return attention(q, k, v, d**-0.5, left, right)[0]

    out = (torch.compile(run, fullgraph=True) if is_compiled else run)(q, k, v)
    grad = torch.randn_like(out)
    found = out, *torch.autograd.grad(out, (q, k, v), grad)
    exact = [x.detach().double().requires_grad_() for x in (q, k, v)]
    wide = expected(*exact, d**-0.5, left, right)
    wanted = wide, *torch.autograd.grad(wide, exact, grad.double())
    for one, other in zip(found, wanted):
        assert one.dtype == dtype
        allowed = 4 * torch.finfo(dtype).eps * other.abs().max()
        assert (one.double() - other).abs().max() <= allowed


def test_an_operator():
    q = torch.randn(1, 2, 130, 64, device="cuda").half().requires_grad_()
    torch.library.opcheck(attention, (q, q.detach(), q.detach(), 0.125, -1, 0))


def test_its_own_logarithms_have_a_gradient():
    q, k, v = (torch.randn(1, 1, 9, 64, device="cuda").half().requires_grad_() for _ in range(3))
    found = torch.autograd.grad(attention(q, k, v, 0.125)[1].sum(), (q, k))
    wide = [x.detach().double().requires_grad_() for x in (q, k)]
    wanted = torch.autograd.grad((wide[0] @ wide[1].mT * 0.125).logsumexp(-1).sum(), wide)
    for one, other in zip(found, wanted):
        torch.testing.assert_close(one.double(), other, rtol=0.02, atol=0.02)
