# SPDX-License-Identifier: Apache-2.0
"""A kernel in Triton: y = softmax(x) over each row, of at most BLOCK elements."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, d, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * d
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row + column, mask=column < d, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row + column, power / tl.sum(power, 0), mask=column < d)
