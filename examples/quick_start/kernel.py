# SPDX-License-Identifier: Apache-2.0
"""A kernel in Python: run on the interpreter, called wrongly, written to the file that the command
line names, and called on a GPU where there is one.
"""

import sys

import kernpack as kp
import numpy as np

BLOCK = 256


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * by


@kp.jit
def scale(x, y, by=2.0):
    assert x.shape == y.shape
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.kernel
def scale_too_many(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    y[i] = x[i] * by


@kp.jit
def careless(x, y, by=2.0):
    assert x.shape == y.shape
    scale_too_many(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


def on_a_gpu():
    try:
        import torch
    except ImportError:
        return "skipped: there is no PyTorch"
    if not torch.cuda.is_available():
        return "skipped: there is no GPU that PyTorch can use"
    x = torch.arange(1000.0, device="cuda")
    y = torch.empty_like(x)
    scale(x, y, by=3.0)
    if not torch.equal(y, x * 3):
        sys.exit("kernel.py: y is not 3 * x")
    [variant] = scale.variants
    return f"{variant.signature} on {torch.cuda.get_device_name()}"


print("== on the interpreter")
x, y = np.arange(5, dtype="float32"), np.zeros(5, "float32")
checked = scale.check(x, y, by=3.0)
print(checked, checked.arguments[1], y)

print("== a mistake in a kernel")
for finding in careless.check(x, y).findings:
    shown = [line for line in str(finding).splitlines() if "-->" not in line]
    print("\n".join(shown))

print("== a refused call")
try:
    scale.check(x, y[:3])
except ValueError as error:
    print(f"ValueError: {error}")

print("== a file")
vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))
kp.compile(scale, vector, vector, arch="compute_80").export(sys.argv[1])
print(kp.load_module(sys.argv[1]).scale.signature)

print(f"on a GPU: {on_a_gpu()}", file=sys.stderr)
