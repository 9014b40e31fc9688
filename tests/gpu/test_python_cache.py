# SPDX-License-Identifier: Apache-2.0
"""What the package `kernpack` keeps, on a machine with a GPU: kernels that were compiled where none
was visible, exports; and processes that fork, and end.
"""

import os
import subprocess
from pathlib import Path

import kernpack as kp
import pytest
import python_kernels as kernels
import torch
import tvm_ffi
from python_kernels import ramp

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


def python(code, *args, **environment):
    """What a process of its own prints, which finds the kernels of these tests."""
    return kernels.python(
        code, *args, PYTHONPATH=f"{FOLDER}{os.pathsep}{os.environ['PYTHONPATH']}", **environment
    )


@pytest.fixture
def cache(tmp_path):
    """The environment of a cache that nobody has used."""
    return {"KERNPACK_CACHE_DIR": str(tmp_path / "cache"), "KERNPACK_ARCH": None}


PRECOMPILE = """
import sys
import kernpack as kp, torch
import python_kernels as kernels
assert not torch.cuda.is_available()
kp.precompile([kernels.chain(), sys.argv[1]], arch=sys.argv[2].split(","), progress=False)
"""
CALL = """
import sys
import kernpack as kp, torch
import python_kernels as kernels
x = torch.arange(1000, device="cuda").float()
assert torch.equal(kernels.chain().chain(x, by=3), 2 * x + 3)
y = torch.zeros_like(x)
kp.load(sys.argv[1]).add(x, y)
assert torch.equal(y, x + 1)
print("right")
"""
PACKAGE = """
[package]
name = "add"
[[function]]
signature = "add(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
source = { cuda = "add.cu" }
kernel = "add_one"
args = ["a", "b", "n: int32"]
launch = { grid = ["ceildiv(n, 256)"], block = [256] }
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "add.cu").write_text(kernels.ADD_ONE)
    (tmp_path / "add.toml").write_text(PACKAGE)
    return tmp_path / "add.toml"


def test_what_was_compiled_without_a_gpu_is_found_with_one(package, cache):
    """One image for several GPUs, as a container is built; then a server that must never compile."""
    python(
        PRECOMPILE,
        package,
        f"sm_80,{kernels.arch()},{kernels.arch('compute')}",
        **cache,
        CUDA_VISIBLE_DEVICES="",
    )
    for _ in range(2):
        assert python(CALL, package, **cache, KERNPACK_JIT="forbid") == "right"


def test_what_was_compiled_for_other_gpus_is_not(package, cache):
    python(
        PRECOMPILE,
        package,
        "sm_120" if kernels.arch() != "sm_120" else "sm_90",
        **cache,
        CUDA_VISIBLE_DEVICES="",
    )
    with pytest.raises(AssertionError, match="CompileForbidden"):
        python(CALL, package, **cache, KERNPACK_JIT="forbid")
    # The entry of other archs does not stand in the way of this one's.
    assert python(CALL, package, **cache) == "right"


def test_without_a_gpu_there_is_ptx_for_any(cache):
    code = "import python_kernels as kernels; f = kernels.add_one(); f.export({!r}); print(kernels.archs(f))"
    path = str(Path(cache["KERNPACK_CACHE_DIR"]).parent / "portable.so")
    archs = python(code.format(path), **cache, CUDA_VISIBLE_DEVICES="")
    assert archs.startswith("['compute_")
    a, b = ramp()
    kp.load_module(path).add_one(a, b)
    assert torch.equal(b, a + 1)


def test_a_forbidden_compile_names_what_is_missing(cache):
    code = """
import kernpack as kp
import python_kernels as kernels
try:
    kernels.add_one()
except kp.CompileForbidden as error:
    print(error)
