# SPDX-License-Identifier: Apache-2.0
"""Packages built on the machine that has the GPU, by the command line tool that the bundle brings:
with that machine's NVRTC, Triton and C compiler. `scripts/gpu-test` runs this and names the tool in
KERNPACK_CLI.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import small
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
KERNPACK = os.environ["KERNPACK_CLI"]
needs_hopper = pytest.mark.skipif(
    torch.cuda.get_device_capability() != (9, 0), reason="the package has code for Hopper alone"
)

ADD = """
__global__ void add(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] + AMOUNT;
}
"""
ADD_PACKAGE = """
[package]
name = "add"
[[function]]
signature = "add(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
source = { cuda = "add.cu", arch = ["ARCH"], define = { AMOUNT = "41.5f" } }
kernel = "add"
args = ["a", "b", "n: int32"]
launch = { grid = ["ceildiv(n, 256)"], block = [256] }
"""


def run(*command):
    return subprocess.run([KERNPACK, *command], capture_output=True, text=True)


@pytest.fixture
def build(tmp_path):
    """Builds a package file and says where the `.so` is."""

    def build(package):
        built = tmp_path / "built.so"
        ran = run("build", package, "-o", built)
        assert ran.returncode == 0, ran.stderr
        return built

    return build


def write_add(folder, arch):
    (folder / "add.cu").write_text(ADD)
    package = folder / "add.toml"
    package.write_text(ADD_PACKAGE.replace("ARCH", arch))
    return package


@pytest.mark.parametrize("code", ["sm", "compute"])
@pytest.mark.parametrize("n", [0, 1, 1000, 1 << 20])
def test_cuda_cpp_for_this_device(build, tmp_path, code, n):
    major, minor = torch.cuda.get_device_capability()
    module = tvm_ffi.load_module(str(build(write_add(tmp_path, f"{code}_{major}{minor}"))))
    a = torch.arange(n, device="cuda", dtype=torch.float32)
    b = torch.zeros_like(a)
    module.add(a, b)
    assert torch.equal(b, a + 41.5)


def test_a_mistake_in_cuda_cpp(tmp_path):
    package = write_add(tmp_path, "sm_90")
    file = tmp_path / "add.cu"
    file.write_text(ADD.replace("a[i] +", "missing +"))
    [line] = [
        number for number, text in enumerate(file.read_text().splitlines(), 1) if "missing" in text
    ]
    ran = run("build", package, "-o", tmp_path / "built.so")
    assert ran.returncode == 1
    assert f"NVRTC refused `{file}` for sm_90 (NVRTC_ERROR_COMPILATION)" in ran.stderr
    assert f'{file}({line}): error: identifier "missing" is undefined' in ran.stderr
    assert not (tmp_path / "built.so").exists()


@needs_hopper
@pytest.mark.parametrize(
    "example, name", [("scale", "scale"), ("rms_norm_cuda", "rms_norm"), ("gemm", "gemm")]
)
def test_examples_in_cuda_cpp(build, example, name):
    module = tvm_ffi.load_module(str(build(FOLDER / f"examples/{example}/{name}.toml")))
    small.PACKAGES[name](module)


def test_ptx(build):
    small.add_one(tvm_ffi.load_module(str(build(FOLDER / "add_one.toml"))))


@pytest.mark.parametrize("package", ["add_one.toml", "blend.toml", "examples/triton/softmax.toml"])
def test_the_same_bytes_as_elsewhere(build, package):
    built = build(FOLDER / package)
    assert built.read_bytes() == (FOLDER / Path(package).with_suffix(".so").name).read_bytes()


def test_every_target(tmp_path):
    targets = [line.split()[0] for line in run("targets").stdout.splitlines()]
    assert len(targets) > 1
    for target in targets:
        output = tmp_path / f"{target}.so"
        ran = run("build", FOLDER / "add_one.toml", "--target", target, "-o", output)
        assert ran.returncode == 0, ran.stderr
        assert run("inspect", output).stdout.startswith(
            f"shared object for {target.split('-')[0]}\n"
        )


@needs_hopper
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_this_triton_compiles(build, tmp_path, dtype):
    pytest.importorskip("triton")
    for name in ("compile.py", "softmax.py", "softmax.toml"):
        shutil.copy(FOLDER / "examples/triton" / name, tmp_path)
    subprocess.run([sys.executable, tmp_path / "compile.py"], check=True)
    module = tvm_ffi.load_module(str(build(tmp_path / "softmax.toml")))
    x = torch.randn(100, 1000, device="cuda").to(dtype)
    y = torch.full_like(x, float("nan"))
    module.softmax(x, y)
    rtol = 2**-8 if dtype == torch.bfloat16 else 2e-5
    torch.testing.assert_close(y.double(), torch.softmax(x.double(), 1), rtol=rtol, atol=1e-30)


def test_a_host_function(build):
    module = tvm_ffi.load_module(str(build(FOLDER / "examples/add_one/add_one.toml")))
    a = torch.arange(1000, dtype=torch.float32)
    b = torch.zeros_like(a)
    module.add_one(a, b)
    assert torch.equal(b, a + 1)
    with pytest.raises(ValueError, match="expected device_type=cpu, got cuda"):
        module.add_one(a.cuda(), b.cuda())
