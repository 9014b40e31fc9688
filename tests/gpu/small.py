# SPDX-License-Identifier: Apache-2.0
"""Small calls of every package of a bundle, for compute-sanitizer: `small.py FOLDER [PACKAGE ...]`.

References are made on the CPU, so that no kernels but these and PyTorch's simplest are looked at.
Every tensor has memory of its own where PYTORCH_NO_CUDA_MEMORY_CACHING is set. Where
KERNPACK_LAUNCH is `graph`, calls are made again, and most of them have to go through graphs.
"""

import json
import os
import sys
from pathlib import Path

import torch
import tvm_ffi


def add_one(module):
    for n in (1, 255, 1000):
        a = torch.arange(n, dtype=torch.float32).cuda()
        b = torch.empty_like(a)
        module.add_one(a, b)
        torch.testing.assert_close(b.cpu(), a.cpu() + 1)


def scale(module):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.randn(1001).to(dtype).cuda()
        y = torch.empty_like(x)
        module.scale(x, y, 0.5)
        torch.testing.assert_close(y.cpu(), x.cpu() * 0.5)


def rms_norm(module):
    for dtype in (torch.float16, torch.bfloat16):
        for m, d in [(1, 8), (17, 136), (3, 520), (3, 4104), (2, 16_392), (2, 32_776)]:
            x, w = torch.randn(m, d).to(dtype).cuda(), torch.randn(d).to(dtype).cuda()
            out = torch.empty_like(x)
            module.rms(x, w, out)
            expected = torch.nn.functional.rms_norm(x.cpu().double(), (d,), w.cpu().double(), 1e-6)
            torch.testing.assert_close(out.cpu(), expected.to(dtype))


def gemm(module):
    for m, n, k in [(1, 1, 8), (129, 257, 72), (300, 520, 328), (1000, 1500, 136)]:
        a, b = torch.randn(m, k).bfloat16().cuda(), torch.randn(n, k).bfloat16().cuda()
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        module.gemm(a, b, c)
        torch.testing.assert_close(
            c.cpu(), (a.cpu().double() @ b.cpu().double().T).bfloat16(), rtol=2**-7, atol=1e-4
        )


def triton_versions(module):
    for version in ("3_4", "3_5", "3_6"):
        x = torch.randn(100, 200).cuda()
        # initcheck does not see what is stored through a tensor map.
        y = torch.zeros_like(x)
        module[f"shift_{version}"](x, 0.5, y)
        torch.testing.assert_close(y.cpu(), x.cpu() + 0.5)


def planted(module):
    module.planted(torch.zeros(100).cuda())
    torch.cuda.synchronize()


PACKAGES = {
    "add_one": add_one,
    "scale": scale,
    "rms_norm": rms_norm,
    "gemm": gemm,
    "triton_versions": triton_versions,
    "planted": planted,
}


FUNCTIONS = {
    "rms_norm": ["rms"],
    "triton_versions": [f"shift_{version}" for version in ("3_4", "3_5", "3_6")],
}


def main(folder, names):
    torch.manual_seed(0)
    is_graph = os.environ.get("KERNPACK_LAUNCH") == "graph"
    for name in names:
        module = tvm_ffi.load_module(str(folder / f"{name}.so"))
        for _ in range(3 if is_graph else 1):
            PACKAGES[name](module)
        torch.cuda.synchronize()
        counts = [
            json.loads(module[f"kernpack_launched_{function}"]())
            for function in FUNCTIONS.get(name, [name])
        ]
        print(f"{name}: right; {counts}")
        if is_graph:
            assert all(count["graph"] > count["plain"] for count in counts), (
                f"{name}: too few graphs: {counts}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [name for name in PACKAGES if name != "planted"])
