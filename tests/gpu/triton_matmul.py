# SPDX-License-Identifier: Apache-2.0
"""A product of matrices by Triton's `tl.dot`, compiled for sm_80, whose PTX the driver assembles for the device it finds: what `gemm_simple` as PTX
for compute_80 stands beside in speed_matrix.py.
"""

import ctypes
import statistics

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

# Rows, columns and steps along k of a tile, warps, and stages. Of these the fastest is taken for each shape.
CHOICES = (
    (128, 128, 32, 4, 4),
    (128, 128, 64, 4, 3),
    (128, 128, 32, 8, 4),
    (128, 256, 32, 8, 3),
    (256, 128, 32, 8, 3),
)
GROUP = 8
TYPES = {"a": "*bf16", "b": "*bf16", "c": "*bf16", "m": "i32", "n": "i32", "k": "i32"}
driver = ctypes.CDLL("libcuda.so.1")
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


@triton.jit
def product(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr
):
    number, rows, columns = tl.program_id(0), m // M, n // N
    first = number // (GROUP * columns) * GROUP
    here = min(rows - first, GROUP)
    row = (first + number % (GROUP * columns) % here) * M + tl.arange(0, M)
    column = number % (GROUP * columns) // here * N + tl.arange(0, N)
    step = tl.arange(0, K)
    from_a, from_b = a + row[:, None] * k + step, b + column * k + step[:, None]
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(k // K):
        acc = tl.dot(tl.load(from_a), tl.load(from_b), acc)
        from_a, from_b = from_a + K, from_b + K
    tl.store(c + row[:, None] * n + column, acc.to(tl.bfloat16))


def must(status):
    if status:
        raise RuntimeError(f"the driver answers {status}")


class Compiled:
    """A choice, as the driver has assembled it."""

    def __init__(self, rows, columns, depth, warps, stages):
        sizes = {"M": rows, "N": columns, "K": depth, "GROUP": GROUP}
        signature = TYPES | dict.fromkeys(sizes, "constexpr")
        whole = {(i,): [["tt.divisibility", 16]] for i in range(len(TYPES))}
        source = triton.compiler.ASTSource(product, signature, sizes, whole)
        options = {"num_warps": warps, "num_stages": stages}
        made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
        self.tile, self.block, self.shared = (
            (rows, columns, depth),
            32 * warps,
            made.metadata.shared,
        )
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        must(driver.cuModuleLoadData(ctypes.byref(module), made.asm["ptx"].encode()))
        name = made.metadata.name.encode()
        must(driver.cuModuleGetFunction(ctypes.byref(self.function), module, name))
        attribute = MAX_DYNAMIC_SHARED_SIZE_BYTES
        must(driver.cuFuncSetAttribute(self.function, attribute, self.shared))

    def __call__(self, a, b, c):
        sizes = (*c.shape, a.shape[1])
        if any(size % tile for size, tile in zip(sizes, self.tile, strict=True)):
            raise ValueError("tiles divide no such matrices")
        pointers = [ctypes.c_uint64(tensor.data_ptr()) for tensor in (a, b, c)]
        # Two pointers to memory that it does not use are behind its own parameters.
        unused = [ctypes.c_uint64(0)] * 2
        values = [*pointers, *map(ctypes.c_int32, sizes), *unused]
        params = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        blocks = c.shape[0] // self.tile[0] * (c.shape[1] // self.tile[1])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        must(
            driver.cuLaunchKernel(
                self.function, blocks, 1, 1, self.block, 1, 1, self.shared, stream, params, None
            )
        )


class Fastest:
    """c = a @ b.T, by the choice that is fastest for the shape."""

    def __init__(self):
        torch.cuda.current_stream()
        torch.zeros(1, device="cuda")
        self.choices = [Compiled(*choice) for choice in CHOICES]
        self.by_shape = {}

    def __call__(self, a, b, c):
        shape = *c.shape, a.shape[1]
        if shape not in self.by_shape:
            self.by_shape[shape] = min(self.choices, key=lambda each: self.seconds(each, a, b, c))
        self.by_shape[shape](a, b, c)

    @staticmethod
    def seconds(choice, a, b, c):
        taken = []
        for _ in range(5):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            choice(a, b, c)
            end.record()
            end.synchronize()
            taken.append(start.elapsed_time(end))
        return statistics.median(taken)
