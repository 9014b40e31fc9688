# SPDX-License-Identifier: Apache-2.0
"""Kernels that check their indices as they run: each takes where it goes, which may be outside."""

import kernpack as kp

N = 256


@kp.kernel
def move_elements(x, y, by):
    i = kp.block_idx()[0] * 128 + kp.thread_idx()[0]
    tile = kp.shared(kp.float32, 128)
    tile[kp.thread_idx()[0]] = x[i + by]
    kp.sync_threads()
    y[i] = tile[127 - kp.thread_idx()[0]]


@kp.jit("moved(x: Tensor([n], float32), by: int32, y: Tensor([m], float32, mut))", checked=True)
def moved(x, by, y):
    move_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], 128), block=128)


@kp.kernel
def count_at(counts, old, at):
    old[0] = kp.atomic_add(counts, at, 5)


@kp.jit(
    "counted(counts: Tensor([n], int32, mut), old: Tensor([1], int32, mut), at: int32)",
    checked=True,
)
def counted(counts, old, at):
    count_at(counts, old, at).launch(grid=1, block=1)


@kp.kernel
def copy_row(x, y, at, group: kp.Constexpr):
    tile = kp.shared(kp.float32, 128)
    i = kp.thread_idx()[0]
    tile[i] = 7.0
    kp.sync_threads()
    part = kp.local_tile(x[at, None], (4,), (i,))
    own = kp.local_tile(tile, (4,), (i,))
    if i < 32:
        if group:
            kp.copy(part, own, to=kp.async_group)
            kp.commit_group()
            kp.wait_group(0)
        else:
            kp.copy(part, own)
    kp.sync_threads()
    y[i] = tile[i]


@kp.jit(
    "copied(x: Tensor([m, 128], float32, align=16), at: int32, y: Tensor([128], float32, mut))",
    checked=True,
)
def copied(x, at, y):
    copy_row(x, y, at, False).launch(grid=1, block=128)


@kp.jit(
    "sent(x: Tensor([m, 128], float32, align=16), at: int32, y: Tensor([128], float32, mut))",
    checked=True,
)
def sent(x, at, y):
    copy_row(x, y, at, True).launch(grid=1, block=128)


@kp.kernel
def bring_row(x, y, at):
    tile = kp.shared(kp.float32, 128)
    bar = kp.mbarrier()
    i = kp.thread_idx()[0]
    tile[i] = 7.0
    if i == 0:
        bar.init(1)
    kp.fence_proxy_async()
    kp.sync_threads()
    if i == 0:
        bar.arrive_and_expect_tx(512)
        kp.copy(x[at, None], tile, to=bar)
    bar.wait()
    y[i] = tile[i]


@kp.jit(
    "brought(x: Tensor([m, 128], float32, align=16), at: int32, y: Tensor([128], float32, mut))",
    arch="sm_90",
    checked=True,
)
def brought(x, at, y):
    bring_row(x, y, at).launch(grid=1, block=128)
