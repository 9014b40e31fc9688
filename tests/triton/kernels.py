# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests: one that needs nothing, one whose tensor descriptors lie in scratch
memory, and two whose host makes them.
"""

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


@triton.jit
def shift(x, by, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    y.store([row, column], x.load([row, column]) + by)


# All of each block, so that what lies out of bounds shows.
@triton.jit
def pad(y, x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    batch, row, column = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tile = x.load([batch, row * ROWS, column * COLUMNS]).reshape(ROWS * COLUMNS)
    block = (batch * tl.num_programs(1) + row) * tl.num_programs(2) + column
    tl.store(y + block * ROWS * COLUMNS + tl.arange(0, ROWS * COLUMNS), tile)
