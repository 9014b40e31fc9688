# SPDX-License-Identifier: Apache-2.0
"""What the other tests stand on is there: the pinned packages, the older TVM-FFI, an aarch64 to run
on.
"""

import importlib.metadata
import subprocess
from pathlib import Path

import jax
import jax_tvm_ffi  # noqa: F401 (that it imports is the test)
import numpy
import pytest
import torch
import tvm_ffi

from conftest import REPOSITORY

HERE = Path(__file__).resolve().parent


def pins(requirements: str) -> dict[str, str]:
    lines = (HERE / requirements).read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_installed_versions_are_the_pinned_ones():
    wanted = pins("requirements.txt")
    assert {name: importlib.metadata.version(name) for name in wanted} == wanted


def test_the_oldest_tvm_ffi_is_what_its_requirements_say(oldest_python):
    script = (
        "import importlib.metadata, tvm_ffi; print(importlib.metadata.version('apache-tvm-ffi'))"
    )
    ran = subprocess.run([oldest_python, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == pins("requirements-oldest.txt")["apache-tvm-ffi"] == "0.1.0"


@pytest.mark.parametrize(
    "array",
    [numpy.arange(3.0), torch.arange(3.0), jax.numpy.arange(3.0)],
    ids=["numpy", "torch", "jax"],
)
def test_arrays_reach_a_tvm_ffi_function(array):
    echoed = tvm_ffi.get_global_func("testing.echo")(array)
    assert list(numpy.from_dlpack(echoed)) == [0.0, 1.0, 2.0]


def test_libtvm_ffi_for_aarch64_loads_under_qemu(tmp_path):
    library = REPOSITORY / ".cache/aarch64/tvm_ffi/lib/libtvm_ffi.so"
    assert library.is_file(), "run `scripts/setup aarch64` first"
    source = tmp_path / "load.c"
    source.write_text(
        """
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int argc, char** argv) {
          void* library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
          if (!library || !dlsym(library, "TVMFFIErrorSetRaisedFromCStr")) {
            puts(dlerror());
            return 1;
          }
          puts("loaded");
          return 0;
        }
        """
    )
    program = tmp_path / "load"
    subprocess.run(["aarch64-linux-gnu-gcc", "-o", program, source, "-ldl"], check=True)
    run = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program, library]
    ran = subprocess.run(run, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "loaded\n"), ran.stderr
