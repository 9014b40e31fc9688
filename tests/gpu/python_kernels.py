# SPDX-License-Identifier: Apache-2.0
"""Kernels in CUDA C++ that the tests of the package `kernpack` bring, and what is asked of a
function and of a process.
"""

import os
import subprocess
import sys

import kernpack as kp
import torch

ADD_ONE = """
extern "C" __global__ void add_one(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}
"""
SIGNATURE = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
LAYOUT = {"args": ["a", "b", "n: int32"], "grid": "ceildiv(n, 256)", "block": 256}
ADDED = "added(a: Tensor([n], float32)) -> b: Tensor([n], float32)"

# `w` is memory between the first kernel and those that follow.
CHAIN = """
extern "C" {
__global__ void doubled(const float* x, float* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) w[i] = 2 * x[i];
}
__global__ void plus(const float* w, float* y, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = w[i] + by;
}
__global__ void minus(const float* w, float* y, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = w[i] - by;
}
__global__ void both(const float* x, float* up, float* down, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) up[i] = x[i] + 1, down[i] = x[i] - 1;
}
}
"""


def add_one(text=ADD_ONE, **more):
    """The kernel above, compiled for the GPUs that are here, unless `arch` names others."""
    return kp.cuda(text, SIGNATURE, **LAYOUT, **more)


def added(**more):
    """The same with a result."""
    return kp.cuda(ADD_ONE, ADDED, kernel="add_one", **LAYOUT, **more)


def chain():
    """A package whose functions launch several kernels, have memory between them, and several
    results.
    """
    source, layout = kp.Source.cuda(CHAIN), {"grid": "ceildiv(n, 256)", "block": 256}
    return (
        kp.Package("chain")
        .function(
            "chain(x: Tensor([n], float32), by: float32 = 1.0) -> y: Tensor([n], float32)",
            kp.Launch(source, "doubled", ["x", "w", "n: int32"], **layout),
            kp.Launch(source, "plus", ["w", "y", "by", "n: int32"], when="n % 2 == 0", **layout),
            kp.Launch(source, "minus", ["w", "y", "by", "n: int32"], when="otherwise", **layout),
            workspace={"w": "Tensor([n], float32)"},
        )
        .function(
            "both(x: Tensor([n], float32)) -> up: Tensor([n], float32), down: Tensor([n], float32)",
            kp.Launch(source, "both", ["x", "up", "down", "n: int32"], **layout),
        )
    )


def archs(f):
    """What a function's kernels were compiled for."""
    return [
        arch
        for launch in f.metadata["launches"]
        for image in launch["source"]["images"]
        for arch in image["archs"]
    ]


def arch(code="sm", device=0):
    """The architecture of a GPU: `sm_90`."""
    major, minor = torch.cuda.get_device_capability(device)
    return f"{code}_{major}{minor}"


def ramp(n=1000, device="cuda"):
    """A tensor, and one for what becomes of it."""
    a = torch.arange(n, device=device, dtype=torch.float32)
    return a, torch.full_like(a, -1.0)


def python(code, *args, **environment):
    """What a process of its own prints; a name whose value is None is not in its environment."""
    inherited = {name: value for name, value in os.environ.items() if name not in environment}
    named = {name: value for name, value in environment.items() if value is not None}
    ran = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        env={**inherited, **named},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, f"status {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout.strip()
