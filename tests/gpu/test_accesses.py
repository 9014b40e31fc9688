# SPDX-License-Identifier: Apache-2.0
"""Accesses that are volatile or have a hint, what is fetched ahead, and PTX with a model: a GPU computes
what the interpreter does.
"""

import kernpack as kp
import torch

N = 1 << 16


@kp.kernel
def scale_elements(x, y):
    i = (kp.block_idx()[0] * 256 + kp.thread_idx()[0]) * 4
    once, kept = kp.cached(x, "stream"), kp.cached(y, "keep")
    kp.prefetch(x, (i + 4096) % x.shape[0])
    for j in kp.range_constexpr(4):
        kept[i + j] = once[i + j] * 2.0
    last = kp.cached(y, "last_use")
    for j in kp.range_constexpr(4):
        last[i + j] = last[i + j] + 1.0


@kp.jit(
    "scaled(x: Tensor([n], float32, align=16), y: Tensor([n], float32, align=16, mut)) "
    "where n % 1024 == 0, noalias(x, y)"
)
def scaled(x, y):
    scale_elements(x, y).launch(grid=x.shape[0] // 1024, block=256)


@kp.kernel
def hand_over(x, flag, out):
    if kp.block_idx()[0] == 0:
        x[0] = 7
        kp.fence()
        kp.volatile(flag)[0] = 1
    else:
        seen = kp.volatile(flag)
        while seen[0] == 0:
            pass
        kp.fence()
        out[0] = x[0]


@kp.jit(
    "handed_over(x: Tensor([1], int32, mut), flag: Tensor([1], int32, mut), "
    "out: Tensor([1], int32, mut)) where noalias(x, flag), noalias(x, out), noalias(flag, out)"
)
def handed_over(x, flag, out):
    hand_over(x, flag, out).launch(grid=2, block=1)


def halves(x):
    bits = kp.bitcast(x, kp.uint64)
    return kp.uint32(bits), kp.uint32(bits >> 32)


def load(p):
    return p[0], p[1], p[2], p[3]


def store(p, values):
    for i in kp.range_constexpr(4):
        p[i] = values[i]


@kp.kernel
def take_apart(x, y, out):
    low, high = kp.ptx(
        "mov.b64 { {0}, {1} }, {2};", x[0], result=(kp.uint32, kp.uint32), model=halves
    )
    out[0] = kp.float32(low)
    out[1] = kp.float32(high)
    four = kp.ptx(
        "ld.global.v4.f32 {0}, [{1}];",
        y.iterator,
        result=(kp.float32, 4),
        effects=True,
        model=load,
    )
    kp.ptx("st.global.v4.f32 [{0}], {1};", y.iterator, four * 2.0, model=store)


@kp.jit(
    "taken_apart(x: Tensor([1], float64), y: Tensor([4], float32, align=16, mut), "
    "out: Tensor([2], float32, mut))"
)
def taken_apart(x, y, out):
    take_apart(x, y, out).launch(grid=1, block=1)


def test_hints_change_no_result():
    x = torch.randn(N, device="cuda")
    y = torch.empty_like(x)
    scaled(x, y)
    assert torch.equal(y, x * 2.0 + 1.0)


def test_a_volatile_flag_is_seen_by_another_block():
    for _ in range(100):
        x, flag, out = (torch.zeros(1, dtype=torch.int32, device="cuda") for _ in range(3))
        handed_over(x, flag, out)
        assert out.item() == 7


def test_ptx_does_what_its_model_does():
    x = torch.tensor([2.7182818284590451], dtype=torch.float64)
    y = torch.arange(4, dtype=torch.float32)
    out = torch.zeros(2)
    checked = taken_apart.check(x, y, out)
    assert checked.ok, checked
    x, y, out = x.cuda(), y.cuda(), out.cuda()
    taken_apart(x, y, out)
    assert torch.equal(out.cpu(), checked.arguments[2])
    assert torch.equal(y.cpu(), checked.arguments[1])
