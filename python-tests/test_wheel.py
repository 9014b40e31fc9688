# SPDX-License-Identifier: Apache-2.0
"""The package as users install it: `pip install .`, in environments that have nothing else of the
tree.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import REPOSITORY

# Where nothing of the tree can be found.
BARE = {
    name: value
    for name, value in os.environ.items()
    if name not in ("KERNPACK_NATIVE", "KERNPACK_CLI", "PYTHONPATH", "VIRTUAL_ENV")
}


def run(*command, cwd, **environment):
    ran = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**BARE, **environment}, capture_output=True, text=True
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of the tree: built without a network, but otherwise as `pip install .` does."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        folder,
        REPOSITORY,
        cwd=folder,
        PATH=f"{Path(sys.executable).parent}:{BARE['PATH']}",
    )
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory):
    """An environment with the wheel, apache-tvm-ffi and NumPy, and no PyTorch."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    site = next((folder / "lib").glob("python3*")) / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    installed = Path(
        subprocess.check_output(
            [sys.executable, "-c", "import tvm_ffi; print(tvm_ffi.__path__[0])"], text=True
        ).strip()
    ).parent
    for name in ("tvm_ffi", "numpy", "numpy.libs", "typing_extensions.py"):
        (site / name).symlink_to(installed / name)
    return folder


def test_the_wheel_is_for_every_python_and_for_systems_in_use(wheel):
    found = re.fullmatch(
        r"kernpack-0\.1\.0-py3-none-manylinux_2_(\d+)_(x86_64|aarch64)\.whl", wheel.name
    )
    assert found and int(found[1]) <= 34, wheel.name
    # A quick one is not optimised, and so a fifth larger.
    assert wheel.stat().st_size < (36e6 if os.environ.get("KERNPACK_QUICK_WHEEL") else 30e6)


def test_what_the_wheel_has(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    libraries = [name for name in names if name.endswith(".so")]
    assert sorted(libraries) == ["kernpack/libkernpack.so", "kernpack/libkernpack_call.so"]
    assert {
        "kernpack/__init__.py",
        "kernpack/py.typed",
        "kernpack/_language.pyi",
        "kernpack/_values.pyi",
        "kernpack-0.1.0.dist-info/entry_points.txt",
    } <= {*names}
    assert not [
        name for name in names if not name.startswith(("kernpack/", "kernpack-0.1.0.dist-info/"))
    ]


def test_the_library_shows_its_own_symbols_alone(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    library = tmp_path / "kernpack" / "libkernpack.so"
    shown = run("nm", "--dynamic", "--defined-only", "--format=posix", library, cwd=tmp_path)
    assert {
        line.split()[0]
        for line in shown.splitlines()
        if not line.startswith(("__tvm_ffi_kernpack_", "kernpack_"))
    } == set()
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "--dynamic", library, cwd=tmp_path))
    assert {re.sub(r"\..*", "", name) for name in needed} <= {
        "libc",
        "libm",
        "libgcc_s",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
    }
    call = tmp_path / "kernpack" / "libkernpack_call.so"
    assert call.stat().st_size < 20000
    wanted = run(
        "nm", "--dynamic", "--undefined-only", "--format=posix", call, cwd=tmp_path
    ).split()
    assert all(
        name.startswith(("Py", "_Py", "_ITM", "__", "abort", "mem"))
        for name in wanted
        if len(name) > 1
    )


def test_a_kernel_in_a_new_environment(environment, tmp_path):
    script = """
import numpy
import kernpack as kp
f = kp.host("void twice(const float* x, long n, float* y) { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }",
            "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)", args=["x", "n", "y"])
print(f(x=numpy.arange(3, dtype="float32")))
f.export("twice.so")
print(kp.load_module("twice.so").twice(numpy.ones(2, "float32")))
"""
    shown = run(
        environment / "bin/python",
        "-c",
        script,
        cwd=tmp_path,
        KERNPACK_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert shown == "[0. 2. 4.]\n[2. 2.]\n"


def test_the_command_line_imports_no_framework(environment, tmp_path):
    """It is started as the console script does it, with modules in the way that must not be
    imported.
    """
    traps = tmp_path / "traps"
    traps.mkdir()
    for name in ("torch", "numpy", "jax"):
        (traps / f"{name}.py").write_text("raise SystemExit('imported')")
    code = "import sys; from kernpack.__main__ import main; sys.argv = ['kernpack', *sys.argv[1:]]; code = main(); assert 'tvm_ffi' not in sys.modules; sys.exit(code)"
    shown = run(
        environment / "bin/python",
        "-c",
        code,
        "plan",
        "f(x: Tensor([n], float32)) where n % 8 == 0",
        cwd=tmp_path,
        PYTHONPATH=str(traps),
    )
    assert "require" in shown and "n" in shown
    ran = subprocess.run(
        [environment / "bin/python", "-m", "kernpack", "plan", "f(x"],
        env=BARE,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1 and "error" in ran.stderr
    ran = subprocess.run(
        [environment / "bin/python", "-m", "kernpack", "nonsense"],
        env=BARE,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2


def test_what_a_build_needs_is_named_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "python"))
    import build_native

    assert build_native.missing_tools() == []
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = build_native.missing_tools()
    assert (
        len(missing) == 3 and "cargo is not found; install Rust 1.95: https://rustup.rs" in missing
    )
    monkeypatch.setenv("LLVM_SYS_221_PREFIX", str(tmp_path))
    assert any(str(tmp_path / "bin/llvm-config") in line for line in build_native.missing_tools())
