# SPDX-License-Identifier: Apache-2.0
"""The norms as operators of PyTorch, for which this wheel's extra `torch` brings what is needed:
`torch.ops.norms.rms`.
"""

from typing import Any

import kernpack.torch

from ._kernels import rms as kernel


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    x, w, ctx.eps = inputs
    ctx.save_for_backward(x, w)


def _backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
    x, w = ctx.saved_tensors
    scale = (x.square().mean(-1, keepdim=True) + ctx.eps).rsqrt()
    normal = x * scale
    towards = gradient * w
    of_x = scale * (towards - normal * (towards * normal).mean(-1, keepdim=True))
    of_w = (gradient * normal).reshape(-1, x.shape[-1]).sum(0)
    return of_x, of_w, None


rms = kernpack.torch.op("norms::rms", kernel, backward=_backward, setup_context=_setup_context)
