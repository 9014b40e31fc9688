# SPDX-License-Identifier: Apache-2.0
"""Products of warpgroups: of each type of factors, as they may lie, of either place of the left one,
with several in flight, over stages that threads fill; and when a wait has seen one done.
"""

import kernpack as kp

STAGES = 3
# The bytes of a row of a factor that one product takes, and those that lie together.
ROW_BYTES, TOGETHER = 32, 16


def swizzled(size, bits, layout):
    """`layout` of elements of `size` bytes, with rows of 16 << bits bytes."""
    return kp.make_composed_layout(
        kp.make_swizzle(bits, 4 - (size // 2 if size < 4 else 2), 3), 0, layout
    )


def rows_of(size, rows, bits):
    """A factor whose rows lie one behind the other, with a swizzle of so many bits, or in pieces."""
    each = TOGETHER // size
    k = max(ROW_BYTES, TOGETHER << bits) // size
    if bits == 0:
        modes = (8, rows // 8), (each, k // each), STAGES
        return kp.make_layout(modes, stride=((each, 8 * k), (1, 8 * each), rows * k))
    return swizzled(size, bits, kp.make_layout((rows, k, STAGES), stride=(k, 1, rows * k)))


def columns_of(rows, k):
    """A factor of 16 bits whose columns lie one behind the other, in parts of 64."""
    modes = (64, rows // 64), k, STAGES
    return swizzled(2, 3, kp.make_layout(modes, stride=((1, 64 * k), 64, rows * k)))


def fill(tile, x, row, column, rows, k):
    for i in range(kp.thread_idx()[0], rows * k, 128):
        tile[i // k, i % k] = x[row + i // k, column + i % k]


def load_part(part, a, row, column, size):
    """What the thread has of 64 rows of `a`: of each 32 bytes, of two rows two times four bytes."""
    t = kp.thread_idx()[0]
    own, each = t // 32 * 16 + t % 32 // 4, 4 // size
    for p in kp.range_constexpr(kp.size(part, mode=[3])):
        for half in kp.range_constexpr(2):
            for lower in kp.range_constexpr(2):
                for n in kp.range_constexpr(each):
                    at = p * (ROW_BYTES // size) + half * (TOGETHER // size) + t % 4 * each + n
                    part[n, lower, half, p] = a[row + own + 8 * lower, column + at]


def store_sums(acc, c, row, n):
    t = kp.thread_idx()[0]
    for p in kp.range_constexpr(n // 8):
        for lower in kp.range_constexpr(2):
            for i in kp.range_constexpr(2):
                c[row + t // 32 * 16 + t % 32 // 4 + 8 * lower, 8 * p + t % 4 * 2 + i] = acc[
                    i, lower, p
                ]


@kp.kernel
def by_rows(a, b, c, n: kp.Constexpr, bits: kp.Constexpr, has_registers: kp.Constexpr):
    """Where the left factor is in registers sums begin as zeros, else with the first product."""
    size = a.element_type.width // 8
    k = max(ROW_BYTES, TOGETHER << bits) // size
    row = kp.block_idx()[0] * 64
    of_b = kp.shared(b.element_type, rows_of(size, n, bits))
    acc = kp.make_rmem_tensor((2, 2, n // 8), c.element_type)
    if kp.const_expr(has_registers):
        part = kp.make_rmem_tensor((4 // size, 2, 2, k * size // ROW_BYTES), a.element_type)
        acc.fill(0)
    else:
        of_a = kp.shared(a.element_type, rows_of(size, 64, bits))
    for step in range(a.shape[1] // k):
        stage = step % STAGES
        if kp.const_expr(has_registers):
            load_part(part, a, row, step * k, size)
        else:
            fill(of_a[None, None, stage], a, row, step * k, 64, k)
        fill(of_b[None, None, stage], b, 0, step * k, n, k)
        kp.fence_proxy_async()
        kp.sync_threads()
        kp.wgmma_fence()
        if kp.const_expr(has_registers):
            kp.wgmma_mma(acc, part, of_b[None, None, stage], True)
            kp.wgmma_commit()
            kp.wgmma_wait(0)
        else:
            kp.wgmma_mma(acc, of_a[None, None, stage], of_b[None, None, stage], step > 0)
            kp.wgmma_commit()
            kp.wgmma_wait(1)
    kp.wgmma_wait(0)
    store_sums(acc, c, row, n)


@kp.kernel
def by_columns(a, b, c, n: kp.Constexpr):
    k, row = 32, kp.block_idx()[0] * 64
    of_a = kp.shared(a.element_type, columns_of(64, k))
    of_b = kp.shared(b.element_type, columns_of(n, k))
    acc = kp.make_rmem_tensor((2, 2, n // 8), kp.float32)
    for step in range(a.shape[1] // k):
        stage = step % STAGES
        fill(of_a[None, None, stage], a, row, step * k, 64, k)
        fill(of_b[None, None, stage], b, 0, step * k, n, k)
        kp.fence_proxy_async()
        kp.sync_threads()
        kp.wgmma_fence()
        kp.wgmma_mma(acc, of_a[None, None, stage], of_b[None, None, stage], step > 0)
        kp.wgmma_commit()
        kp.wgmma_wait(1)
    kp.wgmma_wait(0)
    store_sums(acc, c, row, n)


@kp.kernel
def late(out, delay):
    """The last warp comes `delay` nanoseconds late; each tells when it began, and had waited."""
    t = kp.thread_idx()[0]
    tile = kp.shared(kp.bfloat16, rows_of(2, 64, 3))[None, None, 0]
    for i in range(t, 64 * 64, 128):
        tile[i // 64, i % 64] = kp.bfloat16(1)
    kp.fence_proxy_async()
    kp.sync_threads()
    acc = kp.make_rmem_tensor(4, kp.float32)
    if t >= 96:
        until = kp.globaltimer() + delay
        while kp.globaltimer() < until:
            pass
    begun = kp.globaltimer()
    kp.wgmma_fence()
    kp.wgmma_mma(acc, tile, kp.local_tile(tile, (8, 64), (0, 0)), False)
    kp.wgmma_commit()
    kp.wgmma_wait(0)
    waited = kp.globaltimer()
    if t % 32 == 0:
        out[t // 32, 0] = begun
        out[t // 32, 1] = waited
        out[t // 32, 2] = kp.int64(acc[0])


@kp.jit(
    "multiply(a: Tensor([m, k], T), b: Tensor([n, k], T), c: Tensor([m, n], S, mut), bits: int32, has_registers: int32) where m % 64 == 0, k % 64 == 0, "
    "(T, S) in {(float16, float32), (bfloat16, float32), (float32, float32), (int8, int32), (uint8, int32)}"
)
def multiply(a, b, c, bits, has_registers):
    n = kp.static(b.shape[0], (8, 64, 256))
    bits = kp.static(bits, (0, 1, 2, 3))
    has_registers = kp.static(has_registers, (0, 1))
    by_rows(a, b, c, n, bits, has_registers == 1).launch(
        grid=a.shape[0] // 64, block=128, arch="sm_90a"
    )


@kp.jit(
    "multiply_columns(a: Tensor([m, k], T), b: Tensor([n, k], T), c: Tensor([m, n], float32, mut)) where m % 64 == 0, k % 32 == 0, T in {float16, bfloat16}"
)
def multiply_columns(a, b, c):
    n = kp.static(b.shape[0], (64, 256))
    by_columns(a, b, c, n).launch(grid=a.shape[0] // 64, block=128, arch="sm_90a")


@kp.jit("one_is_late(out: Tensor([4, 3], int64, mut), delay: int64)")
def one_is_late(out, delay):
    late(out, delay).launch(grid=1, block=128, arch="sm_90a")
