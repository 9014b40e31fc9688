# SPDX-License-Identifier: Apache-2.0
"""The package's types, as the two checkers that people use see them, in their strict modes."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import REPOSITORY

USE = """
from pathlib import Path

import kernpack as kp
import numpy

add_one: kp.Function = kp.cuda("...", "add_one(a: Tensor([n], float32))", grid="n", block=[32, 1], arch=["sm_90"])
add_one(numpy.zeros(3), b=1.0)
text: str = add_one.signature + add_one.plan + add_one.ptx["compute_80"]
module: kp.Module = kp.load_module(Path("add_one.so"))
other: kp.Function = module.add_one
n = kp.sym_int("n", divisibility=16)
signature: str = kp.signature("f", a=kp.fake_tensor(kp.float32, (n, 4)))
package = kp.Package("both").function(signature, kp.Launch(kp.Source.host("f.c"), args=["a"]), doc="both")
package.export("both.so")
kp.precompile([package, "norm.toml"], arch=["sm_80"])
"""
# Each line is wrong, and nothing else is.
WRONG = """
wrong: int = add_one.signature
kp.nothing
kp.cudaa("")
"""
STUBS = """
[package]
name = "shapes"

[[function]]
signature = "stats(x: Tensor([n], float32), scale: float32 = 1.0) -> low: Tensor([1], float32), high: Tensor([1], float32)"
source = { host = "stats.c" }
kernel = "stats"
args = ["x", "n", "low", "high"]
"""
USE_OF_STUBS = """
import kernpack.jax
import kernpack.torch
import numpy

from shapes import _kernels

x = numpy.zeros(3, "float32")
low, high = _kernels.stats(x)
low = _kernels.stats(scale=2.0, x=x).low
_kernels.stats_out(x, 1.0, high=high, low=low)
kernpack.torch.op("shapes::stats", _kernels.stats)
kernpack.torch.op("shapes::both", [_kernels.stats, _kernels.stats], replace=True)
kernpack.jax.call(_kernels.stats)
"""
WRONG_OF_STUBS = """
_kernels.stats(x).middle
_kernels.stats(x, by=2.0)
_kernels.stats("x")
_kernels.other(x)
a, b, c = _kernels.stats(x)
"""


# What mypy knows of PyTorch and NumPy, which takes it half a minute to find out.
CACHE = tempfile.TemporaryDirectory(prefix="kernpack-mypy-")


def run(command, text, tmp_path):
    (tmp_path / "use.py").write_text(text)
    environment = {
        **os.environ,
        "MYPYPATH": str(REPOSITORY / "python"),
        "MYPY_CACHE_DIR": CACHE.name,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


def mypy(tmp_path, text, *files):
    options = ["--strict", "--python-executable", sys.executable]
    return run([sys.executable, "-m", "mypy", *options, *(files or ["use.py"])], text, tmp_path)


def pyright(tmp_path, text, *files):
    # The demo of the example asks for functions that PyTorch has not typed.
    found = {"strict": ["use.py", "norms"], "extraPaths": [str(REPOSITORY / "python"), "."]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(found))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    return run([*command, *(files or ["use.py"])], text, tmp_path)


CHECKERS = pytest.mark.parametrize("check", [mypy, pyright], ids=lambda check: check.__name__)


def require_wrong_lines(told, text, wrong):
    """Each line of `wrong`, behind `text`, is an error, and nothing else is."""
    first = text.count("\n") + 2
    places = {int(line) for line in re.findall(r"use\.py:(\d+)\D.*error", told)}
    assert places == set(range(first, first + wrong.count("\n") - 1)), told


@CHECKERS
def test_checkers_see_the_types_of_a_use(tmp_path, check):
    ran = check(tmp_path, USE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    require_wrong_lines(check(tmp_path, USE + WRONG).stdout, USE, WRONG)


@pytest.fixture(scope="module")
def stubs(kernpack, tmp_path_factory):
    """A package with the stubs of `STUBS`."""
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "shapes").mkdir()
    (folder / "shapes.toml").write_text(STUBS)
    (folder / "stats.c").write_text(
        "void stats(const float *x, long n, float *low, float *high) { *low = x[0]; *high = x[n - 1]; }"
    )
    command = [kernpack, "build", "shapes.toml", "-o", "shapes/_kernels.pyi"]
    subprocess.run(command, cwd=folder, check=True)
    for name in ("__init__.py", "py.typed"):
        (folder / "shapes" / name).touch()
    return folder


@CHECKERS
def test_checkers_see_what_stubs_say(stubs, check):
    ran = check(stubs, USE_OF_STUBS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    both = USE_OF_STUBS + WRONG_OF_STUBS
    require_wrong_lines(check(stubs, both).stdout, USE_OF_STUBS, WRONG_OF_STUBS)


@CHECKERS
def test_checkers_find_nothing_in_the_example_of_a_wheel(kernpack, tmp_path, check):
    example = REPOSITORY / "examples/wheel"
    shutil.copytree(example / "src/norms", tmp_path / "norms")
    shutil.copy(example / "demo.py", tmp_path)
    stubs = tmp_path / "norms/_kernels.pyi"
    command = [kernpack, "build", "kernels.toml", "-o", stubs]
    subprocess.run(command, cwd=example, check=True)
    ran = check(tmp_path, "", "norms", "demo.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_mypy_finds_nothing_in_the_package():
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        "pyproject.toml",
        "--python-executable",
        sys.executable,
    ]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pyright_finds_nothing_in_the_package(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--pythonpath",
        sys.executable,
        "--project",
        str(REPOSITORY),
    ]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
