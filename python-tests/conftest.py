# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Python tests: the command line tool, and packages built from text."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import tvm_ffi

REPOSITORY = Path(__file__).resolve().parent.parent

needs_no_driver = pytest.mark.skipif(
    shutil.which("nvidia-smi") is not None, reason="there is a driver"
)

# The package `kernpack` as it stands here, with the libraries that cargo built last.
sys.path.insert(0, str(REPOSITORY / "python"))
_target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
os.environ.setdefault("KERNPACK_NATIVE", str(_target / "native"))
# What tests compile is no business of the user's cache.
_cache = tempfile.TemporaryDirectory(prefix="kernpack-tests-")
os.environ["KERNPACK_CACHE_DIR"] = _cache.name
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH", "")]
).rstrip(os.pathsep)


LONGEST = [
    "test_reference.py",
    "test_rust.py",
    "test_torch_document.py",
    "test_torch_op.py",
    "test_types.py",
    "test_wheel.py",
]
"""The files that take longest, which begin first where several run at once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def kernpack() -> Path:
    """The command line tool: `KERNPACK_CLI`, or the one that cargo built last."""
    if named := os.environ.get("KERNPACK_CLI"):
        built = [Path(named)]
    else:
        target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
        built = [target / profile / "kernpack" for profile in ("release", "debug")]
    built = [path for path in built if path.is_file()]
    if not built:
        pytest.fail(f"no kernpack at {named or target}: run `cargo build -p kernpack-cli` first")
    return max(built, key=lambda path: path.stat().st_mtime).resolve()


@pytest.fixture
def build_package(kernpack: Path, tmp_path: Path) -> Callable[..., Path]:
    """Builds a package file's text and returns the folder that holds the outputs.

    `files` are written beside the package file, since its paths are relative to it: kernels as
    text, images as bytes. Each call gets a folder of its own.
    """
    numbers = itertools.count()

    def build(
        text: str,
        files: Mapping[str, str | bytes] = {},
        outputs: Sequence[str] = ("package.so",),
    ) -> Path:
        folder = tmp_path / f"package{next(numbers)}"
        folder.mkdir()
        for name, content in {"package.toml": text, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        command = [str(kernpack), "build", "package.toml"]
        for name in outputs:
            command += ["-o", name]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if ran.returncode != 0:
            pytest.fail(f"{' '.join(command)}: status {ran.returncode}\n{ran.stderr}")
        return folder

    return build


@pytest.fixture
def load_package(build_package: Callable[..., Path]) -> Callable[..., tvm_ffi.Module]:
    """Builds a package file's text, as `build_package` does, and loads the result."""

    def load(text: str, files: Mapping[str, str | bytes] = {}) -> tvm_ffi.Module:
        return tvm_ffi.load_module(str(build_package(text, files) / "package.so"))

    return load


@pytest.fixture(scope="session")
def oldest_python() -> Path:
    """The interpreter whose TVM-FFI is the oldest that packages must load under."""
    named = os.environ.get("KERNPACK_PYTHON_OLDEST")
    path = Path(named or REPOSITORY / ".venv-tvm-ffi-0.1.0/bin/python")
    if not path.is_file():
        pytest.fail(f"no interpreter at {path}: run `scripts/setup python` first")
    return path


@pytest.fixture
def driver(kernpack: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a script of tests/gpu with the driver of tests/cuda-stub, told this."""
    built = kernpack.parent / "deps/libkernpack_cuda_stub.so"
    assert built.is_file(), "run `cargo test -p kernpack-tests` first"
    shutil.copy(built, tmp_path / "libcuda.so.1")

    def run(told: str, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "told.txt").write_text(f"capture-loads allowed\n{told}\n")
        environment = os.environ | {
            "LD_LIBRARY_PATH": str(tmp_path),
            "KERNPACK_CUDA_STUB": str(tmp_path / "told.txt"),
        }
        command = [sys.executable, str(REPOSITORY / "tests/gpu" / script), *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    return run
