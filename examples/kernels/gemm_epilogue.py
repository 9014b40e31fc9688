# SPDX-License-Identifier: Apache-2.0
"""Products of matrices with a scale, a bias, an activation and a residual, all before anything is written.

The kernels are those of `gemm.py`: what they make of a sum is a function that is passed to them, with the tensors and
numbers around it.
"""

import kernpack as kp
from gemm import launch, launch_best

# As in `gemm.py`: each is compiled with and without a residual, for each type.
SHAPES = (256, 1, 1), (128, 1, 1), (128, 4, 1), (256, 1, 2)
UNEVEN = ((256, 1, 1),)


# The binary logarithm of the part of a normal distribution beyond x, from 0 to 6, as a polynomial of degree 6 in x, the highest
# coefficient first: the one whose power of 2 is nearest to that part, within 2.1e-5 of it.
LOG2_BEYOND = (
    2.8053561e-05,
    -6.8993814e-04,
    7.6546157e-03,
    -5.2416321e-02,
    -0.45977089,
    -1.1508658,
    -1.0,
)


def gelu(x):
    """relu(x) - |x| erfc(|x| / sqrt(2)) / 2. Nothing cancels where x is far below 0, and from 16 on that is x."""
    high = kp.min(kp.abs(x), 16.0)
    log2_beyond = kp.float32(0)
    for coefficient in LOG2_BEYOND:
        log2_beyond = kp.fma(log2_beyond, high, coefficient)
    return relu(x) - high * kp.fast_exp2(log2_beyond)


def gelu_tanh(x):
    return 0.5 * x * (1.0 + kp.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))))


def relu(x):
    return kp.where(x < 0.0, 0.0, x)


def silu(x):
    return x / (1.0 + kp.exp(-x))


def linear(a, b, bias, c, residual, scale, activation):
    def finished(total, row, column):
        value = activation(total * scale + kp.float32(bias[column]))
        return value if residual is None else value + kp.float32(residual[row, column])

    if residual is None:
        by_rows(a, b, c, finished)
    else:
        by_rows(a, b, c, finished)


def by_rows(a, b, c, finished):
    if c.shape[1] % 8 == 0:
        by_arch(a, b, c, SHAPES, finished)
    else:
        by_arch(a, b, c, UNEVEN, finished)


def by_arch(a, b, c, shapes, finished):
    if kp.device.cc == 90:
        launch_best(a, b, c, shapes, finished)
    else:
        # What is made of sums takes registers, too.
        launch(a, b, c, "compute_80", 8, finished)


@kp.jit(
    """
    gemm_gelu(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), bias: Tensor([n], T),
        c: Tensor([m, n], T, align=16, mut), residual: Optional[Tensor([m, n], T)] = None, scale: float32 = 1.0
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0,
        noalias(a, c), noalias(b, c), noalias(bias, c), noalias(residual, c)
    """
)
def gemm_gelu(a, b, bias, c, residual, scale):
    """c = gelu(scale * a @ b.T + bias) + residual, by the error function."""
    linear(a, b, bias, c, residual, scale, gelu)


@kp.jit(
    """
    gemm_gelu_tanh(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), bias: Tensor([n], T),
        c: Tensor([m, n], T, align=16, mut), residual: Optional[Tensor([m, n], T)] = None, scale: float32 = 1.0
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0,
        noalias(a, c), noalias(b, c), noalias(bias, c), noalias(residual, c)
    """
)
def gemm_gelu_tanh(a, b, bias, c, residual, scale):
    """c = gelu(scale * a @ b.T + bias) + residual, by the hyperbolic tangent."""
    linear(a, b, bias, c, residual, scale, gelu_tanh)


@kp.jit(
    """
    gemm_relu(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), bias: Tensor([n], T),
        c: Tensor([m, n], T, align=16, mut), residual: Optional[Tensor([m, n], T)] = None, scale: float32 = 1.0
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0,
        noalias(a, c), noalias(b, c), noalias(bias, c), noalias(residual, c)
    """
)
def gemm_relu(a, b, bias, c, residual, scale):
    """c = max(scale * a @ b.T + bias, 0) + residual"""
    linear(a, b, bias, c, residual, scale, relu)


@kp.jit(
    """
    gemm_silu(
        a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), bias: Tensor([n], T),
        c: Tensor([m, n], T, align=16, mut), residual: Optional[Tensor([m, n], T)] = None, scale: float32 = 1.0
    ) where T in {float16, bfloat16}, k >= 8, k % 8 == 0,
        noalias(a, c), noalias(b, c), noalias(bias, c), noalias(residual, c)
    """
)
def gemm_silu(a, b, bias, c, residual, scale):
    """c = x * sigmoid(x) + residual, where x = scale * a @ b.T + bias."""
    linear(a, b, bias, c, residual, scale, silu)
