# SPDX-License-Identifier: Apache-2.0
"""Calls functions of a package a million times, a tenth of them refused, and looks whether memory
grows.

    soak_calls.py [CALLS]
"""

import gc
import sys

import torch

import kernpack as kp

C = kp.Source.host("""
void axpy(const float* x, float* y, long n, float a) { for (long i = 0; i < n; ++i) y[i] = a * x[i]; }
void twice(const float* x, long n, float* y) { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }
""")
MODULE = (
    kp.Package("soak")
    .function(
        "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 1.0)",
        kp.Launch(C, args=["x", "y", "n", "alpha"]),
    )
    .function(
        "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
        kp.Launch(C, args=["x", "n", "y"]),
    )
    .load()
)


def call(number, x, y, short):
    """One call of each ten is refused; the others go every way that there is."""
    if number % 10 == 0:
        try:
            MODULE.axpy(x, y=short) if number % 20 else MODULE.axpy(x, y, beta=1)
        except (TypeError, ValueError):
            return
        raise AssertionError("the call was accepted")
    if number % 3 == 0:
        MODULE.axpy(x, y, alpha=2.0)
    elif number % 3 == 1:
        MODULE.axpy(x, y)
    else:
        MODULE.twice(x)


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4


def main(n_calls):
    x, y, short = torch.zeros(64), torch.zeros(64), torch.zeros(3)
    for number in range(n_calls // 10):
        call(number, x, y, short)
    gc.collect()
    before, references = resident(), [sys.getrefcount(each) for each in (x, y, short)]
    for number in range(n_calls):
        call(number, x, y, short)
    gc.collect()
    grown = resident() - before
    assert [sys.getrefcount(each) for each in (x, y, short)] == references
    assert grown < 2048, f"{grown} kB more after {n_calls} calls"
    print(f"{n_calls} calls, {n_calls // 10} of them refused: {grown} kB more")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
