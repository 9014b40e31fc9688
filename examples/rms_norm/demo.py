# SPDX-License-Identifier: Apache-2.0
"""Compares the package that is named on the command line with PyTorch's own rms_norm."""

import sys

import torch
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
torch.manual_seed(0)

for dtype in (torch.float32, torch.float64):
    for d in (64, 5000):
        x, w = torch.randn(3, d, dtype=dtype), torch.randn(d, dtype=dtype)
        out = torch.empty_like(x)
        module.rms_norm(x, w, out)
        torch.testing.assert_close(out, torch.nn.functional.rms_norm(x, (d,), w, 1e-6))
        print(f"{dtype}, {d} columns: as PyTorch has it")

for args in [(x, w, x), (x, w[:64], out), (x.half(), w, out)]:
    try:
        module.rms_norm(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError("the call was accepted")
