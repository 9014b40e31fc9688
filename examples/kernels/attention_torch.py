# SPDX-License-Identifier: Apache-2.0
"""Attention as an operator of PyTorch, with a gradient: `attention.py` forward, and backward the kernels
that PyTorch has, cuDNN's or FlashAttention's. Where the logarithms have a gradient, too, which these do
not take, it is products of PyTorch's, a thousand queries at a time. `torch.compile` and autograd know it.
"""

import torch
from attention import attention as forward

# The queries whose weights are in memory at once.
ROWS = 1024


@torch.library.custom_op("kernpack_examples::attention", mutates_args=())
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    left: int = -1,
    right: int = -1,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The means of values, which lie in memory as queries do, and the logarithms of the sums of weights."""
    out, lse = results(q, k, v, scale)
    forward(q, k, v, out, lse, scale, left, right)
    return out, lse


@attention.register_fake
def results(q, k, v, scale, left=-1, right=-1):
    return torch.empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)


def setup_context(ctx, inputs, output):
    q, k, v, *ctx.settings = inputs
    ctx.save_for_backward(q, k, v, *output)
    # What nobody uses has no gradient, instead of one of zeros.
    ctx.set_materialize_grads(False)


def backward(ctx, grad, grad_lse):
    q, k, v, out, lse = ctx.saved_tensors
    grad = torch.zeros_like(out) if grad is None else grad
    if grad_lse is None and q.is_cuda:
        found = by_kernels(q, k, v, out, lse, grad, *ctx.settings)
    else:
        grad_lse = torch.zeros_like(lse) if grad_lse is None else grad_lse
        found = gradients(q, k, v, out, lse, grad, grad_lse, *ctx.settings)
    return *found, None, None, None


attention.register_autograd(backward, setup_context=setup_context)


def by_kernels(q, k, v, out, lse, grad, scale, left, right):
    """The gradients of q, k and v, by PyTorch's kernels."""
    n_queries, n_keys = q.shape[2], k.shape[2]
    is_causal = right == 0 and n_queries == n_keys
    # Both ask for the state of random numbers, and use it for dropout alone.
    if left < 0 and (right < 0 or is_causal) and q.shape[1] == k.shape[1]:
        state = lse.new_zeros((), dtype=torch.int64)
        return torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            *(grad, q, k, v, out, lse[..., None], state, state, None, None, None),
            *(n_queries, n_keys, 0.0, is_causal),
            scale=scale,
        )
    # It counts windows from where the last query sees the last key, as we do.
    state = lse.new_zeros(2, dtype=torch.uint64)
    found = torch.ops.aten._flash_attention_backward(
        *(x.transpose(1, 2) for x in (grad, q, k, v, out)),
        *(lse, None, None, n_queries, n_keys, 0.0, False, state, state),
        scale=scale,
        window_size_left=left,
        window_size_right=right,
    )
    return [x.transpose(1, 2) for x in found]


def unseen(queries, n_queries, n_keys, left, right, device):
    """Which of so many keys each query of a range does not see."""
    at = torch.arange(queries.start, queries.stop, device=device)[:, None] + n_keys - n_queries
    key = torch.arange(n_keys, device=device)
    after = key > at + right if right >= 0 else torch.zeros_like(key > at)
    return after | (key < at - left) if left >= 0 else after


def gradients(q, k, v, out, lse, grad, grad_lse, scale, left, right):
    """The gradients of q, k and v. Weights are rounded to the type of these before they are multiplied, as in
    the forward function, and gradients of keys and values are summed in float32, or float64."""
    heads, n_queries = q.shape[1:3]
    shared, n_keys = k.shape[1:3]
    grouped = lambda x: x.unflatten(1, (shared, heads // shared))
    q, grad, lse, grad_lse = (grouped(x) for x in (q, grad, lse, grad_lse))
    keys, values = k[:, :, None], v[:, :, None]
    wide = torch.promote_types(q.dtype, torch.float32)
    below = (grad.to(wide) * grouped(out)).sum(-1) - grad_lse
    dq = torch.empty_like(q)
    dk, dv = (torch.zeros(x.shape, dtype=wide, device=x.device) for x in (k, v))
    for first in range(0, n_queries, ROWS):
        rows = range(first, min(first + ROWS, n_queries))
        own = slice(rows.start, rows.stop)
        own_q, own_grad = q[..., own, :], grad[..., own, :]
        scores = (own_q @ keys.mT).to(wide) * scale
        mask = unseen(rows, n_queries, n_keys, left, right, q.device)
        weights = (scores - lse[..., own, None]).exp().masked_fill(mask, 0)
        steps = weights * ((own_grad @ values.mT).to(wide) - below[..., own, None]) * scale
        weights, steps = weights.to(q.dtype), steps.to(q.dtype)
        dq[..., own, :] = steps @ keys
        dk += (steps.mT @ own_q).sum(2, dtype=wide)
        dv += (weights.mT @ own_grad).sum(2, dtype=wide)
    return dq.flatten(1, 2), dk.to(k.dtype), dv.to(v.dtype)