"""
    assert "add_one" in python(code, **cache, KERNPACK_JIT="forbid")


FORK = """
import os
import torch
import python_kernels as kernels
f, package = kernels.add_one(), kernels.chain().load()
if os.fork() == 0:
    a = torch.arange(1000, device="cuda").float()
    b = torch.zeros_like(a)
    f(a, b)
    os._exit(7 if torch.equal(b, a + 1) and torch.equal(package.chain(a), 2 * a + 1) else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
# This process has not used the GPU so far, and still can.
a = torch.arange(1000, device="cuda").float()
assert torch.equal(package.both(a).up, a + 1)
"""


def test_a_process_forks_after_a_compile_and_its_child_uses_the_gpu(cache):
    for _ in range(2):  # compiled, and found
        assert python(FORK, **cache) == "7"


def test_a_spawned_process(cache):
    code = """
import multiprocessing
import torch
import python_kernels as kernels

def work(number):
    a = torch.arange(1000, device="cuda").float()
    b = torch.zeros_like(a)
    kernels.add_one()(a, b)
    return torch.equal(b, a + 1)
"""
    (Path(cache["KERNPACK_CACHE_DIR"]).parent / "spawned.py").write_text(code)
    folder = str(Path(cache["KERNPACK_CACHE_DIR"]).parent)
    main = f"""
import sys
sys.path.insert(0, {folder!r})
import multiprocessing, spawned
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        print(pool.map(spawned.work, range(8)))
"""
    assert python(main, **cache) == str([True] * 8)


EXPORTED = """
import sys
import kernpack as kp, torch
module = kp.load_module(sys.argv[1])
x = torch.arange(1000, device="cuda").float()
assert torch.equal(module.chain(x), 2 * x + 1) and torch.equal(module.chain(by=5, x=x), 2 * x + 5)
assert torch.equal(module.both(x=x).down, x - 1)
prepared = module.chain_out.prepare(x, y=torch.zeros_like(x), by=2)
prepared()
torch.cuda.synchronize()
print(module.chain.__signature__)
"""


def test_exported_and_loaded_in_another_process(tmp_path, cache):
    package = kernels.chain()
    for suffix in ("so", "o", "h", "pyi"):
        package.export(tmp_path / f"chain.{suffix}")
        assert (tmp_path / f"chain.{suffix}").stat().st_size > 0
    assert (tmp_path / "chain.o").read_bytes()[:4] == b"\x7fELF" and "chain(" in (
        tmp_path / "chain.pyi"
    ).read_text()
    assert python(EXPORTED, tmp_path / "chain.so", **cache, KERNPACK_JIT="forbid") == "(x, by=1.0)"


def test_several_functions_in_one_file(tmp_path):
    kp.export([kernels.add_one(), kernels.added()], tmp_path / "joined.so")
    module = tvm_ffi.load_module(str(tmp_path / "joined.so"))
    a, b = ramp()
    module.add_one(a, b)
    assert torch.equal(b, a + 1) and torch.equal(module.added(a), a + 1)
    [package] = kp.inspect(tmp_path / "joined.so")["packages"]
    assert [function["name"] for function in package["functions"]] == [
        "add_one",
        "added",
        "added_out",
    ]


def test_a_process_ends_with_all_of_it_alive(cache):
    """Functions, prepared calls, results of either allocator and a graph outlive the interpreter."""
    code = """
import torch, tvm_ffi
import python_kernels as kernels
from graphs import captured
f, g, package = kernels.add_one(), kernels.added(), kernels.chain().load()
a = torch.arange(1000, device="cuda").float()
kept = [f.prepare(a, a.clone()), g(a), g(tvm_ffi.from_dlpack(a)), package.both(a), captured(lambda: f(a, a))]
kept[0]()
kept.append(kept)
print("done")
"""
    assert python(code, **cache) == "done"


def test_the_command_line_shows_and_verifies(package, cache):
    python(PRECOMPILE, package, kernels.arch(), **cache, CUDA_VISIBLE_DEVICES="")
    environment = {**os.environ, "KERNPACK_CACHE_DIR": cache["KERNPACK_CACHE_DIR"]}
    run = lambda *words: subprocess.run(
        [os.environ["KERNPACK_CLI"], "cache", *words],
        env=environment,
        capture_output=True,
        text=True,
    )
    shown, verified = run("show"), run("verify")
    assert shown.returncode == 0 and "2" in shown.stdout, shown.stderr
    assert verified.returncode == 0, verified.stdout + verified.stderr
