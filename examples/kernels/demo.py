# SPDX-License-Identifier: Apache-2.0
"""Calls the package of reduce_sum.py on a GPU: demo.py reduce_sum.so"""

import sys

try:
    import torch
except ImportError:
    print("skipped: there is no PyTorch")
    sys.exit()
if not torch.cuda.is_available():
    print("skipped: there is no GPU that PyTorch can use")
    sys.exit()

import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
x = torch.randn(1000, 4096, device="cuda")
out = torch.empty(1000, device="cuda")
for name in ("reduce_sum", "reduce_sum_tiled", "reduce_sum_vectors"):
    module[name](x, out.fill_(float("nan")))
    error = (out.double() - x.double().sum(dim=-1)).abs() / x.double().abs().sum(dim=-1)
    if not (error <= (4096 / 128 + 16) * 2.0**-24).all():
        sys.exit(f"demo: {name} is off by {error.max().item():.2g}")
    print(f"{name} on {torch.cuda.get_device_name()}: off by {error.max().item():.2g} at most")
