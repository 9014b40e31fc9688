# SPDX-License-Identifier: Apache-2.0
"""`gemm` of examples/kernels/gemm.py by each size of tiles alone, for speed_matrix.py: what its rules choose from."""

import kernpack as kp
from gemm import launch_few, launch_roles


@kp.jit(
    "columns_256_parts_1(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_256_parts_1(a, b, c):
    launch_roles(a, b, c, (256, 1, 1))


@kp.jit(
    "columns_224_parts_1(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_224_parts_1(a, b, c):
    launch_roles(a, b, c, (224, 1, 1))


@kp.jit(
    "columns_192_parts_1(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_192_parts_1(a, b, c):
    launch_roles(a, b, c, (192, 1, 1))


@kp.jit(
    "columns_128_parts_1(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_128_parts_1(a, b, c):
    launch_roles(a, b, c, (128, 1, 1))


@kp.jit(
    "columns_128_parts_2(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 512, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_128_parts_2(a, b, c):
    launch_roles(a, b, c, (128, 2, 1))


@kp.jit(
    "columns_128_parts_4(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 512, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_128_parts_4(a, b, c):
    launch_roles(a, b, c, (128, 4, 1))


@kp.jit(
    "columns_256_shared(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_256_shared(a, b, c):
    launch_roles(a, b, c, (256, 1, 2))


@kp.jit(
    "columns_192_shared(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def columns_192_shared(a, b, c):
    launch_roles(a, b, c, (192, 1, 2))


@kp.jit(
    "few_rows(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut))"
    " where k >= 8, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def few_rows(a, b, c):
    launch_few(a, b, c)
