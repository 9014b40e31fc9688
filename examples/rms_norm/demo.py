# SPDX-License-Identifier: Apache-2.0
"""Compares the package that is named on the command line with PyTorch's own rms_norm."""

import sys

import torch
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
torch.manual_seed(0)

for dtype in (torch.float32, torch.float64):
    for shape in ((3, 64), (2, 3, 5000), (64,)):
        d = shape[-1]
        x, w = torch.randn(shape, dtype=dtype), torch.randn(d, dtype=dtype)
        out = torch.empty_like(x)
        module.rms_norm(x, w, out)
        torch.testing.assert_close(out, torch.nn.functional.rms_norm(x, (d,), w, 1e-6))
        print(f"{dtype}, {shape}: as PyTorch has it")

for args in [(x, w, x), (x, w[:32], out), (x, w, out[None]), (x.half(), w, out)]:
    try:
        module.rms_norm(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError("the call was accepted")
