# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests: one that needs nothing, and one whose tensor descriptors lie in scratch memory."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def move(x, y, m, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BLOCK, BLOCK])
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([row, column], source.load([row, column]))
