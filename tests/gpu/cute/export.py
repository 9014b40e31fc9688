# SPDX-License-Identifier: Apache-2.0
"""Kernels in NVIDIA's CuTe DSL, exported as libraries that TVM-FFI loads: what calls and kernels of
kernpack are measured beside (`speed_cute.py`).

    export.py FOLDER

Runs in an environment with CuTe DSL, on a machine without a GPU. The element-wise addition and the
sum of rows are as its guide and its introduction have them; a sum is compiled for a row's length.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

os.environ["CUTE_DSL_ARCH"] = "sm_90a"

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute

ADD_BLOCK, SUM_BLOCK = 256, 512
LENGTHS = (1024, 4096, 16384, 262144)
WARP = 32


@cute.kernel
def add_one_to_elements(a: cute.Tensor, b: cute.Tensor):
    block, _, _ = cute.arch.block_idx()
    thread, _, _ = cute.arch.thread_idx()
    i = block * ADD_BLOCK + thread
    if i < a.shape[0]:
        b[i] = a[i] + 1.0


@cute.jit
def add_one(a: cute.Tensor, b: cute.Tensor, stream: cuda.CUstream):
    n_blocks = (a.shape[0] + ADD_BLOCK - 1) // ADD_BLOCK
    add_one_to_elements(a, b).launch(grid=(n_blocks, 1, 1), block=(ADD_BLOCK, 1, 1), stream=stream)


@cute.kernel
def sum_row(x: cute.Tensor, out: cute.Tensor):
    shared = cutlass.memory.SmemAllocator().allocate_tensor(cute.Float32, cute.make_layout((WARP,)))
    row, _, _ = cute.arch.block_idx()
    thread, _, _ = cute.arch.thread_idx()
    lane, warp = cute.arch.lane_idx(), cute.arch.warp_idx()
    n = x.shape[1]
    total = cute.Float32(0.0)
    for step in range((n + SUM_BLOCK - 1) // SUM_BLOCK):
        i = step * SUM_BLOCK + thread
        if i < n:
            total += x[row, i]
    total = cute.arch.warp_reduction_sum(total)
    if lane == 0:
        shared[warp] = total
    cute.arch.sync_threads()
    if warp == 0:
        of_warp = cute.Float32(0.0)
        if lane < SUM_BLOCK // WARP:
            of_warp = shared[lane]
        of_warp = cute.arch.warp_reduction_sum(of_warp)
        if lane == 0:
            out[row] = of_warp


@cute.jit
def sum_rows(x: cute.Tensor, out: cute.Tensor, stream: cuda.CUstream):
    sum_row(x, out).launch(grid=(x.shape[0], 1, 1), block=(SUM_BLOCK, 1, 1), stream=stream)


def vector(n):
    return cute.runtime.make_fake_compact_tensor(cute.Float32, (n,))


def compiled():
    """The functions, by name."""
    stream = cute.runtime.make_fake_stream(use_tvm_ffi_env_stream=True)
    options = "--enable-tvm-ffi"
    n = cute.sym_int()
    yield "add_one", cute.compile(add_one, vector(n), vector(n), stream, options=options)
    for length in LENGTHS:
        m = cute.sym_int()
        x = cute.runtime.make_fake_compact_tensor(cute.Float32, (m, length), stride_order=(1, 0))
        made = cute.compile(sum_rows, x, vector(m), stream, options=options)
        yield f"sum_rows_{length}", made


def main(folder):
    libraries = cute.runtime.find_runtime_libraries(enable_tvm_ffi=True)
    for name, function in compiled():
        function.export_to_c(str(folder / f"{name}.o"), function_name=name)
        target = ["-o", folder / f"{name}.so", folder / f"{name}.o"]
        command = ["gcc", "-shared", *target, *libraries, "-Wl,-rpath,$ORIGIN"]
        subprocess.run(command, check=True)
        (folder / f"{name}.o").unlink()
    [own] = [each for each in libraries if "tvm_ffi" not in Path(each).name]
    shutil.copy(own, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
