# SPDX-License-Identifier: Apache-2.0
"""The operator of examples/kernels/attention_torch.py, as far as there is no GPU: its schema, the shapes
that compilers see, and its gradients of what the forward function computes.
`tests/gpu/test_torch_attention.py` calls it.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/kernels"))
import attention_torch


def expected(q, k, v, scale, left, right):
    """By softmax, which PyTorch differentiates; of queries without keys 0 and -inf."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    at = torch.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2]
    key = torch.arange(k.shape[2])
    is_seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)
    if left >= 0:
        is_seen &= key >= at - left
    if right >= 0:
        is_seen &= key <= at + right
    scores = (q @ k.mT * scale).masked_fill(~is_seen, -torch.inf)
    lse = scores.logsumexp(-1)
    sees_any = is_seen.any(-1)[:, None]
    weights = scores.masked_fill(~sees_any, 0).softmax(-1).masked_fill(~sees_any, 0)
    return weights @ v, lse


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr(attention_torch, "ROWS", 4)


@pytest.mark.parametrize("left, right", [(-1, -1), (-1, 0), (2, 1), (3, -1)])
@pytest.mark.parametrize("s, t", [(1, 1), (9, 6), (6, 9), (4, 3)])
def test_gradients(in_pieces, s, t, left, right):
    q, k, v = (
        torch.randn(2, h, n, 5, dtype=torch.float64, requires_grad=True)
        for h, n in [(4, s), (2, t), (2, t)]
    )
    out, lse = expected(q, k, v, 0.3, left, right)
    grad, has_keys = torch.randn_like(out), lse.isfinite()
    grad_lse = torch.randn_like(lse) * has_keys
    kept = lse.masked_fill(~has_keys, 0)
    wanted = torch.autograd.grad((out * grad).sum() + (kept * grad_lse).sum(), (q, k, v))
    found = attention_torch.gradients(q, k, v, out, lse, grad, grad_lse, 0.3, left, right)
    for one, other in zip(found, wanted):
        torch.testing.assert_close(one.detach(), other.nan_to_num(0))


def test_halves_are_rounded_once():
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 70, 64).half() for _ in range(3))
    out, lse = expected(q.double(), k.double(), v.double(), 0.125, -1, 0)
    grad = torch.randn_like(q)
    passed = out.half(), lse.float(), grad, torch.zeros_like(lse).float()
    found = attention_torch.gradients(q, k, v, *passed, 0.125, -1, 0)
    exact = [x.double() for x in (q, k, v)]
    passed = out, lse, grad.double(), torch.zeros_like(lse)
    wanted = attention_torch.gradients(*exact, *passed, 0.125, -1, 0)
    for one, other in zip(found, wanted):
        assert one.dtype == torch.float16
        assert (one.double() - other).abs().max() <= 2e-3 * other.abs().max()


def test_schema():
    assert str(torch.ops.kernpack_examples.attention.default._schema) == (
        "kernpack_examples::attention(Tensor q, Tensor k, Tensor v, float scale, "
        "SymInt left=-1, SymInt right=-1) -> (Tensor, Tensor)"
    )


def test_compilers_see_shapes():
    """Of queries with heads beside each other too, and those of gradients."""
    with FakeTensorMode():
        q, k, v = (
            torch.empty(2, n, h, 64, dtype=torch.bfloat16).transpose(1, 2)
            for n, h in [(7, 8), (9, 2), (9, 2)]
        )
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        out, lse = torch.ops.kernpack_examples.attention(*leaves, 0.125, -1, 0)
        assert (out.shape, out.stride()) == (q.shape, q.stride())
        assert (lse.shape, lse.dtype) == ((2, 8, 7), torch.float32)
        out.sum().backward()
        for x in leaves:
            assert (x.grad.shape, x.grad.dtype) == (x.shape, torch.bfloat16)


def test_kernels_are_taken_on_a_gpu_where_the_logarithms_have_no_gradient(monkeypatch):
    taken = []
    for name in ("by_kernels", "gradients"):
        monkeypatch.setattr(
            attention_torch, name, lambda *given, name=name: taken.append(name) or ()
        )
    with FakeTensorMode():
        for device in ("cuda", "cpu"):
            x, lse = torch.empty(1, 2, 3, 64, device=device), torch.empty(1, 2, 3, device=device)
            ctx = SimpleNamespace(saved_tensors=(x, x, x, x, lse), settings=(1.0, -1, -1))
            for grad_lse in (None, lse):
                attention_torch.backward(ctx, x, grad_lse)
    assert taken == ["by_kernels", "gradients", "gradients", "gradients"]


@pytest.mark.parametrize(
    "heads, t, left, right, kernel",
    [
        (4, 7, -1, -1, "cudnn"),
        (4, 9, -1, -1, "cudnn"),
        (4, 7, -1, 0, "cudnn"),
        (4, 9, -1, 0, "flash"),
        (4, 7, 2, 0, "flash"),
        (4, 7, -1, 1, "flash"),
        (2, 7, -1, -1, "flash"),
    ],
)
def test_the_kernel_goes_by_masks_and_heads(heads, t, left, right, kernel):
    taken = []

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            taken.extend(name for name in ("cudnn", "flash") if name in str(op))
            return op(*args, **(kwargs or {}))

    with FakeTensorMode(), Recorder():
        q, k, v = (
            torch.empty(2, h, n, 64, dtype=torch.bfloat16, device="cuda")
            for h, n in [(4, 7), (heads, t), (heads, t)]
        )
        lse = torch.empty(2, 4, 7, device="cuda")
        found = attention_torch.by_kernels(q, k, v, q, lse, q, 0.125, left, right)
    assert taken == [kernel]
    assert [x.shape for x in found] == [q.shape, k.shape, v.shape]


def test_other_devices_are_refused():
    x = torch.zeros(1, 1, 2, 64).half()
    with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
        torch.ops.kernpack_examples.attention(x, x, x, 1.0)
