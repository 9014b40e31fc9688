# SPDX-License-Identifier: Apache-2.0
"""The examples with GPU kernels, built and called where there is no GPU. What they compute is seen
by `tests/gpu`.
"""

import os
import subprocess
import sys

import numpy
import pytest
import torch
import tvm_ffi

from conftest import REPOSITORY


@pytest.fixture
def build_example(kernpack, tmp_path):
    """Builds `examples/<folder>/<name>.toml` and returns the `.so`."""

    def build(folder, name):
        built = tmp_path / f"{name}.so"
        package = REPOSITORY / "examples" / folder / f"{name}.toml"
        environment = os.environ | {"KERNPACK_PYTHON": sys.executable}
        subprocess.run([kernpack, "build", package, "-o", built], env=environment, check=True)
        return built

    return build


def inspected(kernpack, built):
    return subprocess.run(
        [kernpack, "inspect", built], capture_output=True, text=True, check=True
    ).stdout


def test_rms_norm(kernpack, build_example):
    built = build_example("rms_norm_cuda", "rms_norm")
    launches = [
        line.split("launches ")[1]
        for line in inspected(kernpack, built).splitlines()
        if "launches " in line
    ]
    assert [launch.split("(")[0] for launch in launches] == [
        "rms_norm<{T}, 16, 4>",
        "rms_norm<{T}, 128, 4>",
        "rms_norm<{T}, 512, 4>",
        "rms_norm<{T}, 1024, 4>",
        "rms_norm_long<{T}, 1024>",
    ]
    rms = tvm_ffi.load_module(str(built)).rms
    x, w = (
        tvm_ffi.from_dlpack(numpy.zeros((2, 8), numpy.float16)),
        tvm_ffi.from_dlpack(numpy.zeros(8, numpy.float16)),
    )
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #0 .*expected device_type=cuda, got cpu"
    ):
        rms(x, w, x)
    with pytest.raises(TypeError, match="expected 3 to 4 arguments, got 2"):
        rms(x, w)


def test_gemm(build_example):
    gemm = tvm_ffi.load_module(str(build_example("gemm", "gemm"))).gemm
    a = torch.zeros(2, 8, dtype=torch.bfloat16)
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #0 .*expected device_type=cuda, got cpu"
    ):
        gemm(a, a, a)
    with pytest.raises(TypeError, match="expected 3 arguments, got 2"):
        gemm(a, a)
