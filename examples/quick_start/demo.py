# SPDX-License-Identifier: Apache-2.0
"""A kernel in C becomes a function: called, called wrongly, and written to the file that the
command line names.
"""

import inspect
import sys

import kernpack as kp
import numpy as np

SOURCE = """
void axpy(const float* x, float* y, long n, float alpha) {
  for (long i = 0; i < n; ++i) y[i] += alpha * x[i];
}
void add(const float* x, long n, float by, float* y) {
  for (long i = 0; i < n; ++i) y[i] = x[i] + by;
}
"""
axpy = kp.host(
    SOURCE,
    "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 1.0)",
    args=["x", "y", "n", "alpha"],
    doc="y += alpha * x",
)
add = kp.host(
    SOURCE,
    "add(x: Tensor([n], float32), by: float32) -> y: Tensor([n], float32)",
    args=["x", "n", "by", "y"],
)


def show_refusal(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError("the call was accepted")


print("== by position, by name, with a default")
x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
axpy(x, y)
print(y)
axpy(y=y, x=x, alpha=2.0)
print(y)
print("axpy" + str(inspect.signature(axpy)))

print("== a result")
print(add(x, by=0.5))

print("== refused calls")
show_refusal(lambda: axpy(x, y[:3]))
show_refusal(lambda: axpy(x, y.astype("float64")))
show_refusal(lambda: axpy(x, y, beta=2.0))

print("== a file")
kp.export([axpy, add], sys.argv[1])
module = kp.load_module(sys.argv[1])
print(", ".join(module))
module.axpy(x, y, alpha=-3.0)
np.testing.assert_array_equal(y, np.ones(4))
print(y)
