# SPDX-License-Identifier: Apache-2.0
"""Packages with GPU kernels where there is no GPU: alone, and with the driver of `tests/cuda-stub`."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy
import pytest
import tvm_ffi

from conftest import REPOSITORY

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u32 n)
{
    ret;
}
"""
PACKAGE = """
[package]
name = "gpu"
[[function]]
signature = "count(n: int32)"
source = { ptx = "count.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = ["n"], block = [32] }
"""
# Says what a call raises, in this process and in a child of it.
CALLS = """
import os, sys, tvm_ffi
module = tvm_ffi.load_module(sys.argv[1])
def call():
    try:
        module.count(4)
        return "accepted"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
print(call(), flush=True)
child = os.fork()
if child == 0:
    print(call(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(call(), flush=True)
"""


# Prepares a call on the stub's first device, and has it refused.
PREPARED = """
import ctypes, sys, traceback, tvm_ffi
driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert driver.cuInit(0) == driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == driver.cuCtxSetCurrent(context) == 0
module = tvm_ffi.load_module(sys.argv[1])
prepared = module["kernpack_prepare_count"](4)
assert driver.kernpack_cuda_stub_fail(b"cuLaunchKernelEx", 0, 719) == 0
for call in (lambda: module["count"](4), prepared, lambda: prepared(4), lambda: module["kernpack_prepare_count"](0.5)):
    try:
        call()
    except (TypeError, RuntimeError):
        print(traceback.format_exc().split("Function.__call__\\n")[-1], end="")
del prepared  # 0.1.0 would unload the package first
"""


@pytest.fixture
def package(build_package):
    return build_package(PACKAGE, {"count.ptx": PTX}) / "package.so"


@pytest.fixture
def stub(kernpack, tmp_path):
    """A folder with the stub as `libcuda.so.1`: cargo builds it with the tests, beside the command
    line tool.
    """
    built = kernpack.parent / "deps" / "libkernpack_cuda_stub.so"
    if not built.is_file():
        pytest.fail(f"no {built}: run `cargo test -p kernpack-tests` first")
    shutil.copy(built, tmp_path / "libcuda.so.1")
    return tmp_path


def lines(package, **environment):
    command = [sys.executable, "-c", CALLS, str(package)]
    ran = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a driver")
def test_without_a_driver_a_package_loads_and_says_so_at_the_call(package):
    told = lines(package)
    assert len(set(told)) == 1
    assert re.fullmatch(
        r"RuntimeError: cannot load the CUDA driver when calling: `.*`: libcuda\.so\.1: .*; this function needs a GPU and its driver",
        told[0],
    )


def test_a_function_tells_how_its_launches_were_submitted(package):
    module = tvm_ffi.load_module(str(package))
    told = module.kernpack_launched_count()
    assert isinstance(told, str)
    assert json.loads(told) == {"plain": 0, "graph": 0, "graphs": 0}
    with pytest.raises(
        TypeError, match="Mismatched number of arguments when calling: `kernpack_launched_count"
    ):
        module.kernpack_launched_count(1)


def test_the_example_in_cuda_cpp_builds_without_a_gpu(kernpack, tmp_path):
    folder = REPOSITORY / "examples" / "scale"
    built = tmp_path / "scale.so"
    environment = os.environ | {"KERNPACK_PYTHON": sys.executable}
    subprocess.run(
        [kernpack, "build", folder / "scale.toml", "-o", built], env=environment, check=True
    )
    module = tvm_ffi.load_module(str(built))
    x = tvm_ffi.from_dlpack(numpy.zeros(4, numpy.float16))
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #0 .*expected device_type=cuda, got cpu"
    ):
        module.scale(x, x)


def test_a_compile_leaves_the_driver_alone(kernpack, tmp_path):
    """NVRTC would call `cuInit` for a cache of its own, and children of such a process cannot use
    CUDA.
    """
    (tmp_path / "driver.c").write_text(
        "#include <stdlib.h>\nint cuInit(unsigned flags) { abort(); }\n"
    )
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "driver.c", "-o", "libcuda.so.1"], cwd=tmp_path, check=True
    )
    environment = os.environ | {
        "KERNPACK_PYTHON": sys.executable,
        "KERNPACK_CACHE": "off",
        "LD_LIBRARY_PATH": str(tmp_path),
    }
    package = REPOSITORY / "examples" / "scale" / "scale.toml"
    subprocess.run(
        [kernpack, "build", package, "-o", tmp_path / "scale.so"], env=environment, check=True
    )


def test_the_example_in_triton_builds_without_triton(kernpack, tmp_path):
    built = tmp_path / "softmax.so"
    package = REPOSITORY / "examples" / "triton" / "softmax.toml"
    subprocess.run([kernpack, "build", package, "-o", built], check=True)
    told = subprocess.run(
        [kernpack, "inspect", built], capture_output=True, text=True, check=True
    ).stdout
    for dtype in ("float32", "bfloat16"):
        assert f"launches softmax(x, y, d: int32) when T in {{{dtype}}}" in told
    module = tvm_ffi.load_module(str(built))
    x = tvm_ffi.from_dlpack(numpy.zeros((2, 5000), numpy.float32))
    with pytest.raises(
        ValueError, match="Mismatched Tensor on argument #0 .*expected device_type=cuda, got cpu"
    ):
        module.softmax(x, x)


def test_a_forked_child_starts_anew(package, stub):
    before, child, after = lines(package, LD_LIBRARY_PATH=str(stub))
    assert before == after
    assert before.endswith("no tensor tells the device, and no CUDA context is current")
    assert child == (
        "RuntimeError: CUDA Error: cudaErrorInitializationError (3, CUDA_ERROR_NOT_INITIALIZED) starting the CUDA driver when calling: `count(n: int32)`: "
        "a process that was forked from one that used CUDA cannot use it; start it afresh (spawn)"
    )


@pytest.mark.parametrize("version", ["current", "oldest"])
def test_tracebacks_name_the_entry_point_but_those_of_prepared_calls(
    package, stub, oldest_python, version
):
    python = {"current": sys.executable, "oldest": oldest_python}[version]
    environment = os.environ | {"LD_LIBRARY_PATH": str(stub)}
    ran = subprocess.run(
        [python, "-c", PREPARED, package],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    failed = (
        "RuntimeError: CUDA Error: cudaErrorLaunchFailure (719, CUDA_ERROR_LAUNCH_FAILED) launching `count` on device 0: "
        "unspecified launch failure; an earlier kernel failed, and nothing runs on the device until the process ends"
    )
    assert ran.stdout.splitlines() == [
        '  File "<unknown>", line 0, in __tvm_ffi_count',
        failed,
        failed,
        "TypeError: Mismatched number of arguments when calling: a prepared function, expected 0 arguments, got 1",
        '  File "<unknown>", line 0, in __tvm_ffi_kernpack_prepare_count',
        "TypeError: Mismatched type on argument #0 when calling: `count(n: int32)`, expected int, got float",
    ]
