# SPDX-License-Identifier: Apache-2.0
"""A package goes on after the device was reset, in a process of its own: `test_reset.py FOLDER` is that process."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import tvm_ffi
from cuda_driver import Place, call


def test_a_package_goes_on_after_a_reset():
    folder = os.environ["KERNPACK_GPU_BUNDLE"]
    done = subprocess.run([sys.executable, __file__, folder], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout == "[1, 1]\n[1, 1]\n"


def main(folder):
    driver = ctypes.CDLL("libcuda.so.1")

    def must(name, *arguments):
        status = call(driver, name, *arguments)
        assert status == 0, f"{name}: {status}"

    module = tvm_ffi.load_module(str(Path(folder) / "attributes.so"))
    must("cuInit", 0)
    for _ in range(2):
        context, at = Place(), Place()
        must("cuDevicePrimaryCtxRetain", context, 0)
        must("cuCtxSetCurrent", context.number())
        must("cuMemAlloc_v2", at, 4)
        seen = []
        for _ in range(2):
            must("cuMemsetD32_v2", at.number(), 0, 1)
            module.into(ctypes.c_void_p(at.number()))
            must("cuCtxSynchronize")
            counted = Place()
            must("cuMemcpyDtoH_v2", counted, at.number(), 4)
            seen.append(counted.number(ctypes.c_int32))
        print(seen, flush=True)
        must("cuDevicePrimaryCtxReset_v2", 0)


if __name__ == "__main__":
    main(sys.argv[1])
