# SPDX-License-Identifier: Apache-2.0
"""The package under other Pythons and other versions of TVM-FFI, and beside everything else in one
process.
"""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY

# Made by `scripts/setup pythons`, for each Python that the machine has.
ENVIRONMENTS = sorted(REPOSITORY.glob(".venv-py*/bin/python"))


@pytest.mark.parametrize(
    "python", [Path(sys.executable), *ENVIRONMENTS], ids=lambda path: path.parent.parent.name
)
def test_calls_under_every_python(python, tmp_path):
    ran = subprocess.run(
        [python, REPOSITORY / "python-tests" / "every_python.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("Python 3.") and ran.stdout.endswith(": right\n")


def test_the_oldest_and_the_newest_python_are_there():
    """Which a machine has depends on it: this says what was not seen."""
    names = {path.parent.parent.name for path in ENVIRONMENTS}
    missing = {".venv-py3.9-tvm-ffi-0.1.5", ".venv-py3.13-tvm-ffi-0.1.15"} - names
    if missing:
        pytest.skip(f"this machine has no Python for {', '.join(sorted(missing))}")


ORDERS = [*itertools.permutations(["torch", "jax", "triton", "kernpack"])]
if "KERNPACK_ALL_ORDERS" not in os.environ:
    ORDERS = ORDERS[::5] + [ORDERS[-1]]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_frameworks_in_one_process(order, tmp_path):
    """Each has an LLVM of its own; whichever comes first, all of them compile."""
    script = f"""
import importlib
for name in {order!r}:
    importlib.import_module(name)
import numpy, jax, torch, kernpack as kp
f = kp.host("void twice(const float* x, long n, float* y) {{ for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }}",
            "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)", args=["x", "n", "y"], doc="{"-".join(order)}")
assert f(torch.ones(3)).sum() == 6
assert jax.jit(lambda x: x * 2)(numpy.ones(3, "float32")).sum() == 6
import triton
from triton.backends.compiler import GPUTarget
from triton_kernels import softmax
source = triton.compiler.ASTSource(softmax, {{"x": "*fp32", "y": "*fp32", "d": "i32", "BLOCK": "constexpr"}}, {{"BLOCK": 64}})
assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
print("all")
"""
    (tmp_path / "triton_kernels.py").write_text(
        (REPOSITORY / "examples/triton/softmax.py").read_text()
    )
    environment = {
        **os.environ,
        "TRITON_CACHE_DIR": str(tmp_path / "triton"),
        "PYTHONPATH": f"{tmp_path}:{os.environ['PYTHONPATH']}",
    }
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0 and ran.stdout == "all\n", ran.stderr[-2000:]
