# SPDX-License-Identifier: Apache-2.0
"""`gemm` of examples/kernels/gemm.py by each size of tiles alone, for speed_matrix.py: what its rules choose from."""

import kernpack as kp
from gemm import SHAPES, launch_few, launch_roles

FEW_ROWS = 8


@kp.jit(
    "variant(a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16), c: Tensor([m, n], bfloat16, align=16, mut), number: int64)"
    " where k >= 512, k % 8 == 0, n % 8 == 0, noalias(a, c), noalias(b, c)"
)
def variant(a, b, c, number):
    """By `SHAPES[number]`, and with `FEW_ROWS` as columns of b @ a.T."""
    known = kp.static(number, (0, 1, 2, 3, 4, 5, 6, 7, FEW_ROWS))
    if known == FEW_ROWS:
        launch_few(a, b, c)
    else:
        launch_roles(a, b, c, SHAPES[known])
