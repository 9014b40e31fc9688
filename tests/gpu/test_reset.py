# SPDX-License-Identifier: Apache-2.0
"""A package goes on after the device was reset, in a process of its own: `test_reset.py FOLDER` is
that process.
"""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tvm_ffi
from cuda_driver import Place, call


N_LIVES, N_CALLS = 3, 150


@pytest.mark.parametrize("launch", ["plain", "graph", "auto"])
def test_a_package_goes_on_after_a_reset(launch):
    folder = os.environ["KERNPACK_GPU_BUNDLE"]
    environment = os.environ | {"KERNPACK_LAUNCH": launch}
    done = subprocess.run(
        [sys.executable, __file__, folder],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    *seen, counts = map(json.loads, done.stdout.splitlines())
    assert seen == [[1] * N_CALLS] * N_LIVES
    assert counts["plain"] + counts["graph"] == N_LIVES * N_CALLS
    if launch != "auto":
        assert counts[launch] > N_CALLS, "in more than one life"


def main(folder):
    driver = ctypes.CDLL("libcuda.so.1")

    def must(name, *arguments):
        status = call(driver, name, *arguments)
        assert status == 0, f"{name}: {status}"

    module = tvm_ffi.load_module(str(Path(folder) / "attributes.so"))
    must("cuInit", 0)
    for _ in range(N_LIVES):
        context, at = Place(), Place()
        must("cuDevicePrimaryCtxRetain", context, 0)
        must("cuCtxSetCurrent", context.number())
        must("cuMemAlloc_v2", at, 4)
        seen = []
        for _ in range(N_CALLS):
            must("cuMemcpyHtoD_v2", at.number(), bytes(4), 4)
            module.into(ctypes.c_void_p(at.number()))
            must("cuCtxSynchronize")
            counted = Place()
            must("cuMemcpyDtoH_v2", counted, at.number(), 4)
            seen.append(counted.number(ctypes.c_int32))
        print(seen, flush=True)
        must("cuDevicePrimaryCtxReset_v2", 0)
    print(module.kernpack_launched_into())


if __name__ == "__main__":
    main(sys.argv[1])
