# SPDX-License-Identifier: Apache-2.0
"""The package's types, as the two checkers that people use see them, in their strict modes."""

import os
import subprocess
import sys
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
WRONG = USE + "\nwrong: int = add_one.signature\n"


def run(command, text, tmp_path):
    (tmp_path / "use.py").write_text(text)
    environment = {
        **os.environ,
        "MYPYPATH": str(REPOSITORY / "python"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(("text", "expected"), [(USE, 0), (WRONG, 1)])
def test_mypy_sees_the_types_of_a_use(tmp_path, text, expected):
    ran = run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", sys.executable, "use.py"],
        text,
        tmp_path,
    )
    assert ran.returncode == expected, ran.stdout + ran.stderr


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
