# SPDX-License-Identifier: Apache-2.0
"""The package of `tests/gpu` whose kernels take tensor maps, built and called where there is no
GPU.
"""

import os
import subprocess
import sys

import numpy
import pytest
import tvm_ffi

from conftest import REPOSITORY


def test_kernels_in_cuda_cpp_take_tensor_maps(kernpack, tmp_path):
    built = tmp_path / "tensor_map.so"
    environment = os.environ | {"KERNPACK_PYTHON": sys.executable}
    source = REPOSITORY / "tests" / "gpu" / "tensor_map.toml"
    subprocess.run([kernpack, "build", source, "-o", built], env=environment, check=True)
    module = tvm_ffi.load_module(str(built))
    a = tvm_ffi.from_dlpack(numpy.zeros((32, 64), numpy.float16))
    out = tvm_ffi.from_dlpack(numpy.zeros((1, 4096), numpy.uint8))
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #0 .*expected device_type=cuda, got cpu"
    ):
        module.matrix(a, out)
