# SPDX-License-Identifier: Apache-2.0
"""Every type of an argument: numbers, shapes, pointers, and what calls pass for them. Tensors,
streams and tuples have files of their own.
"""

import ctypes

import kernpack as kp
import torch

from calls import called

NUMBERS = (
    kp.bool,
    kp.int8,
    kp.int16,
    kp.int32,
    kp.int64,
    kp.uint8,
    kp.uint16,
    kp.uint32,
    kp.uint64,
    kp.float16,
    kp.bfloat16,
    kp.float32,
    kp.float64,
)


@kp.kernel
def device_store(out, number):
    out[kp.thread_idx()[0]] = kp.float64(number)


@kp.jit
def store(out, number):
    device_store(out, number).launch(grid=1, block=out.shape[0])


def store_of(dtype: kp.DType) -> kp.Function:
    """The function of a number of that type."""
    return kp.compile(store, kp.fake_tensor(kp.float64, (4,)), dtype)


@kp.kernel
def device_fill(out, layout):
    i = kp.thread_idx()[0]
    if i < kp.size(layout):
        out[layout(i)] = kp.float32(i)


@kp.jit
def fill(out, shape: kp.shape((kp.sym_int("m"), kp.sym_int("n")))):
    m, n = shape
    assert 0 < m * n <= 32 and n * 2 * (m - 1) + n <= out.shape[0]
    device_fill(out, kp.make_layout((m, n), stride=(2 * n, 1))).launch(grid=1, block=32)


@kp.jit
def fill_nested(out, shape: (kp.int32, (kp.int32, kp.int32))):
    rows, (columns, gap) = shape
    assert rows > 0 and columns > 0 and gap >= columns
    assert rows * columns <= 32 and gap * (rows - 1) + columns <= out.shape[0]
    layout = kp.make_layout((rows, columns), stride=(gap, 1))
    device_fill(out, layout).launch(grid=1, block=32)


@kp.kernel
def device_add_one(a, b, n):
    x, y = kp.make_tensor(a, kp.make_layout(n)), kp.make_tensor(b, kp.make_layout(n))
    i = kp.block_idx()[0] * 128 + kp.thread_idx()[0]
    if i < n:
        y[i] = x[i] + 1.0


@kp.jit
def add_one_behind(a: kp.pointer(kp.float32), b: kp.pointer(kp.float32), n: kp.int32):
    """Of addresses nothing is known but what they are a multiple of."""
    device_add_one(a, b, n).launch(grid=kp.ceil_div(n, 128), block=128)


def address(x: torch.Tensor) -> ctypes.c_void_p:
    """What a pointer is passed on a GPU. The interpreter takes the tensor for what lies there."""
    return ctypes.c_void_p(x.data_ptr())


def main() -> None:
    print(called(store, torch.zeros(4, dtype=torch.float64), 3)[0])
    print(called(fill, torch.zeros(12), (2, 3))[0])
    print(called(fill_nested, torch.zeros(12), (2, (3, 6)))[0])
    a, b = torch.arange(10.0), torch.zeros(10)
    if torch.cuda.is_available():
        a, b = a.cuda(), b.cuda()
        add_one_behind(address(a), address(b), 10)
    else:
        b = called(add_one_behind, a, b, 10)[1]
    print(b)


if __name__ == "__main__":
    main()
