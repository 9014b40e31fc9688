# SPDX-License-Identifier: Apache-2.0
"""RMSNorm in float16 and bfloat16, computed in float32."""

import kernpack as kp


@kp.kernel
def rms_rows(x, w, out, eps, threads: kp.Constexpr, parts: kp.Constexpr):
    row = kp.block_idx()[0]
    t = kp.thread_idx()[0]
    source = kp.zipped_divide(x[row, None], (8,))
    weight = kp.zipped_divide(w, (8,))
    target = kp.zipped_divide(out[row, None], (8,))
    n = source.shape[1]
    held = kp.make_rmem_tensor((8, parts), x.element_type)
    total = kp.float32(0)
    for k in kp.range_constexpr(parts):
        i = t + k * threads
        if i < n:
            held[None, k].store(source[None, i].load())
        else:
            held[None, k].fill(0)
        part = held[None, k].load().to(kp.float32)
        total += (part * part).reduce(kp.add)
    total = kp.block_reduction_sum(total)
    scale = kp.rsqrt(total / kp.float32(x.shape[1]) + eps)
    for k in kp.range_constexpr(parts):
        i = t + k * threads
        if i < n:
            value = held[None, k].load().to(kp.float32) * scale
            value = value * weight[None, i].load().to(kp.float32)
            target[None, i].store(value.to(out.element_type))


@kp.jit(
    """
    rms_norm(
        x: Tensor([m, d], T, align=16), w: Tensor([d], T, align=16),
        out: Tensor([m, d], T, align=16, mut), eps: float32 = 1e-6
    ) where T in {float16, bfloat16}, d % 8 == 0, d >= 8, d <= 16384, noalias(w, out)
    """
)
def rms_norm(x, w, out, eps):
    """out = x / sqrt(mean(x * x) + eps) * w. Works in place."""
    m, d = x.shape
    if d <= 1024:
        rms_rows(x, w, out, eps, 32, 4).launch(grid=m, block=32)
    elif d <= 4096:
        rms_rows(x, w, out, eps, 256, 2).launch(grid=m, block=256)
    elif d <= 8192:
        rms_rows(x, w, out, eps, 256, 4).launch(grid=m, block=256)
    else:
        rms_rows(x, w, out, eps, 512, 4).launch(grid=m, block=512)
