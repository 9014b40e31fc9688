# SPDX-License-Identifier: Apache-2.0
"""The wheel of examples/wheel: built by pip, installed into an environment of its own, and used
with kernpack and without.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the example's wheel is for x86-64"
)

WITHOUT_KERNPACK = "import sys, runpy; sys.modules['kernpack'] = None; runpy.run_path(sys.argv[1])"


def run(*command, **options):
    """What a command prints."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def folder(kernpack, tmp_path_factory):
    """A copy of the example, with its wheel in `dist`."""
    folder = tmp_path_factory.mktemp("wheel") / "example"
    shutil.copytree(REPOSITORY / "examples/wheel", folder)
    names = {"KERNPACK_CLI": str(kernpack), "KERNPACK_PYTHON": sys.executable}
    run(folder / "build.sh", "--no-build-isolation", "--quiet", env={**os.environ, **names})
    return folder


@pytest.fixture(scope="module")
def wheel(folder):
    [wheel] = (folder / "dist").iterdir()
    return wheel


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """An interpreter that has the wheel, and below it what the tests have."""
    home = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", home)
    interpreter = home / "bin/python"
    site = Path(
        run(interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    (site / "below.pth").write_text(sysconfig.get_path("purelib"))
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        interpreter,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    )
    return interpreter


def test_the_wheel_is_for_every_python_3_of_one_platform(wheel):
    assert wheel.name == "norms-0.1.0-py3-none-manylinux_2_17_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("norms/")}
    files = ("__init__.py", "_kernels.py", "_kernels.pyi", "kernels.so", "operators.py", "py.typed")
    assert names == {f"norms/{name}" for name in files}


def test_without_kernpack(python, folder, tmp_path):
    shown = run(python, "-c", WITHOUT_KERNPACK, folder / "demo.py", cwd=tmp_path)
    [expected] = re.findall(
        r"^```text\n(.*?)^```$",
        (REPOSITORY / "docs/ship-a-wheel.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert shown == expected


def test_with_kernpack(python, folder, tmp_path):
    shown = run(python, folder / "demo.py", cwd=tmp_path)
    assert shown.splitlines()[-1].endswith(": torch.ops.norms.rms")


def test_the_stubs_have_the_functions_types(python, folder):
    stubs = (folder / "src/norms/_kernels.pyi").read_text()
    compile(stubs, "_kernels.pyi", "exec")
    assert "def rms(x: _Tensor, w: _Tensor, eps: float = 1e-06) -> _Result:" in stubs
    assert '"""x / sqrt(mean(x^2) + eps) * w, row by row' in stubs


def test_the_page_shows_what_the_example_has(folder):
    page = (REPOSITORY / "docs/ship-a-wheel.md").read_text()
    blocks = re.findall(r"^```(?:ini|python)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    files = [
        path.read_text()
        for path in folder.rglob("*")
        if path.suffix in (".py", ".toml") and "build" not in path.parts
    ]
    assert len(blocks) == 3
    for block in blocks:
        assert any(block in file for file in files), block
